/// By what one of several records of the same is chosen that cannot all stand: the same one wherever, and in whatever
/// order, they are heard.
struct Standing {
    /// The creation with which it ends. What ends last comes first, so that a visit counts if one record says so.
    var born: Int64 = 0
    /// The earlier one comes first.
    var stamp: Stamp?
    /// The rest, as the ledger has it. What is missing comes before what is not.
    var texts: [String?]

    func precedes(_ other: Standing) -> Bool {
        guard born == other.born else { return born > other.born }
        if let stamp, let former = other.stamp, stamp != former { return stamp < former }
        for (text, former) in zip(texts, other.texts) {
            guard let former else {
                if text == nil { continue }
                return false
            }
            guard let text else { return true }
            // Texts that Swift takes for equal may be different bytes.
            if !text.utf8.elementsEqual(former.utf8) { return text.utf8.lexicographicallyPrecedes(former.utf8) }
        }
        return false
    }
}
