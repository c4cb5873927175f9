import GRDB

/// Which page of a damaged database belongs to which table or index.
///
/// The list of tables states at which page each begins, and pages that can be read lead to others. A page to which none
/// leads any more is known by its rows: by how many values they have and of which kinds.
struct RescueTrees {
    /// A table or an index, as the schema has it.
    struct Tree {
        let isTable: Bool
        /// The columns in the order in which rows have them; of an index, those of the table and its row number.
        let columns: [String]
        /// A letter for each column: `n` for the row number, which is not stored, `i` for a whole number, `t` for a text,
        /// `b` for bytes, `u` for 16 bytes; a capital letter where there may be none.
        let kinds: [Character]
        /// How many values a row has at least: columns that came later are missing in old rows.
        let least: Int

        init(_ isTable: Bool, _ columns: [String], _ kinds: [String: Character], least: Int? = nil) {
            (self.isTable, self.columns) = (isTable, columns)
            self.kinds = columns.compactMap { kinds[$0] }
            self.least = least ?? columns.count
        }

        func fits(_ row: RescuePages.Row?) -> Bool {
            guard let values = row?.values, (least...kinds.count).contains(values.count) else { return false }
            return zip(kinds, values).allSatisfy { kind, value in
                switch value.storage {
                case .null: kind == "n" || kind.isUppercase
                case .int64: kind == "i" || kind == "I"
                case .string: kind == "t" || kind == "T"
                case .blob(let bytes): kind == "b" || (kind == "u" || kind == "U") && bytes.count == 16
                case .double: false
                }
            }
        }
    }

    /// How many columns of a table came after the first schema.
    private static let later = ["member": 14, "visit": 4, "receipt": 1]

    /// The indexes that have something of rows that are gone.
    static let indexes = [
        "visit": ["visit_by_event", "visit_by_device", "visit_by_member"],
        "member": ["sqlite_autoindex_member_1", "member_by_name", "member_by_status", "member_by_merge"],
    ]

    /// What nothing else in the schema looks like, so that each of its pages is known also where none leads to it.
    private static let distinct: Set = [
        "member", "visit", "receipt", "change", "scenario_execution", "visit_by_event", "visit_by_device",
        "visit_by_member",
    ]

    private(set) var trees: [String: Tree] = [:]
    private var pages: [String: [RescuePages.Page]] = [:]
    /// Whose pages can all be read, as far as is known.
    private(set) var whole: Set<String> = []
    private let file: RescuePages

    /// - Parameters:
    ///   - listed: where each table and index begins by the list of tables; `nil` if it cannot be read.
    ///   - model: a sound database.
    init(_ file: RescuePages, _ tables: [String], listed: [String: Int]?, like model: Database) throws {
        self.file = file
        let names = tables.flatMap { [$0] + (Self.indexes[$0] ?? []) }
        for table in tables { try describe(table, model) }
        var listed = listed
        if let list = listed, list["clock"] == nil {
            // In the first schema two indexes of visits have no names of their own, and fewer columns.
            listed?["visit_by_event"] = list["sqlite_autoindex_visit_1"]
            listed?["visit_by_device"] = list["sqlite_autoindex_visit_2"]
            let kinds: [String: Character] = ["device_id": "u", "hlc": "i", "id": "i"]
            trees["visit_by_device"] = Tree(false, ["device_id", "hlc", "id"], kinds)
        }
        var owners: [Int: String] = [:]
        var broken: Set<String> = []
        if let listed {
            for name in names { if let root = listed[name] { walk(root, name, &owners, &broken) } }
            for (name, root) in listed where trees[name] == nil { walk(root, name, &owners, &broken) }
        }
        var (above, others): ([Int: Int], [RescuePages.Page]) = ([:], [])
        for number in 2...max(2, file.count) {
            guard let page = file.page(number) else { continue }
            for child in page.children { above[child] = number }
            if owners[number] == nil { others.append(page) }
        }
        var orphans: [String: [RescuePages.Page]] = [:]
        for page in others where !page.cells.isEmpty {
            let rows = file.rows(page)
            let name = names.first { name in
                guard let tree = trees[name], tree.isTable == page.isTable, listed == nil || broken.contains(name)
                else { return false }
                if name == "meta", !rows.contains(where: { $0?.values.first == "deviceID".databaseValue }) {
                    return false
                }
                return rows.count { tree.fits($0) } * 2 > rows.count
            }
            if let name { orphans[name, default: []].append(page) }
        }
        for (name, found) in orphans {
            let roots = Set(found.map { Self.root(above: $0.number, above) })
            guard Self.distinct.contains(name) || roots.count == 1 else { continue }
            if listed == nil, let root = roots.first, roots.count == 1 {
                // Without a list, a tree is whole that has one root, which leads to all of its pages.
                var found: [Int: String] = [:]
                walk(root, name, &found, &broken)
                if !broken.contains(name) { whole.insert(name) }
            }
            let known = Set(pages[name, default: []].map(\.number))
            pages[name, default: []] += found.filter { !known.contains($0.number) }
        }
        for name in names where listed?[name] != nil && !broken.contains(name) { whole.insert(name) }
    }

    /// The rows of a tree, as far as they make sense, and how many do not.
    func rows(of name: String, _ take: (RescuePages.Row) -> Void) -> Int {
        guard let tree = trees[name] else { return 0 }
        var refused = 0
        for page in pages[name] ?? [] {
            var rows = file.rows(page).map { tree.fits($0) ? $0 : nil }
            if tree.isTable { Self.renumber(&rows) }
            for row in rows {
                if let row { take(row) } else { refused += 1 }
            }
        }
        return refused
    }

    func has(_ name: String) -> Bool { pages[name] != nil }

    // MARK: The schema

    private mutating func describe(_ table: String, _ model: Database) throws {
        let isTable = try Bool.fetchOne(model, sql: "SELECT NOT wr FROM pragma_table_list('\(table)')") ?? true
        var columns: [String] = []
        var kinds: [String: Character] = [:]
        // Without row numbers, the columns of the key come first.
        let sql = """
            SELECT name, type, "notnull" OR pk AS isNeeded, pk FROM pragma_table_info(?)
            ORDER BY \(isTable ? "cid" : "pk = 0, pk, cid")
            """
        let list = try model.rows(sql, [table])
        for column in list {
            let (name, type): (String, String) = (column["name"], column["type"])
            columns.append(name)
            let isUUID = ["event_id", "device_id", "execution_id", "origin_device", "visit"].contains(name)
            let kind = type == "INTEGER" ? "i" : type == "TEXT" ? "t" : isUUID ? "u" : "b"
            let isNumber = isTable && (column["pk"] as Int) != 0
            kinds[name] = isNumber ? "n" : Character(column["isNeeded"] ? kind : kind.uppercased())
        }
        trees[table] = Tree(isTable, columns, kinds, least: columns.count - Self.later[table, default: 0])
        kinds[columns[0]] = "i"
        for index in Self.indexes[table] ?? [] {
            let names = try String.fetchAll(model, sql: "SELECT name FROM pragma_index_info(?)", arguments: [index])
            trees[index] = Tree(false, names + ["id"], kinds)
        }
    }

    // MARK: Pages

    /// Takes the pages to which a root leads.
    private mutating func walk(_ root: Int, _ name: String, _ owners: inout [Int: String], _ broken: inout Set<String>)
    {
        let tree = trees[name]
        var (waiting, isTable) = ([root], tree?.isTable)
        while let number = waiting.popLast() {
            guard owners[number] == nil, let page = file.page(number), page.isTable == isTable ?? page.isTable,
                !page.isDamaged
            else {
                broken.insert(name)
                continue
            }
            if let tree, !page.cells.isEmpty {
                let rows = file.rows(page)
                let fitting = rows.count { tree.fits($0) }
                if fitting < rows.count { broken.insert(name) }
                // Another tree's, to which a damaged page leads.
                if !rows.isEmpty, fitting == 0 { continue }
            }
            isTable = page.isTable
            owners[number] = name
            if tree != nil { pages[name, default: []].append(page) }
            waiting += page.children
        }
    }

    private static func root(above number: Int, _ above: [Int: Int]) -> Int {
        var root = number
        // No tree is as high as that, but damaged pages may lead in circles.
        for _ in 0..<20 { root = above[root] ?? root }
        return root
    }

    /// Row numbers rise. Of those that do not, the number is damaged: the one that is missing there is theirs if only one
    /// is, else the row is left out.
    private static func renumber(_ rows: inout [RescuePages.Row?]) {
        // The longest part that rises.
        var best: [(length: Int, before: Int?)] = []
        for index in rows.indices {
            best.append((0, nil))
            guard let number = rows[index]?.number else { continue }
            best[index].length = 1
            for other in 0..<index where best[other].length >= best[index].length {
                guard let before = rows[other]?.number, before < number else { continue }
                best[index] = (best[other].length + 1, other)
            }
        }
        var rising: Set<Int> = []
        var last = best.indices.max { best[$0].length < best[$1].length }
        while let index = last {
            rising.insert(index)
            last = best[index].before
        }
        for index in rows.indices where rows[index] != nil && !rising.contains(index) {
            let before = index > 0 && rising.contains(index - 1) ? rows[index - 1]?.number : nil
            let after = rising.contains(index + 1) ? rows[index + 1]?.number : nil
            if let before, let after, after - before == 2 {
                rows[index]?.number = before + 1
            } else {
                rows[index] = nil
            }
        }
    }
}
