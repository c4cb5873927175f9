import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

struct ScenariosExplain: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract:
            "Shows of each scenario whether it is due for a member as things are, and if not, why not and when next.",
        discussion: """
            It is about those of the member, of the groups that the member's tags make, and of the kiosk, and changes \
            nothing. What another visit would bring shows 'scenarios test'.

            JSON keys: scenario, title, subject (member, group or kiosk), at, isDue, counters (eventsCount, \
            executionsCount, firstEventDate, lastEventDate, lastExecutionDate), failures (each with rule, message and \
            nextPossible), nextPossible (absent if it takes further events). A reward with tiers has a line besides: \
            tiers (its id), subject, at, tier (the present one), next (the tier above it), missing (words: how far \
            that is); absent where there is none.

            EXAMPLES
              clubctl scenarios explain M-1042 --scenarios scenarios.yaml
              clubctl scenarios explain M-1042 --scenarios scenarios.yaml --at 2026-12-24T18:00:00Z
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var scenarios: ScenarioFileOptions
    @Option(help: ArgumentHelp("For when; now by default.", discussion: DateArgument.form, valueName: "time"))
    var at: DateArgument?
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func perform(_ out: Output) async throws {
        let configuration = try scenarios.file.load(out)
        try await database.withClub { club in
            guard let details = try await club.details(of: member) else { throw MissingMember(key: member) }
            let time = at?.start ?? Date()
            var shown = 0
            for scenario in configuration.scenarios {
                guard let subject = scenario.subject(for: details) else { continue }
                let decision = try await club.decide(scenario, for: subject, at: time)
                let line = DecisionLine(decision: decision, scenario: scenario)
                try out.result(line, text: line.text)
                shown += 1
            }
            for ladder in TierLadder.all(in: configuration.scenarios) {
                guard let subject = ladder.subject(for: details) else { continue }
                try await ladder.show(subject, at: time, in: club, out)
            }
            if shown == 0 { out.message("No scenario of the file is about \(details.member.caption).") }
        }
    }
}

extension Scenario {
    /// Whom it is evaluated for when that member comes; `nil` if it is about others.
    func subject(for details: MemberDetails) -> ScenarioSubject? {
        switch audience {
        case .members: .member(details.member.userId)
        case .group(let tag): details.tags.contains(tag) ? .group(tag) : nil
        case .kiosk: .kiosk
        }
    }
}

struct DecisionLine: Encodable, Sendable {
    var decision: ScenarioDecision
    /// `nil` where the file has it no more.
    var scenario: Scenario?
    /// At whose visit.
    var userId: String?

    func encode(to encoder: any Encoder) throws {
        try JSONObject(decision, ["title": scenario?.title, "userId": userId]).encode(to: encoder)
    }

    /// All of it, for people. Times are in the zone of the scenario, which its days and hours are those of.
    var text: String {
        let name = scenario?.title.map { "\(decision.scenario)  \($0)" } ?? decision.scenario
        var lines = ["\(name)  (\(ExecutionText.subject(decision.subject)))".onOneLine]
        let counters = decision.counters
        var counted = "happened \(Count.text(counters.executionsCount, "time"))"
        if let last = counters.lastExecutionDate { counted += ", last \(time(last))" }
        counted += "; \(Count.text(counters.eventsCount, "event")) so far"
        if let last = counters.lastEventDate { counted += ", last \(time(last))" }
        lines.append("  " + counted)
        if decision.isDue {
            lines.append("  due now")
        } else {
            lines += decision.failures.map { "  not due: \($0.message.onOneLine)" }
            lines.append(
                decision.nextPossible.map { "  possible from \(time($0)) on" } ?? "  not without further events"
            )
        }
        return lines.joined(separator: "\n")
    }

    private func time(_ date: Date) -> String { LocalTime.named(date, in: scenario?.timeZone ?? .current) }
}
