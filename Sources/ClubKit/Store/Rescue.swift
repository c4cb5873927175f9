import Foundation
import GRDB
import GRDBSQLite
import ReaderKit

/// Copies the rows of a damaged database that can be read into a sound and empty one.
///
/// Every page is read by itself (``RescuePages``), and belongs to a table by what leads to it or by its rows
/// (``RescueTrees``). Rows that the schema does not allow are left out. Of visits whose rows are gone the indexes have
/// nearly all, of members the identifiers and names.
struct Rescue {
    let source: RescueTrees
    let target: Database
    /// Whether the rows are of the first schema, which knew no creations.
    let isFirstSchema: Bool

    /// How many rows were brought over, by table.
    private(set) var rows: [String: Int] = [:]
    /// What could not be read, in words.
    var lost: [String] = []
    /// Members of whose rows there is only what the indexes have.
    var named: [Int64] = []
    /// How many visits the damaged file had; `nil` if unknown.
    var visits: Int?
    /// The tables of which rows are missing.
    private(set) var torn: Set<String> = []

    /// In this order, since rows refer to those of tables before.
    private static let tables = [
        "member", "visit", "undo", "receipt", "card", "erased", "audit", "presented", "scenario_reset",
        "scenario_event", "scenario_execution", "scenario_settlement", "scenario_undelivered", "message", "change",
        "clock", "meta",
    ]

    /// Tables that are missed in any case. What is not found of the others may have been empty.
    private static let missed: Set = ["member", "visit", "receipt"]

    /// - Parameter new: a sound and empty database that nobody uses.
    static func run(from old: String, to new: String) throws -> Rescue {
        let listed = try list(of: old, like: new)
        guard let pages = RescuePages(old) else { throw DatabaseError(resultCode: .SQLITE_NOTADB) }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return try DatabaseQueue(path: new, configuration: configuration).write { target in
            let source = try RescueTrees(pages, tables, listed: listed, like: target)
            let isFirstSchema = listed.map { $0["clock"] == nil } ?? false
            var rescue = Rescue(source: source, target: target, isFirstSchema: isFirstSchema)
            for table in tables {
                switch table {
                case "clock", "meta": try rescue.copySettings(table)
                default: try rescue.copy(table, isListed: listed?[table] != nil, isListWhole: listed != nil)
                }
            }
            try rescue.copyVisitsFromIndexes()
            try rescue.copyNamesOfMembers()
            try rescue.settleOrigins()
            return rescue
        }
    }

    // MARK: The list of tables

    /// Where the tables and indexes begin; `nil` if the list cannot be read to its end. A file whose beginning is no
    /// database's gets that of a sound one.
    private static func list(of old: String, like new: String) throws -> [String: Int]? {
        let (listed, isWhole) = try lines(of: old)
        guard !listed.isEmpty else {
            var page = try Data(contentsOf: URL(fileURLWithPath: new))
            page = page.prefix(Int(page[16]) << 8 | Int(page[17]))
            // The number of pages is taken from the size of the file, and none is marked as free.
            page.resetBytes(in: 28..<40)
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: old))
            defer { try? file.close() }
            try file.write(contentsOf: page)
            // For the log.
            _ = try lines(of: old)
            return nil
        }
        // The first schema, of which the list is short, has no clock.
        let needed =
            ["member", "visit", "receipt", "meta"]
            + (listed["clock"] == nil ? [] : ["undo", "card", "erased", "audit", "change"])
        return isWhole && needed.allSatisfy { listed[$0] != nil } ? listed : nil
    }

    /// Moves the log into a file, since the pages are read without it, and reads the list of tables, as far as it can be
    /// read. It uses SQLite's C interface: GRDB refuses to open a damaged file.
    private static func lines(of old: String) throws -> (listed: [String: Int], isWhole: Bool) {
        var (connection, list): (OpaquePointer?, OpaquePointer?)
        defer {
            sqlite3_finalize(list)
            sqlite3_close_v2(connection)
        }
        let opened = sqlite3_open_v2(old, &connection, SQLITE_OPEN_READWRITE, nil)
        guard opened == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: opened)) }
        // Else one damaged line would hide all of them.
        sqlite3_exec(connection, "PRAGMA writable_schema = ON", nil, nil, nil)
        sqlite3_exec(connection, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
        let sql = "SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'index')"
        var listed: [String: Int] = [:]
        var code = sqlite3_prepare_v2(connection, sql, -1, &list, nil)
        if code == SQLITE_OK { code = sqlite3_step(list) }
        while code == SQLITE_ROW {
            if let name = sqlite3_column_text(list, 0) {
                listed[String(cString: name)] = Int(sqlite3_column_int64(list, 1))
            }
            code = sqlite3_step(list)
        }
        return (listed, code == SQLITE_DONE)
    }

    // MARK: Tables

    private mutating func copy(_ table: String, isListed: Bool, isListWhole: Bool) throws {
        guard let tree = source.trees[table] else { return }
        let copier = RowCopier(table, tree.columns, target)
        let refused = source.rows(of: table, copier.take) + copier.refused
        try copier.finish()
        rows[table] = copier.copied
        let isFound = isListed || source.has(table)
        let isPartLost = isFound ? !source.whole.contains(table) : Self.missed.contains(table)
        if isPartLost || refused > 0 { torn.insert(table) }
        // The journal has members as they were, for those whose record is lost.
        if table == "change" { return }
        // A table of a later schema is not missed in an older file.
        if !isFound, !isListWhole { lost.append("the table '\(table)', which may have been empty, could not be found") }
        // The indexes contain more of members and visits.
        if ["member", "visit"].contains(table) { return }
        if isPartLost { lost.append("a part of the table '\(table)' could not be read") }
        if refused > 0 { lost.append("\(refused) rows of the table '\(table)' that made no sense") }
    }

    /// Takes over who this device is, whatever else the store remembers of itself, and the clock, which goes on from where
    /// it was; all records are looked at later.
    private func copySettings(_ table: String) throws {
        let isClock = table == "clock"
        let replace = try target.makeStatement(
            sql: isClock ? "UPDATE clock SET hlc = max(hlc, ?)" : "REPLACE INTO meta (key, value) VALUES (?, ?)"
        )
        _ = source.rows(of: table) { row in
            switch (row.values[0].storage, row.values[1].storage) {
            case (_, .int64(let time)) where time < 0: return
            case (.string("deviceID"), .string(let id)) where UUID(uuidString: id) == nil: return
            // Not yet: the records are put together under the old name.
            case (.string(MemberStore.copyMark), _): return
            default: try? replace.execute(arguments: StatementArguments(row.values.suffix(isClock ? 1 : 2)))
            }
        }
    }
}

/// Copies rows of a damaged table into a sound one, those that make sense.
final class RowCopier {
    private let columns: [String]
    private let table: String
    private let target: Database
    /// By how many values the row has.
    private var inserts: [Int: Statement] = [:]
    private(set) var copied = 0
    private(set) var refused = 0
    /// Why no more rows can be written, whatever they contain.
    private var failure: DatabaseError?

    /// - Parameter columns: those of the rows in their order; old rows may lack the last ones.
    init(_ table: String, _ columns: [String], _ target: Database) {
        self.columns = columns
        self.table = table
        self.target = target
    }

    /// Takes a row. One that is there already is left out.
    func take(_ row: RescuePages.Row) {
        guard failure == nil else { return }
        var values = row.values
        if let number = row.number, values.first == .null { values[0] = number.databaseValue }
        guard values.count <= columns.count, zip(columns, values).allSatisfy(Self.isPossible) else {
            refused += 1
            return
        }
        do {
            try insert(values.count).execute(arguments: StatementArguments(values))
            copied += target.changesCount
        } catch {
            // A statement that failed reports that once more when it is used again.
            inserts[values.count] = nil
            switch (error as? DatabaseError)?.resultCode {
            case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_NOMEM, .SQLITE_READONLY:
                failure = error as? DatabaseError
            default: refused += 1
            }
        }
    }

    private func insert(_ count: Int) throws -> Statement {
        if let insert = inserts[count] { return insert }
        let names = columns.prefix(count).joined(separator: ", ")
        let sql = "INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(databaseQuestionMarks(count: count)))"
        let insert = try target.makeStatement(sql: sql)
        inserts[count] = insert
        return insert
    }

    /// Makes sure that every row which was taken and made sense could be written: a full disk is no damage of the table.
    func finish() throws {
        if let failure { throw failure }
    }

    /// Whether a value can be what its column is for; the schema looks at its type.
    private static func isPossible(_ name: String, _ value: DatabaseValue) -> Bool {
        switch (name, value.storage) {
        case ("user_id", .string(let text)): MemberID.isUsable(text)
        case ("at", .int64(let number)), ("added_at", .int64(let number)): (0...Timestamp.latest).contains(number)
        case ("hlc", .int64(let number)), ("origin_hlc", .int64(let number)), ("born", .int64(let number)): number >= 0
        default: true
        }
    }
}
