/// The content of a record, as far as its type is understood.
public enum NDEFContent: Sendable, Hashable {
    /// An empty record.
    case empty

    /// A text in a language (well-known type `T`).
    case text(NDEFText)

    /// A URI with its prefix put back (well-known type `U`). It comes from the card: never open it unasked.
    case uri(String)

    /// A URI with titles and advice (well-known type `Sp`).
    case smartPoster(NDEFSmartPoster)

    /// The carriers that are offered or chosen for going on over them (well-known types `Hr` and `Hs`).
    case handover(NDEFHandover)

    /// A carrier by its type (well-known type `Hc`).
    case handoverCarrier(NDEFHandoverCarrier)

    /// A signature over the records before it (well-known type `Sig`). It is not verified.
    case signature(NDEFSignature)

    /// Data of a media type, which is kept as written, with its parameters. ``NDEFRecord/isMIME(_:)`` compares it, and
    /// ``NDEFRecord/media`` reads some of them further.
    case mime(type: String, payload: [UInt8])

    /// Data of a type that is named by a URI. (Some tags hold the URI they mean there, with an empty payload.)
    case absoluteURI(String, payload: [UInt8])

    /// Data of somebody's own type: `domain:type`.
    case external(domain: String, type: String, payload: [UInt8])

    /// An Android application record: the package of the application to be started (external type `android.com:pkg`).
    case androidApplication(package: String)

    /// Data of unknown type.
    case unknown(payload: [UInt8])

    /// Any other record: well-known types that are not read further, types that are no text, the reserved format.
    case other

    /// A record of a known type whose payload breaks the rules of that type.
    case malformed(NDEFError)
}

extension NDEFRecord {
    /// The content of the record, read in ``NDEFMode/lenient`` with the highest limits. It never fails: a payload that
    /// breaks the rules of its type is ``NDEFContent/malformed(_:)``.
    public var content: NDEFContent {
        do {
            return try decodedContent(mode: .lenient, limits: .maximum)
        } catch {
            return .malformed(error)
        }
    }

    /// The content of the record.
    ///
    /// - Throws: The rule of the record's type that its payload breaks, with the offset in the payload (in the type for
    ///   an absolute URI).
    public func decodedContent(
        mode: NDEFMode = .strict,
        limits: NDEFLimits = .default
    ) throws(NDEFError) -> NDEFContent {
        guard payload.count <= limits.payload else {
            throw NDEFError(.payloadTooLong, at: limits.payload, value: payload.count)
        }
        if let fault = payloadFault(isStrict: mode == .strict, limits: limits) { throw fault }
        if tnf == .wellKnown, type.count > 1, let content = try connectionContent(mode: mode, limits: limits) {
            return content
        }
        return checkedContent(mode: mode, limits: limits)
    }

    /// The contents that are checked where the record is read: a message is not refused for a handover or a signature,
    /// so that a fault in it does not hide the records beside it.
    private func connectionContent(mode: NDEFMode, limits: NDEFLimits) throws(NDEFError) -> NDEFContent? {
        switch type {
        case NDEFType.handoverRequest, NDEFType.handoverSelect:
            return try NDEFHandover(self, mode: mode, limits: limits).map { .handover($0) }
        case NDEFType.handoverCarrier:
            return .handoverCarrier(try NDEFHandoverCarrier(payload))
        case NDEFType.signature:
            return try NDEFSignature(payload: payload).map { .signature($0) }
        default:
            return nil
        }
    }

    /// The records of the message in the payload of a Smart Poster or a handover, or `nil` if the record is none or is
    /// malformed.
    public var nestedRecords: [NDEFRecord]? {
        if case .handover = content {
            return NDEFDecoder.decode(Array(payload.dropFirst()), mode: .lenient, limits: .maximum, depth: 1).records
        }
        guard isWellKnown(NDEFType.smartPoster), payloadFault(isStrict: false, limits: .maximum) == nil else {
            return nil
        }
        return NDEFDecoder.decode(payload, mode: .lenient, limits: .maximum, depth: 1).records
    }

    /// Whether the record is data of that media type: type and subtype are compared without regard to case, parameters
    /// are not compared.
    public func isMIME(_ type: String) -> Bool {
        tnf == .mime && Self.essence(self.type) == Self.essence(Array(type.utf8))
    }

    /// Whether the record is of that well-known type, such as `T` or `Hs`, compared byte by byte as specified.
    public func isWellKnown(_ type: String) -> Bool { isWellKnown(Array(type.utf8)) }

    func isWellKnown(_ type: [UInt8]) -> Bool { tnf == .wellKnown && self.type == type }

    /// The rule that the payload breaks, or the type of an absolute URI.
    func payloadFault(isStrict: Bool, limits: NDEFLimits) -> NDEFError? {
        guard tnf == .wellKnown || tnf == .absoluteURI else { return nil }
        return type.withUnsafeBufferPointer { type in
            payload.withUnsafeBufferPointer { payload in
                NDEFPayload.fault(tnf, type, payload, isStrict: isStrict, limits: limits, depth: 0)
            }
        }
    }

    // MARK: - Content

    /// The content of a record whose payload was found to follow the rules.
    private func checkedContent(mode: NDEFMode, limits: NDEFLimits) -> NDEFContent {
        switch tnf {
        case .empty:
            return .empty
        case .wellKnown where type == NDEFType.text:
            return .text(checkedText())
        case .wellKnown where type == NDEFType.uri:
            return .uri(checkedURI())
        case .wellKnown where type == NDEFType.smartPoster:
            return .smartPoster(checkedPoster(mode: mode, limits: limits))
        case .mime:
            return Self.visibleText(type).map { .mime(type: $0, payload: payload) } ?? .other
        case .absoluteURI:
            return .absoluteURI(String(decoding: type, as: UTF8.self), payload: payload)
        case .external:
            return externalContent()
        case .unknown:
            return .unknown(payload: payload)
        case .wellKnown, .reserved:
            return .other
        }
    }

    private func checkedText() -> NDEFText {
        payload.withUnsafeBufferPointer { payload in
            let status = payload.first ?? 0
            let textStart = min(1 + Int(status & 0x3F), payload.count)
            let language = String(decoding: payload[min(1, textStart)..<textStart], as: UTF8.self)
            let text = NDEFPayload.suffix(payload, from: textStart)
            if status & 0x80 == 0 { return NDEFText(String(decoding: text, as: UTF8.self), language: language) }
            return NDEFText(NDEFUnicode.decodeUTF16(text), language: language, encoding: .utf16)
        }
    }

    private func checkedURI() -> String {
        let prefix = NDEFURIPrefix.prefix(payload.first ?? 0)
        return String(decoding: prefix + payload.dropFirst(), as: UTF8.self)
    }

    private func checkedPoster(mode: NDEFMode, limits: NDEFLimits) -> NDEFSmartPoster {
        var poster = NDEFSmartPoster(uri: "")
        for record in NDEFDecoder.decode(payload, mode: mode, limits: limits, depth: 1).records {
            if record.isWellKnown(NDEFType.uri) {
                poster.uri = record.checkedURI()
            } else if record.isWellKnown(NDEFType.text) {
                poster.titles.append(record.checkedText())
            } else if record.isWellKnown(NDEFType.action), poster.action == nil, let code = record.payload.first {
                poster.action = NDEFSmartPoster.Action(code: code)
            } else if record.isWellKnown(NDEFType.size), poster.size == nil {
                poster.size = record.payload.reduce(0) { $0 << 8 | UInt32($1) }
            } else if record.isWellKnown(NDEFType.mediaType), poster.mimeType == nil,
                let type = Self.visibleText(record.payload)
            {
                poster.mimeType = type
            } else if record.tnf == .mime, Self.isPicture(record.type) {
                poster.icons.append(record)
            } else {
                poster.others.append(record)
            }
        }
        return poster
    }

    private func externalContent() -> NDEFContent {
        if Self.lowercased(type) == NDEFType.androidApplication, let package = Self.visibleText(payload) {
            return .androidApplication(package: package)
        }
        guard let name = Self.visibleText(type), let colon = name.firstIndex(of: ":") else { return .other }
        return .external(
            domain: String(name[..<colon]),
            type: String(name[name.index(after: colon)...]),
            payload: payload
        )
    }

    // MARK: - Names

    /// The text, if it is not empty and all of it is ASCII without control characters.
    private static func visibleText(_ bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func lowercased(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }

    /// Type and subtype in lower case, without parameters and the spaces before them.
    private static func essence(_ type: [UInt8]) -> [UInt8] {
        var essence = lowercased(type.prefix { $0 != UInt8(ascii: ";") })
        while essence.last == UInt8(ascii: " ") { essence.removeLast() }
        return essence
    }

    private static func isPicture(_ type: [UInt8]) -> Bool {
        let name = lowercased(type)
        return name.starts(with: "image/".utf8) || name.starts(with: "video/".utf8)
    }
}
