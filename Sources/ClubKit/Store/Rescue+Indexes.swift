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
        for index in RescueTrees.indexes["visit"] ?? [] where copyEntries(of: index) { isOneWhole = true }
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
    /// - Returns: whether all of it could be read.
    private func copyEntries(of index: String) -> Bool {
        guard let tree = source.trees[index] else { return false }
        let columns = tree.columns.dropLast()
        let names = columns.joined(separator: ", ")
        let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let changes = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let id = "?\(tree.columns.count)"
        guard
            let insert = target.statement(
                """
                INSERT INTO temp.found (id, \(names)) SELECT \(id), \(marks)
                WHERE NOT EXISTS (SELECT 1 FROM visit WHERE id = \(id)) ON CONFLICT (id) DO UPDATE SET \(changes)
                """
            )
        else { return false }
        let refused = source.rows(of: index) { entry in
            for (place, value) in entry.values.enumerated() { insert.bind(value, at: Int32(place + 1)) }
            _ = insert.step()
            insert.reset()
        }
        return refused == 0 && source.whole.contains(index)
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
            )
        else { return noteUnknownMembers() }
        let identifiers = entries("sqlite_autoindex_member_1")
        let names = entries("member_by_name")
        let others = entries("member_by_status")
        let joined = entries("member_by_merge")
        var nameless = 0
        for (id, value) in identifiers.values {
            let target = joined.values[id]
            let status: MemberRow.Status =
                switch others.values[id] {
                case .int(1): .gone
                // To whom cannot be read: a person may join them again.
                case .int(2): target == nil ? .present : .merged
                default:
                    // The members who are there have an index of their own.
                    if others.isWhole || !names.isWhole || names.values[id] != nil { .present } else { .gone }
                }
            if case .text(let text) = value, MemberID.isUsable(String(decoding: text, as: UTF8.self)) {
                insert.bind(.int(id), at: 1)
                insert.bind(value, at: 2)
                insert.bind(names.values[id] ?? .null, at: 3)
                insert.bind(.int(Int64(status.rawValue)), at: 4)
                insert.bind(status == .merged ? target ?? .null : .null, at: 5)
                if insert.step() == SQLITE_DONE, sqlite3_changes(self.target.handle) > 0 { named.append(id) }
                insert.reset()
            } else if count("member WHERE id = \(id)") == 0 {
                nameless += 1
            }
        }
        if nameless > 0 { lost.append("\(nameless) members whose identifiers made no sense") }
        if !identifiers.isWhole { noteUnknownMembers() }
    }

    private mutating func noteUnknownMembers() {
        guard torn.contains("member") else { return }
        lost.append("members who could not be read; how many there were cannot be told")
    }

    /// The first values of an index by the row numbers of members, and whether these are all.
    private func entries(_ index: String) -> (values: [Int64: RescuePages.Value], isWhole: Bool) {
        var values: [Int64: RescuePages.Value] = [:]
        let refused = source.rows(of: index) { entry in
            if case .int(let id)? = entry.values.last, let first = entry.values.first { values[id] = first }
        }
        return (values, refused == 0 && source.whole.contains(index))
    }
}
