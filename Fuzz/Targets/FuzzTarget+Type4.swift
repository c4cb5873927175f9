import ReaderKit

/// A card with an NDEF application: a capability container and one more file, whatever it is called.
final class FileChannel: CardChannel {
    let facts = CardFacts(atr: [0x3B, 0x81, 0x80, 0x01, 0x80, 0x80])
    let elapsed = Duration.zero
    let container: [UInt8]
    var file: [UInt8]
    private var isContainer = true
    private var hasSelected = false

    init(container: [UInt8], file: [UInt8]) {
        self.container = container
        self.file = file
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        guard let command = try? CommandAPDU(bytes: command), command.cla == 0x00 else { return [0x6E, 0x00] }
        let content = isContainer ? container : file
        let offset = Int(command.p1) << 8 | Int(command.p2)
        switch command.ins {
        case 0xA4 where command.p1 == 0x04:
            hasSelected = false
            return [0x90, 0x00]
        case 0xA4:
            guard command.data.count == 2 else { return [0x67, 0x00] }
            isContainer = command.data == [0xE1, 0x03]
            hasSelected = true
            return [0x90, 0x00]
        case 0xB0:
            guard hasSelected else { return [0x69, 0x86] }
            guard offset < 0x8000, offset <= content.count else { return [0x6B, 0x00] }
            return content[offset...].prefix(command.expectedLength ?? 0) + [0x90, 0x00]
        case 0xD6:
            guard hasSelected, !isContainer else { return [0x69, 0x82] }
            guard offset < 0x8000, offset + command.data.count <= file.count else { return [0x6B, 0x00] }
            file.replaceSubrange(offset..<offset + command.data.count, with: command.data)
            return [0x90, 0x00]
        default:
            return [0x6D, 0x00]
        }
    }

    func reset() throws(ReaderError) { hasSelected = false }
}

extension FuzzTarget {
    /// The first part is how and the capability container, the rest the file.
    static func runType4(_ bytes: [UInt8]) throws(FuzzFinding) {
        var input = FuzzInput(bytes)
        guard let head = input.next(), head.count >= 3 else { return }
        let card = FileChannel(container: Array(head.dropFirst(3)), file: input.rest)
        let original = card.file
        _ = CardReading(over: card, limits: .default)
        _ = try? CardIdentifier.identify(over: card)
        try require(card.file == original, "reading changes nothing")
        let rules = WritingRules(
            channel: { card },
            memory: { [card.file] },
            restore: { card.file = original }
        )
        let message = [UInt8](repeating: 0xD5, count: head[0] & 2 != 0 ? Int(head[2]) + 500 : Int(head[2]))
        try rules.check(message, tornAfter: Int(head[1]), executesLast: head[0] & 4 != 0)
        for operation in 0..<3 {
            card.file = original
            guard var tag = try? TagReader.open(over: card) else { return }
            switch operation {
            case 0: _ = try? tag.dump()
            case 1: _ = try? tag.repairNDEF()
            default: try? tag.formatNDEF()
            }
            try require(card.file.count == original.count, "a file keeps its length")
        }
    }
}
