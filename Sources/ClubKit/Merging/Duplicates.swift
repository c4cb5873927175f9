import Cryptography
import Foundation
import GRDB
import ReaderKit

/// Two members who may be one person.
///
/// The `Encodable` form has the keys `first`, `second` (members) and `reasons`.
public struct DuplicatePair: Sendable, Hashable, Encodable {
    /// The member of longer standing: the one to keep in a merge.
    public var first: Member

    /// The other member.
    public var second: Member

    /// What they have in common, the strongest indication first. Never empty.
    public var reasons: [Reason]

    /// What two members can have in common.
    public enum Reason: Sendable, Hashable {
        /// Identifiers or cards are the same number: in reverse byte order, in decimal, or in another spelling.
        case identifier
        /// The same value in the custom field of that name, apart from case and punctuation; for telephone numbers the
        /// last nine digits.
        case field(String)
        /// The same name, apart from case, accents and the order of its parts.
        case name
    }
}

extension DuplicatePair.Reason: Encodable {
    /// `identifier`, `name`, or `field:` and the field's name.
    public var text: String {
        switch self {
        case .identifier: "identifier"
        case .field(let name): "field:" + name
        case .name: "name"
        }
    }

    /// Encodes ``text``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    var weight: Int {
        switch self {
        case .identifier: 4
        case .field: 2
        case .name: 1
        }
    }
}

extension MemberStore {
    /// Pairs of members who may be one person, the most likely first.
    package func duplicates(limit: Int) async throws(ClubError) -> [DuplicatePair] {
        try await read("look for duplicates") { db in
            // The ids of each pair are in order.
            var pairs: [[Int64]: Set<DuplicatePair.Reason>] = [:]
            for (reason, ids) in try db.members.alike() {
                for (index, id) in ids.enumerated() {
                    for other in ids[(index + 1)...] { pairs[[id, other], default: []].insert(reason) }
                }
            }
            let ordered = pairs.sorted { left, right in
                func weight(_ reasons: Set<DuplicatePair.Reason>) -> Int { reasons.reduce(0) { $0 + $1.weight } }
                let (more, less) = (weight(left.value), weight(right.value))
                return more == less ? left.key.lexicographicallyPrecedes(right.key) : more > less
            }
            var result: [DuplicatePair] = []
            for (ids, reasons) in ordered {
                guard result.count < limit else { break }
                let rows = try ids.compactMap(db.members.row(id:))
                guard rows.count == 2, try !Self.areDistinct(rows[0], rows[1]) else { continue }
                let members = rows.map(\.member)
                let first = members[0].timeStampAdded <= members[1].timeStampAdded ? 0 : 1
                let sorted = reasons.sorted { ($1.weight, $0.text) < ($0.weight, $1.text) }
                result.append(DuplicatePair(first: members[first], second: members[1 - first], reasons: sorted))
            }
            return result
        }
    }

    // MARK: Two persons

    /// Under which of the first member's values it stands that another one is somebody else. It can only be read by
    /// who knows both identifiers, so that it reveals nothing of somebody who was erased.
    static func distinction(_ userID: String, from other: String) -> String {
        let code = HMAC.code(for: other.utf8, key: SecretBytes(userID.utf8))
        return "$distinct:" + code.prefix(12).hex.lowercased()
    }

    static func ordered(_ one: MemberRow, _ other: MemberRow) -> (MemberRow, MemberRow) {
        one.member.userId.utf8.lexicographicallyPrecedes(other.member.userId.utf8) ? (one, other) : (other, one)
    }

    static func areDistinct(_ one: MemberRow, _ other: MemberRow) throws -> Bool {
        let (first, second) = ordered(one, other)
        return try first.facts().value(distinction(first.member.userId, from: second.member.userId)) == .bool(true)
    }
}

extension StoredMembers {
    /// So many members with the same value, and it is no evidence for any of them.
    private static let mostAlike = 8

    fileprivate func alike() throws -> [(DuplicatePair.Reason, [Int64])] {
        // Of all values only hashes are kept, so that a million members fit.
        var identifiers: [Entry] = []
        var names: [Entry] = []
        var fields: [String: [Entry]] = [:]
        let rows = try Row.fetchCursor(db, sql: "SELECT id, user_id, username, fields FROM member WHERE status = 0")
        while let row = try rows.next() {
            let id: Int64 = try row.value("id")
            for reading in Likeness.identifiers(try row.value("user_id")) {
                identifiers.append(Entry(hash: Likeness.hash(reading), id: id))
            }
            if let name: String = try row.optional("username") {
                names += Likeness.names(name).map { Entry(hash: Likeness.hash($0), id: id) }
            }
            for case (let name, .string(let text)) in MemberRow.fields(try row.value("fields")) {
                guard let likeness = Likeness.field(text) else { continue }
                fields[name, default: []].append(Entry(hash: Likeness.hash(likeness), id: id))
            }
        }
        let sql = "SELECT member.id, card_id FROM card JOIN member ON user_id = member_key WHERE status = 0"
        let cards = try Row.fetchCursor(db, sql: sql)
        while let row = try cards.next() {
            for reading in Likeness.identifiers(try row.value("card_id")) {
                identifiers.append(Entry(hash: Likeness.hash(reading), id: try row.value("id")))
            }
        }
        var groups: [(DuplicatePair.Reason, [Int64])] = []
        groups += Self.alike(&identifiers).map { (.identifier, $0) }
        groups += Self.alike(&names).map { (.name, $0) }
        for name in fields.keys.sorted() { groups += Self.alike(&fields[name, default: []]).map { (.field(name), $0) } }
        return groups
    }

    private struct Entry {
        var hash: UInt64
        var id: Int64
    }

    private static func alike(_ entries: inout [Entry]) -> [[Int64]] {
        entries.sort { ($0.hash, $0.id) < ($1.hash, $1.id) }
        var groups: [[Int64]] = []
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].hash == entries[start].hash { end += 1 }
            var ids: [Int64] = []
            for entry in entries[start..<end] where ids.last != entry.id { ids.append(entry.id) }
            if ids.count > 1, ids.count <= mostAlike { groups.append(ids) }
            start = end
        }
        return groups
    }
}

/// What two spellings of one thing have in common.
enum Likeness {
    /// A name without case and accents, its parts in order; with umlauts a second time, with `ae` for ä; none if too little
    /// is left.
    static func names(_ text: String) -> Set<String> {
        let spellings = [false, true].map { expanding in
            String(decoding: FoldedText.fold(text, expanding: expanding), as: UTF8.self)
        }
        let names = spellings.map { spelling in
            spelling.split { !$0.isLetter && !$0.isNumber }.map(String.init).sorted().joined(separator: " ")
        }
        return Set(names.filter { $0.count >= 3 })
    }

    /// The value of a custom field: of a telephone number its last digits, of other texts letters and digits; `nil` if
    /// too little is left to mean one person.
    static func field(_ text: String) -> String? {
        let folded = FoldedText.fold(text)
        if folded.allSatisfy({ FoldedText.isDigit($0) || " +-()/.".utf8.contains($0) }) {
            return FoldedText.telephone(folded).map { String(decoding: $0.suffix(9), as: UTF8.self) }
        }
        let plain = String(decoding: folded, as: UTF8.self).filter { $0.isLetter || $0.isNumber || $0 == "@" }
        return plain.count < 6 ? nil : plain
    }

    /// What an identifier may be, as a number in hexadecimal: each way to read it in the order of bytes that comes first.
    /// One that is no number is its letters and digits.
    static func identifiers(_ text: String) -> [String] {
        let plain = text.filter { $0.isLetter || $0.isNumber }.uppercased()
        guard plain.utf8.count >= 4 else { return [] }
        var readings = [plain]
        if [8, 14, 20].contains(plain.utf8.count), plain.utf8.allSatisfy(Self.isHex) { readings.append(first(plain)) }
        if plain.utf8.count >= 6, let number = UInt64(plain) {
            let hex = String(number, radix: 16, uppercase: true)
            for length in [8, 14] where hex.count <= length && hex.count > length - 6 {
                readings.append(first(String(repeating: "0", count: length - hex.count) + hex))
            }
        }
        return Array(Set(readings))
    }

    private static func isHex(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) }

    /// Of both orders of the bytes, the one that is sorted first.
    private static func first(_ hex: String) -> String {
        let digits = Array(hex)
        let pairs = stride(from: 0, to: digits.count - 1, by: 2).map { String(digits[$0...$0 + 1]) }
        return min(hex, pairs.reversed().joined())
    }

    /// FNV-1a, the same in every process.
    static func hash(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }
}
