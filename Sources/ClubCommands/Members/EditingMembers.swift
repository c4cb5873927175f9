import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

/// A custom field and its value, as a person writes them: `NAME=TEXT`, or `NAME:=JSON`.
struct FieldArgument: Sendable, Hashable {
    var name: String
    /// The value if it was written as JSON.
    var value: FieldValue?
    /// The value if it was written as text.
    var text = ""

    init(argument: String) throws {
        guard let divider = argument.firstIndex(of: "=") else {
            throw ValidationError("'\(argument)' is not NAME=TEXT.")
        }
        name = String(argument[..<divider])
        let content = String(argument[argument.index(after: divider)...])
        if name.hasSuffix(":") {
            name.removeLast()
            guard let value = try? JSONDecoder().decode(FieldValue.self, from: Data(content.utf8)) else {
                throw ValidationError("What follows '\(name):=' is not JSON.")
            }
            self.value = value
        } else {
            text = content
        }
        guard Self.isUsable(name) else {
            throw ValidationError(
                name.isEmpty ? "A field needs a name." : "'\(name)' is reserved and cannot be a custom field's name."
            )
        }
        if let kept = StandingColumn.named(name) {
            throw ValidationError(
                """
                '\(name)' would look like \(kept.caption.words), and be without effect: 'clubctl members \
                \(kept.command)' is for that. A field of your own needs another name.
                """
            )
        }
        if BirthdayText.isName(name) { try readBirthday() }
    }

    /// A birthday, in whatever form it is written, as it is kept.
    private mutating func readBirthday() throws {
        let written = value?.cellText ?? text
        guard value != .null, !written.isEmpty else { return }
        switch BirthdayText.normalised(written) {
        case .success(let kept): (value, text) = (.string(kept), "")
        case .failure(let fault): throw ValidationError("'\(name)': \(BirthdayText.advice(fault)).")
        }
    }

    /// What whoever gives the field such a name has to know.
    var note: String? {
        StandingColumn.resembled(by: name).map {
            "'\(name)' is a field of your own, without effect: 'clubctl members \($0.command)' is for \($0.caption.words)."
        }
    }

    static func isUsable(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("$") && !MembershipUser.CodingKeys.allCases.map(\.rawValue).contains(name)
    }

    /// The value; a text becomes a number or truth value where there was one before.
    func value(replacing former: FieldValue?) -> FieldValue {
        if let value { return value }
        switch former {
        case .int: return Int(text).map(FieldValue.int) ?? .string(text)
        case .double: return Double(text).flatMap { $0.isFinite ? .double($0) : nil } ?? .string(text)
        case .bool: return Bool(text).map(FieldValue.bool) ?? .string(text)
        default: return .string(text)
        }
    }

    static let help = ArgumentHelp(
        "A custom field: NAME=TEXT, or NAME:=JSON for numbers, truth values and lists. Can be given several times.",
        valueName: "name=text"
    )
}

struct MembersAdd: DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds a member who has not been here yet.",
        discussion: """
            The database is created if it is missing, which is reported on standard error. Exit code 1 if there is such a member already.

            \(MemberLine.keys)

            EXAMPLES
              clubctl members add 04A1B2C3D4E580 --name 'Anna Weber' --field email=anna@club.example
              clubctl members add M-1042 --field level:=3
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Option(help: "The member's name.")
    var name: String?
    @Option(name: .customLong("field"), help: FieldArgument.help, transform: FieldArgument.init(argument:))
    var fields: [FieldArgument] = []
    @Argument(help: "What is read from the member's card or pass: a UID in hexadecimal, or an identifier.")
    var userID: String

    func perform(_ out: Output) async throws {
        let values = Dictionary(fields.map { ($0.name, $0.value(replacing: nil)) }) { $1 }
        try await database.withNewClub(leavesNone: true) { club in
            let new = Member(userId: userID, username: name ?? "", fields: values)
            let member = try await club.add(new, by: action.context)
            for note in fields.compactMap(\.note) { out.message(note) }
            guard let details = try await club.details(of: member.userId) else { return }
            try out.result(MemberLine(details: details), text: "Added \(member.caption).")
        }
    }
}

struct MembersEdit: MemberChange {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes a member's name and custom fields.",
        discussion: """
            What is not named stays. Former values are kept for merging.

            \(MemberLine.keys)

            EXAMPLES
              clubctl members edit 04A1B2C3D4E580 --name 'Anna Weber'
              clubctl members edit M-1042 --field email=anna@club.example --remove-field level
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Option(help: "The new name; an empty one takes the name away.")
    var name: String?
    @Option(name: .customLong("field"), help: FieldArgument.help, transform: FieldArgument.init(argument:))
    var fields: [FieldArgument] = []
    @Option(
        name: .customLong("remove-field"),
        help: ArgumentHelp("A custom field to take away. Can be given several times.", valueName: "name")
    )
    var removedFields: [String] = []
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func validate() throws {
        if name == nil, fields.isEmpty, removedFields.isEmpty {
            throw ValidationError("Say what to change: --name, --field or --remove-field.")
        }
        for name in removedFields where !FieldArgument.isUsable(name) {
            throw ValidationError("'\(name)' is no custom field.")
        }
    }

    func change(_ club: Club, _ out: Output) async throws -> Member {
        for note in fields.compactMap(\.note) { out.message(note) }
        return try await club.update(member, by: action.context) { [name, fields, removedFields] member in
            if let name { member.username = name }
            for field in fields { member.fields[field.name] = field.value(replacing: member.fields[field.name]) }
            for name in removedFields { member.fields[name] = nil }
        }
    }

    func message(_ details: MemberDetails) -> String { "Changed \(details.caption)." }

    func unchanged(_ details: MemberDetails) -> String? { "\(details.caption) is so already; nothing was changed." }
}

struct MembersNotes: MemberChange {
    static let configuration = CommandConfiguration(
        commandName: "notes",
        abstract: "Replaces the staff's notes on a member.",
        discussion: """
            An empty text takes them away; '-' reads them from standard input. The log notes that they were changed, not \
            what they are; 'history' shows what they were before.

            \(MemberLine.keys)
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String
    @Argument(help: "The notes.")
    var text: String

    func change(_ club: Club, _ out: Output) async throws -> Member {
        guard text == "-" else { return try await club.setNotes(text, on: member, by: action.context) }
        guard let content = String(validating: try await InputFile.read("-"), as: UTF8.self) else {
            throw ToolFailure("The notes are not in UTF-8.", exit: ToolExit.malformed)
        }
        return try await club.setNotes(content.trimmingCharacters(in: .newlines), on: member, by: action.context)
    }

    func message(_ details: MemberDetails) -> String { "Changed the notes on \(details.caption)." }

    func unchanged(_ details: MemberDetails) -> String? {
        "The notes on \(details.caption) are so already; nothing was changed."
    }
}

struct MembersTags: MemberChange {
    static let configuration = CommandConfiguration(
        commandName: "tags",
        abstract: "Adds tags to a member and takes tags away.",
        discussion: """
            \(MemberLine.keys)

            EXAMPLES
              clubctl members tags M-1042 --add gold --add student
              clubctl members tags M-1042 --remove student
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Option(help: ArgumentHelp("A tag to add. Can be given several times.", valueName: "tag"))
    var add: [String] = []
    @Option(help: ArgumentHelp("A tag to take away. Can be given several times.", valueName: "tag"))
    var remove: [String] = []
    @Flag(help: "Take all tags away first.")
    var clear = false
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func validate() throws {
        if add.isEmpty, remove.isEmpty, !clear {
            throw ValidationError("Say what to change: --add, --remove or --clear.")
        }
    }

    func change(_ club: Club, _ out: Output) async throws -> Member {
        if clear { return try await club.setTags(add, of: member, by: action.context) }
        return try await club.changeTags(of: member, adding: add, removing: remove, by: action.context)
    }

    func message(_ details: MemberDetails) -> String { "Changed the tags of \(details.caption)." }

    func unchanged(_ details: MemberDetails) -> String? {
        // A tag that is named is recorded anew.
        clear || add.isEmpty ? "The tags of \(details.caption) are so already; nothing was changed." : nil
    }
}

struct MembersDelete: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a member.",
        discussion: """
            Older records of the member that are imported or merged later do not bring them back. A tap of the card \
            does: as a new member. What was known stays in the database; 'erase' removes that. Statistics are of the \
            members who are there, so the visits of days past become fewer.

            JSON keys: those of 'members list', as the member was.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func perform(_ club: Club, _ out: Output) async throws {
        let found = try await club.known(member)
        let visits = Count.text(found.numVisits, "visit")
        try await confirmation.ask("Delete \(found.caption) with \(visits)?", out)
        let deleted = try await club.delete(member, by: action.context)
        try out.result(deleted, text: "Deleted \(deleted.caption).")
    }
}

struct MembersMerge: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Makes one member of two who are the same person.",
        discussion: """
            The second joins the first: its cards lead to the first from then on, who has the visits of both. A block, \
            the end of the membership, tags and notes of the second are carried over, and what is left of its pack if \
            the first has one. The first keeps its own name, fields, end of membership and reason of a block, and stays \
            without a limit if it has none. What was carried over and what was not is said, and kept in the audit log.

            \(MemberLine.keys) Besides, $joined with carried and notCarried (of \
            \(JoinReport.Part.allCases.map(\.rawValue).joined(separator: ", "))) and fieldsNotCarried.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The member who remains: the userId, or any of their cards.")
    var member: String
    @Argument(help: "The member who joins them.")
    var other: String

    func perform(_ club: Club, _ out: Output) async throws {
        let (target, joining) = (try await club.known(member), try await club.known(other))
        if target.userId == joining.userId { throw ToolFailure("Both are the same member, \(target.caption).") }
        try await confirmation.ask(
            """
            Merge \(joining.caption), \(Count.text(joining.numVisits, "visit")), into \(target.caption), \
            \(Count.text(target.numVisits, "visit"))?
            """,
            out
        )
        let report = try await club.mergeMember(other, into: member, by: action.context)
        guard let details = try await club.details(of: report.member.userId) else { return }
        try out.result(MemberLine(details: details, joined: report), text: report.text)
    }
}

extension JoinReport {
    fileprivate var text: String {
        func list(_ parts: [String]) -> String { parts.joined(separator: ", ") }
        var text = "Merged; \(member.caption) has \(Count.text(member.numVisits, "visit"))."
        if !carried.isEmpty { text += " Carried over: \(list(carried.map(\.words)))." }
        let others =
            notCarried.map { $0 == .blocked ? "the other reason of a block" : $0.words }
            + fieldsNotCarried.map { "the field '\($0.onOneLine)'" }
        if !others.isEmpty { text += " Not carried over: \(list(others))." }
        return text
    }
}

extension JoinReport.Part {
    var words: String {
        switch self {
        case .blocked: "the block"
        case .expires: "the end of the membership"
        case .visitsLeft: "the visits left"
        case .tags: "the tags"
        case .notes: "the notes"
        case .username: "the name"
        }
    }
}
