import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

struct Route: DatabaseCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends messages to a kiosk.",
        discussion: """
            A message is an object of JSON, one a line, with its type in messageType; messageId (the same is taken \
            once) and expires (a time) may stand there too. All of them are checked before the first is sent.

            With --to they go to the kiosk that listens there, and what became of each is printed. Without it they are \
            put into the inbox of the database, where a kiosk that runs takes them up within some seconds, else the \
            next that is started; --wait waits for that.

            Exit code 1 if a message failed, was not handled or came too late, 65 if one is malformed (with line and \
            column, and nothing was sent), 69 if nobody listens at the socket.

            JSON keys: id, type, source, sourceName, outcome (newData, noData, failed, unhandled, expired, duplicate, \
            timedOut; pending for one that was put into the inbox), processor, reason, at.

            EXAMPLES
              clubctl route --type announcement --payload '{"message":"We close at ten."}'
              clubctl route --to /run/clubkit/messages messages.jsonl
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @Option(help: ArgumentHelp("The socket of a kiosk that listens.", valueName: "socket"), completion: .file())
    var to: String?
    @Flag(help: "Wait until a kiosk has processed what was put into the inbox.")
    var wait = false
    @Option(help: "The message's type; with --payload, in place of a file.")
    var type: String?
    @Option(help: ArgumentHelp("The content of the message: an object of JSON.", valueName: "json"))
    var payload: String?
    @Argument(help: "A file with a message on each line; '-' is standard input.", completion: .file())
    var file: String?

    func validate() throws {
        guard (file == nil) != (type == nil) else {
            throw ValidationError("Give a file with messages, or --type and --payload.")
        }
        if file != nil, payload != nil { throw ValidationError("--payload goes with --type, not with a file.") }
        if to != nil, wait { throw ValidationError("--wait goes without --to, which always waits.") }
    }

    func perform(_ out: Output) async throws {
        let messages = try await messages()
        let isWell: Bool
        if let to {
            isWell = try await send(messages, to, out)
        } else {
            _ = try database.place()
            try OtherUser.stay()
            isWell = try await database.withNewClub { try await put(messages, $0, out) }
        }
        if messages.isEmpty { out.message("There is no message.") }
        if !isWell { throw ToolExit.failure }
    }

    // MARK: Reading

    private func messages() async throws -> [Message] {
        let source = MessageSource(.command, name: ActionOptions.user ?? "")
        if let type {
            let text = payload ?? "{}"
            let message = try MessageText(name: "--payload", source: source).message(Array(text.utf8), line: 1)
            return [try Self.typed(message, type)]
        }
        let name = file ?? "-"
        let text = MessageText(name: name == "-" ? "standard input" : name, source: source)
        return try text.messages(try await InputFile.read(name))
    }

    private static func typed(_ message: Message, _ type: String) throws -> Message {
        guard case .object(var fields) = message.payload else { return message }
        if let told = fields[MessageText.typeKey], told != .string(type) {
            throw ToolFailure("--type \(type) and messageType in --payload differ.", exit: ToolExit.usage)
        }
        fields[MessageText.typeKey] = .string(type)
        var message = message
        message.payload = .object(fields)
        message.type = type
        return message
    }

    // MARK: Sending

    /// - Returns: whether all were processed.
    private func send(_ messages: [Message], _ path: String, _ out: Output) async throws -> Bool {
        try await BlockingThread.run(name: "messages") { cancellation in
            let connection = try MessageConnection(path)
            var isWell = true
            for message in messages {
                let result = try connection.route(message.payload, cancellation)
                try out.result(result, text: Self.text(result))
                if result.outcome.isDead { isWell = false }
            }
            return isWell
        }
    }

    private struct PendingLine: Encodable {
        var id: String
        var type: String?
        var source: String
        var sourceName: String?
        var outcome = "pending"
        var at: String
    }

    /// - Returns: whether all that is known by now was processed.
    private func put(_ messages: [Message], _ club: Club, _ out: Output) async throws -> Bool {
        var waiting: [Message] = []
        for message in messages {
            guard try await club.inbox.add(message) else {
                let result = RoutingResult(
                    messageID: message.id,
                    type: message.type,
                    source: message.source,
                    outcome: .duplicate,
                    at: message.receivedAt
                )
                try out.result(result, text: Self.text(result))
                continue
            }
            waiting.append(message)
            if wait { continue }
            let line = PendingLine(
                id: message.id,
                type: message.type,
                source: message.source.kind.rawValue,
                sourceName: message.source.name,
                at: ISO8601.text(message.receivedAt)
            )
            try out.result(line, text: "\(message.id)  \(message.type ?? "message"): in the inbox".onOneLine)
        }
        if !waiting.isEmpty {
            out.message(
                "In the inbox. A kiosk that runs takes it up within some seconds, else the next that is started."
            )
        }
        guard wait else { return true }
        return try await waited(for: waiting, club, out)
    }

    private func waited(for messages: [Message], _ club: Club, _ out: Output) async throws -> Bool {
        var left = messages.map(\.id)
        var isWell = true
        while !left.isEmpty {
            for id in left {
                guard let entry = try await club.inbox.entry(id) else {
                    left.removeAll { $0 == id }
                    out.message("\(id.onOneLine): it was removed from the inbox meanwhile.")
                    isWell = false
                    continue
                }
                guard let outcome = entry.outcome else { continue }
                left.removeAll { $0 == id }
                let result = RoutingResult(
                    messageID: entry.id,
                    type: entry.message.type,
                    source: entry.message.source,
                    outcome: outcome,
                    at: entry.settledAt ?? entry.message.receivedAt
                )
                try out.result(result, text: Self.text(result))
                if outcome.isDead { isWell = false }
            }
            if !left.isEmpty { try await Task.sleep(for: .milliseconds(200)) }
        }
        return isWell
    }

    private static func text(_ result: RoutingResult) -> String { "\(result.messageID)  \(result.words)".onOneLine }
}
