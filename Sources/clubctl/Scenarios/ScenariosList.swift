import ArgumentParser
import ClubKit
import Foundation
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
