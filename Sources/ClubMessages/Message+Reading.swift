import ClubRecords
import Foundation

extension Message {
    /// The name under which a payload may have an identifier. `id` alone is most often that of something else.
    static let idName = "messageId"

    /// The name under which a payload says when it ends.
    static let expiryName = "expires"

    /// Reads a message from JSON.
    ///
    /// - Parameters:
    ///   - bytes: an object in UTF-8, at most ``longest`` bytes.
    ///   - source: where it came from.
    ///   - receivedAt: when it came.
    ///   - makeUUID: makes the identifier of a message that has none.
    /// - Throws: what is wrong, and where.
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
        let value: FieldValue
        do throws(JSONReader.Fault) {
            value = try JSONReader.value(in: bytes)
        } catch {
            let message = "the message is no JSON: expected \(error.message) at byte \(error.offset + 1)"
            throw MessageError(.malformed, at: error.offset, message)
        }
        try self.init(reading: value, source: source, receivedAt: receivedAt, makeUUID: makeUUID)
    }

    /// A message of a payload, with what the payload says of itself: `messageId`, a text of 1...200
    /// characters without control characters or a whole number, and `expires`, text of ISO 8601 or seconds since 1970.
    ///
    /// A payload without an identifier that can be used gets a new one, so that sending it again is another message. An
    /// `expires` that cannot be read is an error: the message might be processed too late.
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

    /// What an identifier has to be, for a person.
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
