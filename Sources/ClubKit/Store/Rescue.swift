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
    /// How many rows were brought over, by table.
    private(set) var rows: [String: Int] = [:]
    /// What could not be read, in words.
    var lost: [String] = []
    /// Members of whose rows there is only what the indexes have.
    var named: [Int64] = []
    /// How many visits the damaged file had; `nil` if nobody can tell.
    var visits: Int?

    let source: RescueTrees
    let target: RawDatabase
    /// The tables of which rows are missing.
    private(set) var torn: Set<String> = []
    /// Whether the rows are of the first schema, which knew no creations.
    let isFirstSchema: Bool

    /// In this order, since rows refer to those of tables before.
    private static let tables = [
        "member", "visit", "undo", "receipt", "card", "erased", "audit", "presented", "scenario_reset",
        "scenario_event",
        "scenario_execution", "scenario_settlement", "scenario_undelivered", "message", "change", "clock", "meta",
    ]

    /// Tables that are missed in any case. What is not found of the others may have been empty.
    private static let missed: Set = ["member", "visit", "receipt"]

    init(from old: String, to new: String) throws {
        let isReplaced = try Self.mendFirstPage(of: old, like: new)
        target = try RawDatabase(new)
        let listed = try Self.list(of: old, isReplaced: isReplaced)
        guard let pages = RescuePages(old) else { throw DatabaseError(resultCode: .SQLITE_NOTADB) }
        source = RescueTrees(pages, Self.tables, listed: listed, like: target)
        isFirstSchema = listed.map { $0["clock"] == nil } ?? false
        try target.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
        for table in Self.tables {
            switch table {
            case "clock", "meta": copySettings(table)
            default: try copy(table, isListed: listed?[table] != nil, isListWhole: listed != nil)
            }
        }
        try copyVisitsFromIndexes()
        try copyNamesOfMembers()
        try settleOrigins()
        try target.execute("COMMIT")
    }

    // MARK: The list of tables

    /// Where the tables and indexes begin; `nil` if the list cannot be read to its end.
    private static func list(of old: String, isReplaced: Bool) throws -> [String: Int]? {
        let database = try RawDatabase(old)
        // Else one damaged line would hide all of them.
        try? database.execute("PRAGMA writable_schema = ON")
        // The pages are read without the log.
        try? database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        guard !isReplaced,
            let list = database.statement("SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'index')")
        else { return nil }
        var listed: [String: Int] = [:]
        var code = list.step()
        while code == SQLITE_ROW {
            listed[list.text(0)] = Int(list.int(1))
            code = list.step()
        }
        // The first schema, of which the list is short, has no clock.
        let needed =
            ["member", "visit", "receipt", "meta"]
            + (listed["clock"] == nil ? [] : ["undo", "card", "erased", "audit", "change"])
        return code == SQLITE_DONE && needed.allSatisfy { listed[$0] != nil } ? listed : nil
    }

    /// Gives a file whose beginning is no database's that of a sound one.
    ///
    /// - Returns: whether the list of tables that begins there is another file's now.
    private static func mendFirstPage(of old: String, like new: String) throws -> Bool {
        let probe = try RawDatabase(old)
        // Its other pages may be damaged.
        try? probe.execute("PRAGMA writable_schema = ON")
        if let list = probe.statement("SELECT 1 FROM sqlite_master"), list.step() == SQLITE_ROW { return false }
        let file = FileHandle(forUpdatingAtPath: old)
        let model = FileHandle(forReadingAtPath: new)
        guard let file, let model, let header = try model.read(upToCount: 100), header.count == 100 else {
            return false
        }
        defer {
            try? file.close()
            try? model.close()
        }
        let size = Int(header[16]) << 8 | Int(header[17])
        guard size >= 512 else { return false }
        try model.seek(toOffset: 0)
        guard var page = try model.read(upToCount: size), page.count == size else { return false }
        // How many pages there are is taken from the size of the file, and none is said to be free.
        for index in Array(28..<40) { page[index] = 0 }
        try file.write(contentsOf: page)
        return true
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
        if !isFound, !isListWhole {
            lost.append("the table '\(table)', which may have been empty, could not be found")
        }
        // Of members and visits the indexes tell more.
        if ["member", "visit"].contains(table) { return }
        if isPartLost { lost.append("a part of the table '\(table)' could not be read") }
        if refused > 0 { lost.append("\(refused) rows of the table '\(table)' that made no sense") }
    }

    /// Takes over who this device is, whatever else the store remembers of itself, and the clock, which goes on from where
    /// it was; all records are looked at later.
    private func copySettings(_ table: String) {
        let isClock = table == "clock"
        let replace = target.statement(
            isClock ? "UPDATE clock SET hlc = max(hlc, ?2)" : "REPLACE INTO meta (key, value) VALUES (?1, ?2)"
        )
        guard let replace else { return }
        _ = source.rows(of: table) { row in
            switch (row.values[0], row.values[1]) {
            case (_, .int(let time)) where time < 0: return
            case (.text(Array("deviceID".utf8)), .text(let id))
            where UUID(uuidString: String(decoding: id, as: UTF8.self)) == nil:
                return
            // Not yet: the records are put together under the old name.
            case (.text(Array(MemberStore.copyMark.utf8)), _): return
            default: break
            }
            if !isClock { replace.bind(row.values[0], at: 1) }
            replace.bind(row.values[1], at: 2)
            _ = replace.step()
            replace.reset()
        }
    }
}
