import GRDB

/// The indexes that only sort members.
///
/// They are written all over when members come in no order, so while a club that had none imports many they are left
/// out, and made in one go at the end. Should the end not come, they are made when the store is opened again.
enum SortingIndexes {
    private static let all = [
        ("member_by_last_visit", "member (last_visit_at DESC, user_id) WHERE status = 0"),
        ("member_by_name", "member (username COLLATE NOCASE, user_id) WHERE status = 0"),
    ]

    /// Leaves them out if there are no members yet; returns whether it did.
    static func leaveOut(in db: Database) throws -> Bool {
        var isEmpty = false
        try db.inTransaction(.immediate) {
            isEmpty = try !db.has("member")
            if isEmpty { for (name, _) in all { try db.execute(sql: "DROP INDEX IF EXISTS \(name)") } }
            return .commit
        }
        return isEmpty
    }

    static func make(in db: Database) throws {
        let names = Set(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'index'"))
        guard all.contains(where: { !names.contains($0.0) }) else { return }
        try db.inTransaction(.immediate) {
            for (name, columns) in all { try db.execute(sql: "CREATE INDEX IF NOT EXISTS \(name) ON \(columns)") }
            return .commit
        }
    }
}
