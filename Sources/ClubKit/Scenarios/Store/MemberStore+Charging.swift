import Foundation
import GRDB
import ReaderKit

/// Scenarios at a tap, or a visit by hand, in the transaction of the visit: what is charged is on disk together with the visit, or neither is.
extension MemberStore {
    /// What the scenarios at a visit are judged by.
    package struct ScenarioTap: Sendable {
        var plan: ScenarioPlan
        /// The scenarios whose own code said no, which was asked before the transaction.
        var refused: Set<String>
    }

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
        at time: Int64,
        in db: Database
    ) throws -> [ScenarioExecution] {
        var executions: [ScenarioExecution] = []
        var taken: Set<String> = []
        for look in try attempts(of: tap, for: shown, visit: visit, at: time, in: db) {
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
                isDelivered: tap.plan.isDeliveredByTelling,
                in: db
            )
            if let execution { executions.append(execution) }
        }
        return executions
    }

    /// One look at a scenario at a tap.
    struct ScenarioLook {
        var scenario: Scenario
        var attempt: ScenarioAttempt
        var state: ScenarioState
    }

    /// Records a visit that was just counted for groups and the kiosk, and gathers what its scenarios are to be looked at
    /// by, in their order.
    func attempts(
        of tap: ScenarioTap,
        for shown: MemberRow,
        visit: UUID,
        at time: Int64,
        in db: Database
    ) throws -> [ScenarioLook] {
        let plan = tap.plan
        let calendars = ScenarioCalendars()
        let member = try ScenarioState(shown, in: db)
        let tags = plan.needsTags ? try member.tags() : []
        for tag in tags where plan.groups.contains(tag) {
            try addVisit(of: SubjectKey(.group, tag), visit: visit, at: time, in: db)
        }
        if plan.countsKiosk { try addVisit(of: kioskKey, visit: visit, at: time, in: db) }
        var others: [ScenarioAudience: ScenarioState] = [:]
        func state(for audience: ScenarioAudience) -> ScenarioState? {
            let key: SubjectKey
            switch audience {
            case .members: return member
            case .group(let tag):
                guard tags.contains(tag) else { return nil }
                key = SubjectKey(.group, tag)
            case .kiosk: key = kioskKey
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

    /// This device, as a subject.
    var kioskKey: SubjectKey { SubjectKey(.kiosk, deviceID.uuidString) }

    private func addVisit(of key: SubjectKey, visit: UUID, at time: Int64, in db: Database) throws {
        try addEvent(
            ScenarioEventRow(
                eventID: ScenarioIdentifiers.event(of: key, at: visit),
                stamp: nextStamp(in: db),
                key: key,
                name: ScenarioState.visitsName,
                at: time,
                visit: visit
            ),
            in: db
        )
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
        isDelivered: Bool,
        in db: Database
    ) throws -> ScenarioExecution? {
        let number = try state.executions(of: scenario.id).count + 1
        let stamp = try nextStamp(in: db)
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
            try settle(id, .delivered, ActionContext(), at: time, in: db)
        } else {
            try db.run(
                "INSERT INTO scenario_undelivered (execution_id, holder) VALUES (?, ?)",
                [.uuid(id), .text(holder.text)]
            )
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

    static func tags(of id: Int64, in db: Database) throws -> [String] {
        let text = try db.first("SELECT tags FROM member WHERE id = ?", [.integer(id)]) { row -> String? in
            try row.optional(0)
        }
        guard let json = text ?? nil else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(json.utf8))) ?? []
    }
}
