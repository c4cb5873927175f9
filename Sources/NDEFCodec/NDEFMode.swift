/// How closely an NDEF message is held to the standard.
public enum NDEFMode: String, Sendable, Hashable, CaseIterable, Codable {
    /// All of the NFC Forum's rules hold, and one broken rule refuses the message.
    case strict

    /// For tags as they are found. What does no harm is accepted: bytes after the message's end, an empty buffer, a
    /// record without a type, the reserved type name format (kept as it is), a Text record without a language, and
    /// the reserved prefix codes of a URI record (read as no prefix). Every other rule holds.
    case lenient
}
