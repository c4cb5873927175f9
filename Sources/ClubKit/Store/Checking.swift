import Foundation
import GRDB

/// A fault of the store that ``Club/check()`` found.
public struct IntegrityFinding: Sendable, Hashable, Encodable {
    /// The severity.
    public var severity: Severity

    /// The kind of finding, for programs.
    public var code: Code

    /// A description of the fault and its remedy, without identifiers and names.
    public var message: String

    /// The severity of a finding.
    public enum Severity: String, Sendable, Hashable, Encodable {
        /// The data is correct, but something around it should be changed.
        case warning
        /// Data is damaged or contradicts itself.
        case error
    }

    /// The kinds of findings.
    public enum Code: String, Sendable, Hashable, Encodable, CaseIterable {
        /// SQLite finds the file damaged (`PRAGMA integrity_check`).
        case damaged
        /// A row refers to a missing one (`PRAGMA foreign_key_check`).
        case danglingReference
        /// A member's totals differ from the ledger.
        case totalsDiffer
        /// A tap was counted twice.
        case duplicateEvent
        /// A visit belongs to no member.
        case visitWithoutMember
        /// A visit and the receipts of taps contradict each other.
        case receiptMismatch
        /// The logical clock of this device is behind its records.
        case clockOrder
        /// The custom fields of a member are no JSON object.
        case malformedFields
        /// A stored value cannot be read.
        case unreadable
        /// The shown values of a member differ from their facts.
        case shownDiffers
        /// An erased member is present.
        case erasedPresent
        /// The journal of changes, which live lists follow, lacks some.
        case journalMismatch
        /// The state of scenarios, or the inbox, contradicts itself.
        case scenarioMismatch
        /// Changes to the ledger were left permitted.
        case ledgerUnlocked
        /// Commits are not synced to disk.
        case notDurable
        /// Other users of this machine can read the file.
        case permissions
    }

    /// Creates a finding.
    public init(_ severity: Severity, _ code: Code, _ message: String) {
        self.severity = severity
        self.code = code
        self.message = message
    }
}

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
            let message = "'PRAGMA synchronous' is \(synchronous), not 2 (FULL)"
            findings.append(IntegrityFinding(.error, .notDurable, message))
        }
        for file in path.map(DatabaseFiles.exposed) ?? [] {
            let name = (file as NSString).lastPathComponent
            let message = "other users may use '\(name)'; allow its owner only: chmod 600"
            findings.append(IntegrityFinding(.warning, .permissions, message))
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
        findings += missing.map { IntegrityFinding(.error, .damaged, "the \($0.type) '\($0.name)' is missing") }
        // Without a table nothing else can be asked.
        if missing.contains(where: { $0.type == "table" }) { return findings }
        for row in try Row.fetchAll(self, sql: "PRAGMA foreign_key_check") {
            let (table, parent): (String, String) = (row[0] ?? "?", row[2] ?? "?")
            let message = "a row of '\(table)' refers to a missing row of '\(parent)'"
            findings.append(IntegrityFinding(.error, .danglingReference, message))
        }
        for (code, questions) in IntegrityQuestion.all {
            for (meaning, sql) in questions {
                let count = try Int.fetchOne(self, sql: sql, arguments: sql.contains("?") ? [device.id] : []) ?? 0
                if count > 0 { findings.append(IntegrityFinding(.error, code, "\(count) \(meaning)")) }
            }
        }
        if try LogicalTimes.isClockAhead(now: device.clock(), in: self) {
            let message = "this device's logical clock is more than a day ahead of the present and of all records"
            findings.append(IntegrityFinding(.error, .clockOrder, message))
        }
        var counts: [StoredMembers.Contradiction: Int] = [:]
        try members.forEachContradiction() { _, contradiction in counts[contradiction, default: 0] += 1 }
        let erased = try members.presentThoughErased().count
        if erased > 0 { counts[.erased] = erased }
        for contradiction in StoredMembers.Contradiction.allCases {
            guard let count = counts[contradiction] else { continue }
            findings.append(IntegrityFinding(.error, contradiction.code, "\(count) \(contradiction.rawValue)"))
        }
        return findings
    }
}

/// Members whose facts contain more than their row.
extension StoredMembers {
    enum Contradiction: String, CaseIterable {
        case facts = "members of whom what was said cannot be read"
        case shown = "members who are shown otherwise than was said of them"
        case totals = "members whose totals differ from the ledger, what files claim and whom they were joined with"
        case erased = "members who were erased and are there"

        var code: IntegrityFinding.Code {
            switch self {
            case .facts: .unreadable
            case .shown: .shownDiffers
            case .totals: .totalsDiffer
            case .erased: .erasedPresent
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
            // No clock reaches such times, so what contains them was not written here.
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

    /// The members who are there although they were erased after all that is known of them was recorded.
    func presentThoughErased() throws -> [(id: Int64, erasure: Stamp)] {
        guard try db.has("erased") else { return [] }
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
    fileprivate func shows(_ shown: MemberProjection, tags: String?) throws -> Bool {
        try member.username == shown.username && member.fields == shown.fields.filter { $0.value != .null }
            && exists == shown.exists
            && member.timeStampAdded == Timestamp.seconds(shown.addedAt) && mergedInto == shown.mergedInto
            && blocked == shown.blocked && expiresAt == shown.expiresAt && origin == shown.origin
            && ended == shown.ended && claim?.visits == shown.claimVisits && claim?.at == shown.claimAt
            && tags == (shown.tags.isEmpty ? nil : try MemberRow.json(shown.tags))
    }
}
