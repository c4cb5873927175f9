import CardCore

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
            throw DecodingError.dataCorruptedError(
                forKey: .tnf,
                in: container,
                debugDescription: "\"\(name)\" is no type name format"
            )
        }
        let typeName = try container.decodeIfPresent(String.self, forKey: .type) ?? ""
        guard let type = Self.type(named: typeName) else {
            throw DecodingError.dataCorruptedError(
                forKey: .type,
                in: container,
                debugDescription: "a backslash has to begin \\xHH"
            )
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
    /// `payload` and `id` (if there is one) are upper-case hexadecimal. What the record says follows, as far as it is
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
        switch self {
        case .empty: "empty"
        case .wellKnown: "well-known"
        case .mime: "mime"
        case .absoluteURI: "uri"
        case .external: "external"
        case .unknown: "unknown"
        case .reserved: "reserved"
        }
    }
}
