import Foundation
import GRDB

extension MemberStore {
    /// The member with that identifier of the original library's later files, which imports keep as the custom field
    /// `memberId`; or else with that ``Member/userId`` or card. It is read on the calling thread.
    func memberNow(withMemberID id: String) throws(ClubError) -> Member? {
        try readNow("look up a member") { db in
            if let row = try Self.found(identifiers(id), in: db) { return row.member }
            guard !id.isEmpty, !id.utf8.contains(0) else { return nil }
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT \(MemberRow.columns) FROM member
                    WHERE status = 0 AND json_extract(fields, '$.memberId') = ? ORDER BY id LIMIT 1
                    """,
                arguments: [id]
            )
            return try row.map { try MemberRow($0).member }
        }
    }
}
