import ReaderKit
import Synchronization

/// A backend that keeps the times of the last conversation that it was asked for.
final class TimedBackend: ReaderBackend {
    /// The times of a conversation.
    struct Times: Sendable {
        /// When the card was connected and locked, and the conversation began.
        var began = ContinuousClock.now
        /// When the conversation had ended, and the card was still to be let go.
        var ended = ContinuousClock.now
        /// How long its APDUs took, from the call to the answer.
        var exchanges = Duration.zero
        /// How many APDUs there were.
        var count = 0
        /// The last answer.
        var answer: [UInt8] = []
    }

    private let backend: PCSCBackend
    private let last = Mutex(Times())

    init(_ backend: PCSCBackend) { self.backend = backend }

    /// The times of the last conversation.
    var times: Times { last.withLock { $0 } }

    var kind: BackendKind { backend.kind }

    func events() -> AsyncStream<ReaderEvent> { backend.events() }

    func readers() async throws -> [ReaderStatus] { try await backend.readers() }

    func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        try await backend.withCard(presence) { channel in
            let timed = TimedChannel(channel)
            defer {
                timed.times.ended = .now
                self.last.withLock { $0 = timed.times }
            }
            return try conversation(timed)
        }
    }
}

/// Passes everything on and adds up how long exchanges take.
private final class TimedChannel: CardChannel {
    private let channel: any CardChannel
    var times = TimedBackend.Times()

    init(_ channel: any CardChannel) { self.channel = channel }

    var facts: CardFacts { channel.facts }
    var capabilities: ChannelCapabilities { channel.capabilities }
    var elapsed: Duration { channel.elapsed }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let start = ContinuousClock.now
        let answer = try channel.transmit(command)
        times.exchanges += ContinuousClock.now - start
        times.count += 1
        times.answer = answer
        return answer
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame { try channel.transceive(frame) }

    func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] { try channel.control(code, data) }

    func reset() throws(ReaderError) { try channel.reset() }
}
