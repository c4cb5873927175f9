import Foundation

/// A source of readers: PC/SC, libnfc, a recording.
///
/// The two halves are independent: ``events()`` reports readers and cards, ``withCard(_:perform:)`` communicates with a
/// card that an event announced. Neither blocks a thread of Swift's cooperative pool.
public protocol ReaderBackend: Sendable {
    /// The kind of backend. If there are several (``CombinedBackend``) each reader has its own
    /// (``ReaderInfo/backend``).
    var kind: BackendKind { get }

    /// Whether the events come from a recording, so that they must be handled sequentially.
    var isRecording: Bool { get }

    /// Starts a watch and returns its events, beginning with the current readers and cards.
    ///
    /// Each call starts a watch of its own, which ends when the stream's consumer stops or its task is cancelled. A
    /// live backend's stream ends only when no event can follow (``close()``, the end of standard input); a recording's
    /// ends after its last event.
    func events() -> AsyncStream<ReaderEvent>

    /// Returns the connected readers, each with its card. The absence of readers is no error, and a connected reader
    /// that is unusable has the reason (``ReaderStatus/unavailability``).
    ///
    /// - Throws: ``ReaderError`` if the service behind the readers cannot be reached.
    func readers() async throws -> [ReaderStatus]

    /// Returns the connected readers, and the errors of finding others. For one backend these are its ``readers()`` or
    /// their error; several combined (``CombinedBackend``) may have both.
    func listing() async -> ReaderListing

    /// Performs a conversation with the card of that presentation, in the isolation of its reader.
    ///
    /// The card is connected and locked for the conversation, and released when it ends or throws. If another card has
    /// replaced it meanwhile, this throws ``ReaderError/Kind/cardRemoved``: bytes of one card are never taken for
    /// another's.
    ///
    /// ```swift
    /// let version = try await backend.withCard(presence) { channel in
    ///     try channel.transmit([0x90, 0x60, 0x00, 0x00, 0x00])
    /// }
    /// ```
    ///
    /// - Throws: ``ReaderError``, or the error of the conversation.
    func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result

    /// Does some work with a reader itself, beside its cards, in the isolation of the reader. ``ReaderControl`` is built on
    /// it.
    ///
    /// It waits for a conversation with the reader's card that is under way.
    ///
    /// - Throws: ``ReaderError/Kind/unsupported`` if this backend's readers cannot be controlled, as by default;
    ///   ``ReaderError/Kind/readerUnavailable`` if there is no such reader; any error of the work.
    func withReader<Result: Sendable>(
        _ reader: ReaderInfo,
        perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
    ) async throws -> Result

    /// Releases the readers: ends all watches, closes devices and makes their lines available to other programs.
    /// Returns when that is done, which a call into a library under way may delay.
    ///
    /// A backend that is deallocated does the same without waiting. A program that ends without either may leave a
    /// serial line unavailable to the next one.
    func close() async
}

extension ReaderBackend {
    /// `false`, for a live backend.
    public var isRecording: Bool { false }

    /// Returns the result or the error of ``readers()``.
    public func listing() async -> ReaderListing {
        do {
            return ReaderListing(readers: try await readers())
        } catch {
            return ReaderListing(faults: [error])
        }
    }

    /// Performs a conversation as ``withCard(_:perform:)``, with a time limit by the channel's ``CardChannel/elapsed``,
    /// which is checked before each exchange; `nil` is no limit.
    ///
    /// - Throws: ``ReaderError/Kind/overTime`` at each exchange after that time, and any error of the conversation.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        within limit: Duration?,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        try await withCard(presence) { channel in try conversation(limit.map { TimedChannel(channel, $0) } ?? channel) }
    }

    /// Throws ``ReaderError/Kind/unsupported``, for a backend whose readers cannot be controlled.
    public func withReader<Result: Sendable>(
        _ reader: ReaderInfo,
        perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
    ) async throws -> Result {
        throw ReaderError(
            .unsupported,
            attempting: "control \(reader.name)",
            detail: "only readers of PC/SC are controlled"
        )
    }

    /// Does nothing, for a backend without exclusive readers.
    public func close() async {}
}

/// The connected readers at one moment, and the errors of finding others.
public struct ReaderListing: Sendable {
    /// The readers.
    public var readers: [ReaderStatus]

    /// The errors of backends that could not be queried, one for each. Empty if there were none.
    public var faults: [any Error]

    /// Creates a listing.
    public init(readers: [ReaderStatus] = [], faults: [any Error] = []) {
        self.readers = readers
        self.faults = faults
    }
}

/// A reader and the card on it, at one moment.
public struct ReaderStatus: Sendable, Hashable {
    /// The reader.
    public var reader: ReaderInfo

    /// The card on it, if any.
    public var card: CardPresence?

    /// The radio technologies that it supports; `nil` if neither it nor its library reports them.
    public var technologies: [Technology]?

    /// The library's description of the device for people, in several lines: chip, firmware, protocols. `nil` if there
    /// is none.
    public var details: String?

    /// The reason why a connected reader is unusable, such as another program that holds it; `nil` for a usable one, or
    /// if that shows only when it is watched.
    public var unavailability: ReaderError?

    /// Creates a status.
    public init(
        reader: ReaderInfo,
        card: CardPresence? = nil,
        technologies: [Technology]? = nil,
        details: String? = nil,
        unavailability: ReaderError? = nil
    ) {
        self.reader = reader
        self.card = card
        self.technologies = technologies
        self.details = details
        self.unavailability = unavailability
    }
}

/// A line in which a reader reports what it read by itself, as in Smart Reader mode, without access to the card.
public struct ReaderReport: Sendable, Hashable {
    /// The reader.
    public var reader: ReaderInfo

    /// Identifies this report among those of the same reader.
    public var number: Int

    /// The time at which it arrived.
    public var at: Date

    /// The line of the reader, without its end. It is personal.
    public var line: String

    /// Creates a report.
    public init(reader: ReaderInfo, number: Int, at: Date, line: String) {
        self.reader = reader
        self.number = number
        self.at = at
        self.line = line
    }
}

extension ReaderReport: Redacted {
    /// The number and the reader of the report. The line is omitted, to keep it out of logs.
    public var description: String { "report \(number) of \(reader.name) at \(ISO8601.text(at))" }
}
