import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct Members: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows and changes the club's members.",
        discussion: """
            A member is named by the userId or by any of their cards. What is changed is kept in a log with who did it \
            (--by) and why (--reason); 'members history' and 'clubctl audit' show it.
            """,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "Looking up",
                subcommands: [
                    MembersList.self, MembersShow.self, MembersSearch.self, MembersHistory.self, MembersDuplicates.self,
                ]
            ),
            CommandGroup(
                name: "Members",
                subcommands: [
                    MembersAdd.self, MembersEdit.self, MembersNotes.self, MembersTags.self, MembersMerge.self,
                    MembersDistinct.self, MembersDelete.self,
                ]
            ),
            CommandGroup(
                name: "Visits and cards",
                subcommands: [
                    MembersVisit.self, MembersUndo.self, MembersPack.self, MembersExpiry.self, MembersBlock.self,
                    MembersUnblock.self, MembersCards.self,
                ]
            ),
            CommandGroup(name: "Privacy", subcommands: [MembersDisclose.self, MembersErase.self]),
        ]
    )
}

struct MembersDuplicates: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates",
        abstract: "Finds members who may be one person, the most telling pairs first.",
        discussion: """
            Nothing is changed: 'members merge' makes one member of two, 'members distinct' records that they are two \
            persons.

            JSON keys of a pair: first (who has been a member for longer), second (both with the keys of 'members \
            list'), reasons (card, identifier, field:NAME for the same value of a custom field, name).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @Option(help: "How many pairs at most.")
    var limit = 100

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes a number from 1 on.") }
    }

    func perform(_ club: Club, _ out: Output) async throws {
        let pairs = try await club.duplicates(limit: limit)
        for pair in pairs {
            let reasons = pair.reasons.map(\.text).joined(separator: ", ")
            try out.result(
                pair,
                text: """
                    \(pair.first.caption), \(Count.text(pair.first.numVisits, "visit"))
                    \(pair.second.caption), \(Count.text(pair.second.numVisits, "visit"))
                      the same: \(reasons)
                      clubctl members merge \(pair.first.userId.shellWord) \(pair.second.userId.shellWord)

                    """
            )
        }
        if pairs.isEmpty { out.message("No two members look like one person.") }
    }
}

struct MembersDistinct: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "distinct",
        abstract: "Records that two members are two persons, so that 'duplicates' names them no more.",
        discussion: "JSON keys: distinct (the two identifiers)."
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "One member: the userId, or any of their cards.")
    var member: String
    @Argument(help: "The other.")
    var other: String

    func perform(_ club: Club, _ out: Output) async throws {
        let (first, second) = (try await club.known(member), try await club.known(other))
        let isNews = try await club.dismissDuplicate(member, other, by: action.context)
        let before = isNews ? "" : ", as was said before"
        try out.result(
            fields: ["distinct": [first.userId, second.userId]],
            text: "\(first.caption) and \(second.caption) are two persons\(before)."
        )
    }
}
