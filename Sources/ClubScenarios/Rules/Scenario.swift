import ClubRecords
import Cryptography
import Foundation

/// Rules that determine when something is due: "with the tenth visit, at most once a week".
///
/// A value without state: it defines what is counted and tested. All conditions set must hold at once.
///
/// ```swift
/// let coffee = Scenario("coffee") {
///     $0.message = "This visit brings you a free coffee."
///     $0.minSecondsSinceFirstEvent = 86_400
///     $0.minSecondsBetweenExecutions = 7 * 86_400
///     $0.rules = [.every(10, since: nil)]
/// }
/// ```
public struct Scenario: Sendable, Identifiable {
    /// The key of its state: 1...100 Unicode scalars without control characters. Another identifier is another
    /// scenario, without events or executions.
    public var id: String

    /// Its name for people.
    public var title: String?

    /// The message for the person when it is executed.
    public var message: String?

    /// The subjects whose events and executions are counted.
    public var audience: ScenarioAudience = .members

    /// What counts as an event.
    public var events: ScenarioEvents = .visits

    /// The minimum number of events; `nil`, as for all conditions, for none.
    public var minEventsRequired: Int?

    /// The maximum number of events.
    public var maxEventsPermitted: Int?

    /// The maximum number of executions.
    public var maxExecutionsPermitted: Int?

    /// The number of seconds since the first event that must be exceeded; fails while there is none.
    public var minSecondsSinceFirstEvent: TimeInterval?

    /// The number of seconds since the last event that must be exceeded; fails while there is none.
    public var minSecondsSinceLastEvent: TimeInterval?

    /// The number of seconds since the last execution that must be exceeded; holds while there is none.
    public var minSecondsBetweenExecutions: TimeInterval?

    /// The application's own conditions, called once for each attempt, before and outside its transaction, on any
    /// thread.
    public var customConditions: (@Sendable () -> Bool)?

    /// Whether the conditions on seconds since the first and the last event hold while there is no event, as in
    /// WaitForIt.
    public var compatibleWithWaitForIt = false

    /// Additional rules, which must hold too. Lists may be nested eight deep, with 64 rules each.
    public var rules: [ScenarioRule] = []

    /// The beginning of its validity, inclusive.
    public var validFrom: Date?

    /// The end of its validity, exclusive.
    public var validUntil: Date?

    /// The time zone of days, weekdays and times of the day.
    public var timeZone: TimeZone = .current

    /// The priority if several are due; the greatest is first, and of equals the one registered first.
    public var priority = 0

    /// The group of scenarios of which only the first that is due at one attempt is executed.
    public var exclusiveGroup: String?

    /// Creates a scenario; the closure sets its values.
    public init(_ id: String, configure: (inout Scenario) -> Void = { _ in }) {
        self.id = id
        configure(&self)
    }

    /// All rules, in the order in which failures are reported: the seven conditions in the order above, the period of
    /// validity, and ``rules``.
    public var allRules: [ScenarioRule] {
        var all: [ScenarioRule] = []
        if let minEventsRequired { all.append(.minEventsRequired(minEventsRequired)) }
        if let maxEventsPermitted { all.append(.maxEventsPermitted(maxEventsPermitted)) }
        if let maxExecutionsPermitted { all.append(.maxExecutionsPermitted(maxExecutionsPermitted)) }
        if let minSecondsSinceFirstEvent { all.append(.minSecondsSinceFirstEvent(minSecondsSinceFirstEvent)) }
        if let minSecondsSinceLastEvent { all.append(.minSecondsSinceLastEvent(minSecondsSinceLastEvent)) }
        if let minSecondsBetweenExecutions { all.append(.minSecondsBetweenExecutions(minSecondsBetweenExecutions)) }
        if customConditions != nil { all.append(.customConditions) }
        if validFrom != nil || validUntil != nil { all.append(.valid(from: validFrom, until: validUntil)) }
        return all + rules
    }
}

/// The subjects whose events and executions a scenario counts.
public enum ScenarioAudience: Sendable, Hashable {
    /// Each member separately.
    case members
    /// All members with this tag together: one count for the group.
    case group(String)
    /// This device.
    case kiosk
}

/// How an execution is delivered.
///
/// It is charged in one transaction with the visit. With ``effect(_:)`` and ``application`` it is delivered or refunded
/// even if the program is killed at any moment in between: it is then delivered when the club is open again. A program
/// that is killed between delivering and settling delivers the same execution (by ``ScenarioExecution/id``) a second
/// time. With ``telling`` it is reported at most once.
public enum ScenarioDelivery: Sendable {
    /// Reporting to the delegate and `Club.events` is the delivery: for messages that are only shown. Charging and
    /// delivering are one transaction, so an execution is not reported later if the program is killed right after it.
    case telling

    /// Calls the closure, one execution at a time, in the order of the charges. When it returns, the execution is
    /// delivered; when it throws, the execution is refunded and does not count. It is reported to the delegate and
    /// `Club.events` after that.
    case effect(@Sendable (ScenarioResult) async throws -> Void)

    /// The application delivers the executions of receipts and `Club.takeUndeliveredExecutions()`, and settles them by
    /// `Club.settle(_:_:by:)`.
    case application
}

/// Identifiers that follow from what they are of, so that one tap never yields two of them, on whatever device and
/// however often it is reported.
package enum ScenarioIdentifiers {
    /// Of what a scenario is charged with at a visit.
    package static func execution(of scenario: String, for subject: TransferRecord.Subject.Kind, at visit: UUID) -> UUID
    {
        uuid("execution", [subject.rawValue, scenario], visit)
    }

    /// Of a visit as an event of a group or the kiosk.
    package static func event(of subject: TransferRecord.Subject, at visit: UUID) -> UUID {
        uuid("event", [subject.kind, subject.text], visit)
    }

    private static func uuid(_ what: String, _ parts: [String], _ visit: UUID) -> UUID {
        var hash = SHA256()
        withUnsafeBytes(of: visit.uuid) { hash.update($0) }
        for part in [what] + parts {
            hash.update(part.utf8)
            // No byte of UTF-8, so that two parts are never one.
            hash.update([0xFF])
        }
        return UUID(digest: hash.digest)
    }
}

extension Scenario {
    /// Whether all rules hold. Stops at the first that fails; what asks the history comes last.
    package func isDue(_ attempt: ScenarioAttempt) throws -> Bool {
        guard customConditions == nil || attempt.customConditionsHold,
            ScenarioEvaluation.isValid(from: validFrom, until: validUntil, at: attempt.now)
        else { return false }
        var evaluation = ScenarioEvaluation(self, attempt)
        let now = attempt.now
        var asksHistory = false
        for rule in rules {
            if rule.asksHistory() {
                asksHistory = true
            } else if try !evaluation.holds(rule, at: now) {
                return false
            }
        }
        if let limit = maxExecutionsPermitted, try evaluation.executions().count >= limit { return false }
        if let limit = minSecondsBetweenExecutions, try !evaluation.hasRested(limit, at: now) { return false }
        if let limit = minEventsRequired, try evaluation.events().count < limit { return false }
        if let limit = maxEventsPermitted, try evaluation.events().count > limit { return false }
        if let limit = minSecondsSinceFirstEvent, try !evaluation.hasPassedSinceFirst(limit, at: now) { return false }
        if let limit = minSecondsSinceLastEvent, try !evaluation.hasPassedSinceLast(limit, at: now) { return false }
        guard asksHistory else { return true }
        for rule in rules where rule.asksHistory() {
            if try !evaluation.holds(rule, at: now) { return false }
        }
        return true
    }

    /// Looks at all rules, and finds out when all of them could next hold.
    package func decide(_ attempt: ScenarioAttempt, for subject: ScenarioSubject) throws -> ScenarioDecision {
        var evaluation = ScenarioEvaluation(self, attempt)
        let now = attempt.now
        let all = allRules
        var failures: [ScenarioDecision.Failure] = []
        for rule in all where try !evaluation.holds(rule, at: now) {
            failures.append(
                ScenarioDecision.Failure(
                    rule: rule,
                    message: try evaluation.message(rule, at: now),
                    nextPossible: try evaluation.earliest([rule], from: now).map(Timestamp.date)
                )
            )
        }
        let events = try evaluation.events()
        let executions = try evaluation.executions()
        return ScenarioDecision(
            scenario: id,
            subject: subject,
            at: Timestamp.date(now),
            counters: ScenarioCounters(
                eventsCount: events.count,
                executionsCount: executions.count,
                firstEventDate: events.first.map(Timestamp.date),
                lastEventDate: events.last.map(Timestamp.date),
                lastExecutionDate: executions.last.map(Timestamp.date)
            ),
            failures: failures,
            nextPossible: failures.isEmpty
                ? Timestamp.date(now) : try evaluation.earliest(all, from: now).map(Timestamp.date)
        )
    }
}

extension Scenario {
    /// How many rules a list may have, and all lists together.
    private static let maximumRules = (list: 64, all: 1024)

    /// Checks that the scenario is valid.
    ///
    /// Throws ``ClubError`` of kind `invalidScenario`, which names the scenario and the rule: for an identifier (or a
    /// name of events, or a tag) that is empty, has more than 100 Unicode scalars or a control character; for numbers
    /// that are negative, infinite or not-a-number; for empty windows, periods, days and lists; for lists that are
    /// nested more than eight deep or have more than 64 rules (1024 in all).
    public func validate() throws(ClubError) {
        if let fault = Self.fault(ofName: id) { throw invalid("its identifier \(fault)") }
        if case .named(let name) = events, let fault = Self.fault(ofName: name) {
            throw invalid("the name of its events \(fault)")
        }
        if case .named(let name) = events, name.hasPrefix("$") {
            throw invalid("the name of its events begins with '$', as only the club's own do")
        }
        if case .group(let tag) = audience, let fault = Self.fault(ofName: tag) {
            throw invalid("the tag of its group \(fault)")
        }
        guard rules.count <= Self.maximumRules.list else { throw invalid("it has more than 64 rules") }
        var count = 0
        for rule in allRules { try check(rule, depth: 0, &count) }
    }

    private func invalid(_ detail: String) -> ClubError {
        let name = PlainText.line(String(String.UnicodeScalarView(id.unicodeScalars.prefix(100))))
        return ClubError(.invalidScenario, attempting: "use the scenario \"\(name)\"", detail: detail)
    }

    /// What is wrong with an identifier, to be read after it; `nil` if nothing is.
    private static func fault(ofName name: String) -> String? {
        if name.isEmpty { return "is empty" }
        if name.unicodeScalars.count > 100 { return "is longer than 100 characters" }
        return name.unicodeScalars.contains(where: PlainText.isControl) ? "has a control character" : nil
    }

    private func check(_ rule: ScenarioRule, depth: Int, _ count: inout Int) throws(ClubError) {
        count += 1
        guard count <= Self.maximumRules.all else { throw invalid("it has more than 1024 rules in all") }
        switch rule {
        case .all(let rules), .any(let rules):
            guard depth < ScenarioRule.maximumDepth else {
                throw invalid("its rule \(rule.name) is nested more than \(ScenarioRule.maximumDepth) deep")
            }
            guard !rules.isEmpty else { throw invalid("its rule \(rule.name) has an empty list") }
            guard rules.count <= Self.maximumRules.list else {
                throw invalid("its rule \(rule.name) has more than \(Self.maximumRules.list) rules")
            }
            for rule in rules { try check(rule, depth: depth + 1, &count) }
        default:
            if let fault = Self.fault(of: rule) { throw invalid("its rule \(rule.name) \(fault)") }
        }
    }

    /// What is wrong with a rule that is no list, to be read after its name; `nil` if nothing is.
    private static func fault(of rule: ScenarioRule) -> String? {
        switch rule {
        case .minEventsRequired(let number), .maxEventsPermitted(let number), .maxExecutionsPermitted(let number):
            fault(number)
        case .minSecondsSinceFirstEvent(let seconds), .minSecondsSinceLastEvent(let seconds),
            .minSecondsBetweenExecutions(let seconds), .absence(let seconds):
            fault(seconds)
        case .customConditions, .all, .any: nil
        case .valid(let from, let until): fault(from: from, until: until)
        case .events(let least, let most, let window):
            least.flatMap(fault) ?? most.flatMap(fault) ?? fault(window) ?? fault(atLeast: least, atMost: most)
        case .executions(let most, let window): fault(most) ?? fault(window)
        case .every(let number, let since): number < 1 ? "needs at least 1" : since.flatMap(fault)
        case .reaches(let number, let window): number < 1 ? "needs at least 1" : fault(window)
        case .weekdays(let weekdays): weekdays.isEmpty ? "names no day" : nil
        case .openingHours(let hours):
            if hours.isEmpty {
                "has no hours"
            } else if hours.count > maximumRules.list {
                "has more than \(maximumRules.list) hours"
            } else {
                hours.contains { $0.weekdays.isEmpty } ? "has hours without a day" : nil
            }
        case .birthday(let field, let before, let after):
            if field.isEmpty {
                "names no field"
            } else if !(0...Birthday.reach).contains(before) || !(0...Birthday.reach).contains(after) {
                "has days outside 0...\(Birthday.reach)"
            } else {
                nil
            }
        case .tagged(let tag): tag.isEmpty ? "names no tag" : nil
        }
    }

    private static func fault(_ number: Int) -> String? { number < 0 ? "has a negative number" : nil }

    private static func fault(_ seconds: TimeInterval) -> String? {
        guard seconds.isFinite else { return "has a length of time that is no finite number" }
        return seconds < 0 ? "has a negative length of time" : nil
    }

    private static func fault(_ date: Date) -> String? {
        date.timeIntervalSince1970.isFinite ? nil : "has a time that is no finite number"
    }

    private static func fault(from: Date?, until: Date?) -> String? {
        if let fault = from.flatMap(fault) ?? until.flatMap(fault) { return fault }
        guard let from, let until, until <= from else { return nil }
        return "is over before it begins"
    }

    private static func fault(atLeast least: Int?, atMost most: Int?) -> String? {
        switch (least, most) {
        case (nil, nil): "has neither a least nor a greatest number"
        case (let least?, let most?) where least > most: "has a least number above the greatest"
        default: nil
        }
    }

    private static func fault(_ window: ScenarioWindow) -> String? {
        switch window {
        case .seconds(let seconds):
            fault(seconds) ?? (ScenarioTime.microseconds(seconds) == 0 ? "has an empty window" : nil)
        case .days(let days): days < 1 ? "has an empty window" : nil
        case .day, .week, .month, .year: nil
        case .since(let date): fault(date)
        }
    }
}
