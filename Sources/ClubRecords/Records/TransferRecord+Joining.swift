import Foundation

/// A record of which one stands where several of one key differ: the same one wherever, and in whatever order,
/// they arrive.
package protocol JoinableRecord: Sendable {
    /// By what it is chosen: all that it contains beside its key.
    var precedence: Precedence { get }

    /// Takes in the contents of another record of the same key. Returns whether they are new.
    mutating func join(_ other: Self) -> Bool
}

extension JoinableRecord {
    package mutating func join(_ other: Self) -> Bool {
        guard other.precedence.precedes(precedence) else { return false }
        self = other
        return true
    }
}

/// The place of a record among all that there may be of its key, of which the first one stands.
package struct Precedence: Sendable {
    /// The later one comes first.
    var latest: Stamp?
    /// Then the earlier one.
    var earliest: Stamp?
    /// Then the lower one. What is missing comes before what is not.
    var texts: [String?]

    init(latest: Stamp? = nil, earliest: Stamp? = nil, _ texts: [String?] = []) {
        self.latest = latest
        self.earliest = earliest
        self.texts = texts
    }

    /// What ends last comes first, so that a record counts if it does for one device.
    init(born: Int64, earliest: Stamp? = nil, _ texts: [String?]) {
        self.init(latest: Stamp(time: born, device: Stamp.legacyDevice), earliest: earliest, texts)
    }

    /// Of records of which one may be rounded: that comes before all of its day, which come by their moments.
    init(born: Int64 = 0, rounding stamp: Stamp, _ texts: [String?]) {
        self.init(
            born: born,
            earliest: Stamp(time: stamp.dayNumber << 1 | (stamp.isRounded ? 0 : 1), device: Stamp.legacyDevice),
            [Self.ordered(stamp.time), stamp.device.uuidString] + texts
        )
    }

    /// A text that is ordered as the number is.
    private static func ordered(_ number: Int64) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 19 - text.count)) + text
    }

    /// The later time comes first: times are rounded up.
    static func latest(_ time: Int64) -> String { ordered(.max - max(0, time)) }

    func precedes(_ other: Precedence) -> Bool {
        if let latest, let former = other.latest, latest != former { return latest > former }
        if let earliest, let former = other.earliest, earliest != former { return earliest < former }
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

extension TransferRecord.Card: JoinableRecord {
    /// Two devices with one identifier, such as a copied disk, may give one moment to two different records.
    package var precedence: Precedence { Precedence(latest: stamp, [userId, blocked]) }
}

extension TransferRecord.Visit: JoinableRecord {
    /// One tap may have been submitted to two devices before they learnt of one another.
    package var precedence: Precedence {
        Precedence(born: born, earliest: stamp, [userId, String(at), source, reader, backend, reason, actor])
    }
}

extension TransferRecord.Undo: JoinableRecord {
    /// Of two devices that undid the same visit, the first did.
    package var precedence: Precedence { Precedence(earliest: stamp, [String(at), reason, actor]) }
}

extension TransferRecord.Reset: JoinableRecord {
    package var precedence: Precedence { Precedence(latest: stamp) }
}

extension TransferRecord.Event: JoinableRecord {
    package var precedence: Precedence {
        Precedence(
            born: born,
            rounding: stamp,
            [subject.kind, subject.text, name, Precedence.latest(at), visit?.uuidString]
        )
    }

    /// An undoing that one device has learnt of counts for all.
    package mutating func join(_ other: Self) -> Bool {
        let isUndone = undone ?? other.undone
        let isNews = other.precedence.precedes(precedence) || undone != isUndone
        if other.precedence.precedes(precedence) { self = other }
        undone = isUndone
        return isNews
    }
}

extension TransferRecord.Execution: JoinableRecord {
    package var precedence: Precedence {
        Precedence(
            born: born,
            rounding: stamp,
            [subject.kind, subject.text, scenario, Precedence.latest(at), String(number), visit?.uuidString]
        )
    }
}

extension TransferRecord.Settlement: JoinableRecord {
    /// Of two devices that settled it, the first did.
    package var precedence: Precedence { Precedence(rounding: stamp, [Precedence.latest(at), reason, actor]) }
}

extension TransferRecord.Erasure: JoinableRecord {
    package var precedence: Precedence { Precedence(latest: stamp) }
}

extension TransferRecord.Audit: JoinableRecord {
    /// Two devices with one identifier may record two things at one moment. What one of them omits takes nothing from
    /// what the other states: whoever was erased is taken out of the log by the erasure.
    package var precedence: Precedence {
        // Particulars are JSON of JSON's own kinds, which can always be written.
        let detail = detail.flatMap { try? ClubFile.line($0) }.map { String(decoding: $0, as: UTF8.self) }
        return Precedence([subject, detail, actor].map { $0.map { "0" + $0 } ?? "1" })
    }
}
