import Foundation
import GRDB
import ReaderKit

/// What the scenarios at a visit are judged by.
package struct ScenarioTap: Sendable {
    var plan: ScenarioPlan
    /// The scenarios whose own code refused, which was asked before the transaction.
    var refused: Set<String>
}

struct Executions {
    let transaction: StoreTransaction

    private var db: Database { transaction.db }

    // MARK: At a visit, in its transaction: what is charged is on disk together with the visit, or neither is

    /// Charges what is due at a visit that was just counted.
    ///
    /// - Parameters:
    ///   - shown: the member, after the visit.
    ///   - owner: the row whose visit it is, which may be joined to the member.
    func charge(
        _ tap: ScenarioTap,
        for shown: MemberRow,
        owner: MemberRow,
        visit: UUID,
        at time: Int64
    ) throws -> [ScenarioExecution] {
        var executions: [ScenarioExecution] = []
        var taken: Set<String> = []
        for look in try attempts(of: tap, for: shown, visit: visit, at: time) {
            let scenario = look.scenario
            if let group = scenario.exclusiveGroup, taken.contains(group) { continue }
            guard try scenario.isDue(look.attempt) else { continue }
            if let group = scenario.exclusiveGroup { taken.insert(group) }
            let key = look.state.rows.isEmpty ? look.state.keys[0] : SubjectKey(owner)
            let execution = try charge(
                scenario,
                look.state,
                as: key,
                id: ScenarioIdentifiers.execution(of: scenario.id, for: key.kind, at: visit),
                visit: visit,
                at: time,
                isDelivered: tap.plan.isDeliveredByTelling
            )
            if let execution { executions.append(execution) }
        }
        return executions
    }

    struct ScenarioLook {
        var scenario: Scenario
        var attempt: ScenarioAttempt
        var state: ScenarioState
    }

    /// Records a visit that was just counted for groups and the kiosk, and gathers what its scenarios are to be looked at
    /// by, in their order.
    func attempts(of tap: ScenarioTap, for shown: MemberRow, visit: UUID, at time: Int64) throws -> [ScenarioLook] {
        let plan = tap.plan
        let calendars = ScenarioCalendars()
        let member = try ScenarioState(shown, in: db)
        let tags = plan.needsTags ? try member.tags() : []
        for tag in tags where plan.groups.contains(tag) {
            try addVisit(of: SubjectKey(.group, tag), visit: visit, at: time)
        }
        if plan.countsKiosk { try addVisit(of: transaction.device.kioskKey, visit: visit, at: time) }
        var others: [ScenarioAudience: ScenarioState] = [:]
        func state(for audience: ScenarioAudience) -> ScenarioState? {
            let key: SubjectKey
            switch audience {
            case .members: return member
            case .group(let tag):
                guard tags.contains(tag) else { return nil }
                key = SubjectKey(.group, tag)
            case .kiosk: key = transaction.device.kioskKey
            }
            if let known = others[audience] { return known }
            let state = ScenarioState(key, keepsCounts: true, in: db)
            others[audience] = state
            return state
        }
        return plan.scenarios.compactMap { scenario in
            guard let state = state(for: scenario.audience) else { return nil }
            let attempt = ScenarioAttempt(
                now: time,
                history: StoredHistory(state: state, scenario: scenario.id, source: scenario.events),
                member: shown.member,
                tags: tags,
                customConditionsHold: !tap.refused.contains(scenario.id),
                calendars: calendars
            )
            return ScenarioLook(scenario: scenario, attempt: attempt, state: state)
        }
    }

    /// Records what a scenario is charged with.
    ///
    /// - Returns: `nil` if it was charged before under that identifier, such as at the same tap on another device.
    func charge(
        _ scenario: Scenario,
        _ state: ScenarioState,
        as key: SubjectKey,
        id: UUID,
        visit: UUID?,
        at time: Int64,
        isDelivered: Bool
    ) throws -> ScenarioExecution? {
        let number = try state.executions(of: scenario.id).count + 1
        let stamp = try transaction.nextStamp()
        try db.run(
            """
            INSERT OR IGNORE INTO scenario_execution (execution_id, device_id, hlc, kind, subject, scenario, at, born, visit,
                number)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .uuid(id), .uuid(stamp.device), .integer(stamp.time), .text(key.kind.rawValue), .text(key.text),
                .text(scenario.id), .integer(time), .integer(key.born), visit.map(BoundValue.uuid) ?? .null,
                .integer(Int64(number)),
            ]
        )
        guard db.changesCount == 1 else { return nil }
        state.noteExecution(of: scenario.id, at: time)
        if isDelivered {
            try settle(id, .delivered, ActionContext(), at: time)
        } else {
            let sql = "INSERT INTO scenario_undelivered (execution_id, holder) VALUES (?, ?)"
            try db.run(sql, [.uuid(id), .text(transaction.device.holder.text)])
        }
        var execution = ScenarioExecution(
            id: id,
            scenario: scenario.id,
            subject: state.subject,
            at: Timestamp.date(time),
            visit: visit,
            number: number,
            state: isDelivered ? .delivered : .charged
        )
        if isDelivered { execution.settledAt = execution.at }
        return execution
    }

    private func addVisit(of key: SubjectKey, visit: UUID, at time: Int64) throws {
        try transaction.events.add(
            ScenarioEventRow(
                eventID: ScenarioIdentifiers.event(of: .init(key.kind.rawValue, key.text), at: visit),
                stamp: transaction.nextStamp(),
                key: key,
                name: ScenarioState.visitsName,
                at: time,
                visit: visit
            )
        )
    }

    // MARK: Otherwise

    func tryToExecute(
        _ scenario: Scenario,
        for subject: ScenarioSubject,
        at time: Int64,
        id: UUID,
        conditionsHold: Bool,
        isDelivered: Bool,
        _ attempt: String
    ) throws -> ScenarioOutcome {
        if let former = try db.executions.one(id) {
            let detail = "the scenario '\(former.scenario)' was charged under that identifier before"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        let (decision, state, key) = try transaction.scenarios
            .decide(scenario, for: subject, at: time, conditionsHold: conditionsHold, attempt)
        guard decision.isDue else { return ScenarioOutcome(decision: decision) }
        let execution = try charge(scenario, state, as: key, id: id, visit: nil, at: time, isDelivered: isDelivered)
        return ScenarioOutcome(decision: decision, execution: execution)
    }

    /// Reports what became of an execution.
    ///
    /// - Throws: ``ClubError/Kind/noSuchExecution``; ``ClubError/Kind/alreadySettled`` if that was reported before, or
    ///   if what is refunded was redeemed, or the other way round.
    func settle(
        _ id: UUID,
        _ state: ScenarioExecution.State,
        _ context: ActionContext,
        at time: Int64,
        _ attempt: String
    ) throws -> ScenarioExecution {
        guard let former = try db.executions.one(id) else { throw ClubError(.noSuchExecution, attempting: attempt) }
        switch (former.state, state) {
        // Whoever got it at the desk meanwhile has got it.
        case (.delivered, .delivered), (.redeemed, .delivered): return former
        case (.refunded, .refunded), (.redeemed, _), (.refunded, _):
            let when = former.settledAt.map { " on \(ISO8601.text($0))" } ?? ""
            let who = former.actor.map { " by \($0)" } ?? ""
            let detail = "it was \(former.state.rawValue)\(when)\(who)"
            throw ClubError(.alreadySettled, attempting: attempt, detail: detail)
        case (_, .charged):
            throw ClubError(.invalidValue, attempting: attempt, detail: "it is charged already")
        default: break
        }
        try settle(id, state, context, at: time)
        return try db.executions.one(id) ?? former
    }

    /// Reports whether what an execution was charged for was done.
    ///
    /// - Parameter failure: why not; then it is refunded.
    func settle(_ id: UUID, failure: String?, at time: Int64, _ attempt: String) throws -> ScenarioExecution {
        let state = failure == nil ? ScenarioExecution.State.delivered : .refunded
        return try settle(id, state, ActionContext(reason: failure), at: time, attempt)
    }

    // MARK: What became of it

    /// Reports what became of an execution. What was reported before stays. Returns whether it is news.
    @discardableResult
    func settle(_ id: UUID, _ state: ScenarioExecution.State, _ context: ActionContext, at time: Int64) throws -> Bool {
        try settle(
            SettlementRow(
                executionID: id,
                state: state,
                stamp: transaction.nextStamp(),
                at: time,
                reason: context.reason.map(PlainText.line),
                actor: context.actor.map(PlainText.line)
            )
        )
    }

    /// Writes a settlement, or puts it in the place of one that does not stand against it.
    func settle(_ row: SettlementRow, replacing: Bool = false) throws -> Bool {
        try db.run(
            """
            INSERT OR \(replacing ? "REPLACE" : "IGNORE") INTO scenario_settlement
                (execution_id, state, device_id, hlc, at, reason, actor)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .uuid(row.executionID), .text(row.state.rawValue), .uuid(row.stamp.device), .integer(row.stamp.time),
                .integer(row.at), .optional(row.reason), .optional(row.actor),
            ]
        )
        guard db.changesCount == 1 else { return false }
        try db.run("DELETE FROM scenario_undelivered WHERE execution_id = ?", [.uuid(row.executionID)])
        if row.state != .delivered { try updateCounts(of: row.executionID) }
        return true
    }

    /// An execution counts unless it was refunded and not redeemed.
    func updateCounts(of id: UUID) throws {
        try db.run(
            "UPDATE scenario_execution AS e SET counts = (\(IntegrityQuestion.executionCounts)) WHERE execution_id = ?",
            [.uuid(id)]
        )
    }

    /// What was charged on this device at visits, is yet to be delivered, and was left behind by programs that are there no
    /// more, or by an opening that has ended; it is in this one's hand from now on. Oldest first.
    ///
    /// What was charged otherwise was to be done where it was charged, and is refunded.
    ///
    /// - Parameter withOwn: also what this opening has in hand.
    func takeUndelivered(withOwn: Bool, at time: Int64) throws -> [ScenarioExecution] {
        let found = try leftBehind(withOwn: withOwn).filter { $0.visit != nil }
        for execution in found {
            let sql = "UPDATE scenario_undelivered SET holder = ? WHERE execution_id = ?"
            try db.run(sql, [.text(transaction.device.holder.text), .uuid(execution.id)])
        }
        try giveBackLeft(at: time)
        return found.sorted { $0.at < $1.at }
    }

    /// Refunds what was charged otherwise than at a visit by programs that ended before it was done.
    func giveBackLeft(at time: Int64) throws {
        for execution in try leftBehind(withOwn: false) where execution.visit == nil {
            let reason = ActionContext(reason: "the program was ended before it was done")
            try settle(execution.id, .refunded, reason, at: time)
        }
    }

    private func leftBehind(withOwn: Bool) throws -> [ScenarioExecution] {
        let holders = try String.fetchAll(db, sql: "SELECT DISTINCT holder FROM scenario_undelivered")
        let own = transaction.device.holder.text
        return try holders.filter { $0 == own ? withOwn : !WorkHolder.isAlive($0) }.flatMap { holder in
            try db.executions.all(
                where: """
                    e.device_id = ? AND e.execution_id IN
                        (SELECT execution_id FROM scenario_undelivered WHERE holder = ?)
                    """,
                [transaction.device.id, holder]
            )
        }
    }
}

extension Database {
    var executions: StoredExecutions { StoredExecutions(db: self) }
}

struct StoredExecutions {
    let db: Database

    /// The state that counts of an execution, `e`: what was handed out was handed out, whatever else was reported.
    private static let standingState = """
        (SELECT state FROM scenario_settlement AS t WHERE t.execution_id = e.execution_id
            ORDER BY CASE state WHEN 'redeemed' THEN 0 WHEN 'refunded' THEN 1 ELSE 2 END LIMIT 1)
        """

    /// How many executions each scenario has, by what became of them.
    func counts() throws -> [String: [ScenarioExecution.State: Int]] {
        var counts: [String: [ScenarioExecution.State: Int]] = [:]
        let sql = """
            SELECT scenario, \(Self.standingState) AS now, count(*) FROM scenario_execution AS e
            WHERE \(IntegrityQuestion.isNotReset) GROUP BY scenario, now
            """
        for row in try db.rows(sql) {
            let state: String? = try row.optional(1)
            let known = state.flatMap(ScenarioExecution.State.init(rawValue:)) ?? .charged
            counts[try row.value(0), default: [:]][known, default: 0] += try row.value(2)
        }
        return counts
    }

    func one(_ id: UUID) throws -> ScenarioExecution? { try all(where: "e.execution_id = ?", [id]).first }

    /// Executions in the order in which they were charged.
    ///
    /// - Parameter condition: of the table of executions, as `e`.
    func all(
        where condition: String,
        _ arguments: StatementArguments,
        latest limit: Int? = nil
    ) throws -> [ScenarioExecution] {
        // Those that were rounded to one moment come by their numbers.
        let order =
            limit.map { "e.hlc DESC, e.number DESC, e.execution_id DESC LIMIT \($0)" }
            ?? "e.hlc, e.number, e.execution_id"
        let sql = """
            SELECT e.*, s.state, s.at AS settled_at, s.actor, s.reason
            FROM scenario_execution AS e LEFT JOIN scenario_settlement AS s
                ON s.execution_id = e.execution_id AND s.state = \(Self.standingState)
            WHERE (\(condition)) AND \(IntegrityQuestion.isNotReset)
            ORDER BY \(order)
            """
        let executions = try db.rows(sql, arguments).map { row in try ScenarioExecution(row) }
        return limit == nil ? executions : executions.reversed()
    }
}

struct SettlementRow: Sendable, Hashable {
    var executionID: UUID
    var state: ScenarioExecution.State
    var stamp: Stamp
    /// Microseconds since 1970.
    var at: Int64
    var reason: String?
    var actor: String?
}

extension ScenarioExecution {
    /// Reads the columns of ``StoredExecutions/all(where:_:latest:)``.
    fileprivate init(_ row: Row) throws {
        let kind = try SubjectKey.Kind(rawValue: try row.value("kind")).orCorrupt("read an execution")
        let state: String? = try row.optional("state")
        self.init(
            id: try row.value("execution_id"),
            scenario: try row.value("scenario"),
            subject: SubjectKey(kind, try row.value("subject")).subject,
            at: try row.date("at"),
            visit: try row.optional("visit"),
            number: try row.value("number"),
            state: state.flatMap(State.init(rawValue:)) ?? .charged
        )
        settledAt = try row.optionalDate("settled_at")
        actor = try row.optional("actor")
        reason = try row.optional("reason")
    }
}

extension MemberStore {
    /// What a visit would bring, found out by making it in a transaction that is taken back.
    func preview(
        _ plan: ScenarioPlan,
        _ refused: Set<String>,
        visitOf userID: String,
        _ id: UUID,
        at time: Int64,
        _ attempt: String
    ) async throws(ClubError) -> [ScenarioDecision] {
        let keys = device.identifiers(userID)
        return try await onWriter(attempt) { db in
            let transaction = self.transaction(db)
            var decisions: [ScenarioDecision] = []
            try db.inTransaction(.immediate) {
                let row = try db.members.member(keys, attempt)
                let stamp = try transaction.nextStamp()
                let visit = VisitRow(eventID: id, stamp: stamp, at: time, born: row.origin.time)
                try transaction.ledger.insertVisit(visit, of: row.id)
                let counted = try transaction.ledger.count(row, at: time) ?? row
                let tap = ScenarioTap(plan: plan, refused: refused)
                decisions = try transaction.executions.attempts(of: tap, for: counted, visit: id, at: time).map {
                    try $0.scenario.decide($0.attempt, for: $0.state.subject)
                }
                return .rollback
            }
            return decisions
        }
    }
}

extension ScenarioAudience {
    /// Whether a scenario for them is looked at for somebody.
    func includes(_ subject: ScenarioSubject) -> Bool {
        switch (self, subject) {
        case (.members, .member), (.kiosk, .kiosk): true
        case (.group(let tag), .group(let name)): tag == name
        default: false
        }
    }
}

extension ScenarioSubject {
    var kindName: String {
        switch self {
        case .member: "a member"
        case .group(let tag): "the group '\(PlainText.line(tag))'"
        case .kiosk: "the kiosk"
        }
    }
}
