/// Wireless networks as a tag tells of them (Wi-Fi Simple Configuration, `application/vnd.wfa.wsc`).
public struct NDEFWiFi: Sendable, Hashable {
    /// The networks with what is needed to join them. A record of a device that wants to join has none.
    public var credentials: [Credential]

    /// The other attributes, in the order in which they are written.
    public var others: [Attribute]

    /// An attribute that is not read further.
    public struct Attribute: Sendable, Hashable {
        /// The number of the attribute, such as 104A for the version.
        public var type: UInt16
        /// Its data.
        public var data: [UInt8]

        /// An attribute.
        public init(type: UInt16, data: [UInt8]) {
            self.type = type
            self.data = data
        }
    }

    /// A network and what is needed to join it.
    ///
    /// It describes itself without the key.
    public struct Credential: Sendable, Hashable {
        /// The network's name, 0 to 32 bytes of any kind.
        public var ssid: [UInt8]
        /// How a device shows that it may join.
        public var authentication: Authentication?
        /// How what is sent is encrypted.
        public var encryption: Encryption?
        /// The key of the network, 0 to 64 bytes. It is a secret: never write it to a log.
        public var key: [UInt8]?
        /// The address of the device that may join, 6 bytes; all FF for any.
        public var macAddress: [UInt8]?
        /// The number of the network on the access point; 1 where it has none.
        public var networkIndex: UInt8?
        /// The other attributes, in the order in which they are written.
        public var others: [Attribute]

        /// A credential.
        public init(
            ssid: [UInt8],
            authentication: Authentication? = nil,
            encryption: Encryption? = nil,
            key: [UInt8]? = nil,
            macAddress: [UInt8]? = nil,
            networkIndex: UInt8? = 1,
            others: [Attribute] = []
        ) {
            self.ssid = ssid
            self.authentication = authentication
            self.encryption = encryption
            self.key = key
            self.macAddress = macAddress
            self.networkIndex = networkIndex
            self.others = others
        }

        /// The network's name, or `nil` if it is no text in UTF-8.
        public var name: String? { String(validating: ssid, as: UTF8.self) }
    }

    /// How a device shows that it may join; several may be allowed.
    public struct Authentication: OptionSet, Sendable, Hashable {
        /// The bits of the attribute.
        public let rawValue: UInt16
        /// The ways that these bits stand for.
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// Not at all.
        public static let open = Authentication(rawValue: 0x0001)
        /// WPA with a shared key.
        public static let wpaPersonal = Authentication(rawValue: 0x0002)
        /// WEP with a shared key.
        public static let shared = Authentication(rawValue: 0x0004)
        /// WPA with a server.
        public static let wpaEnterprise = Authentication(rawValue: 0x0008)
        /// WPA2 with a server.
        public static let wpa2Enterprise = Authentication(rawValue: 0x0010)
        /// WPA2 with a shared key.
        public static let wpa2Personal = Authentication(rawValue: 0x0020)
    }

    /// How what is sent is encrypted; several may be allowed.
    public struct Encryption: OptionSet, Sendable, Hashable {
        /// The bits of the attribute.
        public let rawValue: UInt16
        /// The ciphers that these bits stand for.
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// Not at all.
        public static let none = Encryption(rawValue: 0x0001)
        /// WEP.
        public static let wep = Encryption(rawValue: 0x0002)
        /// TKIP.
        public static let tkip = Encryption(rawValue: 0x0004)
        /// AES.
        public static let aes = Encryption(rawValue: 0x0008)
    }

    /// Networks.
    public init(credentials: [Credential], others: [Attribute] = []) {
        self.credentials = credentials
        self.others = others
    }
}

extension NDEFWiFi.Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How much there is, without the network's name and key.
    public var description: String {
        "Wi-Fi credential (\(ssid.count)-byte name, \(key == nil ? "no key" : "key not shown"))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The name and what is allowed, without the key: a mirror is what `dump` and failed expectations print.
    public var customMirror: Mirror {
        Mirror(self, children: ["ssid": ssid.count, "authentication": authentication as Any], displayStyle: .struct)
    }
}

extension NDEFWiFi.Attribute: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number and the length, without the data, which may be a password.
    public var description: String { "Wi-Fi attribute 0x\(String(type, radix: 16)) (\(data.count) bytes)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The number and the length.
    public var customMirror: Mirror {
        Mirror(self, children: ["type": type, "bytes": data.count], displayStyle: .struct)
    }
}
