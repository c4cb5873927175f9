import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

struct Inbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the messages that came to the kiosk, and replays those that could not be processed.",
        subcommands: [InboxList.self, InboxReplay.self, InboxPrune.self]
    )
}

struct InboxLine: Encodable, Sendable {
    var entry: InboxEntry

    static let keys = """
        JSON keys: id, type (absent if it has none), source (card, socket, directory, hub, command, application), \
        sourceName, receivedAt, expiresAt, state (pending, done, dead), attempts, outcome (newData, noData, failed, \
        unhandled, expired, timedOut), reason, settledAt, payload.
        """

    func encode(to encoder: any Encoder) throws {
        let message = entry.message
        try encoder.encodeObject([
            "id": message.id, "type": message.type, "source": message.source.kind, "sourceName": message.source.name,
            "receivedAt": ISO8601.text(message.receivedAt), "expiresAt": message.expiresAt.map(ISO8601.text),
            "state": entry.state, "attempts": entry.attempts, "outcome": entry.outcome?.name, "reason": entry.reason,
            "settledAt": entry.settledAt.map(ISO8601.text), "payload": message.payload,
        ])
    }

    /// For people; the payload, which may be personal, only if it is wanted.
    func text(withPayload: Bool = false) -> String {
        let message = entry.message
        var text = LocalTime.text(message.receivedAt)
        text +=
            "  \(entry.state.rawValue.padded(to: 7))  \(message.type ?? "no type")  \(message.id)  \(message.source)"
        if let outcome = entry.outcome { text += "  \(outcome.name)" }
        if let reason = entry.reason { text += ": \(reason)" }
        if withPayload { text += "  \((try? Output.json(message.payload)) ?? "")" }
        return text.onOneLine
    }
}

struct InboxList: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows the messages of the inbox, the latest last.",
        discussion: """
            Pending ones are yet to be processed; done ones are remembered for 30 days, so that none is taken twice; \
            dead letters could not be processed, and stay until they are replayed or pruned.

            \(InboxLine.keys)

            EXAMPLES
              clubctl inbox list --state dead
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @Option(help: ArgumentHelp("Only those in this state: pending, done or dead.", valueName: "state"))
    var state: InboxEntry.State?
    @OptionGroup var latest: LimitOption
    @Flag(help: "Show people the content of the messages, too; JSON always has it.")
    var payload = false

    func perform(_ club: Club, _ out: Output) async throws {
        let entries = try await club.inbox.entries(state, limit: latest.limit)
        for entry in entries {
            let line = InboxLine(entry: entry)
            try out.result(line, text: line.text(withPayload: payload))
        }
        if entries.isEmpty { out.message("There are no such messages.") }
    }
}

extension InboxEntry.State: ExpressibleByArgument {}

struct InboxReplay: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Lets dead letters be processed once more.",
        discussion: """
            They become pending: a kiosk that runs takes them up within some seconds, else the next that is started. \
            One whose time is over becomes a dead letter again. Exit code 1 if one of them is no dead letter.

            \(InboxLine.keys)

            EXAMPLES
              clubctl inbox replay --all
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @Flag(help: "All dead letters.")
    var all = false
    @Argument(help: "The messages' identifiers, which 'clubctl inbox list' shows.")
    var ids: [String] = []

    func validate() throws {
        if ids.isEmpty != all { throw ValidationError("Name the messages, or give --all, and not both.") }
    }

    func perform(_ club: Club, _ out: Output) async throws {
        let chosen = try await all ? club.inbox.entries(.dead, limit: .max).map(\.id) : ids
        var (opened, missing) = (0, [String]())
        for id in chosen {
            guard let message = try await club.inbox.reopen(id) else {
                missing.append(id)
                continue
            }
            let line = InboxLine(entry: InboxEntry(message: message))
            try out.result(line, text: line.text())
            opened += 1
        }
        if all, chosen.isEmpty { out.message("There are no dead letters.") }
        if opened > 0 {
            out.message("A kiosk that runs takes them up within some seconds, else the next that is started.")
        }
        guard !all, !missing.isEmpty else { return }
        let names = missing.map { "'\($0)'" }.joined(separator: ", ")
        throw ToolFailure("there is no dead letter \(names); 'clubctl inbox list --state dead' shows all.")
    }
}

struct InboxPrune: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Forgets messages that were done with before a day, dead letters too.",
        discussion: """
            What is pending stays. A message that is forgotten would be taken again, should it come once more.

            JSON keys: removed (messages), before.

            EXAMPLES
              clubctl inbox prune --before 2026-10-01
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Option(
        help: ArgumentHelp(
            "Messages that were done with before that day or time.",
            discussion: DateArgument.form,
            valueName: "date"
        )
    )
    var before: DateArgument

    func perform(_ club: Club, _ out: Output) async throws {
        let time = LocalTime.text(before.start)
        try await confirmation.ask("Forget all messages that were done with before \(time)?", out)
        let removed = try await club.inbox.prune(before: before.start)
        try out.result(
            fields: ["removed": removed, "before": ISO8601.text(before.start)],
            text: "Forgot \(Count.text(removed, "message")) of before \(time)."
        )
    }
}
