import Foundation
import GRDB
import GRDBSQLite

enum BoundValue {
    case null
    case integer(Int64)
    case text(String)
    case uuid(UUID)

    static func optional(_ number: Int64?) -> BoundValue { number.map(BoundValue.integer) ?? .null }

    static func optional(_ text: String?) -> BoundValue { text.map(BoundValue.text) ?? .null }

    /// Binds the value, which SQLite copies, and returns the result code.
    fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT, which is a macro.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                // Without bytes there is no address, which would be NULL.
                guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, index, "", 0, copied) }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_bind_text(statement, index, $0, Int32(clamping: bytes.count), copied)
                }
            }
        case .uuid(let uuid):
            return withUnsafeBytes(of: uuid.uuid) {
                sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), copied)
            }
        }
    }
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
    /// Runs a statement, which is kept for the next time, and reads the first row that it returns. Whoever writes so is
    /// in a transaction.
    ///
    /// - Parameter read: must not run the same statement again.
    func first<Value>(_ sql: String, _ values: [BoundValue], _ read: (StatementRow) throws -> Value) throws -> Value? {
        let statement = try cachedStatement(sql: sql)
        let handle = statement.sqliteStatement
        assert(values.count == sqlite3_bind_parameter_count(handle))
        var isReset = false
        defer { if !isReset { sqlite3_reset(handle) } }
        for index in values.indices {
            let code = values[index].bind(to: handle, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw failure(code, sql) }
        }
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW:
            let value = try read(StatementRow(statement: statement))
            // A statement that writes and returns rows ends here, and may fail here.
            isReset = true
            let code = sqlite3_reset(handle)
            guard code == SQLITE_OK else { throw failure(code, sql) }
            return value
        case SQLITE_DONE: return nil
        default: throw failure(code, sql)
        }
    }

    /// Runs a statement without a result, which is kept for the next time.
    func run(_ sql: String, _ values: [BoundValue]) throws {
        _ = try first(sql, values) { _ in }
    }

    private func failure(_ code: Int32, _ sql: String) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage, sql: sql)
    }

    /// Runs work in a transaction that writes from its beginning, with statements that are kept: to make them anew, as
    /// `inTransaction` does, takes longer than to run them.
    ///
    /// The work must not go on after an error of SQLite, which may have ended the transaction.
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
