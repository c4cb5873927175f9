import Synchronization

/// A backend that combines several, so that one scanner serves readers of different kinds.
///
/// ```swift
/// let backend = CombinedBackend([PCSCBackend(), NFCBackend()])
/// for await tap in CardScanner(backend).taps() { … }
/// ```
///
/// Intended for live readers: recordings would be replayed concurrently, and not in order.
public final class CombinedBackend: ReaderBackend {
    /// The backends, in the given order.
    public let parts: [any ReaderBackend]

    private let owners = Mutex<[ReaderInfo: Int]>([:])

    /// Creates a backend of several, no two of which may serve the same reader.
    public init(_ parts: [any ReaderBackend]) {
        self.parts = parts
    }

    /// The kind of the first part, `simulated` if there is none. Each reader has its own (``ReaderInfo/backend``).
    public var kind: BackendKind { parts.first?.kind ?? .simulated }

    /// Whether all parts are recordings.
    public var isRecording: Bool { !parts.isEmpty && parts.allSatisfy(\.isRecording) }

    /// Returns the events of all readers. Those of one part are in its order.
    public func events() -> AsyncStream<ReaderEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: ReaderEvent.self)
        // Begun before this returns: what happens from now on is seen.
        let streams = parts.map { $0.events() }
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                for (index, events) in streams.enumerated() {
                    group.addTask {
                        for await event in events {
                            if let reader = event.reader { self.note(reader, of: index) }
                            continuation.yield(event)
                        }
                    }
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Returns the connected readers of all parts, those of the first part first.
    ///
    /// - Throws: the error of the first part that fails, if no other part has a reader. ``listing()`` includes it in
    ///   any case.
    public func readers() async throws -> [ReaderStatus] {
        let listing = await listing()
        try Task.checkCancellation()
        if listing.readers.isEmpty, let fault = listing.faults.first { throw fault }
        return listing.readers
    }

    /// Returns the readers of all parts, which are queried concurrently, and the error of each part that fails.
    public func listing() async -> ReaderListing {
        let found = await withTaskGroup(of: (Int, ReaderListing).self) { group in
            for (index, part) in parts.enumerated() { group.addTask { (index, await part.listing()) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var all = ReaderListing()
        for index in parts.indices {
            guard let listing = found[index] else { continue }
            for status in listing.readers { note(status.reader, of: index) }
            all.readers += listing.readers
            all.faults += listing.faults
        }
        return all
    }

    /// Releases the readers of all parts.
    public func close() async {
        await withDiscardingTaskGroup { group in
            for part in parts { group.addTask { await part.close() } }
        }
    }

    /// Performs a conversation with the card, on the backend of its reader.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        try await owner(of: presence.reader, "connect to the card").withCard(presence, perform: conversation)
    }

    /// Does some work with the reader itself, on its backend.
    public func withReader<Result: Sendable>(
        _ reader: ReaderInfo,
        perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
    ) async throws -> Result {
        try await owner(of: reader, "control the reader").withReader(reader, perform: work)
    }

    private func owner(of reader: ReaderInfo, _ attempt: String) throws(ReaderError) -> any ReaderBackend {
        let owner = owners.withLock { $0[reader] }.map { parts[$0] } ?? parts.first { $0.kind == reader.backend }
        guard let owner else { throw ReaderError(.readerUnavailable, attempting: attempt) }
        return owner
    }

    private func note(_ reader: ReaderInfo, of part: Int) {
        owners.withLock { $0[reader] = part }
    }
}
