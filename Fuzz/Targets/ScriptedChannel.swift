import ReaderKit

/// A reader whose card answers with the parts of an input, whatever it is asked.
final class ScriptedChannel: CardChannel {
    let facts: CardFacts
    let elapsed = Duration.zero
    private var answers: FuzzInput

    init(facts: CardFacts, answers: FuzzInput) {
        self.facts = facts
        self.answers = answers
    }

    /// The first part of an input as the facts of a card: an ATR, or what libnfc tells, chosen by the first byte.
    static func facts(_ bytes: [UInt8]) -> CardFacts {
        guard let first = bytes.first else { return CardFacts() }
        let rest = Array(bytes.dropFirst())
        func values(_ names: [(String, Int)]) -> [CardFacts.Value] {
            var left = rest[...]
            return names.compactMap { name, count in
                let value = Array(left.prefix(count))
                left = left.dropFirst(count)
                return value.isEmpty ? nil : CardFacts.Value(name, value)
            }
        }
        switch first {
        case 0: return CardFacts(technology: .iso14443a, values: values([("sak", 1), ("atqa", 2), ("uid", 10)]))
        case 1: return CardFacts(technology: .iso14443b, values: values([("pupi", 4)]))
        case 2: return CardFacts(technology: .felica, values: values([("idm", 8), ("pmm", 8)]))
        case 3: return CardFacts(technology: .iso15693, values: values([("uid", 8)]))
        default: return CardFacts(atr: bytes)
        }
    }

    private func answer(_ attempt: String) throws(ReaderError) -> [UInt8] {
        guard let bytes = answers.next(), !bytes.isEmpty else { throw ReaderError(.cardRemoved, attempting: attempt) }
        return bytes
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let bytes = try answer("send a command")
        // The backends refuse these themselves.
        guard bytes.count >= 2 else { throw ReaderError(.invalidAnswer, attempting: "send a command") }
        return bytes
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        let bytes = try answer("exchange a raw frame")
        return bytes.count == 1 && bytes[0] < 0x10 ? RawFrame(bytes, bitsInLastByte: 4) : RawFrame(bytes)
    }

    func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        try answer("send a control code")
    }

    func reset() throws(ReaderError) {}
}

extension FuzzTarget {
    static func runScan(_ bytes: [UInt8]) throws(FuzzFinding) {
        var input = FuzzInput(bytes)
        let facts = ScriptedChannel.facts(input.next() ?? [])
        // Each part of the program has the conversation from its start.
        func channel() -> ScriptedChannel { ScriptedChannel(facts: facts, answers: input) }

        let reading = CardReading(over: channel(), limits: .default)
        for problem in reading.problems { try require(!problem.message.isEmpty, "a problem says what it is") }
        if let key = reading.member?.key { try require(MemberID.isUsable(key), "a member's key is usable") }
        _ = try? CardIdentifier.identify(over: channel())
        if let content = try? TagReader.readNDEF(over: channel()), case .message(let message) = content.ndef {
            try require(message.count <= NDEFLimits.default.message, "a message keeps to the limit")
        }
        func onTag(_ body: (inout any NDEFTag) throws -> Void) {
            guard var tag = try? TagReader.open(over: channel()) else { return }
            do {
                try body(&tag)
            } catch {
                _ = "\(error)"
            }
        }
        onTag { _ = try $0.dump() }
        onTag { try $0.writeNDEF([0xD0, 0x00, 0x00]) }
        onTag { try $0.writeNDEF([UInt8](repeating: 0x5A, count: 300)) }
        onTag { _ = try $0.repairNDEF() }
        onTag { try $0.formatNDEF() }
        if let uid = reading.uid { onTag { try $0.lock(PermanentLock(ofCardWith: uid)) } }
        // Only cards that take APDUs come so far, the others are gone after a command or two.
        let ntag = NTAG(channel())
        _ = (try? ntag.version(), try? ntag.counter(), try? ntag.signature())
        runDESFire(channel)
    }

    /// Reads an application, with and without a key.
    private static func runDESFire(_ channel: () -> ScriptedChannel) {
        func onCard(_ body: (inout DESFireCard) throws -> Void) {
            var card = DESFireCard(channel()) { [UInt8](repeating: 0x11, count: 16) }
            do {
                try body(&card)
            } catch {
                _ = "\(error)"
            }
        }
        onCard { _ = try ($0.version(), $0.freeMemory(), $0.cardUID()) }
        onCard { card in
            guard let application = try card.applicationIDs().first else { return }
            try card.select(application)
            _ = try (card.keySettings(), card.keyVersion(0))
            guard let file = try card.fileIDs().first else { return }
            _ = try (card.fileSettings(file), card.readFile(file))
        }
        onCard { _ = try ($0.fileSettings(1), $0.readRecords(1)) }
        onCard { card in
            try card.authenticateAES(key: .factory, number: 0)
            _ = try (card.cardUID(), card.readData(file: 1, communication: .encrypted))
        }
        onCard { card in
            try card.authenticateEV2First(key: .factory, number: 0)
            _ = try (card.cardUID(), card.readData(file: 1, communication: .authenticated))
        }
    }
}
