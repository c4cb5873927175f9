import CardCore
import CardPasses
import ClubRecords
import Foundation

/// The evaluation of a scenario: whether it is due, which rules failed, and when it could next be due.
///
/// In JSON the times are ISO 8601 in UTC, a rule is its name, and absent values are omitted.
public struct ScenarioDecision: Sendable, Hashable {
    /// The scenario's identifier.
    public var scenario: String

    /// The subject for which it was evaluated.
    public var subject: ScenarioSubject

    /// The moment for which it was evaluated.
    public var at: Date

    /// The counters so far.
    public var counters: ScenarioCounters

    /// The rules that did not hold, in the order of ``Scenario/allRules``; empty if the scenario is due.
    public var failures: [Failure]

    /// Whether all rules held.
    public var isDue: Bool { failures.isEmpty }

    /// The earliest moment, no earlier than ``at``, at which all rules hold without further events; `nil` if there is
    /// none (or only after too many changes to follow).
    public var nextPossible: Date?

    /// A rule that did not hold.
    public struct Failure: Sendable, Hashable {
        /// The rule.
        public var rule: ScenarioRule

        /// One sentence for a person, with the actual numbers.
        public var message: String

        /// The earliest moment at which this rule holds without further events; `nil` if there is none.
        public var nextPossible: Date?
    }
}

extension ScenarioDecision: Encodable {
    /// Encodes an object whose keys are the names of the values, ``isDue`` among them.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeObject([
            "scenario": scenario, "subject": subject, "at": ISO8601.text(at), "isDue": isDue, "counters": counters,
            "failures": failures, "nextPossible": nextPossible.map(ScenarioTime.text),
        ])
    }
}

extension ScenarioDecision.Failure: Encodable {
    /// Encodes an object with the rule's name, the message, and when it next holds.
    public func encode(to encoder: any Encoder) throws {
        let next = nextPossible.map(ScenarioTime.text)
        try encoder.encodeObject(["rule": rule.name, "message": message, "nextPossible": next])
    }
}

/// An execution of a scenario, with its member and message.
public struct ScenarioResult: Sendable, Hashable {
    /// The execution and its state.
    public var execution: ScenarioExecution

    /// The member right after the visit; `nil` for a group or the kiosk without a visit.
    public var member: Member?

    /// ``Scenario/title``, if the scenario is currently one of the club's.
    public var title: String?

    /// ``Scenario/message`` for the person, if the scenario is currently one of the club's.
    public var message: String?

    /// Creates a result.
    public init(execution: ScenarioExecution, member: Member? = nil, title: String? = nil, message: String? = nil) {
        self.execution = execution
        self.member = member
        self.title = title
        self.message = message
    }
}

extension ScenarioResult: CustomStringConvertible {
    /// The scenario and its number. The member is omitted, to keep the identity out of logs.
    public var description: String { "\(execution.scenario), number \(execution.number), \(execution.state)" }
}

/// The outcome of an attempt to execute a scenario.
public struct ScenarioOutcome: Sendable, Hashable {
    /// Whether it was due, and if not, why and when it could be.
    public var decision: ScenarioDecision

    /// The execution, if it was due.
    public var execution: ScenarioExecution?

    package init(decision: ScenarioDecision, execution: ScenarioExecution? = nil) {
        self.decision = decision
        self.execution = execution
    }

    /// Whether it was executed: charged and not refunded.
    public var hasHappened: Bool { execution.map { $0.state != .refunded } ?? false }
}

/// One look at a scenario: the moment, and what is known then of the subject.
package struct ScenarioAttempt {
    /// In microseconds since 1970.
    package var now: Int64
    package var history: any ScenarioHistory
    /// The member, if the subject is one or the attempt comes from a tap of theirs.
    package var member: Member?
    package var tags: [String]
    /// Whether the scenario's own conditions hold, which were asked before.
    package var customConditionsHold: Bool
    /// Shared by all scenarios that are looked at together.
    package var calendars: ScenarioCalendars

    package init(
        now: Int64,
        history: any ScenarioHistory,
        member: Member? = nil,
        tags: [String] = [],
        customConditionsHold: Bool = true,
        calendars: ScenarioCalendars = ScenarioCalendars()
    ) {
        self.now = now
        self.history = history
        self.member = member
        self.tags = tags
        self.customConditionsHold = customConditionsHold
        self.calendars = calendars
    }
}

/// The scenarios of a club, in the order in which a tap asks for them.
package struct ScenarioPlan: Sendable {
    /// By priority, then in the order in which they were given.
    package let scenarios: [Scenario]
    /// Whether what is charged is delivered by being reported, so that nothing has to be kept for later.
    package let isDeliveredByTelling: Bool
    package let groups: Set<String>
    package let countsKiosk: Bool
    /// Whether a tap has to know the member's tags.
    package let needsTags: Bool
    package let spans: Set<ScenarioSpan>
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
