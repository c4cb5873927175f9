import CardPasses
import Foundation

/// The scenarios of a club, in the order in which a tap asks for them.
package struct ScenarioPlan: Sendable {
    /// By priority, then in the order in which they were given.
    package let scenarios: [Scenario]

    /// Whether what is charged is delivered by being told, so that nothing has to be kept for later.
    package let isDeliveredByTelling: Bool

    /// The tags whose visits are counted together.
    package let groups: Set<String>

    /// Whether visits of this kiosk are counted.
    package let countsKiosk: Bool

    /// Whether a tap has to know the member's tags.
    package let needsTags: Bool

    /// The windows in which they count.
    package let spans: Set<ScenarioSpan>

    /// The scenarios with code of the application.
    package let conditional: [Scenario]

    package init(_ scenarios: [Scenario], isDeliveredByTelling: Bool = true) {
        // Stable: those of one priority stay in their order.
        self.scenarios = scenarios.enumerated().sorted {
            ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset)
        }.map(\.element)
        self.isDeliveredByTelling = isDeliveredByTelling
        groups = Set(
            scenarios.compactMap { scenario in
                if case .group(let tag) = scenario.audience, scenario.events == .visits { tag } else { nil }
            }
        )
        countsKiosk = scenarios.contains { $0.audience == .kiosk && $0.events == .visits }
        needsTags = scenarios.contains { scenario in
            if case .group = scenario.audience { return true }
            return scenario.allRules.contains(where: \.asksForTags)
        }
        spans = ScenarioSpan.all(of: scenarios)
        conditional = scenarios.filter { $0.customConditions != nil }
    }

    package var isEmpty: Bool { scenarios.isEmpty }

    package subscript(id: String) -> Scenario? { scenarios.first { $0.id == id } }
}

extension ScenarioRule {
    fileprivate var asksForTags: Bool {
        switch self {
        case .tagged: true
        case .all(let rules), .any(let rules): rules.contains(where: \.asksForTags)
        default: false
        }
    }
}
