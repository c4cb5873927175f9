/// By what one of several records of the same is chosen that cannot all stand: the same one wherever, and in whatever
/// order, they are heard.
package struct Precedence {
    /// The creation with which it ends. What ends last comes first, so that a visit counts if one record says so.
    package var born: Int64 = 0
    /// The earlier one comes first.
    package var stamp: Stamp?
    /// The rest, as the ledger has it. What is missing comes before what is not.
    package var texts: [String?]

    package init(born: Int64 = 0, stamp: Stamp? = nil, texts: [String?]) {
        self.born = born
        self.stamp = stamp
        self.texts = texts
    }

    package func precedes(_ other: Precedence) -> Bool {
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
    package init(said texts: [String?]) {
        self.init(texts: texts.map { $0.map { "0" + $0 } ?? "1" })
    }
}

extension Precedence {
    /// Of records of which one may be rounded: that comes before all of its day, which come by their moments.
    package init(born: Int64 = 0, rounding stamp: Stamp, texts: [String?]) {
        let moment = String(stamp.time)
        self.init(
            born: born,
            stamp: Stamp(
                time: stamp.dayNumber << 1 | (stamp.isRounded ? 0 : 1),
                device: Stamp.legacyDevice
            ),
            texts: [String(repeating: "0", count: max(0, 19 - moment.count)) + moment, stamp.device.uuidString] + texts
        )
    }
}
