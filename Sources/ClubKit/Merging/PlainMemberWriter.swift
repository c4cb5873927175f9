import Foundation
import GRDB
import GRDBSQLite

/// Writes members whom one row of a file tells whole, straight from the file's bytes: the row is what
/// ``MemberSaving/save(_:of:)`` would make of the same facts, at a fraction of the time.
struct PlainMemberWriter {
    private let statement: Statement
    private let handle: OpaquePointer?
    private let query: Statement
    private let queryHandle: OpaquePointer?
    private let connection: OpaquePointer?
    private let database: Database
    private let limit: Int64

    /// - Parameter limit: the latest moment that is believed.
    init(_ db: Database, limit: Int64) throws {
        self.limit = limit
        statement = try db.cachedStatement(
            sql: """
                INSERT INTO member (id, user_id, username, added_at, num_visits, own_visits, last_visit_at, fields, origin_hlc,
                    claim_visits, claim_at, change_seq)
                VALUES (?11, ?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                ON CONFLICT (user_id) DO NOTHING
                """
        )
        handle = statement.sqliteStatement
        query = try db.cachedStatement(
            sql: """
                SELECT id FROM member WHERE user_id = ?1 AND username IS ?2 AND added_at = ?3 AND fields = ?6
                    AND origin_hlc = ?7 AND origin_device IS NULL AND claim_visits IS ?8 AND claim_at IS ?9
                    AND status = 0 AND ended_hlc = -1 AND facts IS NULL
                """
        )
        queryHandle = query.sqliteStatement
        connection = db.sqliteConnection
        database = db
    }

    /// Forgets the bytes that were written last.
    func finish() {
        for handle in [handle, queryHandle] {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
    }

    /// The id of a member whose row is the very one that this would write, so that nothing of it is new.
    func idIfThere(_ row: ImportBatch.Row, of batch: ImportBatch) throws -> Int64? {
        let (code, id) = step(queryHandle, row, batch)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw error(code) }
        return id
    }

    /// Writes a row.
    ///
    /// - Returns: false if there is one of that identifier already.
    func insert(_ row: ImportBatch.Row, of batch: ImportBatch, id: Int64, _ sequence: Int64) throws -> Bool {
        sqlite3_bind_int64(handle, 4, Int64(max(row.numVisits ?? 0, 0)))
        if (row.numVisits ?? 0) > 0 {
            sqlite3_bind_int64(handle, 5, row.lastVisitAt ?? 0)
        } else {
            sqlite3_bind_null(handle, 5)
        }
        sqlite3_bind_int64(handle, 10, sequence)
        sqlite3_bind_int64(handle, 11, id)
        let (code, _) = step(handle, row, batch)
        guard code == SQLITE_DONE else { throw error(code) }
        return sqlite3_changes(connection) == 1
    }

    /// Binds what both statements have, and runs one of them.
    ///
    /// - Returns: SQLite's code, and the number that the row has which was found.
    private func step(_ handle: OpaquePointer?, _ row: ImportBatch.Row, _ batch: ImportBatch) -> (Int32, Int64?) {
        let latest = row.lastVisitAt ?? 0
        let added = row.addedAt ?? 0
        return batch.bytes.withUnsafeBufferPointer { bytes in
            // The bytes stay where they are until the statement has run, and every value is bound anew each time.
            func bind(_ index: Int32, _ text: ImportBatch.Text) {
                let part = UnsafeBufferPointer(rebasing: bytes[text.range])
                guard let start = part.baseAddress, text.count > 0 else {
                    sqlite3_bind_text(handle, index, "", 0, Self.copied)
                    return
                }
                start.withMemoryRebound(to: CChar.self, capacity: text.count) {
                    _ = sqlite3_bind_text(handle, index, $0, Int32(text.count), nil)
                }
            }
            bind(1, row.userId)
            if case .text(let text) = row.username { bind(2, text) } else { sqlite3_bind_null(handle, 2) }
            sqlite3_bind_int64(handle, 3, added != 0 ? added : latest)
            if let visits = row.numVisits, visits > 0 {
                sqlite3_bind_int64(handle, 8, Int64(visits))
                sqlite3_bind_int64(handle, 9, latest)
            } else {
                sqlite3_bind_null(handle, 8)
                sqlite3_bind_null(handle, 9)
            }
            if let fields = row.fields { bind(6, fields) } else { sqlite3_bind_text(handle, 6, "{}", 2, Self.copied) }
            sqlite3_bind_int64(handle, 7, row.stamp(believedUpTo: limit).time)
            let code = sqlite3_step(handle)
            let number = code == SQLITE_ROW ? sqlite3_column_int64(handle, 0) : nil
            sqlite3_reset(handle)
            return (code, number)
        }
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
    }

    /// `SQLITE_TRANSIENT`: SQLite copies the text.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
