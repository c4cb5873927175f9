/// A Text record's content: a text in one language (NFC Forum Text RTD).
public struct NDEFText: Sendable, Hashable {
    /// The text.
    public var text: String

    /// The language as written: a tag of BCP 47 such as `en` or `de-CH`. Empty only where lenience let it pass.
    public var language: String

    /// How the text is encoded in the payload.
    public var encoding: Encoding

    /// The encodings of a Text record.
    public enum Encoding: String, Sendable, Hashable, CaseIterable, Codable {
        /// UTF-8.
        case utf8 = "UTF-8"
        /// UTF-16: as its byte order mark says, big endian without one; written big endian with none.
        case utf16 = "UTF-16"
    }

    /// A text in a language.
    public init(_ text: String, language: String = "en", encoding: Encoding = .utf8) {
        self.text = text
        self.language = language
        self.encoding = encoding
    }
}
