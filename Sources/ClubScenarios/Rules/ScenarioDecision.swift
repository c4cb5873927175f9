import CardCore
import ClubRecords
import Foundation

/// What became of a look at a scenario: it is due, or which rules failed, and when it could next be due.
///
/// In JSON the times are ISO 8601 in UTC, a rule is its name, and what there is not is left out.
public struct ScenarioDecision: Sendable, Hashable {
    /// The scenario's identifier.
    public var scenario: String

    /// For whom it was evaluated.
    public var subject: ScenarioSubject

    /// The moment for which it was evaluated.
    public var at: Date

    /// What was counted so far.
    public var counters: ScenarioCounters

    /// The rules that did not hold, in the order of ``Scenario/allRules``; empty if the scenario is due.
    public var failures: [Failure]

    /// Whether all rules held.
    public var isDue: Bool { failures.isEmpty }

    /// The earliest moment, no earlier than ``at``, at which all rules hold if nothing else happens. `nil`: not
    /// without further events, or never (or only after so many changes that they are not followed).
    public var nextPossible: Date?

    /// A rule that did not hold.
    public struct Failure: Sendable, Hashable {
        /// The rule.
        public var rule: ScenarioRule

        /// One sentence for a person, with the actual numbers.
        public var message: String

        /// The earliest moment at which this rule holds if nothing else happens; `nil`: not without further events.
        public var nextPossible: Date?

        /// A rule that did not hold.
        public init(rule: ScenarioRule, message: String, nextPossible: Date? = nil) {
            self.rule = rule
            self.message = message
            self.nextPossible = nextPossible
        }
    }

    /// A decision.
    public init(
        scenario: String,
        subject: ScenarioSubject,
        at: Date,
        counters: ScenarioCounters,
        failures: [Failure] = [],
        nextPossible: Date? = nil
    ) {
        self.scenario = scenario
        self.subject = subject
        self.at = at
        self.counters = counters
        self.failures = failures
        self.nextPossible = nextPossible
    }
}

extension ScenarioDecision: Encodable {
    private enum Key: String, CodingKey {
        case scenario, subject, at, isDue, counters, failures, nextPossible
    }

    /// Writes an object whose keys are the names of the values, ``isDue`` among them.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(scenario, forKey: .scenario)
        try container.encode(subject, forKey: .subject)
        try container.encode(ISO8601.text(at), forKey: .at)
        try container.encode(isDue, forKey: .isDue)
        try container.encode(counters, forKey: .counters)
        try container.encode(failures, forKey: .failures)
        try container.encodeIfPresent(nextPossible.map(ScenarioTime.text), forKey: .nextPossible)
    }
}

extension ScenarioDecision.Failure: Encodable {
    private enum Key: String, CodingKey {
        case rule, message, nextPossible
    }

    /// Writes an object with the rule's name, the message, and when it next holds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(rule.name, forKey: .rule)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(nextPossible.map(ScenarioTime.text), forKey: .nextPossible)
    }
}
