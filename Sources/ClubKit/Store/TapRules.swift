/// What to do with an unknown card.
package enum UnknownCard: Sendable {
    case create
    case ignore
    /// Write nothing and say that the question has to be asked.
    case ask
}

/// By what a tap is judged. Times are in microseconds.
package struct TapRules: Sendable {
    /// How near a tap may be to a counted visit without being a repeat.
    package var cooldown: Int64
    /// How long before its end a membership is said to end.
    package var expiryWarning: Int64 = 14 * 86_400 * Timestamp.second
    /// From how few visits that are left on it is said.
    package var visitsWarning = 2
    /// Whether taps are acknowledged and not counted.
    package var isMaintenance = false
    /// The scenarios that a counted visit may be charged with.
    package var scenarios: ScenarioPlan?
    /// Those of them whose own code said no, which was asked before.
    package var refusedScenarios: Set<String> = []

    package init(cooldown: Int64) {
        self.cooldown = cooldown
    }
}
