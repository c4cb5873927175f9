import ReaderKit

/// The memory of a Type 2 tag behind a PC/SC reader or one that exchanges raw frames. Pages 0 and 1 cannot be written,
/// the upper half of page 2 and page 3 only gain bits.
final class PageChannel: CardChannel {
    let facts: CardFacts
    let elapsed = Duration.zero
    var memory: [UInt8]

    /// - Parameter memory: at least 16 bytes, of which whole pages count.
    init(_ memory: [UInt8], raw: Bool) {
        self.memory = Array(memory.prefix(memory.count / 4 * 4))
        facts =
            raw
            ? CardFacts(technology: .iso14443a, values: [.init("sak", [0]), .init("uid", Array(memory.prefix(7)))])
            : CardFacts(atr: [
                0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, 0x03, 0x00, 0x03, 0x00, 0x00,
                0x00, 0x00, 0x68,
            ])
    }

    private var pages: Int { memory.count / 4 }

    /// Four pages from one on, going on with page 0 behind the last.
    private func read(_ page: Int) -> [UInt8]? {
        guard page < pages else { return nil }
        return (0..<16).map { memory[(4 * page + $0) % memory.count] }
    }

    private func write(_ bytes: some Collection<UInt8>, at page: Int) -> Bool {
        guard page >= 2, page < pages, bytes.count == 4 else { return false }
        for (index, byte) in bytes.enumerated() {
            switch (page, index) {
            case (2, 0), (2, 1): break
            case (2, _), (3, _): memory[4 * page + index] |= byte
            default: memory[4 * page + index] = byte
            }
        }
        return true
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        guard facts.atr != nil else { throw ReaderError(.unsupported, attempting: "send a command") }
        guard command.count >= 5, command[0] == 0xFF else { return [0x6E, 0x00] }
        let page = Int(command[2]) << 8 | Int(command[3])
        switch command[1] {
        case 0xB0:
            guard let bytes = read(page) else { return [0x63, 0x00] }
            return bytes.prefix(command[4] == 0 ? 16 : min(16, Int(command[4]))) + [0x90, 0x00]
        case 0xD6:
            return write(command.dropFirst(5), at: page) ? [0x90, 0x00] : [0x63, 0x00]
        case 0xCA:
            return memory.prefix(3) + memory[4..<8] + [0x90, 0x00]
        default:
            return [0x6D, 0x00]
        }
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        guard facts.atr == nil else { throw ReaderError(.unsupported, attempting: "exchange a raw frame") }
        let no = RawFrame([0x00], bitsInLastByte: 4)
        guard frame.bytes.count >= 2 else { return no }
        let page = Int(frame.bytes[1])
        switch frame.bytes[0] {
        case 0x30: return read(page).map { RawFrame($0) } ?? no
        case 0xA2:
            return write(frame.bytes.dropFirst(2), at: page) ? RawFrame([0x0A], bitsInLastByte: 4) : no
        default: return no
        }
    }

    func reset() throws(ReaderError) {}
}

extension FuzzTarget {
    /// The first three bytes say how; the rest is the memory.
    static func runType2(_ bytes: [UInt8]) throws(FuzzFinding) {
        guard bytes.count >= 19 else { return }
        let (how, commands, length) = (bytes[0], Int(bytes[1]), Int(bytes[2]))
        let image = Array(bytes.dropFirst(3).prefix(1024))
        let card = PageChannel(image, raw: how & 1 != 0)
        let original = card.memory
        _ = CardReading(over: card, limits: .default)
        _ = try? CardIdentifier.identify(over: card)
        try require(card.memory == original, "reading changes nothing")

        let rules = WritingRules(
            channel: { card },
            memory: { [card.memory] },
            restore: { card.memory = original }
        )
        let message = [UInt8](repeating: 0xD5, count: how & 2 != 0 ? length + 200 : length)
        try rules.check(message, tornAfter: commands, executesLast: how & 4 != 0)
        for operation in 0..<3 {
            card.memory = original
            guard var tag = try? TagReader.open(over: card) else { return }
            switch operation {
            case 0: _ = try? tag.dump()
            case 1: _ = try? tag.repairNDEF()
            default: try? tag.formatNDEF()
            }
            let untouched = operation == 2 ? 12 : 16
            try require(
                card.memory.prefix(untouched).elementsEqual(original.prefix(untouched)),
                "lock bytes and the container are never touched: \(card.memory.prefix(16).hex)"
            )
        }
    }
}
