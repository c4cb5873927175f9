import Foundation
import GRDBSQLite

/// The list of tables, which says at which page each begins, where it is damaged itself.
extension Rescue {
    /// What is needed of the list, with the shape by which a tree is known where the list does not say where it is.
    ///
    /// Of the indexes only those that nothing else looks like; an empty table looks like any other.
    private static let shapes: [(name: String, shape: RowShape)] = [
        ("member", RowShape(table: "ntTiiItiTTIITiiUiIITi", least: 7)),
        ("visit", RowShape(table: "nuuiiittitTT", least: 8)),
        ("change", RowShape(table: "niT")),
        ("clock", RowShape(table: "ni")),
        ("meta", RowShape(index: "tt")),
        ("receipt", RowShape(index: "uitttTTIIIT", least: 10)),
        ("undo", RowShape(index: "uuiiTT")),
        ("card", RowShape(index: "ttTiu")),
        ("erased", RowShape(index: "bbiu")),
        ("audit", RowShape(index: "uiitTTT")),
        ("presented", RowShape(index: "tII")),
        ("scenario_event", RowShape(index: "uuitttiiUi")),
        ("scenario_execution", RowShape(index: "uuitttiiUii")),
        ("scenario_settlement", RowShape(index: "utuiiTT")),
        ("scenario_undelivered", RowShape(index: "ut")),
        ("scenario_reset", RowShape(index: "tttui")),
        ("message", RowShape(table: "ntttiTTiIT")),
        ("visit_by_event", RowShape(index: "ui")),
        ("visit_by_device", RowShape(index: "uiui")),
        ("visit_by_member", RowShape(index: "iii")),
    ]

    /// Tables that came with a later schema than ``missed`` ones, and are no sign of damage where they are not there.
    private static let later: Set = [
        "presented", "scenario_event", "scenario_execution", "scenario_settlement", "scenario_undelivered",
        "scenario_reset", "message",
    ]

    /// Indexes of the members, by which it is only told whether the list of another file is right for this one.
    private static let indexesOfMembers: [(name: String, shape: RowShape)] = [
        ("sqlite_autoindex_member_1", RowShape(index: "ti")), ("member_by_name", RowShape(index: "Tti")),
        ("member_by_status", RowShape(index: "ii")), ("member_by_merge", RowShape(index: "ti")),
    ]

    /// Tables that are missed in any case. What is not found of the others may have been empty.
    private static let missed: Set = ["member", "visit", "receipt", "clock"]

    /// Writes the list of tables anew if it cannot be read whole.
    ///
    /// The schema is known, but for the first page of each table. Where the list does not tell it, it is the only tree
    /// of that shape in the file; where there are several, such as below a page that is damaged as well, or none, the
    /// table counts as unreadable.
    ///
    /// - Parameter isReplaced: whether the list is that of another file, so that its pages say nothing.
    static func mendSchema(of old: String, like new: String, isReplaced: Bool) throws {
        var listed: [String: Int] = [:]
        let isWhole: Bool
        do {
            let database = try RawDatabase(old)
            try? database.execute("PRAGMA writable_schema = ON")
            let list = database.statement("SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'index')")
            var code = list?.step()
            while let list, code == SQLITE_ROW {
                listed[list.text(0)] = Int(list.int(1))
                code = list.step()
            }
            // The first schema, of which the list is short, has no clock.
            isWhole =
                code == SQLITE_DONE
                && (listed["clock"] == nil || shapes.allSatisfy { listed[$0.name] != nil || later.contains($0.name) })
            if isWhole, !isReplaced { return }
            // The pages are read without the log.
            try? database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        guard !DatabaseFiles.hasContent(old + "-wal"), let pages = RescuePages(old) else { return }
        let candidates = pages.roots()
        var roots: [String: Int] = [:]
        for (name, shape) in shapes {
            if let page = listed[name], !isReplaced {
                roots[name] = page
                continue
            }
            var found = candidates.filter { pages.rows(ofTreeAt: $0, are: shape) }
            if name == "meta" { found = found.filter { pages.contains("deviceID", $0) } }
            if found.count == 1 { roots[name] = found[0] }
        }
        // Most files have the same list. Where a page begins nothing, nothing is lost by trusting it.
        if isWhole, isReplaced,
            (shapes + indexesOfMembers).allSatisfy({ name, shape in
                guard let page = listed[name], roots[name] ?? page == page else { return false }
                guard let there = pages.page(page) else { return true }
                return there.cells.isEmpty || candidates.contains(page) && pages.rows(ofTreeAt: page, are: shape)
            })
        {
            return
        }
        // Of another kind of file.
        guard roots["member"] != nil || roots["visit"] != nil || roots["receipt"] != nil else { return }
        try writeSchema(roots, to: old, like: new, pages.count)
    }

    private static func writeSchema(_ roots: [String: Int], to old: String, like new: String, _ count: Int) throws {
        guard let file = FileHandle(forUpdatingAtPath: old), var page = try file.read(upToCount: 100), page.count == 100
        else { return }
        let stored = Int(page[16]) << 8 | Int(page[17])
        let size = stored == 1 ? 65536 : stored
        let usable = size - Int(page[20])
        // How many pages there are is taken from the size of the file, and none is said to be free.
        for index in 28..<40 { page[index] = 0 }
        // An empty leaf of a table.
        page += [13, 0, 0, 0, 0, UInt8(usable >> 8 & 0xFF), UInt8(usable & 0xFF), 0]
        page += Data(repeating: 0, count: size - page.count)
        try file.seek(toOffset: 0)
        try file.write(contentsOf: page)
        // Behind the last page is one that cannot be read, which stands for the beginning of a table that is gone.
        try file.truncate(atOffset: UInt64(count * size))
        try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 0xFF, count: size))
        try file.close()

        let model = try RawDatabase(new)
        let database = try RawDatabase(old)
        try database.execute("PRAGMA writable_schema = ON; BEGIN IMMEDIATE")
        guard let entry = model.statement("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name = ?"),
            let insert = database.statement(
                "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)"
            )
        else { return }
        for (name, _) in shapes {
            guard let root = roots[name] ?? (missed.contains(name) ? count + 1 : nil) else { continue }
            entry.bind(name, at: 1)
            if entry.step() == SQLITE_ROW {
                for column in 0..<Int32(3) { insert.bind(column, of: entry, at: column + 1) }
                insert.bind(.int(Int64(root)), at: 4)
                // That would make an index of which nobody knows the page.
                insert.bind(entry.text(3).replacingOccurrences(of: " NOT NULL UNIQUE", with: " NOT NULL"), at: 5)
                _ = insert.step()
                insert.reset()
            }
            entry.reset()
        }
        try database.execute("COMMIT")
    }
}
