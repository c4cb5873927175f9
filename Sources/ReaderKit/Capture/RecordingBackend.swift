/// Forwards everything to another backend and records it, so that a replay of the recording returns the same scan
/// events.
///
/// Presentations and reports are forwarded with the time with which they are recorded, to the millisecond. A card that
/// was only detected (``ReaderEvent/cardMissed(_:)``) is not recorded, since it exchanged nothing.
public struct RecordingBackend: ReaderBackend {
    private let base: any ReaderBackend

    /// The recorder.
    public let recorder: CaptureRecorder

    /// Creates a backend that records another one.
    public init(_ base: any ReaderBackend, recorder: CaptureRecorder) {
        self.base = base
        self.recorder = recorder
    }

    /// The kind of the recorded backend.
    public var kind: BackendKind { base.kind }

    /// Whether the recorded backend is itself a recording.
    public var isRecording: Bool { base.isRecording }

    /// Returns the events of the readers and records them. An event is requested from the recorded backend when it is
    /// requested here, not before.
    public func events() -> AsyncStream<ReaderEvent> {
        let events = base.events()
        let recorder = recorder
        return AsyncStream {
            // An iterator has no state of its own: it asks the stream, which is one and the same.
            var iterator = events.makeAsyncIterator()
            switch await iterator.next() {
            case .cardInserted(let presence): return .cardInserted(recorder.inserted(presence))
            case .cardRemoved(let presence): return .cardRemoved(recorder.removed(presence))
            case .cardReported(let report): return .cardReported(recorder.reported(report))
            case let other: return other
            }
        }
    }

    /// Returns the readers of the recorded backend. Their cards are recorded only as events.
    public func readers() async throws -> [ReaderStatus] { try await base.readers() }

    /// Returns the listing of the recorded backend.
    public func listing() async -> ReaderListing { await base.listing() }

    /// Releases the recorded backend's readers.
    public func close() async { await base.close() }

    /// Does some work with the reader itself, which is not recorded.
    public func withReader<Result: Sendable>(
        _ reader: ReaderInfo,
        perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
    ) async throws -> Result {
        try await base.withReader(reader, perform: work)
    }

    /// Performs a conversation with the card and records it.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        let (original, index) = recorder.begin(presence)
        guard let index else { return try await base.withCard(original, perform: conversation) }
        let recorder = recorder
        do {
            let result = try await base.withCard(original) { channel in
                recorder.connected(index)
                return try conversation(
                    RecordingChannel(
                        channel,
                        reset: { recorder.noteReset(index) },
                        record: { request, answer in recorder.note(index, request, answer) }
                    )
                )
            }
            recorder.end(index, nil)
            return result
        } catch {
            recorder.end(index, error as? ReaderError)
            throw error
        }
    }
}

/// Forwards a conversation to another channel and records every exchange with its time and error.
///
/// Commands that the reader does not support (``ReaderError/Kind/unsupported``) are not recorded, since they never
/// reached the card, nor are those to a card that has left, since nothing answers them.
public final class RecordingChannel: CardChannel {
    private let channel: any CardChannel
    private let sink: (Capture.Exchange.Request, Capture.Exchange.Answer) -> Duration
    private let sinkReset: () -> Void

    private var isRemoved = false

    /// The properties of the card that the reader reports.
    public var facts: CardFacts { channel.facts }

    /// The time from the presentation of the card to the last answer, as recorded: a replay has the same.
    public private(set) var elapsed: Duration = .zero

    /// Creates a channel that passes each exchange to `record` as soon as it is over.
    ///
    /// - Parameters:
    ///   - channel: the channel to the card.
    ///   - reset: called when the card was reset.
    ///   - record: stores an exchange and returns the time since the presentation of the card with which it was stored.
    public init(
        _ channel: any CardChannel,
        reset: @escaping () -> Void = {},
        record: @escaping (Capture.Exchange.Request, Capture.Exchange.Answer) -> Duration
    ) {
        self.channel = channel
        sink = record
        sinkReset = reset
    }

    /// Sends a command APDU and records it with its answer.
    public func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        try exchange(.apdu(command), { .bytes($0) }) { () throws(ReaderError) in try channel.transmit(command) }
    }

    /// Exchanges a raw frame and records it with its answer.
    public func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        try exchange(.raw(frame), { .raw($0) }) { () throws(ReaderError) in try channel.transceive(frame) }
    }

    /// Sends a control code to the reader and records it with its answer.
    public func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        try exchange(.control(code: code, data: data), { .bytes($0) }) { () throws(ReaderError) in
            try channel.control(code, data)
        }
    }

    /// Resets the card. Captures have no line for it; the file gets a comment.
    public func reset() throws(ReaderError) {
        try channel.reset()
        sinkReset()
    }

    private func exchange<Answer>(
        _ request: Capture.Exchange.Request,
        _ recorded: (Answer) -> Capture.Exchange.Answer,
        _ body: () throws(ReaderError) -> Answer
    ) throws(ReaderError) -> Answer {
        do throws(ReaderError) {
            let answer = try body()
            elapsed = max(elapsed, sink(request, recorded(answer)))
            return answer
        } catch {
            let fault = Capture.Fault(error)
            if error.kind != .unsupported, !(isRemoved && fault == .removed) {
                elapsed = max(elapsed, sink(request, .fault(fault)))
            }
            if fault == .removed { isRemoved = true }
            throw error
        }
    }
}
