import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

/// `clubctl members cards`
struct MembersCards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards",
        abstract: "Gives members further cards, blocks and replaces them; 'members show' lists them.",
        subcommands: [Add.self, Block.self, Unblock.self, Replace.self]
    )

    /// `clubctl members cards add`
    struct Add: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Gives a member a further card.",
            discussion: "Exit code 1 if it belongs to somebody else.\n\n\(MemberLine.keys)"
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var action: ActionOptions
        @Argument(help: "The member's userId, or any of their cards.")
        var member: String
        @Argument(help: "What is read from the card.")
        var card: String

        func perform() async throws {
            try await database.change(member, output.output, { "\($0.caption) has the card \(card) too." }) { club in
                try await club.addCard(card, to: member, by: action.context)
            }
        }
    }

    /// `clubctl members cards block`
    struct Block: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Blocks one card of a member; the others can still be used.",
            discussion: MemberLine.keys
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var action: ActionOptions
        @Argument(help: "What is read from the card.")
        var card: String

        func perform() async throws {
            try await database.change(
                card,
                output.output,
                { "Blocked the card \(card) of \($0.caption)." },
                unchanged: { "The card \(card) of \($0.caption) was blocked already." }
            ) { club in
                try await club.blockCard(card, by: action.context)
            }
        }
    }

    /// `clubctl members cards unblock`
    struct Unblock: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets a blocked card be used again.",
            discussion: MemberLine.keys
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var action: ActionOptions
        @Argument(help: "What is read from the card.")
        var card: String

        func perform() async throws {
            try await database.change(
                card,
                output.output,
                { "The card \(card) of \($0.caption) can be used again." },
                unchanged: { "The card \(card) of \($0.caption) was not blocked." }
            ) { club in
                try await club.unblockCard(card, by: action.context)
            }
        }
    }

    /// `clubctl members cards replace`
    struct Replace: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Gives a member another card in place of one that was lost, which is blocked.",
            discussion: "Exit code 1 if the new card belongs to somebody else.\n\n\(MemberLine.keys)"
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var action: ActionOptions
        @Argument(help: "The card that was lost.")
        var old: String
        @Argument(help: "The card in its place.")
        var new: String

        func perform() async throws {
            try await database.change(old, output.output, { "\($0.caption) has the card \(new); \(old) is blocked." }) {
                club in
                try await club.replaceCard(old, with: new, by: action.context)
            }
        }
    }
}
