/// An NDEF message, record or payload breaks a rule.
///
/// It says what was attempted, what happened (with the code, the place and the number that was found) and what a
/// person can do about it. It never holds any content of the message.
public struct NDEFError: Error, Sendable, Hashable {
    /// The rule that is broken.
    public var code: Code

    /// The first byte that breaks the rule, counted from 0 in what was given to the decoder. For something missing it
    /// is the place where it should be, which may be one past the last byte.
    ///
    /// Faults inside a payload, or inside a message in a payload, are counted from the start of the whole message too.
    /// Where a record stands alone (``NDEFRecord/decodedContent(mode:limits:)``) the offset is counted from the start of
    /// its payload, and for ``Code/uriControlCharacter`` and ``Code/uriNotUTF8`` of an absolute URI from the start of
    /// its type. An encoder's fault is at the offset that the record, or the byte of its payload, has in the
    /// output.
    public var offset: Int

    /// The number that was found and that breaks the rule: a length, a count, a code. `nil` where there is none.
    public var value: Int?

    /// What was being done.
    public var attempt: Attempt

    /// What can fail for a broken rule.
    public enum Attempt: String, Sendable, Hashable, CaseIterable {
        /// Reading bytes.
        case decoding
        /// Making bytes or a record.
        case encoding
    }

    /// An error at a place.
    public init(_ code: Code, at offset: Int, value: Int? = nil, attempting attempt: Attempt = .decoding) {
        self.code = code
        self.offset = offset
        self.value = value
        self.attempt = attempt
    }

    /// Whether ``NDEFMode/lenient`` accepts the message although this was found.
    public var isTolerable: Bool { code == .trailingBytes }

    /// What was attempted and what happened.
    public var message: String {
        let found = value.map { " (found \($0))" } ?? ""
        switch attempt {
        case .decoding: return "could not decode the NDEF message: \(code.fact) at byte \(offset)\(found)"
        case .encoding: return "could not encode the NDEF message: \(code.fact)\(found)"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch attempt {
        case .decoding: code.hint
        case .encoding: "change the record so that it follows the rule, or encode it leniently if it must be as it is"
        }
    }
}

extension NDEFError: CustomStringConvertible {
    /// The message, the code and the hint.
    public var description: String { "\(message) [\(code.rawValue)]; \(hint)" }
}

extension NDEFError: Encodable {
    private enum CodingKeys: String, CodingKey {
        case code, offset, message
    }

    /// The JSON object that the tools print: `code`, `offset` and `message`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(offset, forKey: .offset)
        try container.encode(message, forKey: .message)
    }
}
