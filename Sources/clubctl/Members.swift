import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

/// `clubctl members`
struct Members: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the club's members.",
        subcommands: [List.self, Show.self]
    )

    /// `clubctl members list`
    struct List: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists all members, in the order in which they joined.",
            discussion: """
                JSON keys: userId, username, timeStampAdded, numVisits, timeStampOfLastVisit (seconds since 1970) and \
                any custom fields.
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var database: DatabaseOptions

        func perform() async throws {
            let club = try await database.openExisting()
            let members = try await club.members()
            let out = output.output
            if members.isEmpty { out.message("The club has no members yet.") }
            let width = min(40, max(6, members.map(\.userId.count).max() ?? 0))
            if !members.isEmpty {
                try out.text("member".padded(to: width) + "  visits  last visit           name")
            }
            for member in members {
                let last = LocalTime.text(member.timeStampOfLastVisit)
                let visits = String(member.numVisits)
                let space = String(repeating: " ", count: max(0, 6 - visits.count))
                try out.result(
                    member,
                    text: member.userId.padded(to: width) + "  \(space)\(visits)  \(last)  \(member.username ?? "")"
                )
            }
            try await club.close()
        }
    }

    /// `clubctl members show`
    struct Show: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows one member.",
            discussion: "The JSON keys are those of 'members list'. Exit code 1 if there is no such member."
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The member's userId.")
        var member: String

        func perform() async throws {
            let club = try await database.openExisting()
            guard let found = try await club.member(withUserID: member) else {
                throw ToolFailure(
                    "there is no member with the userId '\(member)'; 'clubctl members list' shows all.",
                    exit: ToolExit.failure
                )
            }
            var text = """
                userId      \(found.userId)
                name        \(found.username ?? "")
                visits      \(found.numVisits)
                added       \(LocalTime.text(found.timeStampAdded))
                last visit  \(LocalTime.text(found.timeStampOfLastVisit))
                """
            for (name, value) in found.fields.sorted(by: { $0.key < $1.key }) {
                text += "\n" + name.padded(to: 10) + "  \(value)"
            }
            try output.output.result(found, text: text)
            try await club.close()
        }
    }
}

extension String {
    /// With spaces behind it, up to that many characters.
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
