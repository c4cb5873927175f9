import CardCore

/// An NDEF message, record or payload breaks a rule.
///
/// It describes what was attempted, what happened (with the code, the place and the number that was found) and what a
/// person can do about it. It never holds any content of the message.
public struct NDEFError: Error, Sendable, Hashable {
    /// The rule that is broken.
    public var code: Code

    /// The first byte that breaks the rule, counted from 0 in the decoder's input. For something missing it
    /// is the place where it should be, which may be one past the last byte.
    ///
    /// Faults inside a payload, or inside a message in a payload, are counted from the start of the whole message too.
    /// Where a record stands alone (``NDEFRecord/decodedContent(mode:limits:)``) the offset is counted from the start of
    /// its payload, and for ``Code/uriControlCharacter`` and ``Code/uriNotUTF8`` of an absolute URI from the start of
    /// its type. An encoder's fault is at the offset that the record, or the byte of its payload, has in the
    /// output.
    public var offset: Int

    /// The number that was found and that breaks the rule: a length, a count, a code. `nil` if absent.
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
    /// The JSON object that the tools print: `code`, `offset` and `message`.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeObject(["code": code.rawValue, "offset": offset, "message": message])
    }
}

extension NDEFError {
    /// The rules of NDEF, each with the name that stands for breaking it. Names are stable; ``NDEFError/message`` has each
    /// in words.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        // The message. Bytes behind its end are all that ``NDEFMode/lenient`` accepts of these.

        /// There are no records, or not one begin and one end (MB and ME) where they should be. (A formatted tag without a
        /// message is the tag reader's affair.)
        case emptyMessage, missingMessageBegin, repeatedMessageBegin, missingMessageEnd
        /// Bytes follow the record that has ME: of the message itself, or of one inside a payload.
        case trailingBytes, trailingBytesInPayload

        // The header and the fields of a record.

        /// A header or a field is longer than what is left.
        case truncatedHeader, typeBeyondEnd, idBeyondEnd, payloadBeyondEnd
        /// A record has fields that its type name format does not have.
        case emptyRecordWithContent, unknownRecordWithType
        /// A record of type name format 1 to 4 has no type, or the format is 7. Strict only.
        case missingType, reservedTNF
        /// A field has more than 255 bytes. Encoding only.
        case typeTooLong, idTooLong

        // Chunks.

        /// A chunked record is not one first chunk and later ones, or a later one (type name format 6) has what only the
        /// first may have.
        case chunkOutsideRun, chunkRunBroken, chunkRunUnfinished, chunkWithType, chunkWithID, chunkWithMessageEnd

        // Limits.

        /// A limit of ``NDEFLimits`` is exceeded.
        case messageTooLong, payloadTooLong, tooManyRecords, nestingTooDeep

        // Text.

        /// A Text record has an empty payload, a language longer than the rest, or a language or text in other characters
        /// than it may have.
        case textWithoutStatus, textLanguageBeyondEnd, textLanguageNotASCII, textNotUTF8, textNotUTF16
        /// A Text record has no language. Strict only.
        case textWithoutLanguage
        /// The language of a Text record is over 63 characters. Making a record only.
        case textLanguageTooLong

        // URI.

        /// A URI record has an empty payload, or a URI is not UTF-8 or has a control character (U+0000 to U+001F, U+007F to
        /// U+009F).
        case uriWithoutPrefix, uriNotUTF8, uriControlCharacter
        /// The prefix code of a URI record is one of 24 to FF, which are reserved. Strict only.
        case uriReservedPrefix

        // Smart Poster.

        /// A Smart Poster has not one URI record, or a part of another length than the standard specifies.
        case smartPosterWithoutURI, smartPosterRepeatedURI, smartPosterActionLength, smartPosterSizeLength

        // Connection handover. Found where a record is read, not where its message is.

        /// A handover record has an empty payload, or holds a record that holds a message itself.
        case handoverWithoutVersion, handoverNestedMessage
        /// A handover repeats something, lacks what a request must have, or has bytes behind a carrier. Strict only.
        case handoverRepeatedRecord, handoverWithoutCollision, handoverWithoutCarrier, handoverCarrierTrailingBytes
        /// A field of a handover, a carrier or an error does not have the length or the value that the standard states.
        case handoverCollisionLength, handoverCarrierBeyondEnd, handoverCarrierFormat, handoverErrorLength

        // Signature. Found where a record is read.

        /// A Signature record does not end with its last field.
        case signatureWithoutVersion, signatureBeyondEnd, signatureTrailingBytes

        // Bluetooth. Found where a record is read.

        /// A Bluetooth record, its length, a structure or an address is longer or shorter than it can be.
        case bluetoothTruncated, bluetoothLengthTooShort, bluetoothLengthBeyondEnd, bluetoothStructureBeyondEnd,
            bluetoothAddressLength
        /// Something follows the end of a Bluetooth record's data. Strict only.
        case bluetoothTrailingBytes, bluetoothDataAfterEnd

        // Wi-Fi. Found where a record is read.

        /// An attribute does not have the length that it can have, or a credential has no name of its network.
        case wifiAttributeBeyondEnd, wifiAttributeLength, wifiWithoutSSID
        /// A credential has an attribute twice. Strict only.
        case wifiRepeatedAttribute

        // vCard. Found where a record is read.

        /// The first line is not `BEGIN:VCARD`, or there are more properties than ``VCard/mostProperties``.
        case vCardWithoutBegin, vCardTooManyProperties
        /// The end or the version is missing, or a line or a value is malformed. Strict only.
        case vCardWithoutEnd, vCardWithoutVersion, vCardLine, vCardNotText, vCardQuotedPrintable

        // Text entered by a person.

        /// What should be hexadecimal digits is not. The offset is that of the character in the text.
        case notHexadecimal
    }
}

extension NDEFError.Code {
    /// What happened, without the place.
    package var fact: String {
        switch self {
        case .emptyMessage: "the message is empty"
        case .missingMessageBegin: "the first record is not marked as the begin of a message (MB)"
        case .repeatedMessageBegin: "a later record is marked as the begin of a message (MB)"
        case .missingMessageEnd: "no record is marked as the end of the message (ME)"
        case .trailingBytes: "bytes follow the end of the message"
        case .trailingBytesInPayload: "bytes follow the end of a nested message"
        case .truncatedHeader: "the header of a record is cut off"
        case .typeBeyondEnd: "the type is longer than what is left"
        case .idBeyondEnd: "the identifier is longer than what is left"
        case .payloadBeyondEnd: "the payload is longer than what is left"
        case .emptyRecordWithContent: "an empty record (TNF 0) has content"
        case .missingType: "a record with a typed payload (TNF 1 to 4) has no type"
        case .unknownRecordWithType: "a record of unknown type (TNF 5) has a type"
        case .reservedTNF: "the type name format is reserved (TNF 7)"
        case .typeTooLong: "the type is over 255 bytes"
        case .idTooLong: "the identifier is over 255 bytes"
        case .chunkOutsideRun: "a later chunk (TNF 6) stands where no chunked record has begun"
        case .chunkRunBroken: "a chunked record is interrupted by another record"
        case .chunkRunUnfinished: "the last chunk of a record is missing"
        case .chunkWithType: "a later chunk (TNF 6) has a type"
        case .chunkWithID: "a later chunk (TNF 6) has an identifier field"
        case .chunkWithMessageEnd: "a chunk that is not the last is marked as the end of the message (ME)"
        case .messageTooLong: "the message is over the limit"
        case .payloadTooLong: "a payload is over the limit"
        case .tooManyRecords: "the number of records is over the limit"
        case .nestingTooDeep: "messages are nested too deep"
        case .textWithoutStatus: "a Text record has no status byte"
        case .textWithoutLanguage: "a Text record has no language"
        case .textLanguageBeyondEnd: "the language of a Text record is longer than its payload"
        case .textLanguageTooLong: "the language of a Text record is over 63 characters"
        case .textLanguageNotASCII: "the language of a Text record is not visible ASCII"
        case .textNotUTF8: "the text of a Text record is not UTF-8"
        case .textNotUTF16: "the text of a Text record is not UTF-16"
        case .uriWithoutPrefix: "a URI record has no prefix code"
        case .uriReservedPrefix: "the prefix code of a URI record is reserved"
        case .uriNotUTF8: "a URI is not UTF-8"
        case .uriControlCharacter: "a URI has a control character"
        case .smartPosterWithoutURI: "a Smart Poster has no URI"
        case .smartPosterRepeatedURI: "a Smart Poster has more than one URI"
        case .smartPosterActionLength: "the action of a Smart Poster is not one byte"
        case .smartPosterSizeLength: "the size of a Smart Poster is not four bytes"
        case .handoverWithoutVersion: "a handover record has no version"
        case .handoverNestedMessage: "a handover record holds a record with a message of its own"
        case .handoverRepeatedRecord: "a handover record says the same thing twice"
        case .handoverCollisionLength: "the random number of a Handover Request is not two bytes"
        case .handoverWithoutCollision: "a Handover Request has no random number"
        case .handoverWithoutCarrier: "a Handover Request offers no carrier"
        case .handoverCarrierBeyondEnd: "a field of a carrier is longer than what is left"
        case .handoverCarrierTrailingBytes: "bytes follow the last field of a carrier"
        case .handoverCarrierFormat: "the type name format of a Handover Carrier is not one of 1 to 4"
        case .handoverErrorLength: "the data of a handover's error has a wrong length"
        case .signatureWithoutVersion: "a Signature record has no version"
        case .signatureBeyondEnd: "a field of a Signature record is longer than what is left"
        case .signatureTrailingBytes: "bytes follow the last field of a Signature record"
        case .bluetoothTruncated: "a Bluetooth record is cut off before its address ends"
        case .bluetoothLengthTooShort: "the length of a Bluetooth record does not even count its address"
        case .bluetoothLengthBeyondEnd: "the length of a Bluetooth record is longer than its payload"
        case .bluetoothTrailingBytes: "bytes follow the end of a Bluetooth record's data"
        case .bluetoothStructureBeyondEnd: "a structure of a Bluetooth record is longer than what is left"
        case .bluetoothDataAfterEnd: "data follows the end mark of a Bluetooth record"
        case .bluetoothAddressLength: "a Bluetooth address has a wrong length"
        case .wifiAttributeBeyondEnd: "an attribute of a Wi-Fi record is longer than what is left"
        case .wifiAttributeLength: "an attribute of a Wi-Fi credential has a wrong length"
        case .wifiRepeatedAttribute: "a Wi-Fi credential has an attribute twice"
        case .wifiWithoutSSID: "a Wi-Fi credential has no network name"
        case .vCardWithoutBegin: "the vCard does not begin with BEGIN:VCARD"
        case .vCardWithoutEnd: "the vCard has no END:VCARD"
        case .vCardWithoutVersion: "the vCard has no version that is known"
        case .vCardLine: "a line of the vCard is no property"
        case .vCardNotText: "a value of the vCard is no text in its character set"
        case .vCardQuotedPrintable: "a quoted-printable value of the vCard is broken"
        case .vCardTooManyProperties: "the number of properties of the vCard is over the limit"
        case .notHexadecimal: "the text is not hexadecimal"
        }
    }

    /// What a person can do when it happens while decoding: the same in both modes, so that to decode leniently is advised
    /// only for what ``NDEFMode/lenient`` never reports.
    var hint: String {
        switch self {
        case .emptyMessage:
            "write a message to the tag"
        case .trailingBytes:
            "trim it to the length that the tag states"
        case .missingType, .reservedTNF, .textWithoutLanguage, .uriReservedPrefix, .handoverRepeatedRecord,
            .handoverWithoutCollision, .handoverWithoutCarrier, .handoverCarrierTrailingBytes,
            .bluetoothTrailingBytes, .bluetoothDataAfterEnd,
            .wifiRepeatedAttribute, .vCardWithoutEnd, .vCardWithoutVersion, .vCardLine, .vCardNotText,
            .vCardQuotedPrintable:
            "decode it leniently to accept it as it is"
        case .messageTooLong, .payloadTooLong, .tooManyRecords, .nestingTooDeep:
            "if the message is to be trusted, allow more with NDEFLimits"
        case .notHexadecimal:
            "give pairs of the digits 0 to 9 and A to F"
        case .truncatedHeader, .typeBeyondEnd, .idBeyondEnd, .payloadBeyondEnd, .missingMessageEnd, .chunkRunUnfinished:
            "read the tag again, it may have left too early; if that does not help, write it anew"
        default:
            "write the tag anew"
        }
    }
}
