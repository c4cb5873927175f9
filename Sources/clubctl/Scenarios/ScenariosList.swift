import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

/// `clubctl scenarios list`
struct ScenariosList: ToolCommand {
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

    private struct Line: Encodable {
        var id: String
        var title: String?
        var message: String?
        var audience: String
        var group: String?
        var events: String
        var priority: Int
        var exclusive: String?
        var rules: [String]
        var charged = 0
        var delivered = 0
        var redeemed = 0
        var refunded = 0
        var undelivered = 0

        init(_ scenario: Scenario, _ states: [ScenarioExecution.State: Int]) {
            id = scenario.id
            title = scenario.title
            message = scenario.message
            switch scenario.audience {
            case .members: audience = "members"
            case .kiosk: audience = "kiosk"
            case .group(let tag): (audience, group) = ("group", tag)
            }
            events = if case .named(let name) = scenario.events { name } else { "visits" }
            priority = scenario.priority
            exclusive = scenario.exclusiveGroup
            rules = ScenarioWords(scenario).rules
            charged = states.values.reduce(0, +)
            delivered = states[.delivered] ?? 0
            redeemed = states[.redeemed] ?? 0
            refunded = states[.refunded] ?? 0
            undelivered = states[.charged] ?? 0
        }
    }

    func perform() async throws {
        let out = output.output
        try await out.tellingErrors {
            let configuration = try scenarios.file.load(out)
            try await database.withClub { club in
                var counts = try await club.executionCounts()
                for scenario in configuration.scenarios {
                    let line = Line(scenario, counts.removeValue(forKey: scenario.id) ?? [:])
                    try out.result(line, text: Self.text(line, scenario))
                }
                if configuration.scenarios.isEmpty { out.message("The file has no scenarios.") }
                for (id, states) in counts.sorted(by: { $0.key < $1.key }) {
                    let times = Count.text(states.values.reduce(0, +), "time")
                    out.message("'\(id)' happened \(times) and is not in the file any more.")
                }
            }
        }
    }

    private static func text(_ line: Line, _ scenario: Scenario) -> String {
        var lines = [line.title.map { "\(line.id)  \($0.onOneLine)" } ?? line.id]
        lines.append(
            "  for \(ScenarioWords(scenario).audience)" + (line.priority == 0 ? "" : ", priority \(line.priority)")
        )
        if let exclusive = line.exclusive { lines.append("  only the first of '\(exclusive.onOneLine)' at a visit") }
        lines += line.rules.map { "  - \($0.onOneLine)" }
        if line.rules.isEmpty { lines.append("  - at each visit") }
        var became: [String] = []
        for (count, word) in [
            (line.delivered, "delivered"), (line.redeemed, "redeemed"), (line.refunded, "refunded"),
            (line.undelivered, "yet to be delivered"),
        ] where count > 0 {
            became.append("\(Count.grouped(count)) \(word)")
        }
        let times = Count.text(line.charged, "time")
        lines.append("  happened \(times)" + (became.isEmpty ? "" : ": " + became.joined(separator: ", ")))
        return lines.joined(separator: "\n")
    }
}

/// `clubctl scenarios`
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
    /// A tier, and a scenario that is due while somebody has the visits for it.
    private struct Step: Sendable {
        var name: String
        var visits: Int
        var probe: Scenario
    }

    /// The reward's identifier.
    private(set) var id: String

    private var window: ScenarioWindow

    /// By visits, the fewest first.
    private var steps: [Step]

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
            let name = String(scenario.id[scenario.id.index(after: slash)...])
            let step = Step(name: name, visits: visits, probe: probe)
            if let index = ladders.firstIndex(where: { $0.id == id && $0.window == window }) {
                ladders[index].steps.append(step)
                ladders[index].steps.sort { $0.visits < $1.visits }
            } else {
                ladders.append(TierLadder(id: id, window: window, steps: [step]))
            }
        }
        return ladders
    }

    /// Whose tier it is when that member comes.
    func subject(for details: MemberDetails) -> ScenarioSubject? { steps.first?.probe.subject(for: details) }

    /// Which tier somebody has reached at a moment.
    func standing(of subject: ScenarioSubject, at time: Date, in club: Club) async throws -> TierStanding {
        var standing = TierStanding(tiers: id, subject: subject, at: ISO8601.text(time))
        for step in steps {
            let decision = try await club.decide(step.probe, for: subject, at: time)
            guard decision.isDue else {
                standing.next = step.name
                standing.missing = decision.failures.first?.message
                break
            }
            standing.tier = step.name
        }
        return standing
    }
}

/// Which tier somebody has reached, and what is next.
struct TierStanding: Encodable, Sendable {
    var tiers: String
    var subject: ScenarioSubject
    var at: String
    var tier: String?
    var next: String?
    var missing: String?

    /// On one line, for people.
    var text: String {
        var text = "\(tiers)  (\(ExecutionText.subject(subject)))  present tier: \(tier ?? "none")"
        if let next { text += "; next: \(next)" + (missing.map { ", \($0)" } ?? "") }
        return text.onOneLine
    }
}
