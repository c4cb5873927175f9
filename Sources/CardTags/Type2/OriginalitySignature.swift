import CardCore
import Cryptography

/// The signature that NXP puts on the chips of NTAG21x and MIFARE Ultralight EV1: ECDSA on the curve secp128r1 of the chip's
/// identifier (AN11350, AN11341).
///
/// It shows that NXP has made a chip with that identifier. It does not show that this is the chip: a copy can repeat identifier
/// and signature.
public struct OriginalitySignature: Sendable, Hashable {
    /// r and s, 32 bytes.
    public let bytes: [UInt8]

    /// A signature as READ_SIG gives it; `nil` unless it has 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// Which of NXP's keys has signed that identifier, by the chips that it is for; `nil` if none has.
    ///
    /// - Parameter identifier: the identifier as the reader shows it, 7 bytes.
    public func signer(of identifier: [UInt8]) -> String? {
        guard let signature = ECDSASignature(numbers: bytes, curve: .secp128r1) else { return nil }
        return Self.keys.first { $0.key.isValid(signature, for: identifier) }?.chips
    }

    /// What it says of a card with that identifier, in words.
    package func verdict(on identifier: [UInt8]?) -> String {
        guard let identifier else { return "not verified: the identifier that it is of is not known" }
        guard let chips = signer(of: identifier) else {
            return "made with none of the keys that are known of NXP: a copy, or a chip of another maker"
        }
        return "made with NXP's key for \(chips): it made a chip with this identifier, though a copy can repeat both"
    }

    private static let length = 32

    private static let keys = [
        ("NTAG21x", "494E1A386D3D3CFE3DC10E5DE68A499B1C202DB5B132393E89ED19FE5BE8BC61"),
        ("MIFARE Ultralight EV1", "90933BDCD6E99B4E255E3DA55389A827564E11718E017292FAF23226A96614B8"),
    ].compactMap { chips, coordinates in
        (try? Hex.decode(coordinates)).flatMap { try? SECP128R1PublicKey(coordinates: $0) }.map {
            (chips: chips, key: $0)
        }
    }
}
