import ReaderKit

/// The card's side of a session: written from the card's view and not from the reader's code, so that a mistake in one
/// of the two shows.
struct DESFireCardSession {
    let keyNumber: UInt8
    private var messaging: Messaging

    private enum Messaging {
        case ev1(key: SecretKey, vector: [UInt8])
        case ev2(encryption: SecretKey, code: SecretKey, transaction: [UInt8], counter: Int)
    }

    /// A session of EV1: the key is a quarter of either challenge from the front, and one from the back.
    init?(keyNumber: UInt8, readers: [UInt8], cards: [UInt8]) {
        let bytes = [readers.prefix(4), cards.prefix(4), readers.suffix(4), cards.suffix(4)].joined()
        guard let key = SecretKey(Array(bytes)) else { return nil }
        self.keyNumber = keyNumber
        messaging = .ev1(key: key, vector: AES128.zeroBlock)
    }

    init?(keyNumber: UInt8, key: SecretKey, readers: [UInt8], cards: [UInt8], transaction: [UInt8]) {
        guard readers.count == 16, cards.count == 16 else { return nil }
        var vector: [UInt8] = [0x00, 0x01, 0x00, 0x80]
        vector += readers[0..<2]
        for index in 0..<6 { vector.append(readers[2 + index] ^ cards[index]) }
        vector += cards[6..<16]
        vector += readers[8..<16]
        guard let encryption = (try? AES128.cmac([0xA5, 0x5A] + vector, key)).flatMap({ SecretKey($0) }),
            let code = (try? AES128.cmac([0x5A, 0xA5] + vector, key)).flatMap({ SecretKey($0) })
        else { return nil }
        self.keyNumber = keyNumber
        messaging = .ev2(encryption: encryption, code: code, transaction: transaction, counter: 0)
    }

    /// Whether commands without data carry a code too, as in EV2.
    var signsCommands: Bool {
        if case .ev2 = messaging { true } else { false }
    }

    /// How many bytes stand behind the header of a command with that much data.
    func protectedLength(_ length: Int, _ mode: DESFireCommunication) -> Int {
        switch (messaging, mode) {
        case (_, .plain): length
        case (_, .authenticated): length + 8
        case (.ev1, .encrypted): (length + 4 + 15) / 16 * 16
        case (.ev2, .encrypted): (length / 16 + 1) * 16 + 8
        }
    }

    /// The data of a command behind its header; `nil` if it is not what the reader of this session would send.
    mutating func unwrap(
        _ instruction: UInt8,
        _ payload: [UInt8],
        headerLength: Int,
        _ mode: DESFireCommunication
    ) -> [UInt8]? {
        guard payload.count >= headerLength else { return nil }
        let header = Array(payload[..<headerLength])
        let body = Array(payload[headerLength...])
        switch messaging {
        case .ev1(let key, let vector):
            return unwrapEV1(instruction, header, body, mode, key, vector)
        case .ev2(let encryption, let code, let transaction, let counter):
            if mode == .plain { return body }
            guard body.count >= 8 else { return nil }
            let data = Array(body.dropLast(8))
            let expected = Self.code(instruction, counter, transaction, header + data, code)
            guard Array(body.suffix(8)) == expected else { return nil }
            guard mode == .encrypted, !data.isEmpty else { return data }
            let vector = Self.vector([0xA5, 0x5A], counter, transaction, encryption)
            return (try? AES128.decrypt(data, encryption, vector: vector)).flatMap { try? AES128.withoutPadding($0) }
        }
    }

    private mutating func unwrapEV1(
        _ instruction: UInt8,
        _ header: [UInt8],
        _ body: [UInt8],
        _ mode: DESFireCommunication,
        _ key: SecretKey,
        _ vector: [UInt8]
    ) -> [UInt8]? {
        if mode == .encrypted, !body.isEmpty {
            guard let clear = try? AES128.decrypt(body, key, vector: vector), clear.count >= 16 else { return nil }
            messaging = .ev1(key: key, vector: Array(body.suffix(16)))
            // The padding is zeros, so only the checksum reports where the data ends: at the first place, since behind
            // data and its checksum a checksum of zeros follows too.
            for length in max(0, clear.count - 19)...clear.count - 4 {
                let data = Array(clear[..<length])
                let checksum = DESFireChecksum.bytes(of: [instruction] + header + data)
                if Array(clear[length..<length + 4]) == checksum, clear[(length + 4)...].allSatisfy({ $0 == 0 }) {
                    return data
                }
            }
            return nil
        }
        let carriesCode = mode == .authenticated && !body.isEmpty
        guard !carriesCode || body.count >= 8 else { return nil }
        let data = carriesCode ? Array(body.dropLast(8)) : body
        guard let code = try? AES128.chainedCMAC([instruction] + header + data, key, vector: vector) else { return nil }
        messaging = .ev1(key: key, vector: code)
        return !carriesCode || Array(code.prefix(8)) == Array(body.suffix(8)) ? data : nil
    }

    /// The answer as it is sent, before its status; `isWhole` if the reader asked for all there is, without specifying
    /// how much.
    mutating func wrap(_ data: [UInt8], _ mode: DESFireCommunication, isWhole: Bool) -> [UInt8] {
        switch messaging {
        case .ev1(let key, let vector):
            guard mode == .encrypted, !data.isEmpty else {
                let code = (try? AES128.chainedCMAC(data + [0x00], key, vector: vector)) ?? AES128.zeroBlock
                messaging = .ev1(key: key, vector: code)
                return data + code.prefix(8)
            }
            var clear = data + DESFireChecksum.bytes(of: data + [0x00])
            if isWhole { clear.append(0x80) }
            clear += [UInt8](repeating: 0, count: (16 - clear.count % 16) % 16)
            let sent = (try? AES128.encrypt(clear, key, vector: vector)) ?? []
            messaging = .ev1(key: key, vector: Array(sent.suffix(16)))
            return sent
        case .ev2(let encryption, let code, let transaction, let counter):
            messaging = .ev2(encryption: encryption, code: code, transaction: transaction, counter: counter + 1)
            if mode == .plain { return data }
            var sent = data
            if mode == .encrypted, !data.isEmpty {
                let vector = Self.vector([0x5A, 0xA5], counter + 1, transaction, encryption)
                sent = (try? AES128.encrypt(AES128.padding(data), encryption, vector: vector)) ?? []
            }
            return sent + Self.code(0x00, counter + 1, transaction, sent, code)
        }
    }

    private static func code(
        _ first: UInt8,
        _ counter: Int,
        _ transaction: [UInt8],
        _ bytes: [UInt8],
        _ key: SecretKey
    ) -> [UInt8] {
        var message = [first, UInt8(counter & 0xFF), UInt8(counter >> 8 & 0xFF)]
        message += transaction
        message += bytes
        let code = (try? AES128.cmac(message, key)) ?? AES128.zeroBlock
        return stride(from: 1, to: 16, by: 2).map { code[$0] }
    }

    private static func vector(_ label: [UInt8], _ counter: Int, _ transaction: [UInt8], _ key: SecretKey) -> [UInt8] {
        var block = label + transaction
        block += [UInt8(counter & 0xFF), UInt8(counter >> 8 & 0xFF)]
        block += [UInt8](repeating: 0, count: 8)
        return (try? AES128.encrypt(block: block, key)) ?? AES128.zeroBlock
    }
}
