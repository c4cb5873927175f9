import ClubRecords
import Foundation

/// Something that was sent to this kiosk: an object of JSON, and what is known about it.
///
/// It describes itself without its payload, which may be personal and does not belong into a log; JSON has all of it.
public struct Message: Sendable, Hashable, Identifiable {
    /// The longest message, in bytes of JSON.
    public static let longest = 64 * 1024

    /// Tells this message from every other: 1...200 characters, none of them a control character. A router takes each
    /// identifier once.
    public var id: String

    /// What kind of message it is, which decides who processes it. `nil` is filled in by the router as its rule says
    /// (``MessageRouter/messageTypeKey``); a type that is given here stands.
    public var type: String?

    /// What it says: an object.
    public var payload: FieldValue

    /// Where it came from.
    public var source: MessageSource

    /// When it came.
    public var receivedAt: Date

    /// From when on it is not to be processed any more, or `nil`.
    public var expiresAt: Date?

    /// A message of the application's own.
    public init(
        id: String = UUID().uuidString,
        type: String? = nil,
        payload: FieldValue,
        source: MessageSource = .application(),
        receivedAt: Date = Date(),
        expiresAt: Date? = nil
    ) {
        self.id = id
        self.type = type
        self.payload = payload
        self.source = source
        self.receivedAt = receivedAt
        self.expiresAt = expiresAt
    }

    /// Whether it is too late to process it.
    public func isExpired(at date: Date) -> Bool {
        expiresAt.map { date >= $0 } ?? false
    }
}

extension Message: CustomStringConvertible, CustomDebugStringConvertible {
    /// The beginning of the identifier, the type and the source; never the payload.
    public var description: String {
        let kind = type.map { "of type \(PlainText.line($0))" } ?? "without a type"
        return "message \(PlainText.shortened(PlainText.line(id))) \(kind) from \(source)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}

extension Message: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, type, payload, source, receivedAt, expiresAt
    }

    /// Reads the object that ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        type = try container.decodeIfPresent(String.self, forKey: .type)
        payload = try container.decode(FieldValue.self, forKey: .payload)
        source = try container.decode(MessageSource.self, forKey: .source)
        receivedAt = try RoutingTime.decode(container, .receivedAt)
        expiresAt = container.contains(.expiresAt) ? try RoutingTime.decode(container, .expiresAt) : nil
    }

    /// An object with `id`, `type`, `payload`, `source` and the times as ISO 8601 in UTC to the millisecond. What is not
    /// known is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(type, forKey: .type)
        try container.encode(payload, forKey: .payload)
        try container.encode(source, forKey: .source)
        try container.encode(RoutingTime.text(receivedAt), forKey: .receivedAt)
        try container.encodeIfPresent(expiresAt.map(RoutingTime.text), forKey: .expiresAt)
    }
}
