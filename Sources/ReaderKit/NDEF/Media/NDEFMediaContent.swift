/// What a record of a media type says, for the media types that are read further.
public enum NDEFMediaContent: Sendable, Hashable {
    /// A Bluetooth device (`application/vnd.bluetooth.ep.oob` and `application/vnd.bluetooth.le.oob`).
    case bluetooth(NDEFBluetooth)

    /// Wireless networks (`application/vnd.wfa.wsc`).
    case wifi(NDEFWiFi)

    /// A person (`text/vcard`, `text/x-vcard`).
    case vCard(VCard)
}

extension NDEFRecord {
    /// What the record says, if it is of one of the media types that ``NDEFMediaContent`` lists, read in
    /// ``NDEFMode/lenient`` with the highest limits. `nil` for other records, and for a payload that breaks the rules of
    /// its type; ``decodedMedia(mode:limits:)`` tells which.
    public var media: NDEFMediaContent? {
        do {
            return try decodedMedia(mode: .lenient, limits: .maximum)
        } catch {
            return nil
        }
    }

    /// What the record says, if it is of one of the media types that ``NDEFMediaContent`` lists.
    ///
    /// A message is not refused for such a payload, so that a fault in it does not hide the records beside it.
    ///
    /// - Returns: `nil` for other records.
    /// - Throws: The rule that the payload breaks, with the offset in the payload.
    public func decodedMedia(
        mode: NDEFMode = .strict,
        limits: NDEFLimits = .default
    ) throws(NDEFError) -> NDEFMediaContent? {
        guard tnf == .mime, let kind = NDEFMediaType.allCases.first(where: { isMIME($0.rawValue) }) else { return nil }
        guard payload.count <= limits.payload else {
            throw NDEFError(.payloadTooLong, at: limits.payload, value: payload.count)
        }
        switch kind {
        case .bluetooth: return .bluetooth(try NDEFBluetooth(payload, transport: .classic, mode: mode))
        case .bluetoothLE: return .bluetooth(try NDEFBluetooth(payload, transport: .lowEnergy, mode: mode))
        case .wifi: return .wifi(try NDEFWiFi(payload, mode: mode))
        case .vCard, .oldVCard: return .vCard(try VCard(decoding: payload, mode: mode))
        }
    }

    /// A record of a Bluetooth device: `application/vnd.bluetooth.ep.oob` or `application/vnd.bluetooth.le.oob`.
    ///
    /// - Throws: ``NDEFError/Code/bluetoothAddressLength`` or ``NDEFError/Code/bluetoothTooLong``.
    public static func bluetooth(_ device: NDEFBluetooth, id: [UInt8]? = nil) throws(NDEFError) -> NDEFRecord {
        let type: NDEFMediaType = device.transport == .classic ? .bluetooth : .bluetoothLE
        return .mime(type: type.rawValue, payload: try device.payload(), id: id)
    }

    /// A record of wireless networks: `application/vnd.wfa.wsc`.
    ///
    /// - Throws: ``NDEFError/Code/wifiAttributeLength`` for a field that has a length the standard does not allow, or
    ///   ``NDEFError/Code/wifiAttributeTooLong``.
    public static func wifi(_ networks: NDEFWiFi, id: [UInt8]? = nil) throws(NDEFError) -> NDEFRecord {
        .mime(type: NDEFMediaType.wifi.rawValue, payload: try networks.payload(), id: id)
    }

    /// A record of a person: `text/vcard`, or `text/x-vcard` for version 2.1.
    ///
    /// - Throws: ``NDEFError/Code/vCardUnwritable`` for a property whose name or parameters cannot be written.
    public static func vCard(_ card: VCard, id: [UInt8]? = nil) throws(NDEFError) -> NDEFRecord {
        let type: NDEFMediaType = card.version == .v2_1 ? .oldVCard : .vCard
        return .mime(type: type.rawValue, payload: try card.encoded(), id: id)
    }
}

/// The media types that are read further.
enum NDEFMediaType: String, CaseIterable {
    case bluetooth = "application/vnd.bluetooth.ep.oob"
    case bluetoothLE = "application/vnd.bluetooth.le.oob"
    case wifi = "application/vnd.wfa.wsc"
    case vCard = "text/vcard"
    case oldVCard = "text/x-vcard"
}
