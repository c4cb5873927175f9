import Foundation
import GRDB

extension MemberStore {
    /// Looks for damage and contradictions. An empty list means that all is well.
    ///
    /// It reads one state of the database while taps go on; on a large database it takes as long as reading all of it.
    package func check() async throws(ClubError) -> [IntegrityFinding] {
        let attempt = "check the member database"
        let device = device
        var findings: [IntegrityFinding]
        do {
            findings = try await database.read { db in try db.findings(by: device) }
        } catch {
            let error = ClubError(error, attempting: attempt)
            guard error.kind == .corrupt || error.kind == .notADatabase else { throw error }
            findings = [IntegrityFinding(.error, .damaged, error.description)]
        }
        let synchronous = try await synchronousMode()
        if synchronous != 2 {
            findings.append(
                IntegrityFinding(.error, .notDurable, "'PRAGMA synchronous' is \(synchronous), not 2 (FULL)")
            )
        }
        for file in path.map(DatabaseFiles.exposed) ?? [] {
            let name = (file as NSString).lastPathComponent
            findings.append(
                IntegrityFinding(
                    .warning,
                    .permissions,
                    "other users may use '\(name)'; allow its owner only: chmod 600"
                )
            )
        }
        return findings
    }
}

extension Database {
    fileprivate func findings(by device: LocalDevice) throws -> [IntegrityFinding] {
        var findings: [IntegrityFinding] = []
        // One line "ok", or up to 100 lines of what is wrong.
        let lines = try String.fetchAll(self, sql: "PRAGMA integrity_check")
        if lines != ["ok"] {
            let more = lines.count > 1 ? " (and \(lines.count - 1) more)" : ""
            findings.append(IntegrityFinding(.error, .damaged, (lines.first ?? "no answer") + more))
        }
        let missing = try DatabaseSchema.missing(in: self)
        for object in missing {
            findings.append(IntegrityFinding(.error, .damaged, "the \(object.type) '\(object.name)' is missing"))
        }
        // Without a table nothing else can be asked.
        if missing.contains(where: { $0.type == "table" }) { return findings }
        for row in try Row.fetchAll(self, sql: "PRAGMA foreign_key_check") {
            let table: String = row[0] ?? "?"
            let parent: String = row[2] ?? "?"
            findings.append(
                IntegrityFinding(
                    .error,
                    .danglingReference,
                    "a row of '\(table)' refers to a missing row of '\(parent)'"
                )
            )
        }
        for question in IntegrityQuestion.all {
            let count =
                try Int.fetchOne(self, sql: question.sql, arguments: question.needsDevice ? [device.id] : []) ?? 0
            if count > 0 { findings.append(IntegrityFinding(.error, question.code, "\(count) \(question.meaning)")) }
        }
        if try LogicalTimes.isClockAhead(now: device.clock(), in: self) {
            findings.append(
                IntegrityFinding(
                    .error,
                    .clockOrder,
                    "this device's logical clock is more than a day ahead of the present and of all records"
                )
            )
        }
        var counts: [StoredMembers.Contradiction: Int] = [:]
        try members.forEachContradiction() { _, contradiction in counts[contradiction, default: 0] += 1 }
        let erased = try members.presentThoughErased().count
        if erased > 0 { counts[.erased] = erased }
        for contradiction in StoredMembers.Contradiction.allCases {
            guard let count = counts[contradiction] else { continue }
            findings.append(IntegrityFinding(.error, contradiction.code, "\(count) \(contradiction.meaning)"))
        }
        return findings
    }
}

/// Members whose facts tell more than their row.
extension StoredMembers {

    /// What can be wrong with one member.
    enum Contradiction: CaseIterable {
        case facts, shown, totals, erased

        var code: IntegrityFinding.Code {
            switch self {
            case .facts: .unreadable
            case .shown: .shownDiffers
            case .totals: .totalsDiffer
            case .erased: .erasedPresent
            }
        }

        var meaning: String {
            switch self {
            case .facts: "members of whom what was said cannot be read"
            case .shown: "members who are shown otherwise than was said of them"
            case .totals: "members whose totals differ from the ledger, what files claim and whom they were joined with"
            case .erased: "members who were erased and are there"
            }
        }
    }

    /// Looks at every member who is not as simple as ``IntegrityQuestion/isSimple``. The body must not change rows.
    func forEachContradiction(_ body: (Int64, Contradiction) throws -> Void) throws {
        let ids = try Int64.fetchCursor(db, sql: "SELECT id FROM member AS m WHERE NOT (\(IntegrityQuestion.isSimple))")
        var joined: [Int64: JoinedTotals] = [:]
        while let id = try ids.next() {
            if let contradiction = try contradiction(of: id, joined: &joined) { try body(id, contradiction) }
        }
    }

    /// What is wrong with a member, the worst first.
    ///
    /// - Parameter joined: what members have who are joined, found out once for all who are connected.
    private func contradiction(of id: Int64, joined: inout [Int64: JoinedTotals]) throws -> Contradiction? {
        let row: MemberRow
        let facts: MemberFacts
        do {
            guard let found = try self.row(id: id) else { return nil }
            row = found
            facts = try row.facts()
            // No clock gives such times, so what says them was not written here.
            guard facts.latestTime < Stamp.latestTime else { return .facts }
        } catch let error as ClubError where error.kind == .corrupt {
            return .facts
        }
        let shown = MemberProjection(facts, holder: try holderOfIdentifier(id))
        guard try row.shows(shown, tags: tags(of: id)) else { return .shown }
        let own = try totals(of: row)
        guard row.ownVisits == own.visits, row.visitsLeft == own.left else { return .totals }
        guard row.exists else {
            return row.member.numVisits == own.visits && row.latest == own.latest ?? 0 ? nil : .totals
        }
        if joined[id] == nil {
            let rows = try connected(to: row)
            for (one, totals) in zip(rows, try joinedTotals(of: rows)) { joined[one.id] = totals }
        }
        // Nobody is asked for twice.
        guard let all = joined.removeValue(forKey: id) else { return nil }
        guard row.status == all.status else { return .shown }
        return row.member.numVisits == all.visits && row.latest == all.latest ? nil : .totals
    }

    private func tags(of id: Int64) throws -> String? {
        try String.fetchOne(db.cachedStatement(sql: "SELECT tags FROM member WHERE id = ?"), arguments: [id])
    }

    /// The members who are there although they were erased later than all that is known of them was said.
    func presentThoughErased() throws -> [(id: Int64, erasure: Stamp)] {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM erased)") ?? false else { return [] }
        var found: [(id: Int64, erasure: Stamp)] = []
        let rows = try Row.fetchCursor(
            db,
            sql: "SELECT id, user_id, origin_hlc, origin_device FROM member WHERE status <> 1"
        )
        while let row = try rows.next() {
            guard let erasure = try db.erasures.latest(of: try row.value("user_id")) else { continue }
            let device: UUID? = try row.optional("origin_device")
            let origin: Int64 = try row.value("origin_hlc")
            if device == nil || origin <= erasure.time { found.append((try row.value("id"), erasure)) }
        }
        return found
    }
}

extension MemberRow {
    /// Whether the row has these values.
    fileprivate func shows(_ shown: MemberProjection, tags: String?) throws -> Bool {
        try member.username == shown.username && member.fields == shown.fields.filter { $0.value != .null }
            && exists == shown.exists
            && member.timeStampAdded == Timestamp.seconds(shown.addedAt) && mergedInto == shown.mergedInto
            && blocked == shown.blocked && expiresAt == shown.expiresAt && origin == shown.origin
            && ended == shown.ended && claim?.visits == shown.claimVisits && claim?.at == shown.claimAt
            && tags == (shown.tags.isEmpty ? nil : try MemberRow.json(shown.tags))
    }
}
