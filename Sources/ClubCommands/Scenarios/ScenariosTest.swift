import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct ScenariosTest: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Shows what a visit would bring a member, without counting one.",
        discussion: """
            The rules are judged as if the member had come then, once more than before. Nothing is changed.

            JSON keys: userId, and of each scenario that would happen scenario, title, subject (member, group or \
            kiosk), at, isDue (true), counters (eventsCount with that visit, executionsCount, firstEventDate, lastEventDate, \
            lastExecutionDate), failures (empty), nextPossible.

            EXAMPLES
              clubctl scenarios test M-1042 --scenarios scenarios.yaml
              clubctl scenarios test --all --scenarios scenarios.yaml --at 2026-12-24T18:00:00Z
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var scenarios: ScenarioFileOptions
    @Option(help: ArgumentHelp("When the visit is; now by default.", discussion: DateArgument.form, valueName: "time"))
    var at: DateArgument?
    @Flag(help: "Of every member, one after the other.")
    var all = false
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String?

    func validate() throws {
        if (member == nil) != all { throw ValidationError("Name a member, or give --all, and not both.") }
    }

    func perform(_ out: Output) async throws {
        let configuration = try scenarios.file.load(out)
        try await database.withClub { club in
            let time = at?.start ?? Date()
            let members = if let member { [try await club.known(member).userId] } else { try await club.userIDs() }
            var happens = 0
            for userId in members {
                try Task.checkCancellation()
                let decisions = try await club.preview(configuration.scenarios, visitOf: userId, at: time)
                var taken: Set<String> = []
                // By priority, as at a tap.
                for decision in decisions where decision.isDue {
                    let scenario = configuration.scenarios.first { $0.id == decision.scenario }
                    if let group = scenario?.exclusiveGroup, !taken.insert(group).inserted { continue }
                    let line = DecisionLine(decision: decision, scenario: scenario, userId: userId)
                    try out.result(line, text: Self.text(userId, decision, scenario))
                    happens += 1
                }
            }
            if members.isEmpty { return out.message("There are no members.") }
            if happens == 0 { out.message("Such a visit would bring nothing.") }
        }
    }

    private static func text(_ userId: String, _ decision: ScenarioDecision, _ scenario: Scenario?) -> String {
        var text = "\(userId.padded(to: 20))  \(decision.scenario)"
        if case .member = decision.subject {} else { text += " (\(ExecutionText.subject(decision.subject)))" }
        if let words = scenario?.message ?? scenario?.title { text += ": \(words)" }
        return text.onOneLine
    }
}

extension Club {
    /// All members' identifiers, in the order of their creation.
    fileprivate func userIDs() async throws -> [String] {
        let found = Collected()
        try await forEachMember(in: MemberQuery(limit: .max)) { found.add($0.userId) }
        return found.all
    }
}
