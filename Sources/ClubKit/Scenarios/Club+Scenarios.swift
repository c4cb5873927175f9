import Dispatch
import Foundation
import GRDB
import ReaderKit

extension Club {
    // MARK: Set-up

    /// Sets the scenarios that are evaluated at every visit: at each counted tap, and at a visit by hand that is the
    /// member's latest.
    ///
    /// ```swift
    /// let coffee = Reward.stampCard(every: 10, since: opening).scenarios(id: "free-coffee") {
    ///     $0.title = "A free coffee"
    /// }
    /// club.setScenarios(coffee)
    /// ```
    ///
    /// What is due is charged in one transaction with the visit, and reported by the receipt of a tap
    /// (``Receipt/executions``), as ``ClubEvent/scenario(_:)`` and to the delegate. ``Scenario/customConditions`` are
    /// called once per tap, before its transaction, on the queue of the callbacks; those that do not return within
    /// ``ClubConfiguration/conditionsLimit`` count as `false`.
    ///
    /// An invalid scenario, or two with one identifier, change nothing, and are reported as
    /// ``ClubError/Kind/invalidScenario`` to the delegate, in ``events`` and in the log.
    @discardableResult
    public func setScenarios(_ scenarios: [Scenario], delivery: ScenarioDelivery = .telling) -> Club {
        do throws(ClubError) {
            try Self.validate(scenarios)
        } catch {
            report(error)
            return self
        }
        let isDelivered = if case .telling = delivery { true } else { false }
        let plan = ScenarioPlan(scenarios, isDeliveredByTelling: isDelivered)
        state.withLock { state in
            state.scenarios = plan.isEmpty ? nil : plan
            state.delivery = delivery
        }
        if let store = state.withLock({ $0.store }) { opening.async { self.keepSpans(in: store) } }
        deliverLeftOver()
        return self
    }

    /// The scenarios of the club, as they were set.
    public var scenarios: [Scenario] { state.withLock { $0.scenarios?.scenarios ?? [] } }

    /// Refuses scenarios that cannot be used, and two with one identifier. Throws ``ClubError/Kind/invalidScenario``.
    static func validate(_ scenarios: [Scenario]) throws(ClubError) {
        var seen: Set<String> = []
        for scenario in scenarios {
            try scenario.validate()
            guard seen.insert(scenario.id).inserted else {
                let detail = "two of them have the identifier '\(PlainText.line(scenario.id))'"
                throw ClubError(.invalidScenario, attempting: "set the scenarios", detail: detail)
            }
        }
    }

    // MARK: Events and attempts

    /// Records an event for scenarios whose ``Scenario/events`` are ``ScenarioEvents/named(_:)``.
    ///
    /// ```swift
    /// var scenario = Scenario("fifth-purchase")
    /// scenario.events = .named("purchase")
    /// scenario.minEventsRequired = 5
    /// club.setScenarios([scenario])
    /// try await club.trigger("purchase", for: .member("U1"))
    /// ```
    ///
    /// - Parameters:
    ///   - name: the name of the event, such as "purchase".
    ///   - subject: the subject of the event.
    ///   - date: the time of the event; now by default.
    ///   - id: identifies the event, which is recorded once however often it is triggered.
    /// - Returns: whether the event is new.
    @discardableResult
    public func trigger(
        _ name: String,
        for subject: ScenarioSubject,
        at date: Date? = nil,
        id: UUID? = nil
    ) async throws(ClubError) -> Bool {
        let attempt = "record an event"
        let store = try openStore(attempt)
        let name = try Self.eventName(name, attempt)
        let time = try moment(date, attempt)
        let id = id ?? configuration.makeUUID()
        return try await store.write(attempt) { transaction in
            try transaction.events.trigger(name, for: subject, at: time, id: id, attempt)
        }
    }

    /// Returns whether a scenario is due, and otherwise which rules fail and when it could be. It changes nothing.
    ///
    /// The scenario's ``Scenario/customConditions`` are called, on the queue of the callbacks.
    public func decide(
        _ scenario: Scenario,
        for subject: ScenarioSubject,
        at date: Date? = nil
    ) async throws(ClubError) -> ScenarioDecision {
        let attempt = "look at a scenario"
        let store = try openStore(attempt)
        try scenario.validate()
        let time = try moment(date, attempt)
        let holds = await refused(by: [scenario]).isEmpty
        return try await store.read(attempt) { db in
            try store.decision(scenario, for: subject, at: time, conditionsHold: holds, attempt, in: db)
        }
    }

    /// Executes a scenario if it is due: evaluates and charges it in one transaction, so that concurrent attempts never
    /// exceed its limits.
    ///
    /// - Parameters:
    ///   - scenario: any scenario, whether or not it is one of ``setScenarios(_:delivery:)``.
    ///   - effect: the action of the execution. If it throws, the execution is refunded and does not count. Without it,
    ///     the execution counts as delivered.
    /// - Returns: the decision, and the execution that was charged.
    @discardableResult
    public func tryToExecute(
        _ scenario: Scenario,
        for subject: ScenarioSubject,
        at date: Date? = nil,
        effect: (@Sendable (ScenarioExecution) async throws -> Void)? = nil
    ) async throws(ClubError) -> ScenarioOutcome {
        let attempt = "execute a scenario"
        let store = try openStore(attempt)
        try scenario.validate()
        let time = try moment(date, attempt)
        let holds = await refused(by: [scenario]).isEmpty
        let id = configuration.makeUUID()
        var outcome = try await store.write(attempt) { transaction in
            try transaction.events.keep(ScenarioSpan.all(of: [scenario]))
            return try transaction.executions.tryToExecute(
                scenario,
                for: subject,
                at: time,
                id: id,
                conditionsHold: holds,
                isDelivered: effect == nil,
                attempt
            )
        }
        guard var execution = outcome.execution else { return outcome }
        if let effect {
            var failure: String?
            do {
                try await effect(execution)
            } catch {
                failure = Self.reason(of: error)
            }
            execution = try await settle(execution, failure, in: store)
            outcome.execution = execution
        }
        publish(.scenario(await result(execution, in: store)))
        return outcome
    }

    // MARK: State

    /// Returns the counters of a scenario for a subject.
    public func scenarioCounters(
        of scenario: Scenario,
        for subject: ScenarioSubject
    ) async throws(ClubError) -> ScenarioCounters {
        let attempt = "read the state of a scenario"
        let store = try openStore(attempt)
        let time = try moment(nil, attempt)
        return try await store.read(attempt) { db in
            try store.decision(scenario, for: subject, at: time, conditionsHold: true, attempt, in: db).counters
        }
    }

    /// Removes the executions of a scenario for a subject, and the events that programs recorded for it, up to now.
    /// Visits stay. Devices that merge remove the same.
    public func resetScenario(_ scenario: Scenario, for subject: ScenarioSubject) async throws(ClubError) {
        let attempt = "reset a scenario"
        let store = try openStore(attempt)
        let name: String? = if case .named(let name) = scenario.events { name } else { nil }
        try await store.write(attempt) { transaction in
            try transaction.events.reset(scenario.id, events: name, for: subject, attempt)
        }
    }

    // MARK: Helpers

    /// The scenarios whose own code refuses, asked on the queue of the callbacks.
    func refused(by scenarios: [Scenario]) async -> Set<String> {
        let conditional = scenarios.filter { $0.customConditions != nil }.map(\.id)
        guard !conditional.isEmpty else { return [] }
        let refused: Set<String>? = await answer("ask the conditions of \(conditional.joined(separator: ", "))") {
            Set(scenarios.filter { !($0.customConditions?() ?? true) }.map(\.id))
        }
        return refused ?? Set(conditional)
    }

    func moment(_ date: Date?, _ attempt: String) throws(ClubError) -> Int64 {
        guard let time = Timestamp.microseconds(date ?? configuration.clock()) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: "the time is outside the years 1970 to 9999")
        }
        return time
    }

    private static func eventName(_ name: String, _ attempt: String) throws(ClubError) -> String {
        guard !name.isEmpty, name.count <= 100, name == PlainText.line(name), !name.hasPrefix("$"),
            name != "visits"
        else {
            let detail =
                "the name of an event has 1 to 100 plain characters, does not begin with '$', and is not 'visits'"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        return name
    }
}

extension MemberStore {
    func decision(
        _ scenario: Scenario,
        for subject: ScenarioSubject,
        at time: Int64,
        conditionsHold: Bool,
        _ attempt: String,
        in db: Database
    ) throws -> ScenarioDecision {
        let reading = ScenarioReading(db: db, device: device)
        return try reading.decide(scenario, for: subject, at: time, conditionsHold: conditionsHold, attempt).decision
    }
}
