import ArgumentParser

/// `clubctl members`
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
