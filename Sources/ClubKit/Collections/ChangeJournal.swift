import GRDB

/// Reads the journal of changes, the table `change`.
enum ChangeJournal {
    /// What happened after a moment.
    enum Reading {
        /// These members changed: each with the number of its first change, which has the values before.
        case members([Int64: Int64])
        /// Too much for the journal, or not in it: everything has to be compared.
        case everything
    }

    /// The number of the latest change; 0 before the first.
    static func latest(in db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(seq) FROM change")) ?? 0
    }

    /// What happened after that change.
    static func changes(after sequence: Int64, in db: Database) throws -> Reading {
        let oldest = try Int64.fetchOne(db.cachedStatement(sql: "SELECT min(seq) FROM change")) ?? 0
        // Numbers have no gaps, so what is missing was cleared away. A file that was put back has smaller numbers.
        guard try latest(in: db) >= sequence, oldest <= sequence + 1 else { return .everything }
        let first = try firstChanges(after: sequence, in: db)
        return first[0] == nil ? .members(first) : .everything
    }

    /// The members that changed after that change, each with the number of its first change.
    static func firstChanges(after sequence: Int64, in db: Database) throws -> [Int64: Int64] {
        var changes: [Int64: Int64] = [:]
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT member_id, min(seq) FROM change WHERE seq > ? GROUP BY member_id"),
            arguments: [sequence]
        )
        while let row = try rows.next() { changes[try row.value(0)] = try row.value(1) }
        return changes
    }

    /// The number of a member's first change after that one; `nil` if there is none.
    static func firstChange(of id: Int64, after sequence: Int64, in db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(sql: "SELECT min(seq) FROM change WHERE seq > ? AND member_id = ?")
        return try Int64.fetchOne(statement, arguments: [sequence, id])
    }
}
