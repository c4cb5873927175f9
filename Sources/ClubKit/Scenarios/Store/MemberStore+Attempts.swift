import Foundation
import GRDB
import ReaderKit

/// Looks at one scenario for one subject, and charges it.
extension MemberStore {
    /// Changes something in one transaction, on the calling thread.
    package func writeNow<Value>(_ attempt: String, _ body: (Database) throws -> Value) throws(ClubError) -> Value {
        do {
            return try database.writeWithoutTransaction { db in
                var result: Value?
                try db.inTransaction(.immediate) {
                    result = try body(db)
                    return .commit
                }
                guard let result else { throw ClubError(.other, attempting: attempt) }
                try confirmPlace(attempt)
                commits.yield(())
                return result
            }
        } catch {
            throw ClubError(error, attempting: attempt)
        }
    }

    /// Says whether a scenario is due.
    func decide(
        _ scenario: Scenario,
        for subject: ScenarioSubject,
        at time: Int64,
        conditionsHold: Bool,
        _ attempt: String,
        calendars: ScenarioCalendars = ScenarioCalendars(),
        in db: Database
    ) throws -> (decision: ScenarioDecision, state: ScenarioState, key: SubjectKey) {
        guard scenario.audience.includes(subject) else {
            throw ClubError(
                .invalidValue,
                attempting: attempt,
                detail: "the scenario '\(scenario.id)' is not for \(subject.kindName)"
            )
        }
        let (state, key, row) = try scenarioState(for: subject, attempt, in: db)
        let look = ScenarioAttempt(
            now: time,
            history: StoredHistory(state: state, scenario: scenario.id, source: scenario.events),
            member: row?.member,
            tags: try state.tags(),
            customConditionsHold: conditionsHold,
            calendars: calendars
        )
        return (try scenario.decide(look, for: state.subject), state, key)
    }

    /// Charges a scenario if it is due.
    func tryToExecute(
        _ scenario: Scenario,
        for subject: ScenarioSubject,
        at time: Int64,
        id: UUID,
        conditionsHold: Bool,
        isDelivered: Bool,
        _ attempt: String,
        in db: Database
    ) throws -> ScenarioOutcome {
        if let former = try Self.executions(where: "e.execution_id = ?", [id], in: db).first {
            throw ClubError(
                .invalidValue,
                attempting: attempt,
                detail: "the scenario '\(former.scenario)' was charged under that identifier before"
            )
        }
        let (decision, state, key) = try decide(
            scenario,
            for: subject,
            at: time,
            conditionsHold: conditionsHold,
            attempt,
            in: db
        )
        guard decision.isDue else { return ScenarioOutcome(decision: decision) }
        let execution = try charge(
            scenario,
            state,
            as: key,
            id: id,
            visit: nil,
            at: time,
            isDelivered: isDelivered,
            in: db
        )
        return ScenarioOutcome(decision: decision, execution: execution)
    }

    /// Says what became of an execution.
    ///
    /// - Throws: ``ClubError/Kind/noSuchExecution``; ``ClubError/Kind/alreadySettled`` if that was said before, or if what
    ///   is refunded was redeemed, or the other way round.
    func settle(
        _ id: UUID,
        _ state: ScenarioExecution.State,
        _ context: ActionContext,
        at time: Int64,
        _ attempt: String,
        in db: Database
    ) throws -> ScenarioExecution {
        func find() throws -> ScenarioExecution {
            let found = try Self.executions(where: "e.execution_id = ?", [id], in: db)
            guard let only = found.first else { throw ClubError(.noSuchExecution, attempting: attempt) }
            return only
        }
        let former = try find()
        switch (former.state, state) {
        // Whoever got it at the desk meanwhile has got it.
        case (.delivered, .delivered), (.redeemed, .delivered): return former
        case (.refunded, .refunded), (.redeemed, _), (.refunded, _):
            let when = former.settledAt.map { " on \(ISO8601.text($0))" } ?? ""
            let who = former.actor.map { " by \($0)" } ?? ""
            throw ClubError(
                .alreadySettled,
                attempting: attempt,
                detail: "it was \(former.state.rawValue)\(when)\(who)"
            )
        case (_, .charged):
            throw ClubError(.invalidValue, attempting: attempt, detail: "it is charged already")
        default: break
        }
        try settle(id, state, context, at: time, in: db)
        return try find()
    }

    /// Says whether what an execution was charged for was done.
    ///
    /// - Parameter failure: why not; then it is refunded.
    func settle(
        _ id: UUID,
        failure: String?,
        at time: Int64,
        _ attempt: String,
        in db: Database
    ) throws -> ScenarioExecution {
        let state = failure == nil ? ScenarioExecution.State.delivered : .refunded
        return try settle(id, state, ActionContext(reason: failure), at: time, attempt, in: db)
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
    /// What kind of subject it is, in words.
    var kindName: String {
        switch self {
        case .member: "a member"
        case .group(let tag): "the group '\(PlainText.line(tag))'"
        case .kiosk: "the kiosk"
        }
    }
}
