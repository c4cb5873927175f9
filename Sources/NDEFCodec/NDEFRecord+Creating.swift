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
        for title in poster.titles {
            records.append(try .text(title))
        }
        if let action = poster.action {
            records.append(NDEFRecord(tnf: .wellKnown, type: NDEFType.action, payload: [action.code]))
        }
        if let size = poster.size {
            let payload = (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
            records.append(NDEFRecord(tnf: .wellKnown, type: NDEFType.size, payload: payload))
        }
        if let mimeType = poster.mimeType {
            records.append(NDEFRecord(tnf: .wellKnown, type: NDEFType.mediaType, payload: Array(mimeType.utf8)))
        }
        records += poster.icons
        records += poster.others
        let payload = try NDEFEncoder.encode(records, mode: .lenient, limits: .maximum)
        let record = NDEFRecord(tnf: .wellKnown, type: NDEFType.smartPoster, id: id, payload: payload)
        if var fault = record.payloadFault(isStrict: false, limits: .maximum, depth: 0) {
            fault.error.attempt = .encoding
            throw fault.error
        }
        return record
    }

    /// A Smart Poster record of a URI, a title and an action.
    ///
    /// - Throws: The rule that the URI or the title breaks.
    public static func smartPoster(
        uri: String,
        title: String? = nil,
        language: String = "en",
        action: NDEFSmartPoster.Action? = nil,
        id: [UInt8]? = nil
    ) throws(NDEFError) -> NDEFRecord {
        let titles = title.map { [NDEFText($0, language: language)] } ?? []
        return try .smartPoster(NDEFSmartPoster(uri: uri, titles: titles, action: action), id: id)
    }

    /// A Signature record. The signature has to be made elsewhere.
    ///
    /// - Throws: ``NDEFError/Code/signatureTooLong``, or the rule that a URI breaks.
    public static func signature(_ signature: NDEFSignature, id: [UInt8]? = nil) throws(NDEFError) -> NDEFRecord {
        NDEFRecord(tnf: .wellKnown, type: NDEFType.signature, id: id, payload: try signature.payload())
    }

    /// A record of a media type, such as `text/vcard` or `text/plain; charset=utf-8`, which is kept as given.
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
