import Foundation

/// Rules about when something happens to a member, a group, or the kiosk itself.
extension Club {
    // MARK: Set-up

    /// Sets the scenarios by which every tap is looked at that counts as a visit.
    ///
    /// Looked at are visits of cards; one that is recorded by hand counts, and is no occasion. What is due is charged in one
    /// transaction with the visit, and told by the receipt (``Receipt/executions``), as
    /// ``ClubEvent/scenario(_:)`` and to the delegate. ``Scenario/customConditions`` are asked once per tap, before its
    /// transaction, on the queue of the callbacks.
    ///
    /// A scenario that cannot be used, or two with one identifier, change nothing, and are reported as
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
        deliverLeftOver()
        return self
    }

    /// The scenarios of the club, as they were given.
    public var scenarios: [Scenario] { state.withLock { $0.scenarios?.scenarios ?? [] } }

    /// Refuses scenarios that cannot be used, and two with one identifier.
    ///
    /// - Throws: ``ClubError/Kind/invalidScenario``.
    static func validate(_ scenarios: [Scenario]) throws(ClubError) {
        var seen: Set<String> = []
        for scenario in scenarios {
            try scenario.validate()
            guard seen.insert(scenario.id).inserted else {
                throw ClubError(
                    .invalidScenario,
                    attempting: "set the scenarios",
                    detail: "two of them have the identifier '\(PlainText.line(scenario.id))'"
                )
            }
        }
    }

    // MARK: Events and attempts

    /// Records an event for scenarios whose ``Scenario/events`` are ``ScenarioEvents/named(_:)``.
    ///
    /// - Parameters:
    ///   - name: of the event, such as "purchase".
    ///   - subject: whose event it is.
    ///   - date: when it was; now by default.
    ///   - id: an event with that identifier is recorded once, however often it is told of.
    /// - Returns: whether it is new.
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
        return try await store.write(attempt) { db in
            try store.trigger(name, for: subject, at: time, id: id, attempt, in: db)
        }
    }

    /// Says whether a scenario is due, and if not which rules fail and when it could be. It changes nothing.
    ///
    /// The scenario's ``Scenario/customConditions`` are asked, on the queue of the callbacks.
    public func decide(
        _ scenario: Scenario,
        for subject: ScenarioSubject,
        at date: Date? = nil
    ) async throws(ClubError) -> ScenarioDecision {
        let attempt = "look at a scenario"
        let store = try openStore(attempt)
        try scenario.validate()
        let time = try moment(date, attempt)
        let holds = await conditionsHold(of: scenario)
        return try await store.read(attempt) { db in
            try store.decide(scenario, for: subject, at: time, conditionsHold: holds, attempt, in: db).decision
        }
    }

    /// Lets a scenario happen if it is due: evaluates and charges it in one transaction, so that two that try at the
    /// same time never exceed its limits.
    ///
    /// - Parameters:
    ///   - scenario: any scenario, whether or not it is one of ``setScenarios(_:delivery:)``.
    ///   - effect: what is to be done then. If it throws, the execution is refunded: it does not count. Without it, the
    ///     execution counts as delivered.
    /// - Returns: the decision, and what was charged.
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
        let holds = await conditionsHold(of: scenario)
        let id = configuration.makeUUID()
        var outcome = try await store.write(attempt) { db in
            try store.tryToExecute(
                scenario,
                for: subject,
                at: time,
                id: id,
                conditionsHold: holds,
                isDelivered: effect == nil,
                attempt,
                in: db
            )
        }
        if let execution = outcome.execution {
            if let effect {
                outcome.execution = try await perform(execution, effect, in: store)
            }
            publish(.scenario(await result(outcome.execution ?? execution, in: store)))
        }
        return outcome
    }

    /// Does what an execution is for, and says what became of it.
    private func perform(
        _ execution: ScenarioExecution,
        _ effect: @Sendable (ScenarioExecution) async throws -> Void,
        in store: MemberStore
    ) async throws(ClubError) -> ScenarioExecution {
        var failure: String?
        do {
            try await effect(execution)
        } catch {
            failure = Self.reason(of: error)
        }
        return try await settle(execution, failure, in: store)
    }

    /// The words of an error, which may be the application's.
    static func reason(of error: any Error) -> String { String(PlainText.line("\(error)").prefix(500)) }

    func settle(
        _ execution: ScenarioExecution,
        _ failure: String?,
        in store: MemberStore
    ) async throws(ClubError) -> ScenarioExecution {
        let attempt = "settle an execution"
        let time = try moment(nil, attempt)
        // A task of its own: whoever was cancelled meanwhile has done, or not done, it all the same.
        let result = await Task { () async -> Result<ScenarioExecution, ClubError> in
            do throws(ClubError) {
                return .success(
                    try await store.insist(attempt) { db in
                        try store.settle(
                            execution.id,
                            failure == nil ? .delivered : .refunded,
                            ActionContext(reason: failure),
                            at: time,
                            attempt,
                            in: db
                        )
                    }
                )
            } catch {
                return .failure(error)
            }
        }.value
        return try result.get()
    }

    // MARK: State

    /// The numbers of a scenario for somebody.
    public func scenarioCounters(
        of scenario: Scenario,
        for subject: ScenarioSubject
    ) async throws(ClubError) -> ScenarioCounters {
        let attempt = "read the state of a scenario"
        let store = try openStore(attempt)
        let time = try moment(nil, attempt)
        return try await store.read(attempt) { db in
            try store.decide(scenario, for: subject, at: time, conditionsHold: true, attempt, in: db).decision.counters
        }
    }

    /// Removes what a scenario was charged with for somebody, and the events that programs recorded for it, up to now.
    /// Visits stay. Other devices that merge remove the same.
    public func resetScenario(_ scenario: Scenario, for subject: ScenarioSubject) async throws(ClubError) {
        let attempt = "reset a scenario"
        let store = try openStore(attempt)
        let name: String? = if case .named(let name) = scenario.events { name } else { nil }
        try await store.write(attempt) { db in
            try store.resetScenario(scenario.id, events: name, for: subject, attempt, in: db)
        }
    }

    /// What was charged, oldest first.
    ///
    /// - Parameters:
    ///   - subject: only what concerns them.
    ///   - scenario: only what that scenario was charged with.
    ///   - limit: the latest so many at most.
    public func executions(
        for subject: ScenarioSubject? = nil,
        of scenario: String? = nil,
        limit: Int = 1000
    ) async throws(ClubError) -> [ScenarioExecution] {
        let attempt = "list executions"
        let store = try openStore(attempt)
        return try await store.read(attempt) { db in
            guard let subject else {
                return try MemberStore.executions(
                    where: "(?1 IS NULL OR e.scenario = ?1)",
                    [scenario],
                    latest: max(0, limit),
                    in: db
                )
            }
            var found: [ScenarioExecution] = []
            for key in try store.scenarioState(for: subject, attempt, in: db).state.keys {
                found += try MemberStore.executions(
                    where: "(?1 IS NULL OR e.scenario = ?1) AND e.kind = ?2 AND e.subject = ?3 AND e.born > ?4",
                    [scenario, key.kind.rawValue, key.text, key.ended],
                    latest: max(0, limit),
                    in: db
                )
            }
            return Array(found.sorted { $0.at < $1.at }.suffix(max(0, limit)))
        }
    }

    /// How often each scenario was charged, by what became of it.
    public func executionCounts() async throws(ClubError) -> [String: [ScenarioExecution.State: Int]] {
        let attempt = "count executions"
        return try await openStore(attempt).read(attempt) { db in try MemberStore.executionCounts(in: db) }
    }

    /// What was charged and is yet to be delivered by an application that chose ``ScenarioDelivery/application``, also
    /// what this program left behind when it was ended the last time; not what another running program has in hand.
    public func undeliveredExecutions() async throws(ClubError) -> [ScenarioResult] {
        let attempt = "list what is to be delivered"
        let store = try openStore(attempt)
        let time = try moment(nil, attempt)
        let executions = try await store.write(attempt) { db in
            try store.takeUndelivered(withOwn: true, at: time, in: db)
        }
        var results: [ScenarioResult] = []
        for execution in executions { results.append(await result(execution, in: store)) }
        return results
    }

    /// Says what became of an execution: that it was delivered, that it could not be (then it does not count), or that
    /// the member has got what it stands for.
    ///
    /// - Parameters:
    ///   - id: ``ScenarioExecution/id``.
    ///   - newState: ``ScenarioExecution/State/delivered``, ``ScenarioExecution/State/refunded`` or
    ///     ``ScenarioExecution/State/redeemed``.
    ///   - context: who says so, and why.
    /// - Throws: ``ClubError/Kind/noSuchExecution``; ``ClubError/Kind/alreadySettled`` if it was redeemed or refunded
    ///   before, so that a voucher is good for once.
    @discardableResult
    public func settle(
        _ id: UUID,
        _ newState: ScenarioExecution.State,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> ScenarioExecution {
        let attempt = "say what became of an execution"
        let store = try openStore(attempt)
        let time = try moment(nil, attempt)
        return try await store.write(attempt) { db in
            try store.settle(id, newState, context, at: time, attempt, in: db)
        }
    }

    /// Records that the member has got what an execution stands for, once.
    ///
    /// - Throws: as ``settle(_:_:by:)``.
    @discardableResult
    public func redeem(_ id: UUID, by context: ActionContext = ActionContext()) async throws(ClubError)
        -> ScenarioExecution
    {
        try await settle(id, .redeemed, by: context)
    }

    // MARK: Helpers

    /// Whether the scenario's own code says yes, asked on the queue of the callbacks.
    private func conditionsHold(of scenario: Scenario) async -> Bool {
        await refused(by: [scenario]).isEmpty
    }

    /// The scenarios whose own code says no, asked on the queue of the callbacks.
    func refused(by scenarios: [Scenario]) async -> Set<String> {
        guard scenarios.contains(where: { $0.customConditions != nil }) else { return [] }
        return await withCheckedContinuation { continuation in
            callbacks.enqueue {
                let refused = scenarios.filter { !($0.customConditions?() ?? true) }
                continuation.resume(returning: Set(refused.map(\.id)))
            }
        }
    }

    /// A time that the store keeps.
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
            throw ClubError(
                .invalidValue,
                attempting: attempt,
                detail:
                    "the name of an event has 1 to 100 plain characters, does not begin with '$', and is not 'visits'"
            )
        }
        return name
    }

    /// What is known of an execution.
    func result(_ execution: ScenarioExecution, in store: MemberStore) async -> ScenarioResult {
        var member: Member?
        if case .member(let userId) = execution.subject { member = try? await store.member(withUserID: userId) }
        return result(execution, member)
    }

    func result(_ execution: ScenarioExecution, _ member: Member?) -> ScenarioResult {
        let scenario = state.withLock { $0.scenarios?[execution.scenario] }
        return ScenarioResult(
            execution: execution,
            member: member,
            title: scenario?.title,
            message: scenario?.message
        )
    }
}
