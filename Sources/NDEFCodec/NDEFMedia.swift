import CardCore

/// What a record of a media type holds, for the media types that are read further.
public enum NDEFMediaContent: Sendable, Hashable {
    /// A Bluetooth device (`application/vnd.bluetooth.ep.oob` and `application/vnd.bluetooth.le.oob`).
    case bluetooth(NDEFBluetooth)
    /// Wireless networks (`application/vnd.wfa.wsc`).
    case wifi(NDEFWiFi)
    /// A person (`text/vcard`, and the other names under which vCards come).
    case vCard(VCard)
}

extension NDEFRecord {
    /// What the record holds, if it is of one of the media types that ``NDEFMediaContent`` lists, read in
    /// ``NDEFMode/lenient`` with the highest limits. `nil` for other records, and for a payload that breaks the rules of
    /// its type; ``decodedMedia(mode:limits:)`` reports which.
    public var media: NDEFMediaContent? { try? decodedMedia(mode: .lenient, limits: .maximum) }

    /// What the record holds, if it is of one of the media types that ``NDEFMediaContent`` lists.
    ///
    /// A message is not refused for such a payload, so that a fault in it does not hide the records beside it.
    ///
    /// - Returns: `nil` for other records.
    /// - Throws: The rule that the payload breaks, with the offset in the payload.
    public func decodedMedia(
        mode: NDEFMode = .strict,
        limits: NDEFLimits = .default
    ) throws(NDEFError) -> NDEFMediaContent? {
        guard let type = mediaType else { return nil }
        let isVCard = type.kind == .vCard || type.kind == .directory && VCard.isOne(payload)
        guard let kind = NDEFMediaType(rawValue: isVCard ? "text/vcard" : type.essence) else { return nil }
        guard payload.count <= limits.payload else {
            throw NDEFError(.payloadTooLong, at: limits.payload, value: payload.count)
        }
        switch kind {
        case .bluetooth: return .bluetooth(try NDEFBluetooth(payload, transport: .classic, mode: mode))
        case .bluetoothLE: return .bluetooth(try NDEFBluetooth(payload, transport: .lowEnergy, mode: mode))
        case .wifi: return .wifi(try NDEFWiFi(payload, mode: mode))
        case .vCard: return .vCard(try VCard(decoding: payload, mode: mode, charset: type.charset))
        }
    }
}

/// The media types that are read further.
enum NDEFMediaType: String {
    case bluetooth = "application/vnd.bluetooth.ep.oob"
    case bluetoothLE = "application/vnd.bluetooth.le.oob"
    case wifi = "application/vnd.wfa.wsc"
    case vCard = "text/vcard"
}

/// A Bluetooth device as a tag describes it, read to be shown (Bluetooth Secure Simple Pairing Using NFC). Its `Encodable`
/// form is the JSON object that the tools print.
public struct NDEFBluetooth: Sendable, Hashable, Encodable {
    /// How a device is reached; each way has records of its own.
    public enum Transport: String, Sendable, Hashable, CaseIterable, Encodable {
        /// Bluetooth Classic (BR/EDR).
        case classic
        /// Bluetooth Low Energy.
        case lowEnergy
    }

    /// A piece of data about a device (Bluetooth Core, volume 3, part C, section 8).
    public struct Structure: Sendable, Hashable, Encodable {
        /// A number that the Bluetooth SIG assigns, such as 09 for the complete name.
        public var type: UInt8
        /// The data, in hexadecimal.
        public var data: String
    }

    /// How it is reached.
    public var transport: Transport
    /// The address as it is printed, such as `11:22:33:44:55:66`. A Low Energy record may have none.
    public var address: String?
    /// Whether the address is `public` or `random`; `nil` without one.
    public var addressKind: String?
    /// The device's name: the complete one (type 09) before the shortened one (type 08), if it is UTF-8.
    public var name: String?
    /// The class of the device (type 0D), a number of 24 bits.
    public var deviceClass: UInt32?
    /// The structures in the order in which they are written, without that of a Low Energy address.
    public var structures: [Structure] = []

    /// The type of the structure that holds the address of a Low Energy device.
    private static let addressType: UInt8 = 0x1B

    /// Reads a payload.
    init(_ payload: [UInt8], transport: Transport, mode: NDEFMode) throws(NDEFError) {
        self.transport = transport
        var cursor = NDEFCursor(payload)
        if transport == .classic {
            guard let length = cursor.littleEndian16(), let bytes = cursor.take(6) else {
                throw NDEFError(.bluetoothTruncated, at: payload.count)
            }
            // The length counts itself and the address. Nothing is ever subtracted from it unchecked.
            guard length >= 8 else { throw NDEFError(.bluetoothLengthTooShort, at: 0, value: length) }
            guard length <= payload.count else { throw NDEFError(.bluetoothLengthBeyondEnd, at: 0, value: length) }
            if length < payload.count, mode == .strict {
                throw NDEFError(.bluetoothTrailingBytes, at: length, value: payload.count - length)
            }
            setAddress(bytes, isRandom: false)
            cursor = NDEFCursor(payload, from: 8, to: length)
        }
        var data: [UInt8: [UInt8]] = [:]
        while let count = cursor.byte() {
            let start = cursor.offset - 1
            // A length of zero ends the data early; what follows is padding.
            if count == 0 {
                let padding = cursor.offset
                if mode == .strict, let other = cursor.rest().firstIndex(where: { $0 != 0 }) {
                    throw NDEFError(.bluetoothDataAfterEnd, at: padding + other)
                }
                break
            }
            guard let body = cursor.take(Int(count)), let type = body.first else {
                throw NDEFError(.bluetoothStructureBeyondEnd, at: start, value: Int(count))
            }
            if transport == .lowEnergy, type == Self.addressType, address == nil {
                guard body.count == 8 else {
                    throw NDEFError(.bluetoothAddressLength, at: start, value: body.count - 1)
                }
                setAddress(body[1...6], isRandom: body[7] & 1 != 0)
            } else {
                structures.append(Structure(type: type, data: body.dropFirst().hex))
                if data[type] == nil { data[type] = Array(body.dropFirst()) }
            }
        }
        name = (data[0x09] ?? data[0x08]).flatMap { String(validating: $0, as: UTF8.self) }
        if let bytes = data[0x0D], bytes.count == 3 {
            deviceClass = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// The bytes of an address are written the least significant first.
    private mutating func setAddress(_ bytes: some BidirectionalCollection<UInt8>, isRandom: Bool) {
        address = Hex.encode(bytes.reversed(), separator: ":")
        addressKind = isRandom ? "random" : "public"
    }
}

/// Wireless networks as a tag describes them, read to be shown (Wi-Fi Simple Configuration). Their keys are not kept. Its
/// `Encodable` form is the JSON object that the tools print.
public struct NDEFWiFi: Sendable, Hashable, Encodable {
    /// A network.
    public struct Credential: Sendable, Hashable, Encodable {
        /// The network's name, 0 to 32 bytes of any kind, in hexadecimal.
        public var ssid = ""
        /// The network's name, if it is text in UTF-8.
        public var name: String?
        /// How a device shows that it may join: the bits of attribute 1003.
        public var authentication: UInt16?
        /// How what is sent is encrypted: the bits of attribute 100F.
        public var encryption: UInt16?
        /// The address of the device that may join, as it is printed.
        public var macAddress: String?
        /// Whether the tag holds the network's key.
        public var hasKey = false
    }

    /// The networks. A record of a device that wants to join has none.
    public var credentials: [Credential] = []

    /// The attributes that are read, and the lengths that each may have in a credential.
    private static let lengths: [Int: ClosedRange<Int>] = [
        0x1003: 2...2, 0x100F: 2...2, 0x1020: 6...6, 0x1026: 1...1, 0x1027: 0...64, 0x1045: 0...32,
    ]
    private static let credential = 0x100E

    /// Reads a payload: attributes of a number, a length (both 2 bytes, big endian) and data.
    init(_ payload: [UInt8], mode: NDEFMode) throws(NDEFError) {
        var cursor = NDEFCursor(payload)
        while let (type, data, start) = try Self.next(&cursor, at: 0) {
            guard type == Self.credential else { continue }
            credentials.append(try Self.credential(data, at: start, mode: mode))
        }
    }

    /// The next attribute, and where its data begins.
    private static func next(
        _ cursor: inout NDEFCursor,
        at base: Int
    ) throws(NDEFError) -> (type: Int, data: [UInt8], start: Int)? {
        guard !cursor.isAtEnd else { return nil }
        let start = base + cursor.offset
        guard let type = cursor.bigEndian16(), let count = cursor.bigEndian16() else {
            throw NDEFError(.wifiAttributeBeyondEnd, at: start)
        }
        guard let data = cursor.take(count) else {
            throw NDEFError(.wifiAttributeBeyondEnd, at: start + 2, value: count)
        }
        return (type, data, start + 4)
    }

    private static func credential(_ bytes: [UInt8], at base: Int, mode: NDEFMode) throws(NDEFError) -> Credential {
        var read: [Int: [UInt8]] = [:]
        var cursor = NDEFCursor(bytes)
        while let (type, data, start) = try next(&cursor, at: base) {
            guard let lengths = lengths[type] else { continue }
            guard lengths.contains(data.count) else {
                throw NDEFError(.wifiAttributeLength, at: start - 2, value: data.count)
            }
            if read[type] == nil {
                read[type] = data
            } else if mode == .strict {
                throw NDEFError(.wifiRepeatedAttribute, at: start - 4)
            }
        }
        guard let ssid = read[0x1045] else { throw NDEFError(.wifiWithoutSSID, at: base + bytes.count) }
        func number(_ type: Int) -> UInt16? { read[type].map { $0.reduce(0) { $0 << 8 | UInt16($1) } } }
        return Credential(
            ssid: ssid.hex,
            name: String(validating: ssid, as: UTF8.self),
            authentication: number(0x1003),
            encryption: number(0x100F),
            macAddress: read[0x1020].map { Hex.encode($0, separator: ":") },
            hasKey: read[0x1027]?.isEmpty == false
        )
    }
}
