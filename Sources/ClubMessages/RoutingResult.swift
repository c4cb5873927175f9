import Foundation

/// What became of a message.
///
/// The `Codable` form is the line that a ``MessageSocket`` answers.
public struct RoutingResult: Sendable, Hashable {
    /// ``Message/id``.
    public var messageID: String

    /// The message's type, if it has one.
    public var type: String?

    /// Where the message came from.
    public var source: MessageSource

    /// What became of it.
    public var outcome: Outcome

    /// The name of the processor to which the outcome is due: its Swift type, or the name with which its closure was
    /// registered. `nil` if none was.
    public var processor: String?

    /// When that was known.
    public var at: Date

    /// What can become of a message.
    public enum Outcome: Sendable, Hashable {
        /// Processed, with something new.
        case newData
        /// Processed, with nothing new.
        case noData
        /// It could not be processed, and why.
        case failed(String)
        /// Nobody took it, and why.
        case unhandled(String)
        /// Its turn came after its end.
        case expired
        /// A message with this identifier came before. Nothing was done.
        case duplicate
        /// Its processor was not done in time.
        case timedOut
    }

    /// A result.
    public init(
        messageID: String,
        type: String?,
        source: MessageSource,
        outcome: Outcome,
        processor: String? = nil,
        at: Date
    ) {
        self.messageID = messageID
        self.type = type
        self.source = source
        self.outcome = outcome
        self.processor = processor
        self.at = at
    }
}

extension RoutingResult.Outcome {
    /// The name in JSON and in a store: `newData`, `noData`, `failed`, `unhandled`, `expired`, `duplicate` or `timedOut`.
    public var name: String {
        switch self {
        case .newData: "newData"
        case .noData: "noData"
        case .failed: "failed"
        case .unhandled: "unhandled"
        case .expired: "expired"
        case .duplicate: "duplicate"
        case .timedOut: "timedOut"
        }
    }

    /// Why, for a person; `nil` where nothing is wrong.
    public var reason: String? {
        switch self {
        case .newData, .noData: nil
        case .failed(let reason), .unhandled(let reason): reason
        case .expired: "its time was over before its turn came"
        case .duplicate: "a message with this identifier came before"
        case .timedOut: "its processor was not done in time"
        }
    }

    /// Whether the message becomes a dead letter.
    public var isDead: Bool {
        switch self {
        case .failed, .unhandled, .expired, .timedOut: true
        case .newData, .noData, .duplicate: false
        }
    }

    /// The outcome with that name, or `nil`; the reason counts where the outcome does not tell it.
    public init?(name: String, reason: String?) {
        switch name {
        case "newData": self = .newData
        case "noData": self = .noData
        case "failed": self = .failed(reason ?? "")
        case "unhandled": self = .unhandled(reason ?? "")
        case "expired": self = .expired
        case "duplicate": self = .duplicate
        case "timedOut": self = .timedOut
        default: return nil
        }
    }
}

extension RoutingResult: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, type, source, sourceName, outcome, reason, processor, at
    }

    /// Reads the object that ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        messageID = try container.decode(String.self, forKey: .id)
        type = try container.decodeIfPresent(String.self, forKey: .type)
        source = MessageSource(
            try container.decode(MessageSource.Kind.self, forKey: .source),
            name: try container.decodeIfPresent(String.self, forKey: .sourceName)
        )
        let reason = try container.decodeIfPresent(String.self, forKey: .reason)
        guard let outcome = Outcome(name: try container.decode(String.self, forKey: .outcome), reason: reason) else {
            throw DecodingError.dataCorruptedError(forKey: .outcome, in: container, debugDescription: "no outcome")
        }
        self.outcome = outcome
        processor = try container.decodeIfPresent(String.self, forKey: .processor)
        at = try container.time(forKey: .at)
    }

    /// An object with `id`, `type`, `source` (a kind), `sourceName`, `outcome` (a name), `reason`, `processor`
    /// and `at` (ISO 8601). What there is not is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(messageID, forKey: .id)
        try container.encodeIfPresent(type, forKey: .type)
        try container.encode(source.kind, forKey: .source)
        try container.encodeIfPresent(source.name, forKey: .sourceName)
        try container.encode(outcome.name, forKey: .outcome)
        try container.encodeIfPresent(outcome.reason, forKey: .reason)
        try container.encodeIfPresent(processor, forKey: .processor)
        try container.encode(RoutingTime.text(at), forKey: .at)
    }
}

/// What a processor made of a message.
public enum ProcessingResult: Sendable, Hashable {
    /// It was processed, and there is something new.
    case newData
    /// It was processed, and nothing is new.
    case noData
    /// It could not be processed. The reason goes to the dead letters and to whoever sent the message, so it should not
    /// quote the payload.
    case failed(String)
    /// It is not for this processor: the next one of its type is tried, and at last the fallback.
    case declined
}

/// What was given is no message.
///
/// It never contains anything of what was given.
public struct MessageError: Error, Sendable, Hashable {
    /// What is wrong.
    public var code: Code

    /// Where, in bytes from 0, as far as there is one place.
    public var offset: Int?

    /// What is wrong and what can be done, in one sentence.
    public var message: String

    /// What can be wrong.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// It has more than ``Message/longest`` bytes.
        case tooLong
        /// It is no JSON in UTF-8.
        case malformed
        /// It is JSON, but no object.
        case notAnObject
        /// `expires` is no time.
        case invalidExpiry
    }

    init(_ code: Code, at offset: Int? = nil, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }
}

extension MessageError: CustomStringConvertible {
    /// The same as ``message``.
    public var description: String { message }
}
