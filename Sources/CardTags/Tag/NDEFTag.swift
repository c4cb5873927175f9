/// A tag at the other end of a channel: what every type of tag can do with its NDEF message.
///
/// A tag belongs to the conversation in which it was opened and must not outlive it. ``TagReader/open(over:limits:)``
/// returns the right one for the card.
///
/// What a type or a product cannot do throws ``TagError/unsupported(_:attempt:)``. No method but ``lock(_:)`` does
/// anything that cannot be undone, and none touches lock bits, one-time-programmable bytes, keys or configuration.
public protocol NDEFTag {
    /// The kind of tag.
    var type: TagType { get }

    /// Reads the message.
    ///
    /// - Throws: ``TagError``. A tag without a message is no error, see ``TagNDEF``.
    mutating func readNDEF() throws(TagError) -> TagContent

    /// Writes a message in place of the one that is there.
    ///
    /// The tag may be taken away at any moment: it then holds the old message, the new one, or is an empty tag whose
    /// ``TagContent/isInterrupted`` is set. First the length is set to 0, then the data is written, then the length.
    ///
    /// - Parameter message: an encoded message; no bytes make the tag an empty one.
    /// - Throws: ``TagError``; ``TagError/tooLarge(length:capacity:)``, ``TagError/readOnly(_:)`` and
    ///   ``TagError/notFormatted(_:)`` come before anything was written.
    mutating func writeNDEF(_ message: [UInt8]) throws(TagError)

    /// Makes a tag whose writing was interrupted a clean empty one. Any other tag is left as it is.
    mutating func repairNDEF() throws(TagError) -> TagRepair

    /// Makes an unformatted tag one that can hold a message, without a message on it.
    ///
    /// A tag that has a place for a message is left as it is, and that is no error: with its message, without one, or
    /// interrupted, for ``repairNDEF()``. Where the place is there and is damaged so that no message can be found in it,
    /// some types make it anew.
    ///
    /// - Throws: ``TagError``; ``TagError/cannotFormat(_:reason:)`` if it would change what cannot be undone or belongs
    ///   to somebody else, before anything was written.
    mutating func formatNDEF() throws(TagError)

    /// Makes the message unchangeable for ever.
    ///
    /// - Parameter confirmation: names the card; see ``PermanentLock``.
    /// - Throws: ``TagError``; ``TagError/wrongCard(expected:)`` before anything was written.
    mutating func lock(_ confirmation: PermanentLock) throws(TagError)

    /// Reads all of the memory that can be read, the message's or not. What is protected is named and left out.
    ///
    /// - Throws: ``TagError`` if the link to the card fails.
    mutating func dump() throws(TagError) -> TagDump
}

extension NDEFTag {
    /// Not every type can be written: by default this throws ``TagError/unsupported(_:attempt:)``.
    public mutating func writeNDEF(_ message: [UInt8]) throws(TagError) {
        throw .unsupported(type, attempt: "write a message")
    }

    /// Not every type can be written: by default this throws ``TagError/unsupported(_:attempt:)``.
    public mutating func repairNDEF() throws(TagError) -> TagRepair {
        throw .unsupported(type, attempt: "repair the message")
    }

    /// Not every type can be formatted: by default this throws ``TagError/unsupported(_:attempt:)``.
    public mutating func formatNDEF() throws(TagError) {
        throw .unsupported(type, attempt: "format the tag")
    }

    /// Not every type can be locked: by default this throws ``TagError/unsupported(_:attempt:)``.
    public mutating func lock(_ confirmation: PermanentLock) throws(TagError) {
        throw .unsupported(type, attempt: "lock the tag")
    }

    /// Not every type can be dumped: by default this throws ``TagError/unsupported(_:attempt:)``.
    public mutating func dump() throws(TagError) -> TagDump {
        throw .unsupported(type, attempt: "read the whole memory")
    }
}

/// What repairing a tag came to.
public enum TagRepair: String, Sendable, Hashable, Codable {
    /// Writing had been interrupted; the tag is a clean empty one now.
    case repaired
    /// There was nothing to repair, and nothing was written.
    case notNeeded
}

/// The NDEF message of a card. All three cases are states of a card in good order, not errors.
public enum TagNDEF: Sendable, Hashable {
    /// There is no place for NDEF on this card: it is unformatted, has no NDEF application, or is of a kind that is not
    /// read.
    case absent
    /// The tag is formatted and holds a message of length 0.
    case empty
    /// An encoded message of at least one byte, not yet decoded.
    case message([UInt8])

    /// The encoded message: empty when the tag holds none, `nil` when there is no place for one.
    public var bytes: [UInt8]? {
        switch self {
        case .absent: nil
        case .empty: []
        case .message(let bytes): bytes
        }
    }
}

/// The kinds of tags that can hold an NDEF message, as the NFC Forum numbers them.
public enum TagType: String, Sendable, Hashable, Codable, CaseIterable {
    /// Topaz and Jewel.
    case type1
    /// MIFARE Ultralight, NTAG21x and their kin: pages of four bytes.
    case type2
    /// FeliCa: blocks of sixteen bytes.
    case type3
    /// A smart card with files (ISO/IEC 7816-4): NTAG 4xx, DESFire, phones.
    case type4
    /// ISO 15693, vicinity cards.
    case type5
    /// MIFARE Classic with a MIFARE application directory. Not one of the NFC Forum's.
    case mifareClassic

    /// The name for people: "Type 2", "MIFARE Classic".
    public var name: String {
        switch self {
        case .type1: "Type 1"
        case .type2: "Type 2"
        case .type3: "Type 3"
        case .type4: "Type 4"
        case .type5: "Type 5"
        case .mifareClassic: "MIFARE Classic"
        }
    }
}
