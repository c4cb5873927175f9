import Synchronization

/// A presentation that a replay announced, with the state of the conversation with it.
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

    /// Runs a conversation, one at a time, and gives its result and what differed from the recording.
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

    /// What was recorded and not asked for, if the card was talked to.
    var rest: ReaderError? {
        state.withLock { $0.channel?.rest }
    }
}
