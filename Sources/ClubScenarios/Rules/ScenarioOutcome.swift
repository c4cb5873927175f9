import ClubRecords

/// What came of an attempt to let a scenario happen.
public struct ScenarioOutcome: Sendable, Hashable {
    /// Whether it was due, and if not, why not and when it could be.
    public var decision: ScenarioDecision

    /// What was charged, if it was due.
    public var execution: ScenarioExecution?

    package init(decision: ScenarioDecision, execution: ScenarioExecution? = nil) {
        self.decision = decision
        self.execution = execution
    }

    /// Whether it happened: it was charged and not refunded.
    public var hasHappened: Bool { execution.map { $0.state != .refunded } ?? false }
}
