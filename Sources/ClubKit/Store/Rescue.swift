import Foundation
import GRDB
import GRDBSQLite
import ReaderKit

/// Copies the rows of a damaged database that can be read into a sound and empty one.
///
/// Every table is read from both ends; what lies between two damaged pages is looked for by halving the gap. Rows that
/// the schema does not allow are left out. Of visits whose rows are gone the indexes have nearly all, of members the
/// identifiers and names.
struct Rescue {
    /// How many rows were brought over, by table.
    private(set) var rows: [String: Int] = [:]
    /// What could not be read, in words.
    var lost: [String] = []
    /// Members of whose rows there is only what the indexes have.
    var named: [Int64] = []
    /// How many visits the damaged file had; `nil` if nobody can tell.
    var visits: Int?

    let source: RawDatabase
    let target: RawDatabase
    private let fileSize: Int
    /// No row takes less than 16 bytes, so there cannot be more rows than the file has room for.
    var mostRows: Int { max(fileSize / 16, 1) }
    /// The tables of which rows are missing.
    private(set) var torn: Set<String> = []

    init(from old: String, to new: String) throws {
        let isReplaced = try Self.mendFirstPage(of: old, like: new)
        try Self.mendSchema(of: old, like: new, isReplaced: isReplaced)
        fileSize = (try FileManager.default.attributesOfItem(atPath: old)[.size] as? Int) ?? 0
        source = try RawDatabase(old)
        target = try RawDatabase(new)
        // Else one damaged line in the list of tables would hide all of them.
        try? source.execute("PRAGMA writable_schema = ON")
        try target.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
        copySettings()
        for table in Table.all { try copy(table) }
        try copyClock()
        try copyChanges()
        try copyVisitsFromIndexes()
        try copyNamesOfMembers()
        try settleOrigins()
        try target.execute("COMMIT")
    }

    // MARK: The first page

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

    /// A table and the columns by which it is sorted.
    private struct Table {
        enum Order {
            case rowid
            case uuid(String)
            /// Columns between whose values none can be named.
            case other(String)
        }

        var name: String
        var order: Order
        /// The step of the schema that made it, without which a file is of an earlier one; `nil` for the first tables.
        var step: String?

        static let all = [
            Table(name: "member", order: .rowid),
            Table(name: "visit", order: .rowid),
            Table(name: "undo", order: .uuid("event_id")),
            Table(name: "receipt", order: .uuid("event_id")),
            Table(name: "card", order: .other("card_id")),
            Table(name: "erased", order: .other("salt, hash")),
            Table(name: "audit", order: .other("device_id, hlc")),
            Table(name: "presented", order: .other("name"), step: DatabaseSchema.presentedMigration),
            Table(
                name: "scenario_reset",
                order: .other("kind, subject, scenario"),
                step: DatabaseSchema.scenarioMigration
            ),
            Table(name: "scenario_event", order: .uuid("event_id"), step: DatabaseSchema.scenarioMigration),
            Table(name: "scenario_execution", order: .uuid("execution_id"), step: DatabaseSchema.scenarioMigration),
            Table(
                name: "scenario_settlement",
                order: .other("execution_id, state"),
                step: DatabaseSchema.scenarioMigration
            ),
            Table(name: "scenario_undelivered", order: .uuid("execution_id"), step: DatabaseSchema.scenarioMigration),
            Table(name: "message", order: .rowid, step: DatabaseSchema.scenarioMigration),
        ]
    }

    func columns(of table: String, in database: RawDatabase) -> Set<String>? {
        guard let list = database.statement("PRAGMA table_info(\(table))") else { return nil }
        var columns: Set<String> = []
        while list.step() == SQLITE_ROW { columns.insert(list.text(1)) }
        return columns.isEmpty ? nil : columns
    }

    /// Whether the file's schema has taken a step; `nil` where that cannot be read.
    private func hasTaken(_ step: String) -> Bool? {
        guard let list = source.statement("SELECT 1 FROM grdb_migrations WHERE identifier = '\(step)'") else {
            return nil
        }
        switch list.step() {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: return nil
        }
    }

    private mutating func copy(_ table: Table) throws {
        guard let wanted = columns(of: table.name, in: target) else { return }
        // A table of a later schema is not missed in an older file.
        guard let found = columns(of: table.name, in: source) else {
            if columns(of: "clock", in: source) != nil, table.step.map({ hasTaken($0) != false }) ?? true {
                lost.append("the table '\(table.name)', which may have been empty, could not be found")
            }
            return
        }
        let names = wanted.intersection(found).sorted()
        guard let copier = RowCopier(table.name, names, target) else { return }
        let reader = GapReader(source, table.name, names, fileSize: fileSize)
        let isWhole =
            switch table.order {
            case .rowid: reader.read(by: "rowid", .int(1), copier)
            case .uuid(let column): reader.read(by: column, .bytes, copier)
            case .other(let columns): reader.readEnds(by: columns, copier)
            }
        try copier.finish()
        rows[table.name] = copier.copied
        if !isWhole || copier.refused > 0 { torn.insert(table.name) }
        // Of members and visits the indexes tell more.
        if ["member", "visit"].contains(table.name) { return }
        if !isWhole { lost.append("a part of the table '\(table.name)' could not be read") }
        // A row of a damaged table may have been looked at more than once.
        let count = isWhole ? "\(copier.refused) " : ""
        if copier.refused > 0 { lost.append(count + "rows of the table '\(table.name)' that made no sense") }
    }

    /// Takes over who this device is, and whatever else the store remembers of itself.
    private func copySettings() {
        guard let rows = source.statement("SELECT key, value FROM meta"),
            let replace = target.statement("REPLACE INTO meta (key, value) VALUES (?, ?)")
        else { return }
        while rows.step() == SQLITE_ROW {
            guard rows.text(0) != "deviceID" || UUID(uuidString: rows.text(1)) != nil else { continue }
            replace.bind(0, of: rows, at: 1)
            replace.bind(1, of: rows, at: 2)
            _ = replace.step()
            replace.reset()
        }
        // Not yet: the records are put together under the old name.
        try? target.execute("DELETE FROM meta WHERE key = '\(MemberStore.copyMark)'")
    }

    /// The clock goes on from where it was, if that can be read; all records are looked at later.
    private func copyClock() throws {
        guard let row = source.statement("SELECT hlc FROM clock"), row.step() == SQLITE_ROW, row.int(0) >= 0 else {
            return
        }
        try target.execute("UPDATE clock SET hlc = max(hlc, \(row.int(0)))")
    }

    /// The journal of changes has members as they were, for those whose record is lost.
    private func copyChanges() throws {
        guard let copier = RowCopier("change", ["seq", "member_id", "before"], target) else { return }
        let reader = GapReader(source, "change", copier.columns, fileSize: fileSize)
        _ = reader.read(by: "rowid", .int(1), copier)
        try copier.finish()
    }
}
