import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

struct ScenariosList: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows the scenarios of a file in words, and how often each happened.",
        discussion: """
            All rules of a scenario have to hold for it to happen.

            JSON keys: id, title, message, audience (members, group, kiosk), group (its tag), events (visits, or the \
            name of what programs record), priority, exclusive (the name of its group of exclusive ones), rules \
            (words), charged (how often it happened), and what became of these: delivered, redeemed, refunded (these \
            do not count), undelivered (yet to be delivered).

            EXAMPLES
              clubctl scenarios list --scenarios scenarios.yaml
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var scenarios: ScenarioFileOptions

    func perform(_ out: Output) async throws {
        let configuration = try scenarios.file.load(out)
        try await database.withClub { club in
            var counts = try await club.executionCounts()
            for scenario in configuration.scenarios {
                let states = counts.removeValue(forKey: scenario.id) ?? [:]
                try out.result(Self.json(scenario, states), text: Self.text(scenario, states))
            }
            if configuration.scenarios.isEmpty { out.message("The file has no scenarios.") }
            for (id, states) in counts.sorted(by: { $0.key < $1.key }) {
                let times = Count.text(states.values.reduce(0, +), "time")
                out.message("'\(id)' happened \(times) and is not in the file any more.")
            }
        }
    }

    private static func json(_ scenario: Scenario, _ states: [ScenarioExecution.State: Int]) -> JSONObject {
        let (audience, group): (String, String?) =
            switch scenario.audience {
            case .members: ("members", nil)
            case .kiosk: ("kiosk", nil)
            case .group(let tag): ("group", tag)
            }
        let events = if case .named(let name) = scenario.events { name } else { "visits" }
        return [
            "id": scenario.id, "title": scenario.title, "message": scenario.message, "audience": audience,
            "group": group, "events": events, "priority": scenario.priority, "exclusive": scenario.exclusiveGroup,
            "rules": ScenarioWords(scenario).rules, "charged": states.values.reduce(0, +),
            "delivered": states[.delivered] ?? 0, "redeemed": states[.redeemed] ?? 0,
            "refunded": states[.refunded] ?? 0, "undelivered": states[.charged] ?? 0,
        ]
    }

    private static func text(_ scenario: Scenario, _ states: [ScenarioExecution.State: Int]) -> String {
        let words = ScenarioWords(scenario)
        var lines = [scenario.title.map { "\(scenario.id)  \($0.onOneLine)" } ?? scenario.id]
        lines.append("  for \(words.audience)" + (scenario.priority == 0 ? "" : ", priority \(scenario.priority)"))
        if let group = scenario.exclusiveGroup { lines.append("  only the first of '\(group.onOneLine)' at a visit") }
        lines += words.rules.map { "  - \($0.onOneLine)" }
        if words.rules.isEmpty { lines.append("  - at each visit") }
        let names: [(ScenarioExecution.State, String)] = [
            (.delivered, "delivered"), (.redeemed, "redeemed"), (.refunded, "refunded"),
            (.charged, "yet to be delivered"),
        ]
        let became = names.compactMap { state, word in states[state].map { "\(Count.grouped($0)) \(word)" } }
        let times = Count.text(states.values.reduce(0, +), "time")
        lines.append("  happened \(times)" + (became.isEmpty ? "" : ": " + became.joined(separator: ", ")))
        return lines.joined(separator: "\n")
    }
}

struct Scenarios: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows, checks and explains scenarios: what happens at which visit.",
        discussion: """
            Scenarios stand in a file, in YAML or JSON, that 'clubctl kiosk --scenarios' serves by. What they were \
            charged with is kept in the club's database.

            EXAMPLES
              clubctl scenarios check scenarios.yaml
              clubctl scenarios explain M-1042 --scenarios scenarios.yaml
              clubctl scenarios history M-1042
              clubctl scenarios redeem 0B7A5C1E-7D0C-8F00-9D5E-2F1B6C3A4D5E --by desk
            """,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "The file",
                subcommands: [ScenariosCheck.self, ScenariosList.self, ScenariosTest.self, ScenariosExplain.self]
            ),
            CommandGroup(
                name: "What happened",
                subcommands: [ScenariosHistory.self, ScenariosRedeem.self, ScenariosRefund.self]
            ),
        ]
    )
}

/// The tiers of one reward of a file, which is a scenario `ID/NAME` for each.
struct TierLadder: Sendable {
    /// The reward's identifier.
    private let id: String
    private let window: ScenarioWindow
    /// By visits, the fewest first: a tier, and a scenario that is due while somebody has the visits for it.
    private var steps: [(name: String, visits: Int, probe: Scenario)] = []

    /// The rewards with tiers, in the order of the file.
    static func all(in scenarios: [Scenario]) -> [TierLadder] {
        var ladders: [TierLadder] = []
        for scenario in scenarios {
            // The rules of a reward come first.
            guard case .reaches(let visits, let window) = scenario.rules.first,
                let slash = scenario.id.firstIndex(of: "/")
            else { continue }
            let id = String(scenario.id[..<slash])
            var probe = Scenario(scenario.id)
            probe.audience = scenario.audience
            probe.events = scenario.events
            probe.timeZone = scenario.timeZone
            probe.rules = [.events(atLeast: visits, atMost: nil, within: window)]
            let index = ladders.firstIndex { $0.id == id && $0.window == window } ?? ladders.endIndex
            if index == ladders.endIndex { ladders.append(TierLadder(id: id, window: window)) }
            let name = String(scenario.id[scenario.id.index(after: slash)...])
            ladders[index].steps.append((name, visits, probe))
            ladders[index].steps.sort { $0.visits < $1.visits }
        }
        return ladders
    }

    func subject(for details: MemberDetails) -> ScenarioSubject? { steps.first?.probe.subject(for: details) }

    /// Prints which tier somebody has reached at a moment, and what is next.
    func show(_ subject: ScenarioSubject, at time: Date, in club: Club, _ out: Output) async throws {
        var (tier, next, missing): (String?, String?, String?)
        for step in steps {
            let decision = try await club.decide(step.probe, for: subject, at: time)
            guard decision.isDue else {
                (next, missing) = (step.name, decision.failures.first?.message)
                break
            }
            tier = step.name
        }
        var text = "\(id)  (\(ExecutionText.subject(subject)))  present tier: \(tier ?? "none")"
        if let next { text += "; next: \(next)" + (missing.map { ", \($0)" } ?? "") }
        try out.result(
            fields: [
                "tiers": id, "subject": subject, "at": ISO8601.text(time), "tier": tier, "next": next,
                "missing": missing,
            ],
            text: text.onOneLine
        )
    }
}
