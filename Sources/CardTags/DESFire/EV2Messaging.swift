import Cryptography

/// The secure messaging of DESFire EV2 and later and of NTAG 424: a transaction identifier and a command counter stand
/// in every code, so that no command or answer can be left out, repeated or taken from another session.
struct EV2Messaging: SecureMessaging {
    /// How many bytes of a code are sent.
    static let codeLength = 8
    /// The length of a transaction identifier.
    static let transactionLength = 4

    private let encryptionKey: SecretKey
    private let codeKey: SecretKey
    private let transaction: [UInt8]
    /// How many commands were answered in this session.
    private(set) var counter: UInt16

    init?(encryptionKey: SecretKey, codeKey: SecretKey, transaction: [UInt8], counter: UInt16 = 0) {
        guard transaction.count == Self.transactionLength else { return nil }
        self.encryptionKey = encryptionKey
        self.codeKey = codeKey
        self.transaction = transaction
        self.counter = counter
    }

    /// The session's keys for encryption and for codes, derived from the card's key and both challenges.
    static func sessionKeys(
        _ key: SecretKey,
        ours: [UInt8],
        cards: [UInt8]
    ) throws(CryptoFailure) -> (encryption: SecretKey, code: SecretKey) {
        guard ours.count == 16, cards.count == 16 else { throw .wrongLength }
        let mixed = zip(ours[2..<8], cards[..<6]).map { $0 ^ $1 }
        let parts: [ArraySlice<UInt8>] = [[0x00, 0x01, 0x00, 0x80], ours[..<2], mixed[...], cards[6...], ours[8...]]
        let context = Array(parts.joined())
        let labels: (encryption: [UInt8], code: [UInt8]) = ([0xA5, 0x5A], [0x5A, 0xA5])
        guard let encryption = SecretKey(try AES128.cmac(labels.encryption + context, key)),
            let code = SecretKey(try AES128.cmac(labels.code + context, key))
        else { throw .wrongLength }
        return (encryption, code)
    }

    /// The bytes of a code that are sent: every second, beginning with the second.
    static func truncated(_ code: [UInt8]) -> [UInt8] { code.enumerated().filter { $0.offset % 2 == 1 }.map(\.element) }

    func wrap(
        _ instruction: UInt8,
        _ header: [UInt8],
        _ data: [UInt8],
        _ mode: DESFireCommunication
    ) throws(CryptoFailure) -> [UInt8] {
        // The answer's counter is one more, so the last value is not used.
        guard counter < .max else { throw .exhausted }
        if mode == .plain { return header + data }
        var sent = data
        if mode == .encrypted, !data.isEmpty {
            sent = try AES128.encrypt(AES128.padding(data), encryptionKey, vector: vector([0xA5, 0x5A], counter))
        }
        let code = try code(instruction, counter, header + sent)
        return header + sent + code
    }

    /// Counts the command.
    mutating func unwrap(
        _ answer: [UInt8],
        status: UInt8,
        _ mode: DESFireCommunication,
        length: Int? = nil
    ) throws(CryptoFailure) -> [UInt8] {
        guard counter < .max else { throw .exhausted }
        counter += 1
        if mode == .plain { return answer }
        guard answer.count >= Self.codeLength else { throw .forged }
        let data = Array(answer.dropLast(Self.codeLength))
        guard ConstantTime.areEqual(try code(status, counter, data), answer.suffix(Self.codeLength)) else {
            throw .forged
        }
        guard mode == .encrypted, !data.isEmpty else { return data }
        let vector = try vector([0x5A, 0xA5], counter)
        return try AES128.withoutPadding(try AES128.decrypt(data, encryptionKey, vector: vector))
    }

    private func code(_ first: UInt8, _ counter: UInt16, _ bytes: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        let message = [first] + [UInt8].littleEndian(Int(counter), count: 2) + transaction + bytes
        return Self.truncated(try AES128.cmac(message, codeKey))
    }

    private func vector(_ label: [UInt8], _ counter: UInt16) throws(CryptoFailure) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 8)
        let block = label + transaction + [UInt8].littleEndian(Int(counter), count: 2) + zeros
        return try AES128.encrypt(block: block, encryptionKey)
    }
}
