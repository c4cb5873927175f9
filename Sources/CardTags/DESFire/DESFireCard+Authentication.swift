import CardCore

extension DESFireCard {
    /// Shows the card an AES key and lets it show that it knows the key too, as DESFire EV1 and later do (AUTHENTICATE
    /// AES, `AA`). From then on the session's code goes on through every command.
    ///
    /// The key is tried once.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - number: its number in the selected application, 0...13; 0 is the master key.
    /// - Throws: ``DESFireError``; ``DESFireError/wrongKey(attempt:)`` if the card does not take it, and
    ///   ``DESFireError/forged(attempt:)`` if the card does not know it.
    public mutating func authenticateAES(key: SecretKey, number: UInt8) throws(DESFireError) {
        let attempt = "authenticate with key \(number)"
        session = nil
        let ours = try makeChallenge(attempt)
        let first = try firstAnswer(0xAA, [number], attempt)
        let (cards, sent, vector) = try Self.mapping(attempt) { () throws(CryptoFailure) in
            let cards = try AES128.decrypt(first, key)
            // The vector goes on from block to block, in both directions.
            let sent = try AES128.encrypt(ours + Self.rotated(cards), key, vector: first)
            return (cards, sent, Array(sent.suffix(AES128.blockLength)))
        }
        let second = try secondAnswer(sent, length: 16, attempt)
        let proof = try Self.mapping(attempt) { () throws(CryptoFailure) in
            try AES128.decrypt(second, key, vector: vector)
        }
        guard ConstantTime.areEqual(proof, Self.rotated(ours)),
            let sessionKey = EV1Messaging.sessionKey(ours: ours, cards: cards)
        else { throw .forged(attempt: attempt) }
        session = DESFireSession(keyNumber: number, EV1Messaging(key: sessionKey))
    }

    /// Shows the card an AES key and lets it show that it knows the key too, as DESFire EV2 and later and NTAG 424 do
    /// (AUTHENTICATE EV2 FIRST, `71`).
    ///
    /// The key is tried once.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - number: its number in the selected application, 0...13; 0 is the master key.
    /// - Throws: ``DESFireError``; ``DESFireError/wrongKey(attempt:)`` if the card does not take it, and
    ///   ``DESFireError/forged(attempt:)`` if the card does not know it.
    public mutating func authenticateEV2First(key: SecretKey, number: UInt8) throws(DESFireError) {
        let attempt = "authenticate with key \(number)"
        session = nil
        let ours = try makeChallenge(attempt)
        // Behind the key's number: no capabilities of ours.
        let first = try firstAnswer(0x71, [number, 0x00], attempt)
        let (cards, sent) = try Self.mapping(attempt) { () throws(CryptoFailure) in
            let cards = try AES128.decrypt(first, key)
            return (cards, try AES128.encrypt(ours + Self.rotated(cards), key))
        }
        // Transaction identifier 4, our challenge rotated 16, the card's capabilities 6, ours 6.
        let second = try secondAnswer(sent, length: 32, attempt)
        let messaging = try Self.mapping(attempt) { () throws(CryptoFailure) in
            let clear = try AES128.decrypt(second, key)
            guard ConstantTime.areEqual(clear[4..<20], Self.rotated(ours)) else { throw .forged }
            let keys = try EV2Messaging.sessionKeys(key, ours: ours, cards: cards)
            return EV2Messaging(encryptionKey: keys.encryption, codeKey: keys.code, transaction: Array(clear[..<4]))
        }
        guard let messaging else { throw .forged(attempt: attempt) }
        session = DESFireSession(keyNumber: number, messaging)
    }

    /// The card's challenge, still encrypted.
    private func firstAnswer(
        _ instruction: UInt8,
        _ payload: [UInt8],
        _ attempt: String
    ) throws(DESFireError) -> [UInt8] {
        let (data, status) = try frame(instruction, payload, attempt)
        guard status == .additionalFrame else {
            throw status == .done
                ? .invalidAnswer(attempt: attempt, detail: "the card asks for no proof")
                : .refused(attempt: attempt, status: StatusWord(sw1: 0x91, sw2: status.rawValue))
        }
        guard data.count == AES128.blockLength else { throw wrongLength(data, attempt) }
        return data
    }

    /// The card's proof, still encrypted.
    private func secondAnswer(_ sent: [UInt8], length: Int, _ attempt: String) throws(DESFireError) -> [UInt8] {
        let (data, status) = try frame(0xAF, sent, attempt)
        guard status != .authenticationError else { throw .wrongKey(attempt: attempt) }
        guard status == .done else {
            throw status == .additionalFrame
                ? .invalidAnswer(attempt: attempt, detail: "the card asks for more")
                : .refused(attempt: attempt, status: StatusWord(sw1: 0x91, sw2: status.rawValue))
        }
        guard data.count == length else { throw wrongLength(data, attempt) }
        return data
    }

    /// The bytes, the first of them moved to the end.
    private static func rotated(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.dropFirst()) + Array(bytes.prefix(1))
    }
}
