import CardCore
import CardPasses
import CardTags

/// Frames of tags' own protocols: Type 2 (Ultralight, NTAG), MIFARE Classic, FeliCa, ISO 15693.
struct TagFrameExplainer: ExchangeExplainer {
    /// The page or block that the next frame of sixteen bytes is written to.
    private var wanted: Int?

    mutating func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard exchange.carrier == .frame, !exchange.command.isEmpty else { return nil }
        switch state.technology {
        case .felica: return feliCa(exchange, &state)
        case .iso15693: return vicinity(exchange, &state)
        case .iso14443a, nil: return typeA(exchange, &state)
        case .iso14443b: return nil
        }
    }

    // MARK: Type A

    private mutating func typeA(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        let command = exchange.command
        if let block = wanted.take(), command.count == 16 {
            return written(block, 0, exchange, &state, "writes", isPage: state.tagType != .mifareClassic)
        }
        switch (command[0], command.count) {
        case (0x30, 2): return read(Int(command[1]), "READ", 16, exchange, &state)
        case (0x3A, 3):
            let count = 4 * max(1, Int(command[2]) - Int(command[1]) + 1)
            return read(Int(command[1]), "FAST READ", count, exchange, &state)
        case (0xA2, 6): return written(Int(command[1]), 2, exchange, &state, "WRITE:", isPage: true)
        case (0xA0, 2):
            wanted = Int(command[1])
            return plain("WRITE: announces content for \(Self.block(Int(command[1]), state))", exchange)
        case (0x60, 1): return version(exchange)
        case (0x60, 12), (0x61, 12):
            var reader = FieldReader(command, at: 0)
            reader.take("which key", 1) { $0[0] == 0x60 ? "key A" : "key B" }
            reader.take("block", 1) { "\($0[0])" }
            reader.take("key", 6) { ReaderExplainer.publicKeys[$0] ?? "a key" }
            reader.rest("identifier") { _ in "of the card that the key is shown to" }
            return ExplainedExchange(
                .init("AUTHENTICATE: shows the card a key for block \(command[1])", reader.fields),
                Self.answer(exchange, "the card took the key")
            )
        case (0x1B, 5), (0x1B, 17):
            let key = ExplainedField(name: "password", offset: 1, length: command.count - 1, meaning: "a password")
            return ExplainedExchange(
                .init("PASSWORD: gives the tag its password", [key]),
                Self.answer(exchange, "the tag took the password")
            )
        case (0x39, 2):
            return plain("READ COUNTER \(command[1])", exchange, "the counter") { bytes in
                bytes.count == 3 ? "\(bytes.littleEndianNumber)" : nil
            }
        case (0x3C, 2):
            return plain("READ SIGNATURE", exchange, "the maker's signature of the identifier") { bytes in
                OriginalitySignature(bytes)?.verdict(on: state.identifier)
            }
        case (0xC2, 2): return plain("SECTOR SELECT: announces another sector", exchange)
        case (0x1A, 2):
            return plain("AUTHENTICATE: asks for a proof of the key", exchange, "a part of an authentication")
        default: return nil
        }
    }

    private static func block(_ number: Int, _ state: ConversationState) -> String {
        BlockFields.name(of: state.tagType == .mifareClassic ? .mifareClassic : .type2, number, 1)
    }

    private func read(
        _ block: Int,
        _ name: String,
        _ count: Int,
        _ exchange: RecordedExchange,
        _ state: inout ConversationState
    ) -> ExplainedExchange {
        let type = state.tagType ?? .type2
        let what = BlockFields.name(of: type, block, count)
        let command = ExplainedExchange.Message(
            "\(name): reads \(what)",
            [ExplainedField("first", at: 1, [UInt8(truncatingIfNeeded: block)], meaning: "\(block)")]
        )
        guard let answer = exchange.answer, answer.count > 1 else {
            return ExplainedExchange(command, Self.answer(exchange, ""))
        }
        let fields = BlockFields.make(answer, fromBlock: block, at: 0, &state)
        return ExplainedExchange(command, .init(BlockFields.name(of: type, block, answer.count), fields))
    }

    private func written(
        _ block: Int,
        _ skip: Int,
        _ exchange: RecordedExchange,
        _ state: inout ConversationState,
        _ verb: String,
        isPage: Bool
    ) -> ExplainedExchange {
        let content = Array(exchange.command[skip...].prefix(isPage ? 4 : 16))
        let isTaken = exchange.answer.map { $0 == [0x0A] } ?? false
        let plain = [ExplainedField("content", at: skip, content)]
        let fields = isTaken ? BlockFields.make(content, fromBlock: block, at: skip, &state) : plain
        return ExplainedExchange(
            .init("\(verb) \(Self.block(block, state))", fields),
            Self.answer(exchange, "it is written")
        )
    }

    private func version(_ exchange: RecordedExchange) -> ExplainedExchange {
        guard let answer = exchange.answer, answer.count == 8 else {
            return plain("GET VERSION: what is the tag?", exchange, "what the tag is")
        }
        var reader = FieldReader(answer, at: 0)
        reader.take("fixed", 1)
        reader.take("maker", 1) { $0[0] == 0x04 ? "NXP" : nil }
        reader.take("kind", 1) { [3: "Ultralight", 4: "NTAG"][$0[0]] }
        reader.take("subkind", 1)
        reader.take("version", 2) { "\($0[0]).\($0[1])" }
        reader.take("memory", 1)
        reader.take("protocol", 1) { $0[0] == 0x03 ? "ISO/IEC 14443-3" : nil }
        let product = CardTables.type2(version: answer)?.name
        return ExplainedExchange(
            .init("GET VERSION: what is the tag?"),
            .init(product.map { "it says that it is \($0)" } ?? "a tag that is not known here", reader.fields)
        )
    }

    // MARK: Answers

    private func plain(
        _ title: String,
        _ exchange: RecordedExchange,
        _ success: String = "done",
        _ meaning: ([UInt8]) -> String? = { _ in nil }
    ) -> ExplainedExchange {
        let rest = Array(exchange.command.dropFirst())
        let fields = rest.isEmpty ? [] : [ExplainedField("data", at: 1, rest)]
        return ExplainedExchange(.init(title, fields), Self.answer(exchange, success, meaning))
    }

    /// An acknowledgement of four bits, a refusal, or data.
    static func answer(
        _ exchange: RecordedExchange,
        _ success: String,
        _ meaning: ([UInt8]) -> String? = { _ in nil }
    ) -> ExplainedExchange.Message {
        guard let answer = exchange.answer, let first = answer.first else { return .init("an empty answer") }
        if answer.count == 1, exchange.answerBits <= 4 {
            return .init(first == 0x0A ? "ACK" + (success.isEmpty ? "" : ": \(success)") : refusal(first))
        }
        let field = ExplainedField("data", at: 0, answer, meaning: meaning(answer))
        return .init(success.isEmpty ? ExplanationText.count(answer.count) : success, [field])
    }

    private static func refusal(_ code: UInt8) -> String {
        let code = code & 0x0F
        let refusal = "the tag refuses it"
        let reasons: [UInt8: String] = [
            0: refusal, 4: refusal, 1: "it arrived damaged", 5: "it arrived damaged", 7: "the tag could not write",
        ]
        return "NAK \([code].hex): \(reasons[code] ?? "\(refusal), code \([code].hex)")"
    }

    // MARK: FeliCa

    private func feliCa(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        // With the length byte or without it.
        let skip = Int(exchange.command[0]) == exchange.command.count && exchange.command.count > 1 ? 1 : 0
        let command = Array(exchange.command[skip...])
        guard let name = Self.feliCaNames[command[0]] else { return nil }
        let answer = exchange.answer ?? []
        let answerSkip = answer.first.map(Int.init) == answer.count && answer.count > 1 ? 1 : 0
        let body = Array(answer.dropFirst(answerSkip))
        var reader = FieldReader(command, at: skip)
        reader.take("command", 1)
        if command[0] == 0x00 {
            reader.take("system code", 2) { $0 == [0x12, 0xFC] ? "NDEF" : $0 == [0xFF, 0xFF] ? "any" : nil }
        } else {
            reader.take("identifier", 8)
        }
        reader.rest("data")
        var fields: [ExplainedField] = []
        var title = "an answer"
        if command[0] == 0x06, body.count > 12, body[9] == 0 {
            title = "\(ExplanationText.count(Int(body[11]), "block"))"
            for (index, block) in RecordedExchange.feliCaBlocks(of: command).map(\.number).enumerated()
            where 12 + 16 * (index + 1) <= body.count {
                let start = 12 + 16 * index
                let content = Array(body[start..<(start + 16)])
                fields += BlockFields.make(content, fromBlock: block, at: answerSkip + start, &state)
            }
        } else if command[0] == 0x06 || command[0] == 0x08, body.count > 10 {
            title = body[9] == 0 ? "done" : "refused, status \([body[9], body[10]].hex)"
        }
        if fields.isEmpty, !answer.isEmpty { fields = [ExplainedField("data", at: 0, answer)] }
        return ExplainedExchange(.init("FeliCa: \(name)", reader.fields), .init(title, fields))
    }

    private static let feliCaNames: [UInt8: String] = [
        0x00: "POLLING: is any card there?", 0x02: "REQUEST SERVICE", 0x04: "REQUEST RESPONSE",
        0x06: "READ WITHOUT ENCRYPTION", 0x08: "WRITE WITHOUT ENCRYPTION", 0x0A: "SEARCH SERVICE CODE",
        0x0C: "REQUEST SYSTEM CODE",
    ]

    // MARK: ISO 15693

    private func vicinity(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        let command = exchange.command
        guard command.count >= 2, let name = Self.vicinityNames[command[1]] else { return nil }
        let isInventory = command[0] & 0x04 != 0
        let isAddressed = !isInventory && command[0] & 0x20 != 0
        var reader = FieldReader(command, at: 0)
        reader.take("flags", 1) { bytes in
            isInventory ? "inventory" : isAddressed ? "for the card with the identifier" : "for whatever card is there"
        }
        reader.take("command", 1)
        if isAddressed { reader.take("identifier", 8) { _ in "the last byte first" } }
        var block: Int?
        switch command[1] {
        case 0x20, 0x21, 0x23:
            block = reader.take("block", 1) { "\($0[0])" }.map { Int($0[0]) }
        case 0x30, 0x31:
            block = reader.take("block", 2) { "\($0.littleEndianNumber)" }.map(\.littleEndianNumber)
        default: break
        }
        if command[1] == 0x23 { reader.take("further blocks", 1) { "\($0[0])" } }
        reader.rest("data")
        let title = ExplainedExchange.Message("ISO 15693: \(name)" + (block.map { " \($0)" } ?? ""), reader.fields)
        let answer = exchange.answer ?? []
        if let flags = answer.first, flags & 0x01 != 0 {
            let code = answer.count > 1 ? ", code \([answer[1]].hex)" : ""
            return ExplainedExchange(title, Self.answer(exchange, "the card refuses it\(code)"))
        }
        // With the option the state of each block stands before it; that is not taken apart.
        let isRead = [0x20, 0x23, 0x30].contains(command[1]) && command[0] & 0x40 == 0
        guard isRead, let block, answer.count > 1 else {
            return ExplainedExchange(title, Self.answer(exchange, "done"))
        }
        let content = Array(answer.dropFirst())
        let fields = BlockFields.make(content, fromBlock: block, at: 1, &state)
        return ExplainedExchange(title, .init(BlockFields.name(of: .type5, block, content.count), fields))
    }

    private static let vicinityNames: [UInt8: String] = [
        0x01: "INVENTORY: who is there?", 0x02: "STAY QUIET", 0x20: "READ BLOCK", 0x21: "WRITE BLOCK",
        0x22: "LOCK BLOCK", 0x23: "READ BLOCKS from", 0x25: "SELECT", 0x26: "RESET TO READY", 0x27: "WRITE AFI",
        0x29: "WRITE DSFID", 0x2B: "GET SYSTEM INFORMATION", 0x30: "READ BLOCK", 0x31: "WRITE BLOCK",
        0x3B: "GET SYSTEM INFORMATION",
    ]
}
