extension NDEFError {
    /// The rules of NDEF, each with the name that stands for breaking it. Names are stable.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        // The message.

        /// There are no bytes or no records at all. (A formatted tag without a message is the tag reader's affair.)
        case emptyMessage
        /// The first record does not have MB, the mark of the message's begin.
        case missingMessageBegin
        /// A later record has MB.
        case repeatedMessageBegin
        /// The bytes end, and no record had ME, the mark of the message's end.
        case missingMessageEnd
        /// Bytes follow the record that has ME. ``NDEFMode/lenient`` reports and accepts it.
        case trailingBytes
        /// Bytes follow the end of a message inside a payload.
        case trailingBytesInPayload

        // The header and the fields of a record.

        /// The bytes end within the header of a record.
        case truncatedHeader
        /// The type is longer than what is left.
        case typeBeyondEnd
        /// The identifier is longer than what is left.
        case idBeyondEnd
        /// The payload is longer than what is left.
        case payloadBeyondEnd
        /// A record of type name format 0 has a type, an identifier or a payload.
        case emptyRecordWithContent
        /// A record of type name format 1 to 4 has no type. Strict only.
        case missingType
        /// A record of type name format 5 has a type.
        case unknownRecordWithType
        /// The type name format is 7. Strict only.
        case reservedTNF
        /// The type has more than 255 bytes. Encoding only.
        case typeTooLong
        /// The identifier has more than 255 bytes. Encoding only.
        case idTooLong

        // Chunks.

        /// A later chunk (type name format 6) where no chunked record has begun.
        case chunkOutsideRun
        /// A record that is no later chunk where a chunked record has not ended.
        case chunkRunBroken
        /// The bytes end within a chunked record.
        case chunkRunUnfinished
        /// A later chunk has a type.
        case chunkWithType
        /// A later chunk has an identifier field.
        case chunkWithID
        /// A chunk that is not the last has ME.
        case chunkWithMessageEnd

        // Limits.

        /// The message is longer than ``NDEFLimits/message``.
        case messageTooLong
        /// The payload is longer than ``NDEFLimits/payload``.
        case payloadTooLong
        /// There are more records than ``NDEFLimits/records``.
        case tooManyRecords
        /// Messages lie deeper inside payloads than ``NDEFLimits/nesting``.
        case nestingTooDeep

        // Text.

        /// A Text record has an empty payload, so no status byte.
        case textWithoutStatus
        /// A Text record has no language. Strict only.
        case textWithoutLanguage
        /// The language of a Text record is longer than the rest of the payload.
        case textLanguageBeyondEnd
        /// The language of a Text record is over 63 characters. Making a record only.
        case textLanguageTooLong
        /// The language of a Text record has something other than visible ASCII characters.
        case textLanguageNotASCII
        /// The text is not well-formed UTF-8.
        case textNotUTF8
        /// The text is not well-formed UTF-16.
        case textNotUTF16

        // URI.

        /// A URI record has an empty payload, so no prefix code.
        case uriWithoutPrefix
        /// The prefix code of a URI record is one of 24 to FF, which are reserved. Strict only.
        case uriReservedPrefix
        /// The URI is not well-formed UTF-8.
        case uriNotUTF8
        /// The URI has a control character (U+0000 to U+001F, U+007F to U+009F).
        case uriControlCharacter

        // Smart Poster.

        /// A Smart Poster has no URI record.
        case smartPosterWithoutURI
        /// A Smart Poster has a second URI record.
        case smartPosterRepeatedURI
        /// The action of a Smart Poster is not one byte.
        case smartPosterActionLength
        /// The size of a Smart Poster is not four bytes.
        case smartPosterSizeLength

        // Text given by a person.

        /// What should be hexadecimal digits is not. The offset is that of the character in the text.
        case notHexadecimal
    }
}

extension NDEFError.Code {
    /// What happened, without the place.
    var fact: String {
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
        case .notHexadecimal: "the text is not hexadecimal"
        }
    }

    /// What a person can do when it happens while decoding.
    var hint: String {
        switch self {
        case .emptyMessage:
            "write a message to the tag"
        case .trailingBytes:
            "decode it leniently, or trim it to the length that the tag states"
        case .missingType, .reservedTNF, .textWithoutLanguage, .uriReservedPrefix:
            "decode it leniently to accept it as it is"
        case .messageTooLong, .payloadTooLong, .tooManyRecords, .nestingTooDeep:
            "if the message is to be trusted, allow more with NDEFLimits"
        case .notHexadecimal:
            "give pairs of the digits 0 to 9 and A to F"
        case .truncatedHeader, .typeBeyondEnd, .idBeyondEnd, .payloadBeyondEnd, .missingMessageEnd, .chunkRunUnfinished:
            "read the tag again, it may have left too early; if that does not help, write it anew"
        default:
            "write the tag anew; decode it leniently to see the records before the fault"
        }
    }
}
