import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct MembersBlock: MemberChange {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Lets a member in no more.",
        discussion: """
            The reason (--reason) is kept for the desk and shown at the reader, for whoever stands there to read; \
            without one, a tap reports only that the membership is blocked.

            \(MemberLine.keys)

            EXAMPLES
              clubctl members block M-1042 --reason unpaid
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func change(_ club: Club, _ out: Output) async throws -> Member { try await club.block(member, by: action.context) }

    func message(_ details: MemberDetails) -> String { "Blocked \(details.caption)." }
}

struct MembersUnblock: MemberChange {
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "Lets a blocked member in again.",
        discussion: MemberLine.keys
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func change(_ club: Club, _ out: Output) async throws -> Member {
        try await club.unblock(member, by: action.context)
    }

    func message(_ details: MemberDetails) -> String { "\(details.caption) may come in again." }

    func unchanged(_ details: MemberDetails) -> String? { "\(details.caption) was not blocked." }
}

struct MembersExpiry: MemberChange {
    static let configuration = CommandConfiguration(
        commandName: "expiry",
        abstract: "Sets when a membership ends.",
        discussion: """
            From then on taps are rejected; in the days before they announce the end.

            \(MemberLine.keys)

            EXAMPLES
              clubctl members expiry M-1042 2026-12-31
              clubctl members expiry M-1042 never
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String
    @Argument(
        help: ArgumentHelp(
            "The last day of the membership, or a time, or 'never'.",
            discussion: DateArgument.form,
            valueName: "date"
        )
    )
    var date: String

    func validate() throws {
        if date != "never", DateArgument(argument: date) == nil {
            throw ValidationError("'\(date)' is neither 'never' nor a date. \(DateArgument.form)")
        }
    }

    /// The last second of a day, so that whoever reads the date sees that day.
    private var end: Date? {
        DateArgument(argument: date).map { $0.start == $0.end ? $0.end : $0.end.addingTimeInterval(-1) }
    }

    private var words: String { end.map { "ends at \(LocalTime.text($0))" } ?? "has no end" }

    func change(_ club: Club, _ out: Output) async throws -> Member {
        try await club.setExpiry(of: member, to: end, by: action.context)
    }

    func message(_ details: MemberDetails) -> String { "The membership of \(details.caption) \(words)." }

    func unchanged(_ details: MemberDetails) -> String? { "The membership of \(details.caption) \(words), as before." }
}

struct MembersPack: MemberChange {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Adds a pack of visits that a member bought, or lifts the limit.",
        discussion: """
            From the first pack on, each visit uses one up; without any left, taps are rejected.

            \(MemberLine.keys)

            EXAMPLES
              clubctl members pack M-1042 10
              clubctl members pack M-1042 unlimited
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String
    @Argument(help: "How many visits, 1 to 1000000, or 'unlimited'.")
    var visits: String

    func validate() throws {
        guard visits == "unlimited" || Int(visits).map((1...1_000_000).contains) == true else {
            throw ValidationError("'\(visits)' is neither 'unlimited' nor a number from 1 to 1000000.")
        }
    }

    func change(_ club: Club, _ out: Output) async throws -> Member {
        guard let count = Int(visits) else { return try await club.removeVisitLimit(of: member, by: action.context) }
        return try await club.sellVisits(count, to: member, by: action.context)
    }

    func message(_ details: MemberDetails) -> String {
        let left = details.visitsLeft.map { " \(Count.text($0, "visit is", "visits are")) left." } ?? ""
        guard let count = Int(visits) else { return "\(details.caption) may come without a limit.\(left)" }
        return "Added \(Count.text(count, "visit")) for \(details.caption).\(left)"
    }
}

struct MembersVisit: MemberDisplay {
    static let configuration = CommandConfiguration(
        commandName: "visit",
        abstract: "Counts a visit for which no card was read.",
        discussion: """
            It counts despite the cooldown, a block and the end of the membership, and is marked as recorded by \
            hand. It wants a reason. With --scenarios it brings what a visit of the card would have brought, if it is \
            the latest of the member; else scenarios count it for the member, and it brings nothing by itself.

            \(MemberLine.keys) With --scenarios, what it brings follows as with 'clubctl kiosk': a line with event \
            "scenario".

            EXAMPLES
              clubctl members visit M-1042 --reason 'forgot the card'
              clubctl members visit M-1042 --at 2026-11-20T18:30:00+01:00 --reason 'reader was off'
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Option(help: ArgumentHelp("When it was; now by default.", discussion: DateArgument.form, valueName: "date"))
    var at: DateArgument?
    @Option(
        help: ArgumentHelp("Let the visit bring what this file lists: YAML or JSON.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml", "json"])
    )
    var scenarios: String?
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func validate() throws {
        _ = try action.contextWithReason()
    }

    func message(_ details: MemberDetails) -> String {
        "Counted a visit of \(details.caption), who has \(Count.text(details.member.numVisits, "visit")) now."
    }

    func perform(_ club: Club, _ out: Output) async throws {
        if let scenarios {
            club.setScenarios(try ScenarioFile(path: scenarios).load(out).scenarios, delivery: .application)
        }
        var visit: (member: Member, executions: [ScenarioExecution])?
        try await show(club, out) {
            let recorded = try await club.recordManualVisit(of: member, at: at?.start, by: action.contextWithReason())
            visit = recorded
            return recorded.member
        }
        guard let visit else { return }
        let deliveries = Deliveries(club: club, output: out)
        try deliveries.tell(visit.executions, of: visit.member)
        await deliveries.finish()
    }
}

struct MembersUndo: MemberChange {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Makes a visit count no more.",
        discussion: """
            It stays in the history, with the reason, which is wanted. 'members history' shows the ids of visits; \
            'kiosk --json' has them too. A total that an imported file says stays, and standard error says so: what the \
            file counted is not known visit by visit.

            \(MemberLine.keys)
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "The visit's id.")
    var visit: String

    func validate() throws {
        if UUID(uuidString: visit) == nil {
            throw ValidationError("'\(visit)' is no visit's id; 'clubctl members history' shows them.")
        }
        _ = try action.contextWithReason()
    }

    var member: String { visit }

    func change(_ club: Club, _ out: Output) async throws -> Member {
        let id = UUID(uuidString: visit) ?? UUID()
        let before = try await club.member(ofVisit: id)
        let member = try await club.undoVisit(id, by: action.contextWithReason())
        if before?.numVisits == member.numVisits {
            out.message(
                """
                The total stays as it was: it comes from an imported file, which counts visits that are not known \
                one by one, and undoing one does not lower it.
                """
            )
        }
        return member
    }

    func message(_ details: MemberDetails) -> String {
        "Undone; \(details.caption) has \(Count.text(details.member.numVisits, "visit")) now."
    }
}
