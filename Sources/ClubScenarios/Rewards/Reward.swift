import ClubRecords
import Foundation

/// Ready-made scenarios.
///
/// Each becomes one ``Scenario``, or one for each tier, and takes any further conditions:
///
/// ```swift
/// let coffee = Reward.stampCard(every: 10, since: opening).scenarios(id: "free-coffee") {
///     $0.message = "This coffee is on us."
///     $0.minSecondsSinceFirstEvent = 86_400
///     $0.rules.append(.executions(atMost: 1, within: .week))
/// }
/// ```
///
/// A cooldown is a further condition, `.executions(atMost: 1, within: .seconds(604_800))`. That a reward was redeemed
/// is recorded with its ``ScenarioExecution``.
public enum Reward: Sendable, Hashable {
    /// Every n-th visit, n from 1: one execution is owed for each n visits. With `since`, visits before that moment do
    /// not count; without it, members who have visits are owed for all of them.
    case stampCard(every: Int, since: Date?)
    /// The first visit, once. Whoever had a visit before is not welcomed.
    case welcome
    /// The first visit after an absence of more than so many seconds.
    case comeback(after: TimeInterval)
    /// Told when a visit reaches a tier: when it made their number exactly that of the tier in the window. In a window
    /// that moves on it can be reached again.
    case tiers([Tier], within: ScenarioWindow)
    /// The conditions alone.
    case custom

    /// The scenarios.
    ///
    /// The rules of the reward come first, whatever `configure` does, and must hold like those that it adds.
    ///
    /// - Parameters:
    ///   - id: the identifier; that of a tier is `ID/NAME`.
    ///   - configure: sets the other values, once for each scenario. It finds the identifier set, and of a tier its
    ///     title and message.
    public func scenarios(id: String, configure: (inout Scenario) -> Void = { _ in }) -> [Scenario] {
        func scenario(_ id: String, _ rules: [ScenarioRule], _ tier: Tier? = nil) -> Scenario {
            Scenario(id) {
                $0.title = tier?.title
                $0.message = tier?.message
                configure(&$0)
                $0.rules.insert(contentsOf: rules, at: 0)
            }
        }
        switch self {
        case .stampCard(let visits, let since): return [scenario(id, [.every(visits, since: since)])]
        case .welcome:
            return [scenario(id, [.minEventsRequired(1), .maxEventsPermitted(1), .maxExecutionsPermitted(1)])]
        case .comeback(let absence): return [scenario(id, [.absence(absence)])]
        case .tiers(let tiers, let window):
            return tiers.map { scenario("\(id)/\($0.name)", [.reaches($0.visits, within: window)], $0) }
        case .custom: return [scenario(id, [])]
        }
    }
}
