import GRDB
import GRDBSQLite
import ReaderKit

/// Copies rows of a damaged table into a sound one, those that make sense.
final class RowCopier {
    private let columns: [String]
    private let table: String
    private let target: RawDatabase
    /// By how many values the row has.
    private var inserts: [Int: RawStatement] = [:]
    private(set) var copied = 0
    private(set) var refused = 0
    /// Why no more rows can be written, whatever they say.
    private var failure: ResultCode?

    /// - Parameter columns: those of the rows in their order; old rows may lack the last ones.
    init(_ table: String, _ columns: [String], _ target: RawDatabase) {
        self.columns = columns
        self.table = table
        self.target = target
    }

    /// Takes a row. One that is there already is left out.
    func take(_ row: RescuePages.Row) {
        guard failure == nil else { return }
        var values = row.values
        if let number = row.number, values.first == .null { values[0] = .int(number) }
        guard values.count <= columns.count, zip(columns, values).allSatisfy(Self.isPossible),
            let insert = statement(values.count)
        else {
            refused += 1
            return
        }
        for (index, value) in values.enumerated() { insert.bind(value, at: Int32(index + 1)) }
        let code = ResultCode(rawValue: insert.step())
        switch code.primaryResultCode {
        case .SQLITE_DONE: copied += Int(sqlite3_changes(target.handle))
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_NOMEM, .SQLITE_READONLY: failure = code
        default: refused += 1
        }
        insert.reset()
    }

    /// Makes sure that every row which was taken and made sense could be written: a full disk is no damage of the table.
    func finish() throws {
        if let failure { throw DatabaseError(resultCode: failure) }
    }

    private func statement(_ count: Int) -> RawStatement? {
        if let insert = inserts[count] { return insert }
        let names = columns.prefix(count).joined(separator: ", ")
        let marks = Array(repeating: "?", count: count).joined(separator: ", ")
        inserts[count] = target.statement("INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(marks))")
        return inserts[count]
    }

    /// Whether a value can be what its column is for; the schema looks at its type.
    private static func isPossible(_ name: String, _ value: RescuePages.Value) -> Bool {
        switch (name, value) {
        case ("user_id", .text(let bytes)): MemberID.isUsable(String(decoding: bytes, as: UTF8.self))
        case ("at", .int(let number)), ("added_at", .int(let number)): (0...Timestamp.latest).contains(number)
        case ("hlc", .int(let number)), ("origin_hlc", .int(let number)), ("born", .int(let number)): number >= 0
        default: true
        }
    }
}
