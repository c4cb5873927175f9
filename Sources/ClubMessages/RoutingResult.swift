import CardCore
import Foundation

/// The result of routing a message.
///
/// The `Codable` form is the line with which a ``MessageSocket`` answers.
public struct RoutingResult: Sendable, Hashable {
    /// ``Message/id``.
    public var messageID: String

    /// The message's type, if it has one.
    public var type: String?

    /// The source of the message.
    public var source: MessageSource

    /// The outcome.
    public var outcome: Outcome

    /// The name of the processor that produced the outcome: its Swift type, or the name with which its closure was
    /// registered. `nil` if none did.
    public var processor: String?

    /// The time of the outcome.
    public var at: Date

    /// The outcomes of a message.
    public enum Outcome: Sendable, Hashable {
        /// It was processed, with new data.
        case newData
        /// It was processed, without new data.
        case noData
        /// It could not be processed, with the reason.
        case failed(String)
        /// No processor accepted it, with the reason.
        case unhandled(String)
        /// It had expired when it was to be processed.
        case expired
        /// The identifier is known. Nothing was done.
        case duplicate
        /// Its processor exceeded the time limit.
        case timedOut
    }

    /// Creates a result.
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

    /// The reason, for a person; `nil` for a success.
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

    /// Creates the outcome with that name; `nil` if unknown. The reason is used if the outcome has none of its own.
    public init?(name: String, reason: String?) {
        let reason = reason ?? ""
        let all: [Self] = [
            .newData, .noData, .failed(reason), .unhandled(reason), .expired, .duplicate, .timedOut,
        ]
        guard let outcome = all.first(where: { $0.name == name }) else { return nil }
        self = outcome
    }
}

extension RoutingResult: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, type, source, sourceName, outcome, reason, processor, at
    }

    /// Decodes the object of ``encode(to:)``.
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

    /// Encodes an object with `id`, `type`, `source` (a kind), `sourceName`, `outcome` (a name), `reason`, `processor`
    /// and `at` (ISO 8601). Absent values are omitted.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(messageID, forKey: .id)
        try container.encodeIfPresent(type, forKey: .type)
        try container.encode(source.kind, forKey: .source)
        try container.encodeIfPresent(source.name, forKey: .sourceName)
        try container.encode(outcome.name, forKey: .outcome)
        try container.encodeIfPresent(outcome.reason, forKey: .reason)
        try container.encodeIfPresent(processor, forKey: .processor)
        try container.encode(ISO8601.text(at), forKey: .at)
    }
}

/// The result of a processor.
public enum ProcessingResult: Sendable, Hashable {
    /// It was processed, with new data.
    case newData
    /// It was processed, without new data.
    case noData
    /// It could not be processed. The reason is stored with the dead letter and sent to the sender, so it should not
    /// quote the payload.
    case failed(String)
    /// It is not for this processor: the next one of its type is tried, and finally the fallback.
    case declined
}

/// An error of input that is no message.
///
/// It never contains anything of the input.
public struct MessageError: Error, Sendable, Hashable {
    /// The kind of fault.
    public var code: Code

    /// The position, in bytes from 0, if there is one.
    public var offset: Int?

    /// The fault and its remedy, in one sentence.
    public var message: String

    /// The kinds of faults.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// It is longer than ``Message/longest`` bytes.
        case tooLong
        /// It is not JSON in UTF-8.
        case malformed
        /// It is JSON, but not an object.
        case notAnObject
        /// `expires` is no time.
        case invalidExpiry
        /// `messageId` is a number of more than 200 digits.
        case invalidIdentifier
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
