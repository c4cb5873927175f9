import Synchronization

/// A channel that answers a conversation from one recorded presentation.
public final class ReplayChannel: CardChannel {
    private let presentation: Capture.Presentation
    private let file: String?
    private var script: any ReplayScript
    private var isRemoved = false

    /// The properties of the card that the reader reported.
    public var facts: CardFacts { presentation.facts }

    /// The recorded time from the presentation of the card to the last answer; 0 if not recorded.
    public private(set) var elapsed: Duration = .zero

    /// Creates a channel at the beginning of that presentation; `file` is its name for messages.
    public init(_ presentation: Capture.Presentation, mode: ReplayMode = .byCommand, file: String? = nil) {
        self.presentation = presentation
        self.file = file
        switch mode {
        case .strict: script = StrictScript(presentation, file: file)
        case .byCommand: script = CommandScript(presentation)
        }
    }

    /// Answers a command APDU.
    public func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        try bytes(.apdu(command), attempting: "send a command to the card")
    }

    /// Answers a raw frame.
    public func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        guard case .raw(let answer) = try answer(.raw(frame), attempting: "exchange a raw frame") else {
            throw ReaderError(.invalidAnswer, attempting: "exchange a raw frame")
        }
        return answer
    }

    /// Answers an escape command.
    public func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        try bytes(.control(code: code, data: data), attempting: "send a control code to the reader")
    }

    private func bytes(_ request: Capture.Exchange.Request, attempting attempt: String) throws(ReaderError) -> [UInt8] {
        // The parser refuses an answer of another kind; a capture made in a program may hold one.
        guard case .bytes(let bytes) = try answer(request, attempting: attempt) else {
            throw ReaderError(.invalidAnswer, attempting: attempt)
        }
        return bytes
    }

    /// Resets the selection. A capture does not record resets, so this succeeds as long as the card is present.
    public func reset() throws(ReaderError) {
        guard !isRemoved else { throw ReaderError(.cardRemoved, attempting: "reset the card") }
        script.reset()
    }

    /// In strict mode, the commands that differ from the recorded ones.
    public private(set) var mismatches: [ReaderError] = []

    /// In strict mode, the recorded command that was not sent, as an error with its line; else `nil`.
    public var rest: ReaderError? { isRemoved ? nil : script.rest }

    private func answer(
        _ request: Capture.Exchange.Request,
        attempting attempt: String
    ) throws(ReaderError) -> Capture.Exchange.Answer {
        guard !isRemoved else { throw ReaderError(.cardRemoved, attempting: attempt) }
        let exchange: Capture.Exchange
        do throws(ReaderError) {
            exchange = try script.next(request, attempting: attempt)
        } catch {
            if error.kind == .replayMismatch { mismatches.append(error) }
            throw error
        }
        if let at = exchange.at { elapsed = max(elapsed, at - presentation.at) }
        if case .fault(let fault) = exchange.answer {
            isRemoved = fault == .removed
            throw ReaderError(fault.kind, attempting: attempt)
        }
        return exchange.answer
    }
}

final class ReplayCard: Sendable {
    let reader: ReaderInfo
    private let presentation: Capture.Presentation
    private let mode: ReplayMode
    private let file: String?
    private let state = Mutex(State())

    private struct State {
        /// Made when the card is first talked to, and kept: a second conversation goes on where the first ended.
        var channel: ReplayChannel?
        var isRefused = false
    }

    init(_ presentation: Capture.Presentation, reader: ReaderInfo, mode: ReplayMode, file: String?) {
        self.presentation = presentation
        self.reader = reader
        self.mode = mode
        self.file = file
    }

    /// Runs a conversation, one at a time, and returns its result and what differed from the recording.
    func converse<Value: Sendable>(
        _ conversation: @Sendable (any CardChannel) throws -> Value
    ) -> (Result<Value, any Error>, [ReaderError]) {
        state.withLock { state in
            if let fault = presentation.connectFault, !state.isRefused || presentation.exchanges.isEmpty {
                state.isRefused = true
                return (.failure(ReaderError(fault.kind, attempting: "connect to the card")), [])
            }
            let channel = state.channel ?? ReplayChannel(presentation, mode: mode, file: file)
            state.channel = channel
            let before = channel.mismatches.count
            let result = Result { try conversation(channel) }
            return (result, Array(channel.mismatches.dropFirst(before)))
        }
    }

    var rest: ReaderError? { state.withLock { $0.channel?.rest } }
}
