import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct ListOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("The order.", valueName: "order"))
    var sort = MemberOrder.creation

    @Option(help: "How many members at most.")
    var limit: Int?

    @Option(help: "How many members to pass over first.")
    var offset = 0

    @Option(help: ArgumentHelp("Only members with this tag.", valueName: "tag"))
    var tag: String?

    @Flag(
        inversion: .prefixedNo,
        exclusivity: .exclusive,
        help: "Only members who are blocked; with --no-blocked, those who are not."
    )
    var blocked: Bool?

    @Flag(
        inversion: .prefixedNo,
        exclusivity: .exclusive,
        help: "Only members whose membership has ended; with --no-expired, the others."
    )
    var expired: Bool?

    @Flag(
        inversion: .prefixedNo,
        exclusivity: .exclusive,
        help: "Only members whose bought visits are used up; with --no-used-up, the others."
    )
    var usedUp: Bool?

    @Option(help: ArgumentHelp("Only members who came then or later.", valueName: "date"))
    var visitedSince: DateArgument?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit takes a number from 0 on.") }
        if offset < 0 { throw ValidationError("--offset takes a number from 0 on.") }
    }

    func query(containing text: String? = nil) -> MemberQuery {
        MemberQuery(
            order: sort,
            filter: MemberFilter(
                text: text,
                isBlocked: blocked,
                isExpired: expired,
                hasNoVisitsLeft: usedUp,
                visitedSince: visitedSince?.start,
                tag: tag
            ),
            offset: offset,
            limit: limit ?? .max
        )
    }
}

extension MemberOrder: ExpressibleByArgument {}

struct MembersList: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists members, by default all in the order in which they came into the database.",
        discussion: """
            JSON keys: userId, username, timeStampAdded, numVisits, timeStampOfLastVisit (seconds since 1970) and any \
            custom fields.

            EXAMPLES
              clubctl members list --sort lastVisit --limit 20
              clubctl members list --blocked --json
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var list: ListOptions

    func perform(_ club: Club, _ out: Output) async throws {
        let count = try await MemberLister(output: out).list(list.query(), of: club)
        if count == 0 { out.message("There are no such members.") }
    }
}

struct MembersSearch: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Finds members by a part of their name, userId or custom fields, or by a card.",
        discussion: """
            Upper and lower case count as the same, and letters with accents as those without: 'muller' and 'mueller' \
            find Müller, 'gross' finds Groß, and 'ismail' finds İsmail. Blanks, hyphens and apostrophes may be left out, the words of a name may stand in any order, and a \
            telephone number is found however it is written. Of a card the whole identifier is wanted. Finding nobody is \
            no failure.

            The JSON keys are those of 'members list'.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var list: ListOptions
    @Argument(help: "The text to look for.")
    var text: String

    func validate() throws {
        if text.isEmpty { throw ValidationError("Say what to look for; 'members list' lists all members.") }
    }

    func perform(_ club: Club, _ out: Output) async throws {
        var holders: [Member] = []
        // A card's identifier, and what other readers print in its place, where that is all of it.
        let cards = [text] + PrintedForm.matches(of: text).compactMap { $0.uid?.hex }
        for card in cards where list.query().filter == .all {
            guard let holder = try await club.member(withUserID: card) else { continue }
            if !holders.contains(where: { $0.userId == holder.userId }) { holders.append(holder) }
        }
        let lister = MemberLister(output: out, first: holders)
        let count = try await lister.list(list.query(containing: text), of: club)
        if count == 0 { out.message("Nobody was found.") }
    }
}

private struct MemberLister {
    var output: Output
    /// Who are shown first, whether the list has them or not.
    var first: [Member] = []

    /// - Returns: how many there were.
    func list(_ query: MemberQuery, of club: Club) async throws -> Int {
        let (table, shown, counter) = (MemberTable(output: output), Set(first.map(\.userId)), Counter())
        let add: @Sendable (Member) throws -> Void = { member in
            if counter.next() == 0 { try table.begin() }
            try table.add(member)
        }
        if query.offset == 0 { for member in first.prefix(query.limit) { try add(member) } }
        try await club.forEachMember(in: query) { member in
            if !shown.contains(member.userId), counter.count < query.limit { try add(member) }
        }
        return counter.count
    }
}

struct MembersShow: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows all that the desk needs to know of a member.",
        discussion: "\(MemberLine.keys) Exit code 1 if there is no such member."
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func perform(_ club: Club, _ out: Output) async throws {
        guard let details = try await club.details(of: member) else { throw MissingMember(key: member) }
        let line = MemberLine(details: details)
        try out.result(line, text: line.text)
    }
}
