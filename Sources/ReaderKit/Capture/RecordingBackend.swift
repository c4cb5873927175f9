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
    public func survey() async -> ReaderSurvey { await base.survey() }

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
