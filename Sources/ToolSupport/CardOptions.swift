import ArgumentParser
import Foundation
import ReaderKit

/// How long a command that needs one card waits for it.
package struct CardOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Wait this many seconds for a card.", valueName: "seconds"))
    package var timeout: Double = 10

    package init() {}

    package func validate() throws {
        guard timeout > 0, timeout <= 86_400 * 365 else {
            throw ValidationError("--timeout takes a number of seconds greater than 0.")
        }
    }
}

/// A command that needs one card.
package protocol OneCardCommand: ReaderCommand {
    var card: CardOptions { get }
}

extension OneCardCommand {
    package var cards: CardWait { CardWait(readers: readers, timeout: card.timeout) }
}

/// The wait for one card, and the conversation with it.
package struct CardWait: Sendable {
    let readers: ReaderSelection
    /// In seconds.
    let timeout: Double

    /// Waits for a card and holds a conversation with it: the first on any of the chosen readers, one that rests there
    /// already included.
    ///
    /// - Parameters:
    ///   - output: where it describes what it waits for, and the line `{"event":"timeout"}`.
    ///   - capture: a capture file whose first card is taken in place of one on a reader.
    ///   - limit: how long the conversation may take; `nil` for one that a person leads, command by command.
    ///   - finishing: whether a conversation that has begun is brought to its end when the tool is interrupted, as one
    ///     that writes has to be. It is asked to end by its ``CardOnReader/cancellation`` alone.
    /// - Throws: exit code 1 when no card came in time; ``ReaderError``, of which a missing service or a chosen reader
    ///   that is absent, also from a capture, are 69; whatever the conversation throws.
    package func withCard<Result: Sendable>(
        _ output: Output,
        replaying capture: String? = nil,
        within limit: Duration? = ReaderLimits.tapDuration,
        finishing: Bool = false,
        perform conversation: @escaping @Sendable (CardOnReader) throws -> Result
    ) async throws -> Result {
        let recordings = capture.map { [$0] } ?? readers.replayed
        guard let recordings else {
            return try await readers.withBackend { backend in
                try await withCard(of: backend, output, limit, finishing, perform: conversation)
            }
        }
        let backend = ReplayBackend(try CaptureFiles.load(recordings))
        let names = recordings.joined(separator: ", ")
        output.message("Replaying \(names): a capture knows only what was recorded, and other answers are made up.")
        return try await withCard(of: backend, output, limit, finishing, perform: conversation)
    }

    private func withCard<Result: Sendable>(
        of backend: any ReaderBackend,
        _ output: Output,
        _ limit: Duration?,
        _ finishing: Bool,
        perform conversation: @escaping @Sendable (CardOnReader) throws -> Result
    ) async throws -> Result {
        guard let presence = try await firstCard(of: backend, output) else {
            try Task.checkCancellation()
            try output.json(fields: ["event": "timeout"])
            let seconds = timeout == timeout.rounded() ? String(Int(timeout)) : String(timeout)
            output.message(backend.isRecording ? "There is no card in the capture." : "No card within \(seconds) s.")
            throw ToolExit.failure
        }
        // The conversation may block a thread that knows nothing of this task.
        return try await CardOnReader.Cancellation.during { cancellation in
            let hasBegun = Latch()
            let isRecorded = backend.isRecording
            // A task of its own, which is not cancelled with this one.
            let task = Task.detached {
                try await backend.withCard(presence, within: limit) { channel in
                    hasBegun.raise()
                    return try conversation(
                        CardOnReader(
                            presence: presence,
                            channel: channel,
                            isRecorded: isRecorded,
                            cancellation: cancellation
                        )
                    )
                }
            }
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                if !finishing || !hasBegun.isRaised { task.cancel() }
            }
        }
    }

    private func firstCard(of backend: any ReaderBackend, _ output: Output) async throws -> CardPresence? {
        guard !backend.isRecording else { return try await watch(backend, [], output) }
        // Without a service there is nothing to wait for.
        let chosen = try await readers.present(of: backend).filter { $0.unavailability == nil }.map(\.reader)
        if readers.isChoice, let reader = chosen.first, chosen.allSatisfy({ $0.backend == .smartReader }) {
            throw Self.noConversation(reader)
        }
        for reader in chosen { output.message("Waiting for a card on \(reader.label)") }
        if chosen.isEmpty { output.message("There is no reader. Waiting for one, and for a card on it") }
        return try await withThrowingTaskGroup(of: CardPresence?.self) { group in
            group.addTask { try await watch(backend, chosen, output) }
            group.addTask {
                try await Task.sleep(for: .seconds(timeout))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private static func noConversation(_ reader: ReaderInfo) -> ReaderError {
        SmartReaderBackend.noConversation(attempting: "talk to a card on \(reader.label)")
    }

    /// - Parameter told: the readers of which a person knows already that a card is waited for there.
    private func watch(
        _ backend: any ReaderBackend,
        _ told: [ReaderInfo],
        _ output: Output
    ) async throws -> CardPresence? {
        var isThere = !told.isEmpty
        var hasConversations = told.contains { $0.backend != .smartReader }
        for await event in backend.events() {
            if case .readerAdded(let reader) = event, readers.matches(reader) {
                isThere = true
                if reader.backend != .smartReader { hasConversations = true }
            }
            switch event {
            case .cardInserted(let presence) where readers.matches(presence):
                return presence
            case .cardReported(let report) where readers.matches(report.reader):
                let error = Self.noConversation(report.reader)
                // A card on another reader can still come.
                guard hasConversations else { throw error }
                output.message("\(error)")
            case .readerAdded(let reader) where readers.matches(reader) && !told.contains(reader):
                if !backend.isRecording { output.message("Waiting for a card on \(reader.label)") }
            case .readerStuck(let reader, let error) where readers.matches(reader):
                output.message("\(error)")
            // It may come back in time.
            case .serviceLost(let error):
                output.message("\(error)")
            case .failed(let error):
                throw error
            default:
                break
            }
        }
        if backend.isRecording, readers.isChoice, !isThere {
            throw ReaderError(
                .readerUnavailable,
                attempting: "use the reader \(readers.text)",
                detail: "the capture has no reader of that name or serial number",
                advice: "Leave --reader out, or name the reader with which it was recorded."
            )
        }
        return nil
    }
}

/// The option of a command that can do its work with a recorded card as well.
package struct CardReplayOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Use the first card of this capture file in place of one on a reader.",
            discussion: """
                A capture knows only what was recorded. An answer that was not is made up: 6D00 for a command, none \
                for a frame.
                """,
            valueName: "file"
        ),
        completion: .file(extensions: ["capture"])
    )
    package var replay: String?

    package init() {}
}

/// A card, the reader that it is on, and the conversation with it.
package struct CardOnReader {
    /// The presentation.
    package let presence: CardPresence
    /// The conversation; it ends with the closure that it was passed to.
    package let channel: any CardChannel
    /// Whether it is a recorded card, which can answer only what it was asked then.
    package let isRecorded: Bool
    /// Reports when the tool is to end.
    package let cancellation: Cancellation

    package var uid: CardUID? { (try? channel.identifier()) ?? nil }

    /// Whether the tool is to end; and a descriptor that can be polled for it.
    package final class Cancellation: Sendable {
        private let flag = Latch()
        private let bell = WakePipe()

        /// Does some work that may block, and that looks here for the cancellation of the task.
        package static func during<Result>(_ work: (Cancellation) async throws -> Result) async throws -> Result {
            let cancellation = Cancellation()
            return try await withTaskCancellationHandler {
                try await work(cancellation)
            } onCancel: {
                cancellation.flag.raise()
                cancellation.bell?.ring()
            }
        }

        /// Becomes readable when the tool is to end; -1 where there was none to be had.
        package var descriptor: Int32 { bell?.descriptor ?? -1 }

        package var isCancelled: Bool { flag.isRaised }

        /// Throws once the tool is to end.
        package func check() throws {
            if isCancelled { throw CancellationError() }
        }
    }
}

package struct PassOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("passes"),
        help: ArgumentHelp(
            """
            Read the passes that this configuration names: wallets of phones, tags that sign. It also says whether a card's \
            own number counts where its message could not be asked for (uidDespite).
            """,
            discussion: """
                JSON; Documentation/passes.md shows it. A file with a key must be readable by its owner alone. What was presented \
                before is remembered by a kiosk in its database, elsewhere and in replays until the command ends.
                """,
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    package var file: String?

    package init() {}

    /// What the place reads and accepts; `nil` without a configuration.
    ///
    /// - Throws: ``PassConfigurationError``.
    package func site() throws -> PassSite? { try file.map { try PassConfiguration(path: $0).site(besides: $0) } }
}

extension PassConfiguration {
    /// The site of a configuration whose paths begin where its file is.
    package func site(besides file: String) throws -> PassSite {
        try site(folder: URL(fileURLWithPath: file).deletingLastPathComponent().path)
    }
}
