import Foundation
import GRDB

/// What ``Migration`` needs of the store.
extension MemberStore {
    private static let versionKey = "recordVersion"

    /// The last step of the application's migrations that the records have seen; 0 if there was none.
    func recordVersion() async throws(ClubError) -> UInt64 {
        try await read("read the version of the records") { db in
            try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [Self.versionKey])
                .flatMap { UInt64($0) } ?? 0
        }
    }

    /// Changes custom values of members, and notes the step of the application's migrations that they have seen now.
    func storeRecords(_ edits: [String: [String: FieldValue]], version: UInt64) async throws(ClubError) {
        let attempt = "migrate the members"
        for values in edits.values { try values.refuseNUL(attempting: attempt) }
        try await write(attempt) { transaction in
            for (userID, values) in edits.sorted(by: { $0.key < $1.key }) {
                guard let row = try transaction.db.members.row(userID: userID), row.status == .present else { continue }
                let stamp = try transaction.nextStamp()
                try transaction.members.change(row) { facts in
                    for (name, value) in values { facts.set(name, value, stamp) }
                }
            }
            try transaction.db.execute(
                sql: """
                    INSERT INTO meta (key, value) VALUES (?, ?)
                    ON CONFLICT (key) DO UPDATE SET value = excluded.value
                    """,
                arguments: [Self.versionKey, "\(version)"]
            )
        }
    }
}
