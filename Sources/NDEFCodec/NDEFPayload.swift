/// The rules of the payloads whose types are known.
enum NDEFPayload {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The rule that the payload of a record breaks, counted from the payload's start; for an absolute URI the one that
    /// its type breaks, counted from the type's.
    ///
    /// - Parameter depth: How many messages the record lies in the payloads of.
    static func fault(
        _ tnf: NDEFRecord.TNF,
        _ type: Bytes,
        _ payload: Bytes,
        isStrict: Bool,
        limits: NDEFLimits,
        depth: Int
    ) -> NDEFError? {
        if tnf == .absoluteURI { return uriFault(in: type) }
        guard tnf == .wellKnown else { return nil }
        if type.count == 1 {
            if type[0] == 0x54 { return textFault(in: payload, isStrict: isStrict) }
            if type[0] == 0x55 { return uriRecordFault(in: payload, isStrict: isStrict) }
        } else if type.count == 2, type[0] == 0x53, type[1] == 0x70 {
            return posterFault(in: payload, isStrict: isStrict, limits: limits, depth: depth)
        }
        return nil
    }

    /// The bytes from `start` on, which must not be over the count.
    static func suffix(_ bytes: Bytes, from start: Int) -> Bytes {
        guard let base = bytes.baseAddress, start <= bytes.count else { return Bytes(start: nil, count: 0) }
        return Bytes(start: base + start, count: bytes.count - start)
    }

    // MARK: - Text

    private static func textFault(in payload: Bytes, isStrict: Bool) -> NDEFError? {
        guard let status = payload.first else { return NDEFError(.textWithoutStatus, at: 0) }
        let languageCount = Int(status & 0x3F)
        if languageCount > payload.count - 1 { return NDEFError(.textLanguageBeyondEnd, at: 0, value: languageCount) }
        if languageCount == 0, isStrict { return NDEFError(.textWithoutLanguage, at: 0) }
        let textStart = 1 + languageCount
        for offset in 1..<textStart where !(0x21...0x7E).contains(payload[offset]) {
            return NDEFError(.textLanguageNotASCII, at: offset, value: Int(payload[offset]))
        }
        let text = suffix(payload, from: textStart)
        if status & 0x80 == 0 {
            return NDEFUnicode.firstFaultInUTF8(text).map { NDEFError(.textNotUTF8, at: textStart + $0) }
        }
        return NDEFUnicode.firstFaultInUTF16(text).map { NDEFError(.textNotUTF16, at: textStart + $0) }
    }

    // MARK: - URI

    private static func uriRecordFault(in payload: Bytes, isStrict: Bool) -> NDEFError? {
        guard let code = payload.first else { return NDEFError(.uriWithoutPrefix, at: 0) }
        if isStrict, code > NDEFURIPrefix.lastCode { return NDEFError(.uriReservedPrefix, at: 0, value: Int(code)) }
        guard var error = uriFault(in: suffix(payload, from: 1)) else { return nil }
        error.offset += 1
        return error
    }

    /// The first byte of a URI that is not well-formed UTF-8 or that begins a control character.
    static func uriFault(in text: Bytes) -> NDEFError? {
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte >= 0x20, byte < 0x7F {
                index += 1
                continue
            }
            let length = NDEFUnicode.lengthOfCharacter(in: text, at: index)
            if length == 0 { return NDEFError(.uriNotUTF8, at: index, value: Int(byte)) }
            // Two bytes that begin with C2 are U+0080 to U+00BF.
            if length == 1 || (byte == 0xC2 && text[index + 1] < 0xA0) {
                return NDEFError(.uriControlCharacter, at: index)
            }
            index += length
        }
        return nil
    }

    // MARK: - Smart Poster

    private static func posterFault(in payload: Bytes, isStrict: Bool, limits: NDEFLimits, depth: Int) -> NDEFError? {
        if payload.isEmpty { return NDEFError(.smartPosterWithoutURI, at: 0) }
        if depth >= limits.nesting { return NDEFError(.nestingTooDeep, at: 0, value: depth + 1) }
        var scanner = NDEFScanner(payload, isStrict: isStrict, limits: limits)
        var hasURI = false
        while let item = scanner.next() {
            if let error = scanner.payloadFault(of: item, depth: depth + 1) { return error }
            guard item.tnf == .wellKnown else { continue }
            if scanner.typeEquals(NDEFType.uri, item) {
                if hasURI { return NDEFError(.smartPosterRepeatedURI, at: item.start) }
                hasURI = true
            } else if scanner.typeEquals(NDEFType.action, item), item.payloadCount != 1 {
                return NDEFError(.smartPosterActionLength, at: item.payloadLengthOffset, value: item.payloadCount)
            } else if scanner.typeEquals(NDEFType.size, item), item.payloadCount != 4 {
                return NDEFError(.smartPosterSizeLength, at: item.payloadLengthOffset, value: item.payloadCount)
            }
        }
        // A payload has exactly the length of its message, so here bytes after the end are a fault in both modes.
        // It has a code of its own, since the code of the message's own end is one that lenience accepts.
        if var fault = scanner.fault {
            if fault.code == .trailingBytes { fault.code = .trailingBytesInPayload }
            return fault
        }
        return hasURI ? nil : NDEFError(.smartPosterWithoutURI, at: 0)
    }
}

extension NDEFScanner {
    /// Whether the type of an item is this one.
    func typeEquals(_ type: [UInt8], _ item: Item) -> Bool {
        guard item.typeCount == type.count else { return false }
        for index in 0..<type.count where bytes[item.typeStart + index] != type[index] { return false }
        return true
    }

    /// Part of the buffer; `start` and `count` come from an item, so they lie in it.
    func part(_ start: Int, _ count: Int) -> NDEFPayload.Bytes {
        NDEFPayload.Bytes(start: bytes.baseAddress.map { $0 + start }, count: count)
    }

    /// Checks the payload of an item, and returns the fault with its place in this buffer.
    func payloadFault(of item: Item, depth: Int) -> NDEFError? {
        guard item.tnf == .wellKnown || item.tnf == .absoluteURI else { return nil }
        let type = part(item.typeStart, item.typeCount)
        func fault(_ payload: NDEFPayload.Bytes) -> NDEFError? {
            NDEFPayload.fault(item.tnf, type, payload, isStrict: isStrict, limits: limits, depth: depth)
        }
        let found =
            item.isChunked
            ? joined.withUnsafeBufferPointer(fault) : fault(part(item.payloadStart, item.payloadCount))
        guard var error = found else { return nil }
        error.offset =
            item.tnf == .absoluteURI
            ? item.typeStart + error.offset : offset(ofPayloadByte: error.offset, in: item)
        return error
    }
}
