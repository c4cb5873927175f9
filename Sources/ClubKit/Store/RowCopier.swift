import GRDB
import GRDBSQLite
import ReaderKit

/// Copies rows of a damaged table into a sound one, those that make sense.
final class RowCopier {
    let columns: [String]
    private let table: String
    private let insert: RawStatement
    private let target: RawDatabase
    private(set) var copied = 0
    /// How many were there already, or have what may be there only once.
    private(set) var ignored = 0
    private(set) var refused = 0
    /// Whether the row that was given last was copied.
    private var hasCopiedLast = false
    /// Why no more rows can be written, whatever they say.
    private var failure: ResultCode?

    init?(_ table: String, _ columns: [String], _ target: RawDatabase) {
        let names = columns.joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        guard let insert = target.statement("INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(marks))") else {
            return nil
        }
        self.columns = columns
        self.table = table
        self.insert = insert
        self.target = target
    }

    /// Takes the row of a statement that has these columns from the given one on. One that is there already is left
    /// out.
    func take(_ row: RawStatement, from first: Int32) {
        hasCopiedLast = false
        guard failure == nil else { return }
        for (index, name) in columns.enumerated() where !Self.isPossible(row, first + Int32(index), name) {
            refused += 1
            return
        }
        for index in 0..<Int32(columns.count) { insert.bind(first + index, of: row, at: index + 1) }
        let code = ResultCode(rawValue: insert.step())
        switch code.primaryResultCode {
        case .SQLITE_DONE:
            let count = Int(sqlite3_changes(target.handle))
            copied += count
            hasCopiedLast = count > 0
            ignored += 1 - count
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_NOMEM, .SQLITE_READONLY: failure = code
        default: refused += 1
        }
        insert.reset()
    }

    /// Makes sure that every row which was taken and made sense could be written: a full disk is no damage of the table.
    func finish() throws {
        if let failure { throw DatabaseError(resultCode: failure) }
    }

    /// Gives the row that was taken last another number, or takes it back if none or one that is taken is given: its own
    /// was damaged, and may be that of another row. Only for tables with row numbers.
    func renumberLast(_ number: Int64?) {
        guard hasCopiedLast else { return }
        hasCopiedLast = false
        let last = sqlite3_last_insert_rowid(target.handle)
        if let number {
            try? target.execute("UPDATE OR IGNORE \(table) SET rowid = \(number) WHERE rowid = \(last)")
            if sqlite3_changes(target.handle) == 1 { return }
        }
        try? target.execute("DELETE FROM \(table) WHERE rowid = \(last)")
        copied -= 1
    }

    /// Whether a value can be what its column is for; the schema looks at its type.
    private static func isPossible(_ row: RawStatement, _ column: Int32, _ name: String) -> Bool {
        switch name {
        case "event_id", "device_id", "execution_id": row.count(column) == 16
        case "origin_device", "visit": row.isNull(column) || row.count(column) == 16
        case "user_id": MemberID.isUsable(row.text(column))
        case "at", "added_at": (0...Timestamp.latest).contains(row.int(column))
        case "hlc", "origin_hlc", "born": row.int(column) >= 0
        default: true
        }
    }
}
