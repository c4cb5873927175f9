import CardCore
import ClubRecords
import Foundation

/// A message to this kiosk: a JSON object with its metadata.
///
/// Its description omits the payload, which may be personal and does not belong in a log; its JSON form includes it.
public struct Message: Sendable, Hashable, Identifiable {
    /// The maximum length of a message, in bytes of JSON.
    public static let longest = 64 * 1024

    /// The unique identifier: 1...200 characters without control characters. A router accepts each identifier once.
    public var id: String

    /// The type, which determines the processor. `nil` is set by the router's rule (``MessageRouter/messageTypeKey``);
    /// a type set here stays.
    public var type: String?

    /// The payload: an object.
    public var payload: FieldValue

    /// The source of the message.
    public var source: MessageSource

    /// The time at which it was received.
    public var receivedAt: Date

    /// The time from which on it is not processed any more; `nil` if it does not expire.
    public var expiresAt: Date?

    /// Creates a message of the application's own.
    public init(
        id: String = UUID().uuidString,
        type: String? = nil,
        payload: FieldValue,
        source: MessageSource = MessageSource(.application),
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

    /// Returns whether it is too late to process it.
    public func isExpired(at date: Date) -> Bool { expiresAt.map { date >= $0 } ?? false }
}

extension Message: Redacted {
    /// The beginning of the identifier, the type and the source; never the payload.
    public var description: String {
        let kind = type.map { "of type \(PlainText.line($0))" } ?? "without a type"
        return "message \(PlainText.shortened(PlainText.line(id))) \(kind) from \(source)"
    }
}

extension Message: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, type, payload, source, receivedAt, expiresAt
    }

    /// Decodes the object of ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        type = try container.decodeIfPresent(String.self, forKey: .type)
        payload = try container.decode(FieldValue.self, forKey: .payload)
        source = try container.decode(MessageSource.self, forKey: .source)
        receivedAt = try container.time(forKey: .receivedAt)
        expiresAt = container.contains(.expiresAt) ? try container.time(forKey: .expiresAt) : nil
    }

    /// Encodes an object with `id`, `type`, `payload`, `source` and the times as ISO 8601 in UTC to the millisecond.
    /// Absent values are omitted.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(type, forKey: .type)
        try container.encode(payload, forKey: .payload)
        try container.encode(source, forKey: .source)
        try container.encode(ISO8601.text(receivedAt), forKey: .receivedAt)
        try container.encodeIfPresent(expiresAt.map(ISO8601.text), forKey: .expiresAt)
    }
}

extension Message {
    /// The name under which a payload may have an identifier. `id` alone is most often that of something else.
    static let idName = "messageId"

    static let expiryName = "expires"

    /// Parses a message from JSON.
    ///
    /// - Parameters:
    ///   - bytes: an object in UTF-8, at most ``longest`` bytes.
    ///   - source: the source of the message.
    ///   - receivedAt: the time at which it was received.
    ///   - makeUUID: makes the identifier of a message that has none.
    /// - Throws: ``MessageError``, with the fault and its place.
    public init(
        json bytes: [UInt8],
        source: MessageSource,
        receivedAt: Date = Date(),
        makeUUID: () -> UUID = { UUID() }
    ) throws(MessageError) {
        guard bytes.count <= Self.longest else {
            let message = "the message has more than \(Self.longest) bytes; send less, or where more can be had"
            throw MessageError(.tooLong, at: Self.longest, message)
        }
        var value: FieldValue
        do throws(JSONReader.Fault) {
            value = try JSONReader.value(in: bytes)
        } catch {
            let message = "the message is no JSON: expected \(error.message) at byte \(error.offset + 1)"
            throw MessageError(.malformed, at: error.offset, message)
        }
        if case .object(var fields) = value, let id = fields[Self.idName],
            let text = JSONReader.number(Self.idName, in: bytes), WholeNumber.digits(text) != Self.id(id)
        {
            // As a text, which is the same identifier, so that who gets the payload has all of it.
            fields[Self.idName] = WholeNumber.digits(text).map { .string($0) } ?? .double(Double(text) ?? 0)
            if case .string(let number) = fields[Self.idName], !Self.isName(number) {
                throw MessageError(.invalidIdentifier, "'\(Self.idName)' has more than 200 digits; write a shorter one")
            }
            value = .object(fields)
        }
        try self.init(reading: value, source: source, receivedAt: receivedAt, makeUUID: makeUUID)
    }

    /// Creates a message from a payload with its own metadata: `messageId`, a text of 1...200 characters without
    /// control characters or a whole number of at most 200 digits, and `expires`, text of ISO 8601 or seconds since 1970.
    ///
    /// A payload without a valid identifier gets a new one, so that sending it again is another message. An invalid
    /// `expires` is an error: the message might be processed too late.
    public init(
        reading payload: FieldValue,
        source: MessageSource,
        receivedAt: Date = Date(),
        makeUUID: () -> UUID = { UUID() }
    ) throws(MessageError) {
        guard case .object(let fields) = payload else {
            throw MessageError(.notAnObject, at: 0, "the message is no object of JSON; put it in braces")
        }
        self.init(
            id: fields[Self.idName].flatMap(Self.id) ?? makeUUID().uuidString,
            payload: payload,
            source: source,
            receivedAt: receivedAt
        )
        guard let value = fields[Self.expiryName], value != .null else { return }
        guard let date = RoutingTime.date(value) else {
            let message = "'expires' is no time; write ISO 8601 with 'Z' or an offset, or whole seconds since 1970"
            throw MessageError(.invalidExpiry, message)
        }
        expiresAt = date
    }

    /// Whether a text can be an identifier or a type: 1...200 characters, no control characters, no space at its ends.
    package static func isName(_ text: String) -> Bool {
        (1...200).contains(text.unicodeScalars.count) && PlainText.line(text) == text
    }

    package static let nameRule =
        "a message's identifier has 1 to 200 characters, no control characters and no space at its ends"

    private static func id(_ value: FieldValue) -> String? {
        switch value {
        case .string(let text): isName(text) ? text : nil
        case .int(let number): String(number)
        case .null, .bool, .double, .array, .object: nil
        }
    }
}

/// Numbers of JSON, however long.
enum WholeNumber {
    /// More digits than any number has that a ``FieldValue`` can be.
    private static let mostZeros = 400

    /// The digits of a number that is whole, however it is written: `12e3` is 12000. `nil` for all others.
    static func digits(_ text: String) -> String? {
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        guard let number = parts.first, let power = parts.count < 2 ? 0 : Int(parts[1]) else { return nil }
        // A message is shorter than that, so that nothing changes but what would overflow.
        var exponent = max(-1_000_000, min(power, 1_000_000))
        let isNegative = number.first == "-"
        let halves = number.drop { $0 == "-" }.split(separator: ".", maxSplits: 1)
        guard let whole = halves.first else { return nil }
        var digits = String(whole)
        if halves.count > 1 {
            digits += halves[1]
            exponent -= halves[1].count
        }
        while digits.last == "0" {
            digits.removeLast()
            exponent += 1
        }
        digits = String(digits.drop { $0 == "0" })
        if digits.isEmpty { return "0" }
        guard (0...mostZeros).contains(exponent) else { return nil }
        return (isNegative ? "-" : "") + digits + String(repeating: "0", count: exponent)
    }
}

enum MessageType {
    /// The text at a key path whose names are parted by dots, if it can be a type. A name that has dots itself is found
    /// too, where it stands at the top, and counts first.
    static func find(_ path: String, in payload: FieldValue) -> String? {
        guard case .object(let fields) = payload else { return nil }
        if let value = fields[path] { return name(value) }
        var value = payload
        for part in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .object(let fields) = value, let next = fields[String(part)] else { return nil }
            value = next
        }
        return name(value)
    }

    private static func name(_ value: FieldValue) -> String? {
        guard case .string(let text) = value, Message.isName(text) else { return nil }
        return text
    }
}

/// Reads payloads as the types that processors want.
///
/// It is strict, unlike ``RecordDecoder``: a member's record may be older than one of its fields, but a message that does
/// not describe what it must is not to be acted on.
enum PayloadDecoder {
    static func decode<Payload: Decodable>(_ type: Payload.Type, from payload: FieldValue) throws -> Payload {
        if type == FieldValue.self, let payload = payload as? Payload { return payload }
        var json: [UInt8] = []
        JSONText.append(payload, to: &json)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = RoutingTime.date(try container.decode(FieldValue.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
            }
            return date
        }
        return try decoder.decode(type, from: Data(json))
    }
}
