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

    func bind(_ value: RescuePages.Value, at index: Int32) {
        // SQLITE_TRANSIENT, which is a macro: SQLite makes a copy.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .int(let number): sqlite3_bind_int64(handle, index, number)
        case .blob(let bytes): sqlite3_bind_blob(handle, index, bytes, Int32(bytes.count), transient)
        case .text(let bytes):
            bytes.withUnsafeBytes { bytes in
                // Without bytes there is no address, which would be NULL.
                guard let text = bytes.baseAddress, !bytes.isEmpty else {
                    return sqlite3_bind_text(handle, index, "", 0, transient)
                }
                return sqlite3_bind_text(
                    handle,
                    index,
                    text.assumingMemoryBound(to: CChar.self),
                    Int32(bytes.count),
                    transient
                )
            }
        }
    }

    /// Goes on to the next row.
    ///
    /// - Returns: `SQLITE_ROW`, `SQLITE_DONE` or the code of an error.
    func step() -> Int32 { sqlite3_step(handle) }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }
}
