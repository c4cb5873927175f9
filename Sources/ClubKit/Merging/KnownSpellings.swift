import GRDB
import Synchronization

/// Who is known by an identifier that differs from one of a file only as people and programs spell it (see
/// ``SeenRows/spelling(_:)``), such as without the zeros that spreadsheets take away.
///
/// It belongs to the whole import, and knows who was there before it: two rows of one file are ``SeenRows``'.
final class KnownSpellings: Sendable {
    private struct Known {
        var member: Int64
        var exact: Int
    }

    private let known = Mutex<[Int: Known]?>(nil)

    /// Looks at who is there, before the first row is written.
    func load(_ db: Database) throws {
        try known.withLock { known in
            guard known == nil else { return }
            var all: [Int: Known] = [:]
            let rows = try RawRows(
                db,
                """
                SELECT user_id, id FROM member
                UNION ALL SELECT card_id, id FROM card JOIN member ON user_id = member_key
                """
            )
            while try rows.next() {
                let id = Array(rows.bytes(0))[...]
                all[SeenRows.key(id)] = Known(member: rows.integer(1), exact: SeenRows.hash(id))
            }
            known = all
        }
    }

    /// The row of the member who is known by another spelling of that identifier; `nil` if nobody is.
    func member(like id: ArraySlice<UInt8>) -> Int64? {
        known.withLock { known in
            guard let known, !known.isEmpty, let one = known[SeenRows.key(id)] else { return nil }
            return one.exact == SeenRows.hash(id) ? nil : one.member
        }
    }
}
