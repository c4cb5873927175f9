/// The attributes of Wi-Fi Simple Configuration that are read: a number, a length (both 2 bytes, big endian) and data.
private enum Number {
    static let authentication: UInt16 = 0x1003
    static let credential: UInt16 = 0x100E
    static let encryption: UInt16 = 0x100F
    static let macAddress: UInt16 = 0x1020
    static let networkIndex: UInt16 = 0x1026
    static let key: UInt16 = 0x1027
    static let ssid: UInt16 = 0x1045

    /// The lengths that an attribute of a credential may have.
    static func lengths(_ number: UInt16) -> ClosedRange<Int>? {
        switch number {
        case authentication, encryption: 2...2
        case macAddress: 6...6
        case networkIndex: 1...1
        case key: 0...64
        case ssid: 0...32
        default: nil
        }
    }
}

extension NDEFWiFi {
    /// Reads a payload.
    init(_ payload: [UInt8], mode: NDEFMode) throws(NDEFError) {
        self.init(credentials: [])
        var cursor = NDEFCursor(payload)
        while let (attribute, start) = try Self.next(&cursor) {
            if attribute.type == Number.credential {
                credentials.append(try Credential(attribute.data, at: start, mode: mode))
            } else {
                others.append(attribute)
            }
        }
    }

    /// The next attribute, and where its data begins.
    fileprivate static func next(
        _ cursor: inout NDEFCursor,
        at base: Int = 0
    ) throws(NDEFError) -> (Attribute, start: Int)? {
        guard !cursor.isAtEnd else { return nil }
        let start = cursor.offset
        guard let type = cursor.bigEndian16(), let count = cursor.bigEndian16() else {
            throw NDEFError(.wifiAttributeBeyondEnd, at: base + start)
        }
        guard let data = cursor.take(count) else {
            throw NDEFError(.wifiAttributeBeyondEnd, at: base + start + 2, value: count)
        }
        return (Attribute(type: UInt16(truncatingIfNeeded: type), data: data), base + start + 4)
    }

    /// The payload: the credentials, then the other attributes.
    func payload() throws(NDEFError) -> [UInt8] {
        var bytes: [UInt8] = []
        for credential in credentials {
            try Self.append(Attribute(type: Number.credential, data: try credential.payload()), to: &bytes)
        }
        for attribute in others { try Self.append(attribute, to: &bytes) }
        return bytes
    }

    fileprivate static func append(_ attribute: Attribute, to bytes: inout [UInt8]) throws(NDEFError) {
        guard let count = UInt16(exactly: attribute.data.count) else {
            throw NDEFError(
                .wifiAttributeTooLong,
                at: bytes.count,
                value: attribute.data.count,
                attempting: .encoding
            )
        }
        bytes += [UInt8(attribute.type >> 8), UInt8(attribute.type & 0xFF), UInt8(count >> 8), UInt8(count & 0xFF)]
        bytes += attribute.data
    }
}

extension NDEFWiFi.Credential {
    fileprivate init(_ bytes: [UInt8], at base: Int, mode: NDEFMode) throws(NDEFError) {
        self.init(ssid: [], networkIndex: nil)
        var seen: Set<UInt16> = []
        var cursor = NDEFCursor(bytes)
        while let (attribute, start) = try NDEFWiFi.next(&cursor, at: base) {
            guard let lengths = Number.lengths(attribute.type) else {
                others.append(attribute)
                continue
            }
            guard lengths.contains(attribute.data.count) else {
                throw NDEFError(.wifiAttributeLength, at: start - 2, value: attribute.data.count)
            }
            guard seen.insert(attribute.type).inserted else {
                if mode == .strict { throw NDEFError(.wifiRepeatedAttribute, at: start - 4) }
                continue
            }
            let number = attribute.data.count == 2 ? attribute.data.reduce(0) { $0 << 8 | UInt16($1) } : 0
            switch attribute.type {
            case Number.authentication: authentication = NDEFWiFi.Authentication(rawValue: number)
            case Number.encryption: encryption = NDEFWiFi.Encryption(rawValue: number)
            case Number.macAddress: macAddress = attribute.data
            case Number.networkIndex: networkIndex = attribute.data.first
            case Number.key: key = attribute.data
            default: ssid = attribute.data
            }
        }
        guard seen.contains(Number.ssid) else { throw NDEFError(.wifiWithoutSSID, at: base + bytes.count) }
    }

    /// The attributes in the order in which the standard lists them.
    fileprivate func payload() throws(NDEFError) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ type: UInt16, _ data: [UInt8]?) throws(NDEFError) {
            guard let data else { return }
            if let lengths = Number.lengths(type), !lengths.contains(data.count) {
                throw NDEFError(.wifiAttributeLength, at: bytes.count, value: data.count, attempting: .encoding)
            }
            try NDEFWiFi.append(NDEFWiFi.Attribute(type: type, data: data), to: &bytes)
        }
        func data(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
        try append(Number.networkIndex, networkIndex.map { [$0] })
        try append(Number.ssid, ssid)
        try append(Number.authentication, authentication.map { data($0.rawValue) })
        try append(Number.encryption, encryption.map { data($0.rawValue) })
        try append(Number.key, key)
        try append(Number.macAddress, macAddress)
        for attribute in others { try NDEFWiFi.append(attribute, to: &bytes) }
        return bytes
    }
}
