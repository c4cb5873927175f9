import Foundation

extension Club {
    /// Returns executions of scenarios, oldest first.
    ///
    /// - Parameters:
    ///   - subject: only those of this subject.
    ///   - scenario: only those of this scenario.
    ///   - limit: at most the `limit` newest.
    public func executions(
        for subject: ScenarioSubject? = nil,
        of scenario: String? = nil,
        limit: Int = 1000
    ) async throws(ClubError) -> [ScenarioExecution] {
        let attempt = "list executions"
        let store = try openStore(attempt)
        let limit = max(0, limit)
        return try await store.read(attempt) { db in
            guard let subject else {
                return try db.executions.all(where: "(?1 IS NULL OR e.scenario = ?1)", [scenario], latest: limit)
            }
            var found: [ScenarioExecution] = []
            for key in try ScenarioReading(db: db, device: store.device).state(for: subject, attempt).state.keys {
                found += try db.executions.all(
                    where: "(?1 IS NULL OR e.scenario = ?1) AND e.kind = ?2 AND e.subject = ?3 AND e.born > ?4",
                    [scenario, key.kind.rawValue, key.text, key.ended],
                    latest: limit
                )
            }
            return Array(found.sorted { $0.at < $1.at }.suffix(limit))
        }
    }

    /// Returns the number of executions of each scenario, by state.
    public func executionCounts() async throws(ClubError) -> [String: [ScenarioExecution.State: Int]] {
        let attempt = "count executions"
        return try await openStore(attempt).read(attempt) { db in try db.executions.counts() }
    }

    /// Takes the undelivered executions of visits with ``ScenarioDelivery/application``, also those left by programs
    /// that ended; not those that another running program has taken. Executions without a visit that were left are
    /// refunded: they were to be delivered where they were charged.
    ///
    /// - Returns: the executions that this program has taken, oldest first, until they are settled.
    public func takeUndeliveredExecutions() async throws(ClubError) -> [ScenarioResult] {
        let attempt = "take what is to be delivered"
        let store = try openStore(attempt)
        let time = try moment(nil, attempt)
        let executions = try await store.write(attempt) { transaction in
            try transaction.executions.takeUndelivered(withOwn: true, at: time)
        }
        var results: [ScenarioResult] = []
        for execution in executions { results.append(await result(execution, in: store)) }
        return results
    }

    /// Settles an execution: delivered, refunded because it could not be (then it does not count), or redeemed by the
    /// member.
    ///
    /// - Parameters:
    ///   - id: ``ScenarioExecution/id``.
    ///   - newState: ``ScenarioExecution/State/delivered``, ``ScenarioExecution/State/refunded`` or
    ///     ``ScenarioExecution/State/redeemed``.
    ///   - context: who settles it, and why.
    /// - Throws: ``ClubError/Kind/noSuchExecution``; ``ClubError/Kind/alreadySettled`` if it was redeemed or refunded
    ///   before, so that a voucher is valid once.
    @discardableResult
    public func settle(
        _ id: UUID,
        _ newState: ScenarioExecution.State,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> ScenarioExecution {
        let attempt = "say what became of an execution"
        let store = try openStore(attempt)
        let time = try moment(nil, attempt)
        return try await store.write(attempt) { transaction in
            try transaction.executions.settle(id, newState, context, at: time, attempt)
        }
    }

    /// Records that the member redeemed an execution. Each can be redeemed once.
    ///
    /// - Throws: as ``settle(_:_:by:)``.
    @discardableResult
    public func redeem(_ id: UUID, by context: ActionContext = ActionContext()) async throws(ClubError)
        -> ScenarioExecution
    {
        try await settle(id, .redeemed, by: context)
    }

    // MARK: Inside

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
        return try await Task { () async -> Result<ScenarioExecution, ClubError> in
            await Result(of: { () async throws(ClubError) in
                try await ClubError.retrying(for: .seconds(4)) { () async throws(ClubError) in
                    try await store.write(attempt) { transaction in
                        try transaction.executions.settle(execution.id, failure: failure, at: time, attempt)
                    }
                }
            })
        }.value.get()
    }

    func result(_ execution: ScenarioExecution, in store: MemberStore) async -> ScenarioResult {
        var member: Member?
        if case .member(let userId) = execution.subject { member = try? await store.member(withUserID: userId) }
        return result(execution, member)
    }

    func result(_ execution: ScenarioExecution, _ member: Member?) -> ScenarioResult {
        let scenario = state.withLock { $0.scenarios?[execution.scenario] }
        return ScenarioResult(execution: execution, member: member, title: scenario?.title, message: scenario?.message)
    }
}
