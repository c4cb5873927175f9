import GRDB
import Synchronization

/// Who is known by an identifier that differs from one of a file in its leading zeros alone, which spreadsheets take
/// away from numbers.
///
/// It belongs to the whole import, and knows who was there before it: two rows of one file are ``SeenRows``'.
final class LostZeros: Sendable {
    private struct Known {
        var isAnybody: Bool
        /// The hashes of the digits behind the zeros, of those who begin with a zero.
        var digits: Set<Int> = []
    }

    private let known = Mutex<Known?>(nil)

    /// No number of a card is longer.
    private static let longest = 20

    /// Looks at who is there, before the first row is written.
    func load(_ db: Database) throws {
        try known.withLock { known in
            guard known == nil else { return }
            var all = Known(isAnybody: try db.has("member") || db.has("card"))
            let rows = try RawRows(
                db,
                """
                SELECT user_id FROM member WHERE user_id >= '0' AND user_id < '1' AND status = 0
                UNION ALL SELECT card_id FROM card WHERE card_id >= '0' AND card_id < '1'
                """
            )
            while try rows.next() {
                if let digits = Self.digits(rows.bytes(0)) { all.digits.insert(Self.hash(digits)) }
            }
            known = all
        }
    }

    /// What a person has to know of a new member; `nil` if nobody is like them.
    ///
    /// - Parameter isNew: whether the member of that row was created by this import.
    func note(on id: ArraySlice<UInt8>, _ db: Database, isNew: (Int64) -> Bool) throws -> String? {
        let digits = id.withUnsafeBufferPointer { id in
            Self.digits(id).map {
                (hash: Self.hash($0), text: String(decoding: $0, as: UTF8.self), hasZeros: $0.count < id.count)
            }
        }
        guard let digits, let known = known.withLock(\.self), known.isAnybody else { return nil }
        guard digits.hasZeros || known.digits.contains(digits.hash) else { return nil }
        // Compiled once: as many as there can be, of which the longer ones are nobody's.
        let marks = (1...Self.longest).map { "?\($0)" }.joined(separator: ",")
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, user_id FROM member WHERE user_id IN (\(marks)) AND status = 0
                UNION SELECT member.id, card_id FROM card JOIN member ON user_id = member_key
                WHERE card_id IN (\(marks)) AND status = 0
                """
        )
        let spellings = (0..<Self.longest).map { String(repeating: "0", count: $0) + digits.text }
        let rows = try Row.fetchAll(statement, arguments: StatementArguments(spellings))
        let own = String(decoding: id, as: UTF8.self)
        for row in rows {
            let (member, other): (Int64, String) = (try row.value("id"), try row.value("user_id"))
            if other != own, !isNew(member) {
                return """
                    \(other) is known, which differs in leading zeros alone, as where a spreadsheet took them away; if they \
                    are one person, 'members merge' makes one of them
                    """
            }
        }
        return nil
    }

    /// The digits behind the zeros; `nil` for what is no number, or nothing but zeros.
    private static func digits(_ id: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard id.count <= longest, id.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let start = id.firstIndex { $0 != 0x30 }
        return start.map { UnsafeBufferPointer(rebasing: id[$0...]) }
    }

    private static func hash(_ digits: UnsafeBufferPointer<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(digits))
        return hasher.finalize()
    }
}
