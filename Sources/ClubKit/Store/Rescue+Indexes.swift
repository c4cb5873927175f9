import GRDBSQLite
import ReaderKit

/// Rows that cannot be read any more, from what the indexes have of them.
extension Rescue {
    // MARK: Visits

    /// Puts visits together from their indexes, which have all of them but where they were made, who entered them and
    /// why. Receipts have that of taps.
    mutating func copyVisitsFromIndexes() throws {
        guard torn.contains("visit") else { return }
        try target.execute(
            """
            CREATE TEMP TABLE found (
                id INTEGER PRIMARY KEY, event_id BLOB, device_id BLOB, hlc INTEGER, member_id INTEGER, at INTEGER)
            """
        )
        // Every index has an entry for each visit, so one that is whole describes how many there are.
        var isOneWhole = false
        for (index, columns) in indexes(of: "visit") where try copyEntries(of: index, columns) { isOneWhole = true }
        try target.execute(
            """
            INSERT OR IGNORE INTO visit (id, event_id, device_id, hlc, member_id, at, reader, backend, born, source)
            SELECT found.id, found.event_id, found.device_id, found.hlc, found.member_id, found.at,
                coalesce(receipt.reader, ''), coalesce(receipt.backend, ''), \(Self.unknownBirth),
                -- Each tap of this device has a receipt.
                CASE WHEN receipt.event_id IS NULL AND hex(found.device_id) =
                    (SELECT upper(replace(value, '-', '')) FROM meta WHERE key = 'deviceID')
                    THEN 'manual' ELSE 'card' END
            FROM found LEFT JOIN receipt ON receipt.event_id = found.event_id
            WHERE length(found.event_id) = 16 AND length(found.device_id) = 16
                AND found.hlc \(LogicalTimes.isPossible) AND found.member_id IS NOT NULL
                AND found.at BETWEEN 0 AND \(Timestamp.latest)
            """
        )
        let incomplete = count(
            "visit JOIN temp.found USING (id) WHERE visit.event_id NOT IN (SELECT event_id FROM receipt)"
        )
        if incomplete > 0 {
            lost.append(
                "\(incomplete) visits' reader and, where a person entered them, who and why; the visits are kept"
            )
        }
        if isOneWhole {
            let missing = count("temp.found WHERE id NOT IN (SELECT id FROM visit)")
            visits = count("visit") + missing
        } else {
            lost.append("visits that could not be read; how many there were cannot be told")
        }
        try target.execute("DROP TABLE temp.found")
    }

    /// Takes what an index has of visits that are missing.
    ///
    /// - Returns: whether it was read to its end.
    private func copyEntries(of index: String, _ columns: [String]) throws -> Bool {
        let names = columns.joined(separator: ", ")
        let marks = columns.indices.map { "?\($0 + 2)" }.joined(separator: ", ")
        let changes = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        guard
            let insert = target.statement(
                """
                INSERT INTO temp.found (id, \(names)) SELECT ?1, \(marks)
                WHERE NOT EXISTS (SELECT 1 FROM visit WHERE id = ?1) ON CONFLICT (id) DO UPDATE SET \(changes)
                """
            )
        else { return false }
        for direction in ["", " DESC"] {
            let order = columns.map { $0 + direction }.joined(separator: ", ")
            guard
                let entries = source.statement("SELECT id, \(names) FROM visit INDEXED BY \(index) ORDER BY \(order)")
            else { return false }
            var rest = mostRows
            var code = entries.step()
            // Damaged pages may lead in circles.
            while code == SQLITE_ROW, rest > 0 {
                rest -= 1
                for column in 0...Int32(columns.count) { insert.bind(column, of: entries, at: column + 1) }
                _ = insert.step()
                insert.reset()
                code = entries.step()
            }
            if code == SQLITE_DONE { return true }
        }
        return false
    }

    /// The indexes of a table in the damaged file, with their columns.
    private func indexes(of table: String) -> [(name: String, columns: [String])] {
        guard let list = source.statement("SELECT name FROM pragma_index_list('\(table)') WHERE NOT partial") else {
            return []
        }
        var names: [String] = []
        while list.step() == SQLITE_ROW { names.append(list.text(0)) }
        return names.compactMap { name in
            guard let list = source.statement("SELECT name FROM pragma_index_info('\(name)')") else { return nil }
            var columns: [String] = []
            while list.step() == SQLITE_ROW { columns.append(list.text(0)) }
            let known: Set = ["event_id", "device_id", "hlc", "member_id", "at"]
            return !columns.isEmpty && known.isSuperset(of: columns) ? (name, columns) : nil
        }
    }

    func count(_ rows: String) -> Int {
        guard let count = target.statement("SELECT count(*) FROM \(rows)"), count.step() == SQLITE_ROW else { return 0 }
        return Int(count.int(0))
    }

    // MARK: Members

    /// Takes the identifiers and names of members whose rows could not be read from the indexes, and whether they were
    /// deleted or joined to another.
    mutating func copyNamesOfMembers() throws {
        guard
            let insert = target.statement(
                """
                INSERT OR IGNORE INTO member (id, user_id, username, added_at, status, merged_into)
                VALUES (?1, ?2, ?3, 0, ?4, ?5)
                """
            ),
            let identifiers = source.statement(
                "SELECT id, user_id FROM member INDEXED BY sqlite_autoindex_member_1 ORDER BY user_id"
            )
        else { return noteUnknownMembers() }
        let present = entries(
            "id, username, user_id FROM member INDEXED BY member_by_name WHERE status = 0 ORDER BY username COLLATE NOCASE"
        )
        let others = entries("id, status FROM member INDEXED BY member_by_status WHERE status <> 0 ORDER BY status")
        let joined = entries(
            "id, merged_into FROM member INDEXED BY member_by_merge WHERE merged_into IS NOT NULL ORDER BY merged_into"
        )
        var nameless = 0
        var code = identifiers.step()
        var rest = mostRows
        while code == SQLITE_ROW, rest > 0 {
            rest -= 1
            let id = identifiers.int(0)
            let target = joined.values[id] ?? nil
            let status: MemberRow.Status =
                switch others.values[id] ?? nil {
                case "1": .gone
                // To whom cannot be read: a person may join them again.
                case "2": target == nil ? .present : .merged
                default:
                    // The members who are there have an index of their own.
                    if others.isWhole || !present.isWhole || present.values[id] != nil { .present } else { .gone }
                }
            if MemberID.isUsable(identifiers.text(1)) {
                insert.reset()
                insert.bind(0, of: identifiers, at: 1)
                insert.bind(1, of: identifiers, at: 2)
                if let name = present.values[id] ?? nil { insert.bind(name, at: 3) }
                insert.bind(.int(Int64(status.rawValue)), at: 4)
                if status == .merged, let target { insert.bind(target, at: 5) }
                if insert.step() == SQLITE_DONE, sqlite3_changes(self.target.handle) > 0 { named.append(id) }
                insert.reset()
            } else if count("member WHERE id = \(id)") == 0 {
                nameless += 1
            }
            code = identifiers.step()
        }
        if nameless > 0 { lost.append("\(nameless) members whose identifiers made no sense") }
        if code != SQLITE_DONE { noteUnknownMembers() }
    }

    private mutating func noteUnknownMembers() {
        guard torn.contains("member") else { return }
        lost.append("members who could not be read; how many there were cannot be told")
    }

    /// Ids and texts of an index, and whether these are all.
    private func entries(_ selection: String) -> (values: [Int64: String?], isWhole: Bool) {
        guard let list = source.statement("SELECT " + selection) else { return ([:], false) }
        var values: [Int64: String?] = [:]
        var rest = mostRows
        var code = list.step()
        while code == SQLITE_ROW, rest > 0 {
            rest -= 1
            values.updateValue(list.isNull(1) ? nil : list.text(1), forKey: list.int(0))
            code = list.step()
        }
        return (values, code == SQLITE_DONE)
    }
}
