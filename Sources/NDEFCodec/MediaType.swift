import CardCore

/// A media type as a record names it (RFC 2045, section 5.1): `Text/vCard; charset="UTF-8"`.
package struct MediaType: Sendable, Hashable {
    /// Type and subtype in small letters, without parameters.
    package let essence: String
    /// The parameters by their names in small letters, without quotes; the first of a name counts.
    package let parameters: [String: String]

    /// Reads a media type, however it is written. What cannot stand in one is left out, as NULs behind it.
    package init(_ text: some StringProtocol) {
        let fields = VCardLine.fields(String(text.filter { $0.asciiValue.map { $0 >= 0x20 && $0 < 0x7F } == true }))
        essence = fields[0].filter { !$0.isWhitespace }.lowercased()
        parameters = Dictionary(
            fields.dropFirst().map { VCardLine.parameter($0) }.map { ($0.name.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// What a message under a media type can be.
    package enum Kind: Sendable, Hashable {
        case vCard, json, text, token
        /// Addresses, one a line, and remarks that begin with `#` (RFC 2483, section 5).
        case addresses
        /// A vCard only if a payload begins like one: the type is that of other directories too.
        case directory
        /// A vCard in another notation, which is not read.
        case otherCard
    }

    /// The names that are registered, and those that programs write in their place.
    private static let kinds: [String: Kind] = [
        "text/vcard": .vCard, "text/x-vcard": .vCard, "application/vcard": .vCard, "application/x-vcard": .vCard,
        "text/vcf": .vCard, "text/x-vcf": .vCard, "application/vcf": .vCard, "application/x-vcf": .vCard,
        "text/x-versit": .vCard, "application/x-versit": .vCard, "text/directory": .directory,
        "application/directory": .directory, "application/vcard+xml": .otherCard, "application/vcard+json": .otherCard,
        "application/json": .json, "application/x-json": .json, "text/json": .json, "text/x-json": .json,
        "text/plain": .text, "text/x-plain": .text, "application/jwt": .token,
        "text/uri-list": .addresses, "text/uri": .addresses, "text/x-uri": .addresses, "text/url": .addresses,
        "text/x-url": .addresses, "application/x-url": .addresses,
    ]

    /// What a message under the type can be; `nil` for one that holds no membership.
    package var kind: Kind? {
        switch Self.kinds[essence] {
        case .directory?:
            switch parameters["profile"]?.lowercased() {
            case "vcard": .vCard
            case nil, "": .directory
            default: nil
            }
        case let kind?: kind
        case nil: essence.hasSuffix("+json") ? .json : nil
        }
    }

    /// Whether both name the same, by one of its names each, whatever their parameters.
    package func isSame(as other: MediaType) -> Bool {
        essence == other.essence || Self.kinds[essence].map { $0 == Self.kinds[other.essence] } == true
    }

    /// The character set that the type states.
    package var charset: String? { parameters["charset"] }
}

extension NDEFRecord {
    /// The media type, if the record has one.
    package var mediaType: MediaType? { tnf == .mime ? MediaType(String(decoding: type, as: UTF8.self)) : nil }

    /// The text of a record of a media type by its character set; `nil` where it is no text.
    package var mediaText: String? { Charset.decode(payload, as: mediaType?.charset) }

    /// The vCards of a record of a media type under which they come, or of any that begins like one, in their order; `nil` for
    /// other records.
    ///
    /// - Throws: the rule that the payload breaks even for ``NDEFMode/lenient``.
    package func vCards() throws(NDEFError) -> [VCard]? {
        if case .text(let text) = content {
            let bytes = Array(text.text.utf8)
            return VCard.isOne(bytes) ? try VCard.all(decoding: bytes, charset: nil) : nil
        }
        let type = mediaType
        guard type?.kind == .vCard || VCard.isOne(payload) else { return nil }
        return try VCard.all(decoding: payload, charset: type?.charset)
    }
}
