import CardCore

/// One NDEF record, with chunks already joined.
public struct NDEFRecord: Sendable, Hashable {
    /// How the type is to be understood.
    public var tnf: TNF
    /// The type, 0 to 255 bytes.
    public var type: [UInt8]
    /// The identifier, or `nil` if absent.
    public var id: [UInt8]?
    /// The payload.
    public var payload: [UInt8]

    /// Type name format: how the type of a record is to be understood.
    public enum TNF: UInt8, Sendable, Hashable, CaseIterable {
        /// No type, identifier or payload.
        case empty = 0
        /// A type of the NFC Forum.
        case wellKnown = 1
        /// A media type (RFC 2046).
        case mime = 2
        /// An absolute URI (RFC 3986).
        case absoluteURI = 3
        /// A type of somebody's own domain.
        case external = 4
        /// The payload is of unknown type.
        case unknown = 5
        /// Reserved; kept only by a lenient decoder.
        case reserved = 7
    }

    /// A record.
    public init(tnf: TNF, type: [UInt8] = [], id: [UInt8]? = nil, payload: [UInt8] = []) {
        self.tnf = tnf
        self.type = type
        self.id = id
        self.payload = payload
    }
}

/// The types that this package reads and writes. As stored constants they cost a decoder no allocation.
package enum NDEFType {
    static let text: [UInt8] = [0x54]
    package static let uri: [UInt8] = [0x55]
    static let smartPoster: [UInt8] = [0x53, 0x70]
    static let action: [UInt8] = [0x61, 0x63, 0x74]
    static let size: [UInt8] = [0x73]
    static let mediaType: [UInt8] = [0x74]
    static let handoverRequest: [UInt8] = Array("Hr".utf8)
    static let handoverSelect: [UInt8] = Array("Hs".utf8)
    static let handoverCarrier: [UInt8] = Array("Hc".utf8)
    static let alternativeCarrier: [UInt8] = Array("ac".utf8)
    static let collisionResolution: [UInt8] = Array("cr".utf8)
    static let handoverError: [UInt8] = Array("err".utf8)
    static let signature: [UInt8] = Array("Sig".utf8)
    static let androidApplication: [UInt8] = Array("android.com:pkg".utf8)
}

extension NDEFRecord {
    /// An empty record.
    public static var empty: NDEFRecord { NDEFRecord(tnf: .empty) }

    /// A record of unknown type.
    public static func unknown(_ payload: [UInt8], id: [UInt8]? = nil) -> NDEFRecord {
        NDEFRecord(tnf: .unknown, id: id, payload: payload)
    }

    /// A Text record.
    ///
    /// - Parameter language: A tag of BCP 47, 1 to 63 visible ASCII characters. An empty one is written too, but only
    ///   ``NDEFMode/lenient`` encodes and decodes the record then.
    /// - Throws: ``NDEFError/Code/textLanguageTooLong`` or ``NDEFError/Code/textLanguageNotASCII``.
    public static func text(
        _ text: String,
        language: String = "en",
        encoding: NDEFText.Encoding = .utf8,
        id: [UInt8]? = nil
    ) throws(NDEFError) -> NDEFRecord {
        let tag = Array(language.utf8)
        guard tag.count <= 63 else {
            throw NDEFError(.textLanguageTooLong, at: 0, value: tag.count, attempting: .encoding)
        }
        if let offset = tag.firstIndex(where: { !(0x21...0x7E).contains($0) }) {
            throw NDEFError(.textLanguageNotASCII, at: 1 + offset, attempting: .encoding)
        }
        var payload: [UInt8] = [UInt8(tag.count) | (encoding == .utf16 ? 0x80 : 0)]
        payload += tag
        switch encoding {
        case .utf8:
            payload += text.utf8
        case .utf16:
            // A reader would take U+FEFF or U+FFFE at the start of the text for a byte order mark; with a real mark
            // before it, it does not.
            if let first = text.utf16.first, first == 0xFEFF || first == 0xFFFE { payload += [0xFE, 0xFF] }
            for unit in text.utf16 {
                payload.append(UInt8(unit >> 8))
                payload.append(UInt8(unit & 0xFF))
            }
        }
        return NDEFRecord(tnf: .wellKnown, type: NDEFType.text, id: id, payload: payload)
    }

    /// A Text record.
    ///
    /// - Throws: As ``text(_:language:encoding:id:)``.
    public static func text(_ text: NDEFText, id: [UInt8]? = nil) throws(NDEFError) -> NDEFRecord {
        try .text(text.text, language: text.language, encoding: text.encoding, id: id)
    }

    /// A URI record, with the longest of the standard's prefixes that fits.
    ///
    /// - Throws: ``NDEFError/Code/uriControlCharacter``.
    public static func uri(_ uri: String, id: [UInt8]? = nil) throws(NDEFError) -> NDEFRecord {
        var uri = uri
        let payload = uri.withUTF8 { text in
            if let fault = NDEFPayload.uriFault(in: text) { return Result<[UInt8], NDEFError>.failure(fault) }
            let (code, length) = NDEFURIPrefix.longest(of: text)
            var payload: [UInt8] = []
            payload.reserveCapacity(1 + text.count - length)
            payload.append(code)
            payload += text[length...]
            return .success(payload)
        }
        do {
            return NDEFRecord(tnf: .wellKnown, type: NDEFType.uri, id: id, payload: try payload.get())
        } catch {
            throw NDEFError(error.code, at: error.offset, value: error.value, attempting: .encoding)
        }
    }

    /// A Smart Poster record: the URI, the titles, action, size, media type, icons and other records, in that order.
    ///
    /// - Throws: The rule that the URI, a title or another part breaks.
    public static func smartPoster(_ poster: NDEFSmartPoster, id: [UInt8]? = nil) throws(NDEFError) -> NDEFRecord {
        var records = [try NDEFRecord.uri(poster.uri)]
        for title in poster.titles { records.append(try .text(title)) }
        let advice = [
            (NDEFType.action, poster.action.map { [$0.code] }), (NDEFType.size, poster.size?.bigEndianBytes),
            (NDEFType.mediaType, poster.mimeType.map { Array($0.utf8) }),
        ]
        for case (let type, let payload?) in advice {
            records.append(NDEFRecord(tnf: .wellKnown, type: type, payload: payload))
        }
        records += poster.icons
        records += poster.others
        let payload = try NDEFEncoder.encode(records, mode: .lenient, limits: .maximum)
        let record = NDEFRecord(tnf: .wellKnown, type: NDEFType.smartPoster, id: id, payload: payload)
        if var fault = record.payloadFault(isStrict: false, limits: .maximum) {
            fault.attempt = .encoding
            throw fault
        }
        return record
    }

    /// A record of a media type, such as `text/vcard` or `text/plain; charset=utf-8`, which is kept unchanged.
    public static func mime(type: String, payload: [UInt8], id: [UInt8]? = nil) -> NDEFRecord {
        NDEFRecord(tnf: .mime, type: Array(type.utf8), id: id, payload: payload)
    }

    /// A record of a type that is named by a URI.
    public static func absoluteURI(_ uri: String, payload: [UInt8] = [], id: [UInt8]? = nil) -> NDEFRecord {
        NDEFRecord(tnf: .absoluteURI, type: Array(uri.utf8), id: id, payload: payload)
    }

    /// A record of somebody's own type, `domain:type`. Such types are compared without regard to case and are written
    /// in lower case.
    public static func external(type: String, payload: [UInt8], id: [UInt8]? = nil) -> NDEFRecord {
        NDEFRecord(tnf: .external, type: Array(type.lowercased().utf8), id: id, payload: payload)
    }

    /// An Android application record: starts the application with that package name.
    public static func androidApplication(_ package: String) -> NDEFRecord {
        NDEFRecord(tnf: .external, type: NDEFType.androidApplication, payload: Array(package.utf8))
    }
}

extension NDEFRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case tnf, type, id, payload, uri, text, language, encoding, title, records
        case handover, handoverCarrier, signature, bluetooth, wifi
    }

    /// The type as text: visible ASCII characters and spaces as they are, a backslash and every other byte as `\xHH`.
    public var typeName: String {
        var name = ""
        for byte in type {
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "\\") {
                name.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                name += "\\x" + CollectionOfOne(byte).hex
            }
        }
        return name
    }

    /// The bytes of a text in the form of ``typeName``, or `nil` if a backslash does not begin `\xHH`. Characters that
    /// ``typeName`` would escape stand for their bytes in UTF-8.
    static func type(named name: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Substring(name).utf8
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "\\") {
                bytes.append(byte)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), let digits = String(rest.prefix(2)), digits.utf8.count == 2,
                digits.utf8.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// Restores a record from `tnf`, `type`, `id` and `payload`; the other keys follow from these and are not read.
    ///
    /// - Throws: `DecodingError` for a missing or unknown `tnf`, and for text that is not in the form of
    ///   ``encode(to:)``. A missing `type` or `payload` is empty.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(String.self, forKey: .tnf)
        guard let tnf = TNF.allCases.first(where: { $0.name == name }) else {
            let reason = "\"\(name)\" is no type name format"
            throw DecodingError.dataCorruptedError(forKey: .tnf, in: container, debugDescription: reason)
        }
        let typeName = try container.decodeIfPresent(String.self, forKey: .type) ?? ""
        guard let type = Self.type(named: typeName) else {
            let reason = "a backslash has to begin \\xHH"
            throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: reason)
        }
        func bytes(_ key: CodingKeys) throws -> [UInt8]? {
            guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
            do {
                return try Hex.decode(text)
            } catch {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "\(error)")
            }
        }
        self.init(tnf: tnf, type: type, id: try bytes(.id), payload: try bytes(.payload) ?? [])
    }

    /// The JSON object that the tools print.
    ///
    /// `tnf` is `empty`, `well-known`, `mime`, `uri`, `external`, `unknown` or `reserved`; `type` is ``typeName``;
    /// `payload` and `id` (if present) are upper-case hexadecimal. The content of the record follows, as far as it is
    /// understood (``content``): `text`, `language` and `encoding` of a Text record; `uri` of a URI record, a Smart
    /// Poster or an absolute URI; `title` (the first) and `records` (the nested message) of a Smart Poster; `handover`
    /// and `records` (the nested message) of a handover; `handoverCarrier`; `signature`; `bluetooth`; `wifi` (without the
    /// key). A vCard adds nothing.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tnf.name, forKey: .tnf)
        try container.encode(typeName, forKey: .type)
        try container.encodeIfPresent(id?.hex, forKey: .id)
        try container.encode(payload.hex, forKey: .payload)
        switch content {
        case .text(let text):
            try container.encode(text.text, forKey: .text)
            try container.encode(text.language, forKey: .language)
            try container.encode(text.encoding, forKey: .encoding)
        case .uri(let uri), .absoluteURI(let uri, _):
            try container.encode(uri, forKey: .uri)
        case .smartPoster(let poster):
            try container.encode(poster.uri, forKey: .uri)
            try container.encodeIfPresent(poster.title, forKey: .title)
            try container.encodeIfPresent(nestedRecords, forKey: .records)
        case .handover(let handover):
            try container.encode(handover, forKey: .handover)
            try container.encodeIfPresent(nestedRecords, forKey: .records)
        case .handoverCarrier(let carrier):
            try container.encode(carrier, forKey: .handoverCarrier)
        case .signature(let signature):
            try container.encode(signature, forKey: .signature)
        case .mime:
            switch media {
            case .bluetooth(let device): try container.encode(device, forKey: .bluetooth)
            case .wifi(let networks): try container.encode(networks, forKey: .wifi)
            case .vCard, nil: break
            }
        case .empty, .external, .androidApplication, .unknown, .other, .malformed:
            break
        }
    }
}

extension NDEFRecord.TNF {
    /// The name in JSON.
    public var name: String {
        ["empty", "well-known", "mime", "uri", "external", "unknown", "unchanged", "reserved"][Int(rawValue)]
    }
}
