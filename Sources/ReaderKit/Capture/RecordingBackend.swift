/// Passes everything on to another backend and records it, so that a replay of the recording gives the same scan
/// events.
///
/// Presentations and reports are handed on with the time under which they are recorded, which is theirs to the
/// millisecond. A card of which only the edge was seen (``ReaderEvent/cardMissed(_:)``) is not recorded, for nothing was said.
public struct RecordingBackend: ReaderBackend {
    private let base: any ReaderBackend

    /// What was recorded.
    public let recorder: CaptureRecorder

    /// A backend that records another one.
    public init(_ base: any ReaderBackend, recorder: CaptureRecorder) {
        self.base = base
        self.recorder = recorder
    }

    /// The way by which the recorded backend reaches its readers.
    public var kind: BackendKind { base.kind }

    /// Whether the recorded backend is itself a recording.
    public var isRecording: Bool { base.isRecording }

    /// What happens at the readers, recorded on the way. An event is taken from the recorded backend when it is asked
    /// for, not before.
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

    /// The readers of the recorded backend. Their cards are recorded only where they come as events.
    public func readers() async throws -> [ReaderStatus] { try await base.readers() }

    /// What the recorded backend finds.
    public func listing() async -> ReaderListing { await base.listing() }

    /// Lets go of the recorded backend's readers.
    public func close() async { await base.close() }

    /// Runs a conversation with the card and records it.
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

/// Passes a conversation on to another channel and records every exchange, its time and its fault.
///
/// What the reader cannot do (``ReaderError/Kind/unsupported``) is not recorded, for it never reached the card, nor what
/// is sent to a card that has left, for nothing answers it.
public final class RecordingChannel: CardChannel {
    private let channel: any CardChannel
    private let sink: (Capture.Exchange.Request, Capture.Exchange.Answer) -> Duration
    private let sinkReset: () -> Void

    private var isRemoved = false

    /// What the reader knows of the card.
    public var facts: CardFacts { channel.facts }

    /// The time from the presentation of the card to the last answer, as it is recorded: a replay tells the same.
    public private(set) var elapsed: Duration = .zero

    /// A channel that hands each exchange to `record` as soon as it is over.
    ///
    /// - Parameters:
    ///   - channel: the channel to the card.
    ///   - reset: notes that the card was powered anew.
    ///   - record: keeps an exchange and gives the time since the presentation of the card under which it was kept.
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
        do throws(ReaderError) {
            let answer = try channel.transmit(command)
            note(.apdu(command), .bytes(answer))
            return answer
        } catch {
            throw note(.apdu(command), error)
        }
    }

    /// Exchanges a raw frame and records it with its answer.
    public func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        do throws(ReaderError) {
            let answer = try channel.transceive(frame)
            note(.raw(frame), .raw(answer))
            return answer
        } catch {
            throw note(.raw(frame), error)
        }
    }

    /// Sends a control code to the reader and records it with its answer.
    public func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        do throws(ReaderError) {
            let answer = try channel.control(code, data)
            note(.control(code: code, data: data), .bytes(answer))
            return answer
        } catch {
            throw note(.control(code: code, data: data), error)
        }
    }

    /// Powers the card anew. Captures have no line for it; the file gets a comment.
    public func reset() throws(ReaderError) {
        try channel.reset()
        sinkReset()
    }

    private func note(_ request: Capture.Exchange.Request, _ answer: Capture.Exchange.Answer) {
        elapsed = max(elapsed, sink(request, answer))
    }

    private func note(_ request: Capture.Exchange.Request, _ error: ReaderError) -> ReaderError {
        let fault = Capture.Fault(error)
        if error.kind != .unsupported, !(isRemoved && fault == .removed) { note(request, .fault(fault)) }
        if fault == .removed { isRemoved = true }
        return error
    }
}
