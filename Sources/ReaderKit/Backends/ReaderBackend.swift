import Foundation

/// A source of readers: PC/SC, libnfc, a recording.
///
/// The two halves are independent: ``events()`` describes what is there, ``withCard(_:perform:)`` talks to a card that
/// an event announced. Neither blocks a thread of Swift's cooperative pool.
public protocol ReaderBackend: Sendable {
    /// The way by which the readers are reached. Where there are several (``CombinedBackend``) each reader says its own
    /// (``ReaderInfo/backend``).
    var kind: BackendKind { get }

    /// Whether the events come from a recording, so that they are to be handled one after the other, in order.
    var isRecording: Bool { get }

    /// Starts to watch the readers and gives what happens, beginning with all that is there now.
    ///
    /// Each call starts a watch of its own, which ends when the stream's consumer stops or its task is cancelled. A
    /// live backend's stream does not end by itself, unless nothing can come any more (``close()``, the end of standard
    /// input); a recording's does, after its last event.
    func events() -> AsyncStream<ReaderEvent>

    /// The readers that are there now, each with its card. No reader is no error, and one that is there and cannot be used
    /// explains why (``ReaderStatus/unavailability``).
    ///
    /// - Throws: ``ReaderError`` when the service behind the readers cannot be reached.
    func readers() async throws -> [ReaderStatus]

    /// The readers that are there now, and what kept others from being found. For one backend that is its ``readers()``
    /// or their error; several as one (``CombinedBackend``) may have both.
    func listing() async -> ReaderListing

    /// Runs a conversation with the card of that presentation, in the isolation of its reader.
    ///
    /// The card is connected and locked for the conversation, and let go when it ends, however it ends. If another card
    /// has taken its place meanwhile, this throws ``ReaderError/Kind/cardRemoved``: bytes of one card are never taken
    /// for another's.
    ///
    /// ```swift
    /// let version = try await backend.withCard(presence) { channel in
    ///     try channel.transmit([0x90, 0x60, 0x00, 0x00, 0x00])
    /// }
    /// ```
    ///
    /// - Throws: ``ReaderError``, or what the conversation throws.
    func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result

    /// Lets go of the readers: ends all watches, closes devices and opens their lines to other programs again. Returns when
    /// that is done, which a call into a library that is under way may delay.
    ///
    /// A backend that is released does the same without waiting. A program that ends without either may leave a serial
    /// line closed to the next one.
    func close() async
}

extension ReaderBackend {
    /// Live by default.
    public var isRecording: Bool { false }

    /// What ``readers()`` gives, or throws.
    public func listing() async -> ReaderListing {
        do {
            return ReaderListing(readers: try await readers())
        } catch {
            return ReaderListing(faults: [error])
        }
    }

    /// Runs a conversation as ``withCard(_:perform:)`` does, and ends it when it takes too long.
    ///
    /// - Parameters:
    ///   - presence: the card.
    ///   - limit: how long it may take, by the channel's ``CardChannel/elapsed``; `nil` for any time. It is looked at
    ///     before each exchange, so one that is under way comes to its end first.
    ///   - conversation: what is done with the card.
    /// - Throws: ``ReaderError/Kind/overTime`` at each exchange after that time, and whatever the conversation throws.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        within limit: Duration?,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        try await withCard(presence) { channel in
            try conversation(limit.map { TimedChannel(channel, $0) } ?? channel)
        }
    }

    /// Nothing, for a backend that keeps nobody else from a reader.
    public func close() async {}
}

/// The readers that are there at one moment, and what kept others from being found.
public struct ReaderListing: Sendable {
    /// The readers.
    public var readers: [ReaderStatus]

    /// Why some way to readers could not be asked: one error for each. Empty when all could.
    public var faults: [any Error]

    /// What was found.
    public init(readers: [ReaderStatus] = [], faults: [any Error] = []) {
        self.readers = readers
        self.faults = faults
    }
}

/// A reader and the card on it, at one moment.
public struct ReaderStatus: Sendable, Hashable {
    /// The reader.
    public var reader: ReaderInfo

    /// The card on it, if there is one.
    public var card: CardPresence?

    /// The radio technologies that it reads, or `nil` where neither it nor its library tells.
    public var technologies: [Technology]?

    /// What the library tells of the device, for people, several lines: chip, firmware, protocols. `nil` where it tells
    /// nothing.
    public var details: String?

    /// Why the reader cannot be used although it is there: another program holds it, say. `nil` for one that can be used,
    /// or of which that shows only when it is watched.
    public var unavailability: ReaderError?

    /// A reader.
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

/// What a reader states that it read by itself, as one in Smart Reader mode does: a card that cannot be talked to.
public struct ReaderReport: Sendable, Hashable {
    /// The reader.
    public var reader: ReaderInfo

    /// Tells this report from the others of the same reader.
    public var number: Int

    /// When it came.
    public var at: Date

    /// The line that the reader sent, without its end. It is personal.
    public var line: String

    /// A report.
    public init(reader: ReaderInfo, number: Int, at: Date, line: String) {
        self.reader = reader
        self.number = number
        self.at = at
        self.line = line
    }
}

extension ReaderReport: Redacted {
    /// Which report of which reader it is. What the line says is left out, so that it does not end up in a log by accident.
    public var description: String { "report \(number) of \(reader.name) at \(ISO8601.text(at))" }
}
