import CardPasses
import Foundation
import Synchronization

/// Which rows of one import are of whom, since two rows of one member may be two people.
///
/// It belongs to the whole import: a transaction that fails ends it.
final class SeenRows: Sendable {
    /// An earlier row that is of the same member, or looks as if it were.
    struct Twin: Sendable, Hashable {
        enum Likeness {
            case identifier, card, spelling
        }

        var row: Int
        var likeness: Likeness
        /// Whether the earlier row has created the member.
        var hasCreated: Bool
    }

    private struct Entry {
        var row: Int
        var exact: Int
        var hasCreated: Bool
    }

    private struct Entries {
        var byIdentifier: [Int: Entry] = [:]
        var byMember: [Int64: Entry] = [:]
    }

    private let entries = Mutex(Entries())

    /// Takes note of a row; returns the first one before it that is like it.
    ///
    /// - Parameters:
    ///   - id: the identifier as the file has it.
    ///   - member: the row of the member to whom it leads, where another identifier may lead there too.
    func add(_ id: ArraySlice<UInt8>, _ member: Int64?, _ row: Int, _ verdict: ImportVerdict) -> Twin? {
        let entry = Entry(row: row, exact: Self.hash(id), hasCreated: verdict == .created)
        let key = Self.key(id)
        return entries.withLock { entries in
            let former = entries.byIdentifier[key]
            if former == nil { entries.byIdentifier[key] = entry }
            if let former, former.exact == entry.exact {
                return Twin(row: former.row, likeness: .identifier, hasCreated: former.hasCreated)
            }
            if let member {
                if let former = entries.byMember[member] {
                    return Twin(row: former.row, likeness: .card, hasCreated: former.hasCreated)
                }
                entries.byMember[member] = entry
            }
            return former.map { Twin(row: $0.row, likeness: .spelling, hasCreated: $0.hasCreated) }
        }
    }

    /// The hash of what is left of an identifier, however it is spelled.
    static func key(_ id: ArraySlice<UInt8>) -> Int { hash(spelling(id)[...]) }

    static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// An identifier without what people and programs spell in several ways: case, blanks and separators, and zeros at
    /// the beginning of it or of a part.
    static func spelling(_ id: ArraySlice<UInt8>) -> [UInt8] {
        var id = id
        if id.contains(where: { $0 >= 0x80 }) {
            // Full width letters and digits are others' too.
            let text = String(decoding: id, as: UTF8.self).precomposedStringWithCompatibilityMapping
            id = Array(text.lowercased().utf8)[...]
        } else if let card = CardKey.digits(id) {
            return card
        }
        enum Part { case beginning, letters, digits }
        var part = Part.beginning
        var text: [UInt8] = []
        for (index, byte) in zip(id.indices, id) {
            if isSeparator(byte) {
                // A blank in a number only groups its digits.
                let isGroup = byte == 0x20 && part == .digits && id[(index + 1)...].first.map(isDigit) == true
                if !isGroup { part = .beginning }
                continue
            }
            if byte == 0x30, part == .beginning, id[(index + 1)...].first.map({ !isSeparator($0) }) == true { continue }
            let now = isDigit(byte) ? Part.digits : .letters
            if part != now, !text.isEmpty { text.append(UInt8(ascii: "-")) }
            part = now
            text.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
        }
        return text
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isSeparator(_ byte: UInt8) -> Bool { " \t-:._/".utf8.contains(byte) }
}

extension SeenRows.Twin {
    /// What a person has to know: the two rows, and which counts.
    ///
    /// - Parameter verdict: what became of the later row.
    func note(on verdict: ImportVerdict, _ mode: MergeMode) -> String {
        let same: String
        switch likeness {
        case .identifier: same = "row \(row) has the same identifier"
        case .card: same = "row \(row) is of the same member, by another of their cards"
        case .spelling:
            return """
                row \(row) has an identifier that differs from this one only in capital letters, separators or leading \
                zeros; they are two members. If they are one person, 'members merge' makes one of them
                """
        }
        switch (mode, verdict) {
        case (_, .skipped), (_, .created): return same
        case (.addOnly, _): return same + (hasCreated ? ", and counts instead of this one" : ", and neither counts")
        case (.overwrite, _): return "\(same), and counts where the two differ"
        case (.merge, .merged(let changes, let conflicts)):
            func names(_ values: [FieldDifference]) -> String {
                values.map { PlainText.line($0.field) }.joined(separator: ", ")
            }
            guard !changes.isEmpty else { return "\(same), and counts for \(names(conflicts))" }
            let rest = conflicts.isEmpty ? "" : ", that one for \(names(conflicts))"
            return "\(same); this one counts for \(names(changes))\(rest)"
        case (.merge, _): return "\(same), and this one says nothing new"
        }
    }
}
