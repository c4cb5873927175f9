import GRDBSQLite
import GRDB

/// A connection to SQLite by its C interface, for files that are damaged: GRDB's decoding expects sound rows.
final class RawDatabase {
    let handle: OpaquePointer

    /// Opens a file that exists.
    init(_ path: String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        self.handle = handle
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Runs statements without results.
    func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// A statement, or `nil` if SQLite cannot make one of it, for instance since the table is damaged.
    func statement(_ sql: String) -> RawStatement? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { return nil }
        return RawStatement(self, statement)
    }
}

/// A statement of a ``RawDatabase``.
final class RawStatement {
    let handle: OpaquePointer
    private let database: RawDatabase

    fileprivate init(_ database: RawDatabase, _ handle: OpaquePointer) {
        self.database = database
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// A value to bind, by which a table is sorted.
    enum Key: Equatable, Comparable {
        case int(Int64)
        case bytes([UInt8])

        /// In SQLite's order.
        static func < (left: Key, right: Key) -> Bool {
            switch (left, right) {
            case (.int(let left), .int(let right)): left < right
            case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
            case (.int, .bytes): true
            case (.bytes, .int): false
            }
        }
    }

    func bind(_ key: Key, at index: Int32) {
        switch key {
        case .int(let number): sqlite3_bind_int64(handle, index, number)
        case .bytes(let bytes):
            // SQLITE_TRANSIENT, which is a macro: SQLite makes a copy.
            let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            sqlite3_bind_blob(handle, index, bytes, Int32(bytes.count), transient)
        }
    }

    func bind(_ text: String, at index: Int32) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(handle, index, text, -1, transient)
    }

    /// Goes on to the next row.
    ///
    /// - Returns: `SQLITE_ROW`, `SQLITE_DONE` or the code of an error.
    func step() -> Int32 { sqlite3_step(handle) }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    func count(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

    /// Binds a column of another statement's row as it is.
    func bind(_ column: Int32, of row: RawStatement, at index: Int32) {
        sqlite3_bind_value(handle, index, sqlite3_column_value(row.handle, column))
    }
}
