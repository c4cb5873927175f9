import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct ScenariosHistory: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows what scenarios were charged with, and what became of it, the latest last.",
        discussion: """
            The identifier of a line is what 'redeem' and 'refund' want.

            JSON keys: \(ExecutionText.keys)

            EXAMPLES
              clubctl scenarios history M-1042
              clubctl scenarios history --scenario free-coffee --limit 20
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @Option(help: ArgumentHelp("Only what this scenario was charged with.", valueName: "id"))
    var scenario: String?
    @OptionGroup var latest: LimitOption
    @Argument(help: "The member's userId, or any of their cards; without one, all that happened.")
    var member: String?

    func perform(_ club: Club, _ out: Output) async throws {
        var subject: ScenarioSubject?
        if let member { subject = .member(try await club.known(member).userId) }
        let executions = try await club.executions(for: subject, of: scenario, limit: latest.limit)
        for execution in executions { try out.result(execution, text: ExecutionText.line(execution)) }
        if executions.isEmpty { out.message("Nothing of this kind has happened.") }
    }
}

enum ExecutionText {
    static let keys = """
        id, scenario, subject (member, group or kiosk), at, visit (the id of the tap), number (how many times it \
        counted by then for the subject), state (charged, delivered, redeemed, refunded), settledAt, actor (who said so) and reason.
        """

    static func line(_ execution: ScenarioExecution) -> String {
        var text = LocalTime.text(execution.at)
        text += "  \(execution.state.rawValue.padded(to: 9))  \(execution.scenario), number \(execution.number)"
        text += ", \(subject(execution.subject))  \(execution.id.uuidString)"
        if let actor = execution.actor { text += "  by \(actor)" }
        if let settled = execution.settledAt, execution.state != .delivered {
            text += "  at \(LocalTime.text(settled))"
        }
        if let reason = execution.reason { text += "  (\(reason))" }
        return text.onOneLine
    }

    static func subject(_ subject: ScenarioSubject) -> String {
        switch subject {
        case .member(let userId): userId
        case .group(let tag): "group \(tag)"
        case .kiosk: "the kiosk"
        }
    }
}
