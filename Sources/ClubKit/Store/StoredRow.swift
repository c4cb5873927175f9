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

/// The statements of a tap, without what GRDB does for statements of any kind. Nobody observes transactions here.
extension Database {
    /// Runs a statement, which is kept for the next time, and reads the first row of what it gives. Whoever writes so is in
    /// a transaction.
    ///
    /// - Parameter read: must not run the same statement again.
    func first<Value>(
        _ sql: String,
        _ values: [(any DatabaseValueConvertible)?],
        _ read: (StatementRow) throws -> Value
    ) throws -> Value? {
        let statement = try cachedStatement(sql: sql)
        let handle = statement.sqliteStatement
        assert(values.count == sqlite3_bind_parameter_count(handle))
        var isReset = false
        defer { if !isReset { sqlite3_reset(handle) } }
        for (index, value) in values.enumerated() {
            let code = Self.bind(value?.databaseValue ?? .null, to: handle, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw failure(code, sql) }
        }
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW:
            let value = try read(StatementRow(statement: statement))
            // A statement that writes and gives rows ends here, and may fail here.
            isReset = true
            let code = sqlite3_reset(handle)
            guard code == SQLITE_OK else { throw failure(code, sql) }
            return value
        case SQLITE_DONE: return nil
        default: throw failure(code, sql)
        }
    }

    /// Runs a statement without a result, which is kept for the next time.
    func run(_ sql: String, _ values: [(any DatabaseValueConvertible)?]) throws {
        _ = try first(sql, values) { _ in }
    }

    private func failure(_ code: Int32, _ sql: String) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage, sql: sql)
    }

    private static func bind(_ value: DatabaseValue, to handle: OpaquePointer, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT, which is a macro: SQLite makes a copy.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value.storage {
        case .null: return sqlite3_bind_null(handle, index)
        case .int64(let number): return sqlite3_bind_int64(handle, index, number)
        case .double(let number): return sqlite3_bind_double(handle, index, number)
        case .string(var text):
            return text.withUTF8 { bytes in
                // Without bytes there is no address, which would be NULL.
                guard let start = bytes.baseAddress else { return sqlite3_bind_text(handle, index, "", 0, copied) }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_bind_text(handle, index, $0, Int32(clamping: bytes.count), copied)
                }
            }
        case .blob(let data):
            return data.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return sqlite3_bind_zeroblob(handle, index, 0) }
                return sqlite3_bind_blob(handle, index, start, Int32(clamping: bytes.count), copied)
            }
        }
    }

    /// Runs work in a transaction that writes from its beginning, with statements that are kept: to make them anew, as
    /// `inTransaction` does, takes longer than to run them.
    ///
    /// The work must not go on after an error of SQLite, which may have ended the transaction. A task that is cancelled
    /// meanwhile ends the statement under way, or none.
    func inTapTransaction(_ work: () throws -> TransactionCompletion) throws {
        try run("BEGIN IMMEDIATE TRANSACTION", [])
        do {
            if try work() == .commit {
                guard isInsideTransaction else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
                return try run("COMMIT TRANSACTION", [])
            }
        } catch {
            try? rollback()
            throw error
        }
        try rollback()
    }
}
