import Foundation
import GRDB
import GRDBSQLite

/// A row of a result, whose values are looked at before they are believed: the file may be damaged.
protocol StoredRow {
    /// The value of a column, counted from 0.
    func stored(_ index: Int) -> DatabaseValue

    /// How the column is called.
    func columnName(_ index: Int) -> String
}

extension StoredRow {
    /// A value that the schema wants. GRDB's own subscripts trap on a damaged one.
    func value<Value: DatabaseValueConvertible>(_ index: Int) throws(ClubError) -> Value {
        guard let value: Value = try optional(index) else { throw damage(index) }
        return value
    }

    /// A value that may be missing.
    func optional<Value: DatabaseValueConvertible>(_ index: Int) throws(ClubError) -> Value? {
        let stored = stored(index)
        guard !stored.isNull else { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw damage(index) }
        return value
    }

    private func damage(_ index: Int) -> ClubError {
        ClubError(
            .corrupt,
            attempting: "read the member database",
            detail: "'\(columnName(index))' holds no usable value"
        )
    }
}

extension Row: StoredRow {
    func stored(_ index: Int) -> DatabaseValue { self[index] }

    func columnName(_ index: Int) -> String { Array(columnNames)[index] }
}

/// The row at which a statement stands. GRDB's rows come with an index of the columns' names, which takes longer to make
/// than what a tap asks for takes to find.
struct StatementRow: StoredRow {
    fileprivate let statement: Statement

    func stored(_ index: Int) -> DatabaseValue {
        DatabaseValue(sqliteStatement: statement.sqliteStatement, index: Int32(index))
    }

    func columnName(_ index: Int) -> String { statement.columnNames[index] }
}

extension Database {
    /// Runs a statement, which is kept for the next time, and reads the first row of what it gives.
    func first<Value>(
        _ sql: String,
        _ arguments: StatementArguments,
        _ read: (StatementRow) throws -> Value
    ) throws -> Value? {
        let statement = try cachedStatement(sql: sql)
        try statement.setArguments(arguments)
        let handle = statement.sqliteStatement
        defer { sqlite3_reset(handle) }
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return try read(StatementRow(statement: statement))
        case SQLITE_DONE: return nil
        default: throw DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage, sql: sql)
        }
    }

    /// The same as `inTransaction(.immediate)`, whose statements are made anew each time, which takes longer than to run
    /// them. The work must not go on after an error of SQLite, which may have ended the transaction.
    func inTapTransaction(_ work: () throws -> TransactionCompletion) throws {
        try cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
        do {
            if try work() == .commit { return try cachedStatement(sql: "COMMIT TRANSACTION").execute() }
        } catch {
            try? rollback()
            throw error
        }
        try rollback()
    }
}
