import Foundation
import GRDB
import ReaderKit

/// What is still held on members, also on those who were deleted.
extension MemberStore {
    /// The member with that identifier or card, or what is left of one who was deleted.
    package func heldMember(withUserID userID: String) async throws(ClubError) -> Member? {
        let keys = identifiers(userID)
        let attempt = "look up a member"
        return try await read(attempt) { db in
            do {
                return try Self.heldRow(keys, attempt, in: db).member
            } catch let error as ClubError where error.kind == .noSuchMember {
                return nil
            }
        }
    }

    /// All rows that stand for the same member as this one, with those of whoever was joined to them and was deleted since.
    static func held(with row: MemberRow, in db: Database) throws -> [MemberRow] {
        var rows = try joined(to: row, in: db)
        var ids = Set(rows.map(\.id))
        var index = 0
        // A deletion ends that two are joined, as everything that was said; only the log tells of it then.
        while index < rows.count {
            let others = try Row.fetchAll(
                db,
                sql: """
                    SELECT \(MemberRow.columns) FROM member WHERE status = 1 AND user_id IN (
                        SELECT subject FROM audit WHERE action = ?2 AND json_extract(detail, '$.into') = ?1
                        UNION SELECT json_extract(detail, '$.into') FROM audit WHERE action = ?2 AND subject = ?1)
                    """,
                arguments: [rows[index].member.userId, AuditEntry.Action.joined.rawValue]
            ).map { row in try MemberRow(row) }
            for other in others where ids.insert(other.id).inserted { rows.append(other) }
            index += 1
        }
        return rows
    }
}
