import ReaderKit

/// The authentication of a MIFARE Ultralight C: each side proves by 3DES that it has the key.
struct UltralightCHandshake {
    private var random: SeededNumbers
    /// The challenge that was sent, and as it was sent.
    private var challenge: (plain: [UInt8], cipher: [UInt8])?

    private static let zeros = [UInt8](repeating: 0, count: 8)

    init(seed: UInt64) { random = SeededNumbers(seed: seed) }

    /// The key as it stands in pages 2C to 2F: each half with its last byte first.
    static func key(inMemory bytes: [UInt8]) -> [UInt8] { bytes[..<8].reversed() + bytes[8...].reversed() }

    mutating func end() { challenge = nil }

    /// Answers one of the two frames; `nil` for another one while none is awaited.
    mutating func answer(_ frame: [UInt8], _ key: [UInt8]) -> (frame: RawFrame, isDone: Bool)? {
        defer { if frame.first != 0x1A { challenge = nil } }
        if frame.count == 2, frame[0] == 0x1A { return (start(frame[1], key, next()), false) }
        guard frame.count == 17, frame[0] == 0xAF else { return nil }
        guard let challenge, let proof = Self.proof(Array(frame[1...]), of: challenge, key) else {
            return (.refusal(0), false)
        }
        return (RawFrame([0x00] + proof), true)
    }

    mutating func start(_ argument: UInt8, _ key: [UInt8], _ plain: [UInt8]) -> RawFrame {
        guard argument == 0, let cipher = TripleDES(key: key)?.encrypt(plain, vector: Self.zeros) else {
            challenge = nil
            return .refusal(0)
        }
        challenge = (plain, cipher)
        return RawFrame([0xAF] + cipher)
    }

    /// Checks that the reader knows the challenge, turned by a byte, and answers its own the same way.
    private static func proof(
        _ answer: [UInt8],
        of challenge: (plain: [UInt8], cipher: [UInt8]),
        _ key: [UInt8]
    ) -> [UInt8]? {
        guard let des = TripleDES(key: key) else { return nil }
        let plain = des.decrypt(answer, vector: challenge.cipher)
        guard plain.count == 16, Array(plain[8...]) == turned(challenge.plain[...]) else { return nil }
        return des.encrypt(turned(plain[..<8]), vector: Array(answer[8...]))
    }

    private static func turned(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(bytes.dropFirst() + bytes.prefix(1)) }

    private mutating func next() -> [UInt8] { [UInt8].littleEndian(Int(truncatingIfNeeded: random.next()), 8) }
}
