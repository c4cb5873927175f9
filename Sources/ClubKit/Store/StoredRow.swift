import Foundation
import GRDB
import GRDBSQLite

/// A row of a result, whose values are looked at before they are believed: the file may be damaged.
///
/// What a tap, a merge and an export ask for is read by place, which is faster, as are numbers that a query computes; other
/// records of a table are read by the names of their columns.
protocol StoredRow {
    /// The value of a column, counted from 0.
    func stored(_ index: Int) -> DatabaseValue

    func columnName(_ index: Int) -> String
}

extension StoredRow {
    /// A value that the schema wants. GRDB's own subscripts trap on a damaged one.
    func value<Value: DatabaseValueConvertible>(_ index: Int) throws(ClubError) -> Value {
        guard let value: Value = try optional(index) else { throw .damaged(columnName(index)) }
        return value
    }

    func optional<Value: DatabaseValueConvertible>(_ index: Int) throws(ClubError) -> Value? {
        let stored = stored(index)
        guard !stored.isNull else { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw .damaged(columnName(index)) }
        return value
    }
}

extension Row: StoredRow {
    func stored(_ index: Int) -> DatabaseValue { self[index] }

    func columnName(_ index: Int) -> String { Array(columnNames)[index] }

    /// A value that the schema wants, by the name of its column.
    func value<Value: DatabaseValueConvertible>(_ column: String) throws(ClubError) -> Value {
        guard let value: Value = try optional(column) else { throw .damaged(column) }
        return value
    }

    func optional<Value: DatabaseValueConvertible>(_ column: String) throws(ClubError) -> Value? {
        guard let stored = self[column] as (any DatabaseValueConvertible)? else { return nil }
        guard let value = Value.fromDatabaseValue(stored.databaseValue) else { throw .damaged(column) }
        return value
    }

    /// The moment in a column with microseconds since 1970.
    func date(_ column: String) throws(ClubError) -> Date { Timestamp.date(try value(column)) }

    func optionalDate(_ column: String) throws(ClubError) -> Date? { try optional(column).map(Timestamp.date) }

    func stamp() throws(ClubError) -> Stamp { Stamp(time: try value("hlc"), device: try value("device_id")) }
}

/// What queries return and change, by statements that are kept for the next time.
extension Database {
    /// The first value, `nil` also for NULL.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws -> Value? {
        try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func values<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws -> [Value] {
        try Value.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Changes something.
    func write(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Whether there are such rows.
    ///
    /// - Parameter rows: what stands behind `FROM`.
    func has(_ rows: String, _ arguments: StatementArguments = StatementArguments()) throws -> Bool {
        try value("SELECT EXISTS (SELECT 1 FROM \(rows))", arguments) ?? false
    }
}

extension ClubError {
    fileprivate static func damaged(_ column: String) -> ClubError {
        ClubError(.corrupt, attempting: "read the member database", detail: "'\(column)' holds no usable value")
    }
}

extension Optional {
    /// A stored value that has a meaning; throws ``ClubError/Kind/corrupt``.
    func orCorrupt(_ attempt: String) throws(ClubError) -> Wrapped {
        guard let self else { throw ClubError(.corrupt, attempting: attempt, detail: "a value has no meaning") }
        return self
    }
}

/// The rows of a query, read without making objects of them. What it returns is valid until the next row.
///
/// GRDB's rows would take longer than all the rest of an export.
struct RawRows {
    private let statement: Statement
    private let handle: OpaquePointer?
    private let database: Database

    init(_ db: Database, _ sql: String) throws {
        statement = try db.makeStatement(sql: sql)
        handle = statement.sqliteStatement
        database = db
    }

    /// Goes to the next row. Returns false at the end.
    func next() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
        }
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// A text in UTF-8, or a blob; nothing for NULL.
    func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
    }
}
