import Cryptography

/// The secure messaging of DESFire EV1 with AES: one initialisation vector that goes on through all the commands and
/// answers of a session, so that none can be left out, repeated or put in another place.
struct EV1Messaging: SecureMessaging {
    /// How many bytes of a code are sent.
    static let codeLength = 8

    private let key: SecretKey
    private var vector = AES128.zeroBlock

    init(key: SecretKey) {
        self.key = key
    }

    /// The session's key: parts of both challenges, 16 bytes each.
    static func sessionKey(ours: [UInt8], cards: [UInt8]) -> SecretKey? {
        guard ours.count == 16, cards.count == 16 else { return nil }
        let parts: [ArraySlice<UInt8>] = [ours[..<4], cards[..<4], ours[12...], cards[12...]]
        return SecretKey(Array(parts.joined()))
    }

    mutating func wrap(
        _ instruction: UInt8,
        _ header: [UInt8],
        _ data: [UInt8],
        _ mode: DESFireCommunication
    ) throws(CryptoFailure) -> [UInt8] {
        let command = [instruction] + header + data
        guard mode == .encrypted, !data.isEmpty else {
            vector = try AES128.chainedCMAC(command, key, vector: vector)
            let sends = mode == .authenticated && !data.isEmpty
            return header + data + (sends ? vector.prefix(Self.codeLength) : [])
        }
        let checked = data + DESFireChecksum.bytes(of: command)
        let zeros = (AES128.blockLength - checked.count % AES128.blockLength) % AES128.blockLength
        let sent = try AES128.encrypt(checked + [UInt8](repeating: 0, count: zeros), key, vector: vector)
        vector = Array(sent.suffix(AES128.blockLength))
        return header + sent
    }

    mutating func unwrap(
        _ answer: [UInt8],
        status: UInt8,
        _ mode: DESFireCommunication,
        length: Int?
    ) throws(CryptoFailure) -> [UInt8] {
        guard mode == .encrypted else {
            guard answer.count >= Self.codeLength else { throw .forged }
            let data = Array(answer.dropLast(Self.codeLength))
            vector = try AES128.chainedCMAC(data + [status], key, vector: vector)
            guard ConstantTime.areEqual(vector.prefix(Self.codeLength), answer.suffix(Self.codeLength)) else {
                throw .forged
            }
            return data
        }
        guard !answer.isEmpty, answer.count % AES128.blockLength == 0 else { throw .wrongLength }
        let clear = try AES128.decrypt(answer, key, vector: vector)
        vector = Array(answer.suffix(AES128.blockLength))
        let checked: [UInt8]
        if let length {
            guard length >= 0, length <= clear.count - DESFireChecksum.length else { throw .wrongLength }
            let end = length + DESFireChecksum.length
            guard clear.count - end < AES128.blockLength, clear[end...].allSatisfy({ $0 == 0 }) else {
                throw .wrongPadding
            }
            checked = Array(clear[..<end])
        } else {
            checked = try AES128.withoutPadding(clear)
            guard checked.count >= DESFireChecksum.length else { throw .wrongLength }
        }
        let data = Array(checked.dropLast(DESFireChecksum.length))
        let checksum = DESFireChecksum.bytes(of: data + [status])
        guard ConstantTime.areEqual(checksum, checked.suffix(DESFireChecksum.length)) else { throw .forged }
        return data
    }
}
