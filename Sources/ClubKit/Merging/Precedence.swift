/// By what one of several records of the same is chosen that cannot all stand: the same one wherever, and in whatever
/// order, they are heard.
struct Precedence {
    /// The creation with which it ends. What ends last comes first, so that a visit counts if one record says so.
    var born: Int64 = 0
    /// The earlier one comes first.
    var stamp: Stamp?
    /// The rest, as the ledger has it. What is missing comes before what is not.
    var texts: [String?]

    func precedes(_ other: Precedence) -> Bool {
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

extension Precedence {
    /// By texts of which one that was said comes before none.
    init(said texts: [String?]) {
        self.init(texts: texts.map { $0.map { "0" + $0 } ?? "1" })
    }
}
