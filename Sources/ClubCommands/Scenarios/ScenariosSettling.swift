import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct ScenariosRedeem: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "redeem",
        abstract: "Records that a member has got what a scenario promised; once.",
        discussion: """
            A second time exits with 1, and reports when and by whom it was redeemed. 'scenarios history' shows the \
            identifiers, and who redeemed what; 'kiosk --json' has the identifiers too.

            JSON keys: \(ExecutionText.keys)

            EXAMPLES
              clubctl scenarios redeem 0B7A5C1E-7D0C-8F00-9D5E-2F1B6C3A4D5E --by desk
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @OptionGroup var execution: ExecutionArgument

    func perform(_ club: Club, _ out: Output) async throws {
        try execution.show(try await club.redeem(execution.uuid, by: action.context), "Redeemed", out)
    }
}

struct ScenariosRefund: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "refund",
        abstract: "Takes back what a scenario was charged with: it counts no more.",
        discussion: """
            For what could not be handed out, or came with a visit that was undone. The next visit may bring it again. It \
            wants a reason, which 'scenarios history' shows. What was redeemed \
            or refunded before stays so, and exits with 1.

            JSON keys: \(ExecutionText.keys)

            EXAMPLES
              clubctl scenarios refund 0B7A5C1E-7D0C-8F00-9D5E-2F1B6C3A4D5E --reason 'the machine was empty'
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @OptionGroup var execution: ExecutionArgument

    func validate() throws {
        _ = try action.contextWithReason()
    }

    func perform(_ club: Club, _ out: Output) async throws {
        let context = try action.contextWithReason()
        try execution.show(try await club.settle(execution.uuid, .refunded, by: context), "Refunded", out)
    }
}

struct ExecutionArgument: ParsableArguments, Sendable {
    @Argument(help: "The identifier of what was charged.")
    var id: String

    var uuid: UUID { UUID(uuidString: id) ?? UUID() }

    func validate() throws {
        if UUID(uuidString: id) == nil {
            throw ValidationError("'\(id)' is no identifier; 'clubctl scenarios history' shows them.")
        }
    }

    func show(_ settled: ScenarioExecution, _ word: String, _ out: Output) throws {
        let who = ExecutionText.subject(settled.subject)
        try out.result(settled, text: "\(word): \(settled.scenario), number \(settled.number), of \(who).".onOneLine)
    }
}
