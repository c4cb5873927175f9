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

    /// Answers a raw frame: from the recorded frames, or from the commands of class `FF` in which readers carry them.
    ///
    /// A recording of a reader that refused such a command, or read no block, and without any frame is one of a reader that
    /// carries none: such frames are not recorded.
    public func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        if !script.isRecorded(.raw(frame)) {
            if let answer = try encapsulated(frame) { return answer }
            if lacksFrames { throw ReaderError(.unsupported, attempting: "exchange a raw frame") }
        }
        guard case .raw(let answer) = try answer(.raw(frame), attempting: "exchange a raw frame") else {
            throw ReaderError(.invalidAnswer, attempting: "exchange a raw frame")
        }
        return answer
    }

    /// The answer to a frame that was recorded as a reader's command.
    private func encapsulated(_ frame: RawFrame) throws(ReaderError) -> RawFrame? {
        for form in FrameEncapsulation.allCases {
            guard let command = try? form.command(frame, technology: technology), script.isRecorded(.apdu(command))
            else { continue }
            switch form.outcome(of: try transmit(command), technology: technology) {
            case .frame(let answer): return answer
            case .fault(let error), .unclear(let error): throw error
            case .unknownCommand: continue
            }
        }
        return nil
    }

    private var technology: Technology? { facts.technology ?? facts.atr.flatMap { try? ATR($0) }?.technology }

    /// Whether the recorded reader carries no frames, as far as can be seen.
    private var lacksFrames: Bool {
        var isRefused = false
        var isRead: Bool?
        for exchange in presentation.exchanges {
            switch (exchange.request, exchange.answer) {
            case (.raw, _): return false
            case (.apdu(let command), .bytes(let answer)) where !Self.asksNothing(command) && command.first == 0xFF:
                guard let status = try? ResponseAPDU(bytes: answer).statusWord else { break }
                switch Self.form(of: command)?.outcome(of: answer, technology: technology) {
                case .frame, .fault: return false
                case .unknownCommand, .unclear, nil: break
                }
                if command.dropFirst().first == 0xB0 { isRead = isRead == true || status.isSuccess }
                if status.refusesCommand { isRefused = true }
            default: break
            }
        }
        return isRefused || isRead == false
    }

    /// The form in which a command carries a frame for the card; `nil` for every other command.
    private static func form(of command: [UInt8]) -> FrameEncapsulation? {
        guard command.count > 5, command[0] == 0xFF else { return nil }
        switch (command[1], command[2], command[3]) {
        case (0xFE, _, _): return .springCard
        case (0xEF, 0x00, 0x00): return .identiv
        case (0xC2, 0x00, 0x01): return .transparentSession
        case (0x00, 0x00, 0x00) where command[5...].starts(with: [0xD4, 0x42]): return .acr122
        case (0x00, 0x00, 0x00) where command[5...].starts(with: [0xD4, 0x40]): return .acr122Exchange
        default: return nil
        }
    }

    /// Whether a command asks the card nothing but its identifier: that, and what is for an ACS reader's lights, buzzer and chip.
    private static func asksNothing(_ command: [UInt8]) -> Bool {
        command.starts(with: [0xFF, 0xCA]) || (command.starts(with: [0xFF, 0x00]) && form(of: command) == nil)
    }

    /// What the reader carried, as far as can be seen.
    public var capabilities: ChannelCapabilities {
        var capabilities = ChannelCapabilities(hasPseudoAPDUs: facts.atr != nil || facts.technology == nil)
        capabilities.knowsIdentifierOnly = presentation.exchanges.allSatisfy { exchange in
            if case .apdu(let command) = exchange.request { Self.asksNothing(command) } else { false }
        }
        return capabilities
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
