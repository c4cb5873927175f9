import Crypto

/// What a simulated phone makes up: the same seed makes the same, activation after activation.
struct PhoneRandom: Sendable {
    private let seed: UInt64
    private var count: UInt64 = 0

    init(seed: UInt64) { self.seed = seed }

    /// The next bytes, at most 32.
    mutating func bytes(_ length: Int) -> [UInt8] {
        count += 1
        let input = [seed, count].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        return Array(SHA256.hash(data: input).prefix(length))
    }

    /// The next ephemeral key.
    mutating func key() -> P256.KeyAgreement.PrivateKey {
        while true {
            // Fewer than one of 2^32 numbers of 32 bytes are no key of the curve.
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(32)) { return key }
        }
    }

    /// The next identifier: 08 and three bytes, as phones show it.
    mutating func identifier() -> [UInt8] { [0x08] + bytes(3) }
}
