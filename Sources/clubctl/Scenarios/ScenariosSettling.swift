import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

/// `clubctl scenarios redeem`
struct ScenariosRedeem: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "redeem",
        abstract: "Records that a member has got what a scenario promised; once.",
        discussion: """
            A second time exits with 1, and says when and by whom it was redeemed. 'scenarios history' shows the \
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

    func perform() async throws {
        try await database.settle(execution, output.output, "Redeemed") { club, id in
            try await club.redeem(id, by: action.context)
        }
    }
}

/// `clubctl scenarios refund`
struct ScenariosRefund: ToolCommand {
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

    func perform() async throws {
        let context = try action.contextWithReason()
        try await database.settle(execution, output.output, "Refunded") { club, id in
            try await club.settle(id, .refunded, by: context)
        }
    }
}

/// Which execution is meant.
struct ExecutionArgument: ParsableArguments, Sendable {
    @Argument(help: "The identifier of what was charged.")
    var id: String

    func validate() throws {
        if UUID(uuidString: id) == nil {
            throw ValidationError("'\(id)' is no identifier; 'clubctl scenarios history' shows them.")
        }
    }
}

extension DatabaseOptions {
    /// Reports what became of an execution, and shows it as it is then.
    fileprivate func settle(
        _ execution: ExecutionArgument,
        _ out: Output,
        _ word: String,
        _ work: (Club, UUID) async throws -> ScenarioExecution
    ) async throws {
        guard let id = UUID(uuidString: execution.id) else { return }
        try await out.tellingErrors {
            try await withClub { club in
                let settled = try await work(club, id)
                let who = ExecutionText.subject(settled.subject)
                try out.result(
                    settled,
                    text: "\(word): \(settled.scenario), number \(settled.number), of \(who).".onOneLine
                )
            }
        }
    }
}
