import GRDB
import ReaderKit

/// Rows that cannot be read any more, from what the indexes have of them.
extension Rescue {
    // MARK: Visits

    /// Puts visits together from their indexes, which have all of them but where they were made, who entered them and
    /// why. Receipts have that of taps.
    mutating func copyVisitsFromIndexes() throws {
        guard torn.contains("visit") else { return }
        let sql = """
            CREATE TEMP TABLE found (
                id INTEGER PRIMARY KEY, event_id BLOB, device_id BLOB, hlc INTEGER, member_id INTEGER, at INTEGER)
            """
        try target.execute(sql: sql)
        // Every index has an entry for each visit, so one that is whole shows how many there are.
        var isOneWhole = false
        for index in RescueTrees.indexes["visit"] ?? [] where try copyEntries(of: index) { isOneWhole = true }
        try target.execute(
            sql: """
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
        let incomplete = try count(
            "visit JOIN temp.found USING (id) WHERE visit.event_id NOT IN (SELECT event_id FROM receipt)"
        )
        if incomplete > 0 {
            lost.append(
                "\(incomplete) visits' reader and, where a person entered them, who and why; the visits are kept"
            )
        }
        if isOneWhole {
            let missing = try count("temp.found WHERE id NOT IN (SELECT id FROM visit)")
            visits = try count("visit") + missing
        } else {
            lost.append("visits that could not be read; how many there were cannot be told")
        }
        try target.execute(sql: "DROP TABLE temp.found")
    }

    /// Takes what an index has of visits that are missing; returns whether all of it could be read.
    private func copyEntries(of index: String) throws -> Bool {
        guard let tree = source.trees[index] else { return false }
        let columns = tree.columns.dropLast()
        let names = columns.joined(separator: ", ")
        let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let changes = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let id = "?\(tree.columns.count)"
        let sql = """
            INSERT INTO temp.found (id, \(names)) SELECT \(id), \(marks)
            WHERE NOT EXISTS (SELECT 1 FROM visit WHERE id = \(id)) ON CONFLICT (id) DO UPDATE SET \(changes)
            """
        let insert = try target.makeStatement(sql: sql)
        let refused = source.rows(of: index) { try? insert.execute(arguments: StatementArguments($0.values)) }
        return refused == 0 && source.whole.contains(index)
    }

    func count(_ rows: String) throws -> Int { try Int.fetchOne(target, sql: "SELECT count(*) FROM \(rows)") ?? 0 }

    // MARK: Members

    /// Takes the identifiers and names of members whose rows could not be read from the indexes, and whether they were
    /// deleted or joined to another.
    mutating func copyNamesOfMembers() throws {
        let sql = """
            INSERT OR IGNORE INTO member (id, user_id, username, added_at, status, merged_into)
            VALUES (?, ?, ?, 0, ?, ?)
            """
        let insert = try target.makeStatement(sql: sql)
        let identifiers = entries("sqlite_autoindex_member_1")
        let names = entries("member_by_name")
        let others = entries("member_by_status")
        let joined = entries("member_by_merge")
        var nameless = 0
        for (id, value) in identifiers.values {
            let target = joined.values[id]
            let status: MemberRow.Status =
                switch others.values[id]?.storage {
                case .int64(1): .gone
                // To whom cannot be read: a person may join them again.
                case .int64(2): target == nil ? .present : .merged
                default:
                    // The members who are there have an index of their own.
                    if others.isWhole || !names.isWhole || names.values[id] != nil { .present } else { .gone }
                }
            if let userID = String.fromDatabaseValue(value), MemberID.isUsable(userID) {
                let arguments: StatementArguments = [
                    id, userID, names.values[id], status.rawValue, status == .merged ? target : nil,
                ]
                if (try? insert.execute(arguments: arguments)) != nil, self.target.changesCount > 0 { named.append(id) }
            } else if try count("member WHERE id = \(id)") == 0 {
                nameless += 1
            }
        }
        if nameless > 0 { lost.append("\(nameless) members whose identifiers made no sense") }
        if !identifiers.isWhole, torn.contains("member") {
            lost.append("members who could not be read; how many there were cannot be told")
        }
    }

    /// The first values of an index by the row numbers of members, and whether these are all.
    private func entries(_ index: String) -> (values: [Int64: DatabaseValue], isWhole: Bool) {
        var values: [Int64: DatabaseValue] = [:]
        let refused = source.rows(of: index) { entry in
            if case .int64(let id)? = entry.values.last?.storage { values[id] = entry.values[0] }
        }
        return (values, refused == 0 && source.whole.contains(index))
    }
}
