import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct MembersCards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards",
        abstract: "Gives members further cards, blocks and replaces them; 'members show' lists them.",
        subcommands: [Add.self, Block.self, Unblock.self, Replace.self]
    )

    struct Add: MemberChange {
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

        func change(_ club: Club, _ out: Output) async throws -> Member {
            try await HeldCard.naming(club, card, for: member) {
                try await club.addCard(card, to: member, by: action.context)
            }
        }

        func message(_ details: MemberDetails) -> String { "\(details.caption) has the card \(card) too." }

        func unchanged(_ details: MemberDetails) -> String? {
            "\(details.caption) has the card \(card) already; nothing was changed."
        }
    }

    struct Block: MemberChange {
        static let configuration = CommandConfiguration(
            abstract: "Blocks one card of a member; the others can still be used.",
            discussion: MemberLine.keys
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var action: ActionOptions
        @Argument(help: "What is read from the card.")
        var card: String

        var member: String { card }

        func change(_ club: Club, _ out: Output) async throws -> Member {
            try await club.blockCard(card, by: action.context)
        }

        func message(_ details: MemberDetails) -> String { "Blocked the card \(card) of \(details.caption)." }

        func unchanged(_ details: MemberDetails) -> String? {
            "The card \(card) of \(details.caption) was blocked already."
        }
    }

    struct Unblock: MemberChange {
        static let configuration = CommandConfiguration(
            abstract: "Lets a blocked card be used again.",
            discussion: MemberLine.keys
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var action: ActionOptions
        @Argument(help: "What is read from the card.")
        var card: String

        var member: String { card }

        func change(_ club: Club, _ out: Output) async throws -> Member {
            try await club.unblockCard(card, by: action.context)
        }

        func message(_ details: MemberDetails) -> String { "The card \(card) of \(details.caption) can be used again." }

        func unchanged(_ details: MemberDetails) -> String? {
            "The card \(card) of \(details.caption) was not blocked."
        }
    }

    struct Replace: MemberChange {
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

        var member: String { old }

        func change(_ club: Club, _ out: Output) async throws -> Member {
            try await HeldCard.naming(club, new, for: old, lost: old) {
                try await club.replaceCard(old, with: new, by: action.context)
            }
        }

        func message(_ details: MemberDetails) -> String {
            "\(details.caption) has the card \(new); \(old) is blocked."
        }

        func unchanged(_ details: MemberDetails) -> String? {
            "\(details.caption) has the card \(new) in place of \(old) already; nothing was changed."
        }
    }
}

/// A card that is to be a member's is somebody's already: perhaps of the same person, who tapped it before the desk
/// knew of it.
struct HeldCard: ExitCoded, CustomStringConvertible {
    var card: String
    var holder: Member
    var member: Member
    var lost: String?
    let exitCode = ToolExit.failure
    let errorCode = ClubError.Kind.memberExists.rawValue

    var description: String {
        let merge = "clubctl members merge \(member.userId.shellWord) \(holder.userId.shellWord)"
        let block = lost.map { ", and 'clubctl members cards block \($0.shellWord)' blocks the lost card" } ?? ""
        return """
            the card \(card) is that of \(holder.caption), who has \(Count.text(holder.numVisits, "visit")). If that is \
            the same person as \(member.caption), with a card that was tapped before it was entered here, '\(merge)' \
            makes one member of the two with the visits of both\(block). Otherwise take another card. Nothing was changed.
            """
    }

    /// Does the work; where the card is somebody else's, the error names them.
    static func naming(
        _ club: Club,
        _ card: String,
        for key: String,
        lost: String? = nil,
        _ work: () async throws -> Member
    ) async throws -> Member {
        do {
            return try await work()
        } catch let error as ClubError where error.kind == .memberExists {
            guard let holder = try await club.member(withUserID: card),
                let member = try await club.member(withUserID: key)
            else { throw error }
            throw HeldCard(card: card, holder: holder, member: member, lost: lost)
        }
    }
}
