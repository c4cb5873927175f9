import Foundation
import GRDB

/// What the store knows of one subject, asked for only where a scenario needs it, and then once for all scenarios.
///
/// It lives as long as the transaction in which it is used.
final class ScenarioState {
    let db: Database
    let subject: ScenarioSubject
    /// A member may be made of several who were joined; everybody else has one.
    let keys: [SubjectKey]
    /// The member's rows, that of who stands for all of them first; none for a group or the kiosk.
    let rows: [MemberRow]
    private let asked: KeptCount.Asked?

    private var executions: [String: (count: Int, last: Int64?)]?
    private var visits: (count: Int, first: Int64?, last: Int64?)?
    private var events: [String: (count: Int, first: Int64?, last: Int64?)] = [:]
    private var foundTags: [String]?
    private var foundFacts: [Int64: MemberFacts] = [:]

    /// The name under which visits stand among the events of a group or the kiosk.
    static let visitsName = "$visits"

    init(_ member: MemberRow, in db: Database) throws {
        self.db = db
        asked = nil
        subject = .member(member.member.userId)
        // A joined member may have events and executions and no visits, so their number is not enough.
        let isJoined =
            try member.mergedInto != nil || member.member.numVisits != member.ownVisits
            || db.members.isTarget(member.member.userId)
        if !isJoined {
            rows = [member]
        } else {
            let joined = try db.members.joined(to: member)
            rows = [member] + joined.filter { $0.id != member.id }
        }
        keys = rows.map { SubjectKey($0) }
    }

    /// - Parameter keepsCounts: whether numbers that are dear to count are kept in the database.
    init(_ key: SubjectKey, keepsCounts: Bool = false, in db: Database) {
        self.db = db
        asked = keepsCounts ? KeptCount.Asked() : nil
        subject = key.subject
        keys = [key]
        rows = []
    }

    func tags() throws -> [String] {
        if let foundTags { return foundTags }
        let tags = try rows.first.map { try db.members.tags(of: $0.id) } ?? []
        foundTags = tags
        return tags
    }

    // MARK: Executions

    /// Those of a group or the kiosk, which may be many.
    private func keptExecutions(of scenario: String) -> KeptCount? {
        rows.isEmpty ? KeptCount(source: KeptCount.executions, key: keys[0], name: scenario, db: db, asked: asked) : nil
    }

    func executions(of scenario: String) throws -> (count: Int, last: Int64?) {
        if let all = try keptExecutions(of: scenario)?.all() { return (all.count, all.last) }
        if let executions { return executions[scenario] ?? (0, nil) }
        var found: [String: (count: Int, last: Int64?)] = [:]
        let sql = """
            SELECT scenario, count(*), max(at) FROM scenario_execution
            WHERE kind = ? AND subject = ? AND counts = 1 AND born > ? GROUP BY scenario
            """
        for key in keys {
            for row in try db.rows(sql, [key.kind.rawValue, key.text, key.ended]) {
                let (name, count, last): (String, Int, Int64) = (try row.value(0), try row.value(1), try row.value(2))
                let former = found[name] ?? (0, nil)
                found[name] = (former.count + count, max(former.last ?? last, last))
            }
        }
        executions = found
        return found[scenario] ?? (0, nil)
    }

    /// Takes note of an execution that was just charged.
    func noteExecution(of scenario: String, at time: Int64) {
        guard var all = executions else { return }
        let former = all[scenario] ?? (0, nil)
        all[scenario] = (former.count + 1, max(former.last ?? time, time))
        executions = all
    }

    func countExecutions(of scenario: String, after: Int64, before: Int64) throws -> Int {
        if let kept = keptExecutions(of: scenario) {
            return try kept.count(after: after, through: before == .max ? .max : ScenarioTime.difference(before, 1))
        }
        return try keys.reduce(0) { sum, key in
            try sum
                + (db.first(
                    """
                    SELECT count(*) FROM scenario_execution WHERE kind = ? AND subject = ? AND scenario = ?
                        AND counts = 1 AND at > ? AND at < ? AND born > ?
                    """,
                    key.values + [.text(scenario), .integer(after), .integer(before), .integer(key.ended)]
                ) { try $0.value(0) } ?? 0)
        }
    }

    func execution(of scenario: String, fromLatest k: Int) throws -> Int64? {
        try latest(k) { key, skipped, limit in
            try db.values(
                """
                SELECT at FROM scenario_execution WHERE kind = ? AND subject = ? AND scenario = ?
                    AND counts = 1 AND born > ? ORDER BY at DESC LIMIT ? OFFSET ?
                """,
                [key.kind.rawValue, key.text, scenario, key.ended, limit, skipped]
            )
        }
    }

    // MARK: Visits of a member

    /// A visit that counts, of one row: `?1` is the member, `?2` the time of the latest deletion.
    private static let countedVisit = "member_id = ?1 AND born > ?2 AND \(VisitRow.isCounted)"

    /// All visits of the member. The first is that of the ledger; where visits are known by their number alone, it is no
    /// later than the member's creation.
    func allVisits() throws -> (count: Int, first: Int64?, last: Int64?) {
        if let visits { return visits }
        guard let shown = rows.first, shown.member.numVisits > 0 else { return (0, nil, nil) }
        var first: Int64?
        for row in rows where row.exists {
            let listed: Int64? = try db.first(
                "SELECT at FROM visit WHERE \(Self.countedVisit) ORDER BY at LIMIT 1",
                [.integer(row.id), .integer(row.ended)]
            ) { try $0.value(0) }
            let unlisted = try unlistedVisits(of: row)
            let earliest = [listed, unlisted?.first].compactMap(\.self).min()
            first = [first, earliest].compactMap(\.self).min()
        }
        let all = (shown.member.numVisits, first, shown.latest == 0 ? nil : shown.latest)
        visits = all
        return all
    }

    /// How many visits lie after a moment, up to another. Of those that were removed, the numbers since the moments are
    /// kept from which scenarios count.
    func countVisits(after: Int64, through: Int64) throws -> Int {
        try rows.filter(\.exists).reduce(0) { sum, row in
            let listed: Int? = try db.first(
                "SELECT count(*) FROM visit WHERE \(Self.countedVisit) AND at > ?3 AND at <= ?4",
                [.integer(row.id), .integer(row.ended), .integer(after), .integer(through)]
            ) { try $0.value(0) }
            let removed = try facts(of: row)?.removedVisits(after: after, through: through) ?? 0
            return Int.sum(sum, Int.sum(listed ?? 0, removed))
        }
    }

    /// What is kept of a member beyond the row, decoded once.
    private func facts(of row: MemberRow) throws -> MemberFacts? {
        guard row.hasFacts else { return nil }
        if let found = foundFacts[row.id] { return found }
        let facts = try row.facts()
        foundFacts[row.id] = facts
        return facts
    }

    /// When visits were that are in the ledger no more, or never were: as far as that is known.
    private func unlistedVisits(of row: MemberRow) throws -> (first: Int64?, last: Int64?)? {
        let facts = try facts(of: row)
        let last = [row.claim?.at, facts?.claims.map(\.at).max(), facts?.latestRemovedVisit].compactMap(\.self).max()
        guard let last else { return nil }
        return (row.addedAt == 0 ? nil : row.addedAt, last)
    }

    func visit(fromLatest k: Int, through: Int64) throws -> Int64? {
        var times: [Int64] = []
        let isAlone = rows.count == 1
        for row in rows where row.exists {
            let unlisted = try unlistedVisits(of: row)?.last
            let skipped = isAlone && unlisted == nil ? k : 0
            times +=
                try db.values(
                    "SELECT at FROM visit WHERE \(Self.countedVisit) AND at <= ?3 ORDER BY at DESC LIMIT ?4 OFFSET ?5",
                    [row.id, row.ended, through, k + 1 - skipped, skipped]
                ) as [Int64]
            if let unlisted, unlisted <= through { times.append(unlisted) }
            if skipped > 0 || (k == 0 && isAlone && unlisted == nil) { return times.first }
        }
        times.sort(by: >)
        return times.indices.contains(k) ? times[k] : nil
    }

    // MARK: Events that programs record, and visits of a group or the kiosk

    /// An event that counts: `?1` to `?5` are kind, subject, name, the time of the latest deletion, and that of the latest
    /// reset.
    private static let countedEvent =
        "kind = ?1 AND subject = ?2 AND name = ?3 AND born > ?4 AND hlc > ?5 AND undone = 0"

    private func resetTime(_ key: SubjectKey, _ name: String) throws -> Int64 {
        try db.resetTime(key, SubjectEvents.resetName(ofEvents: name))
    }

    func allEvents(named name: String) throws -> (count: Int, first: Int64?, last: Int64?) {
        if let found = events[name] { return found }
        var sum: (count: Int, first: Int64?, last: Int64?) = (0, nil, nil)
        for key in keys {
            let one = try events(of: key, name).all()
            sum.count += one.count
            sum.first = [sum.first, one.first].compactMap(\.self).min()
            sum.last = [sum.last, one.last].compactMap(\.self).max()
        }
        events[name] = sum
        return sum
    }

    func countEvents(named name: String, after: Int64, through: Int64) throws -> Int {
        try keys.reduce(0) { try $0 + events(of: $1, name).count(after: after, through: through) }
    }

    private func events(of key: SubjectKey, _ name: String) -> KeptCount {
        KeptCount(source: KeptCount.events, key: key, name: name, db: db, asked: asked)
    }

    func event(named name: String, fromLatest k: Int, through: Int64) throws -> Int64? {
        try latest(k) { key, skipped, limit in
            try db.values(
                """
                SELECT at FROM scenario_event WHERE \(Self.countedEvent) AND at <= ?6
                ORDER BY at DESC LIMIT ?7 OFFSET ?8
                """,
                [key.kind.rawValue, key.text, name, key.ended, try resetTime(key, name), through, limit, skipped]
            )
        }
    }

    /// The k-th latest time of all keys.
    private func latest(_ k: Int, _ times: (SubjectKey, _ skipped: Int, _ limit: Int) throws -> [Int64]) throws
        -> Int64?
    {
        guard k >= 0, k < Int.max else { return nil }
        if keys.count == 1 { return try times(keys[0], k, 1).first }
        let all = try keys.flatMap { try times($0, 0, k + 1) }.sorted(by: >)
        return all.indices.contains(k) ? all[k] : nil
    }
}

struct StoredHistory: ScenarioHistory {
    let state: ScenarioState
    let scenario: String
    let source: ScenarioEvents

    /// The name of the events in the table of events; `nil` for visits of a member, which are in the ledger.
    private var name: String? {
        switch source {
        case .named(let name): name
        case .visits: state.rows.isEmpty ? ScenarioState.visitsName : nil
        }
    }

    func events() throws -> (count: Int, first: Int64?, last: Int64?) {
        if let name { try state.allEvents(named: name) } else { try state.allVisits() }
    }

    func countEvents(after: Int64, through: Int64) throws -> Int {
        if let name {
            try state.countEvents(named: name, after: after, through: through)
        } else {
            try state.countVisits(after: after, through: through)
        }
    }

    func event(fromLatest k: Int, through: Int64) throws -> Int64? {
        if let name {
            try state.event(named: name, fromLatest: k, through: through)
        } else {
            try state.visit(fromLatest: k, through: through)
        }
    }

    func executions() throws -> (count: Int, last: Int64?) { try state.executions(of: scenario) }

    func countExecutions(after: Int64, before: Int64) throws -> Int {
        try state.countExecutions(of: scenario, after: after, before: before)
    }

    func execution(fromLatest k: Int) throws -> Int64? { try state.execution(of: scenario, fromLatest: k) }
}
