import ClubRecords
import Foundation

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
