import CardCore

/// A frame by which a reader announces to phones what it wants before it looks for cards (Apple's enhanced contactless
/// polling, ECP). No card answers it.
///
/// ```text
/// 6A 01 kind of reader and what is wanted (3)                               version 1
/// 6A 02 configuration, kind of reader, subkind, and what the kind wants     version 2
/// ```
///
/// A phone offers a pass by itself only to a reader that sends one. The reader's firmware has to do it, within its looking
/// for cards: no program at the other end of PC/SC can add it. The frames are Apple's own and readers that send them are
/// certified by their makers; this package neither sends them nor claims any certification. Here they are read, and
/// readers are distinguished by whether they send them.
public struct PollingAnnotation: Sendable, Hashable {
    /// The frame without its checksum.
    public let bytes: [UInt8]

    /// Nothing of a wallet: what iPhones send themselves when they read tags.
    public static let ignore = PollingAnnotation([first, 0x01, 0xCF, 0x00, 0x00])

    private static let first: UInt8 = 0x6A

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The annotation of version 1 by which passes, payments or both are asked for.
    public init(_ mode: AppleVASRequest.Mode) {
        self.init([Self.first, 0x01, 0x00, 0x00, mode.rawValue])
    }

    /// Reads a frame, with the checksum of type A or B behind it or without one.
    ///
    /// - Returns: `nil` for a frame that is no annotation of version 1 or 2.
    public init?(frame: [UInt8]) {
        guard frame.count >= 5, frame[0] == Self.first, frame[1] == 0x01 || frame[1] == 0x02 else { return nil }
        let plain = RadioChecksum.typeA.strip(frame) ?? RadioChecksum.typeB.strip(frame)
        let bytes = plain.flatMap { $0.count >= 5 ? $0 : nil } ?? frame
        if bytes[1] == 0x01, bytes.count != 5 { return nil }
        self.init(bytes)
    }

    /// The version, 1 or 2.
    public var version: Int { Int(bytes[1]) }

    /// What is asked for, where it is a wallet's passes or payments.
    public var mode: AppleVASRequest.Mode? {
        guard version == 1, bytes[2] == 0x00, bytes[3] == 0x00 else { return nil }
        return AppleVASRequest.Mode(rawValue: bytes[4])
    }

    /// What it announces to phones, in words.
    public var meaning: String {
        if self == .ignore { return "a phone that reads: wallets shall keep quiet" }
        let wanted = ["passes or a payment are", "passes and a payment are", "passes are", "a payment is"]
        if let mode { return wanted[Int(mode.rawValue)] + " wanted" }
        guard version == 2, bytes.count > 3 else { return "something is wanted that is not known here" }
        return "a reader for \(Self.kind(bytes[3])) is there"
    }

    /// What the kind of reader of version 2 is.
    package static func kind(_ byte: UInt8) -> String {
        switch byte {
        case 0x01: "transit"
        case 0x02: "access"
        default: "something that is not known here (\([byte].hex))"
        }
    }
}

extension PollingAnnotation {
    /// Whether a reader sends annotations, as far as its name indicates.
    public enum Support: String, Sendable, Hashable, Codable, CaseIterable {
        /// Its firmware can send them; whether it does may be a matter of its configuration.
        case supported
        /// It does not: a phone offers no pass to it by itself.
        case notSupported
        case unknown

        /// What that is, in words.
        public var meaning: String {
            switch self {
            case .supported: "can send them, if it is configured to"
            case .notSupported: "sends none"
            case .unknown: "not known; no reader tells it"
            }
        }
    }

    /// Whether a reader sends annotations.
    ///
    /// It is judged by the reader's name and by how it is reached, since no reader reports it: SpringCard's Puck, the
    /// H518 platform of the S550 (also in Smart Reader mode), ACS's WalletMate and VTAP readers can; the ACR122U,
    /// Identiv's and SCM's readers and whatever libnfc drives cannot.
    public static func support(by reader: ReaderInfo) -> Support {
        switch reader.backend {
        case .nfc: return .notSupported
        case .smartReader: return .supported
        case .pcsc, .replay, .simulated: break
        }
        let name = reader.name.lowercased()
        if able.contains(where: name.contains) { return .supported }
        return unable.contains(where: name.contains) ? .notSupported : .unknown
    }

    private static let able = [
        "springcard puck", "springcard h518", "springcard s550", "socket mobile s550", "walletmate", "vtap",
    ]

    private static let unable = [
        "acr122", "touchatag", "utrust", "identiv", "scm micro", "scl3711", "scl01", "sdi01", "pn531", "pn532", "pn533",
        "arygon",
    ]
}
