import CardCore

/// What a card and a reader share after a key was shown. It ends with the first error, a reset, and the selection of
/// another application.
public struct DESFireSession: Sendable {
    /// The number of the key that was shown.
    public let keyNumber: UInt8

    /// How commands and answers are protected.
    public var generation: Generation { messaging is EV1Messaging ? .ev1 : .ev2 }

    /// The generations of secure messaging.
    public enum Generation: String, Sendable, Hashable {
        /// DESFire EV1, with AES.
        case ev1
        /// DESFire EV2 and later, NTAG 424.
        case ev2
    }

    var messaging: any SecureMessaging

    init(keyNumber: UInt8, _ messaging: any SecureMessaging) {
        self.keyNumber = keyNumber
        self.messaging = messaging
    }
}

/// How the commands and answers of a session are protected.
protocol SecureMessaging: Sendable {
    /// What to send behind the instruction byte.
    mutating func wrap(
        _ instruction: UInt8,
        _ header: [UInt8],
        _ data: [UInt8],
        _ mode: DESFireCommunication
    ) throws(CryptoFailure) -> [UInt8]

    /// The data of an answer, after its code or checksum was verified.
    ///
    /// - Parameters:
    ///   - answer: the bytes before the status.
    ///   - status: the status byte, which is protected too.
    ///   - mode: how the answer travels.
    ///   - length: how many bytes were asked for; `nil` for all, which EV1 pads in another way.
    mutating func unwrap(
        _ answer: [UInt8],
        status: UInt8,
        _ mode: DESFireCommunication,
        length: Int?
    ) throws(CryptoFailure) -> [UInt8]
}

extension DESFireSession: Secret {
    /// The key's number and the generation, and nothing secret.
    public var description: String { "session of key \(keyNumber) (\(generation.rawValue))" }
}

/// The checksum that DESFire EV1 puts behind encrypted data: CRC-32 as in Ethernet, without the final inversion.
package enum DESFireChecksum {
    /// Its length, in bytes.
    package static let length = 4

    /// The checksum, least significant byte first.
    package static func bytes(of data: [UInt8]) -> [UInt8] {
        var remainder: UInt32 = 0xFFFF_FFFF
        for byte in data {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0xEDB8_8320 }
        }
        return [UInt8].littleEndian(Int(remainder), count: length)
    }
}
