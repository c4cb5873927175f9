import CardCore
import CardPasses

/// Pseudo-APDUs of class FF, which the reader answers itself (PC/SC part 3 and the makers' own).
struct ReaderExplainer: ExchangeExplainer {
    func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu, apdu.cla == 0xFF else { return nil }
        switch apdu.ins {
        case Instruction.getData: return getData(apdu, state)
        case Instruction.readBinary: return read(apdu, &state)
        case Instruction.updateBinary: return write(apdu, &state)
        case Instruction.loadKey:
            return plain(apdu, "reader: takes a key into place \(apdu.p2)", keyFields(apdu), "the reader has the key")
        case Instruction.generalAuthenticate, Instruction.internalAuthenticate: return authenticate(apdu)
        case Instruction.directTransmit: return direct(apdu)
        case Instruction.transparentExchange: return session(apdu)
        case Instruction.classicRead:
            return ExplainedExchange(
                .init("reader: reads from block \(apdu.parameter) on, with a key", keyFields(apdu)),
                .init(
                    Self.title(apdu, "the block"),
                    BlockFields.make(apdu.body, fromBlock: apdu.parameter, at: 0, &state) + Self.status(apdu)
                )
            )
        default:
            return (try? CommandAPDU(bytes: exchange.command))?.title.map { plain(apdu, $0) }
        }
    }

    private func plain(
        _ apdu: RecordedExchange.Parts,
        _ title: String,
        _ fields: [ExplainedField]? = nil,
        _ success: String = "done",
        _ meaning: String? = nil
    ) -> ExplainedExchange {
        let answer = ExplainedExchange.Message(Self.title(apdu, success), Self.answer(apdu, meaning))
        return ExplainedExchange(.init(title, fields ?? apdu.dataFields()), answer)
    }

    static func title(
        _ apdu: RecordedExchange.Parts,
        _ success: String,
        _ meanings: [StatusWord: String] = [:]
    ) -> String {
        guard let status = apdu.status else { return StatusText.title(apdu, "") }
        return StatusText.title(status, status.isSuccess ? success : meanings[status] ?? meaning(of: status))
    }

    private static func meaning(of status: StatusWord) -> String {
        guard let meaning = status.readerMeaning else { return status.name }
        return meaning.prefix(1).lowercased() + meaning.dropFirst().prefix { $0 != "." }
    }

    private static func status(_ apdu: RecordedExchange.Parts) -> [ExplainedField] {
        StatusText.field(apdu, apdu.status.map { $0.isSuccess ? $0.name : meaning(of: $0) })
    }

    private static func answer(_ apdu: RecordedExchange.Parts, _ meaning: String? = nil) -> [ExplainedField] {
        let data = apdu.answerFields("data", meaning).filter { $0.name == "data" }
        return data + status(apdu)
    }

    // MARK: Standard commands

    private func getData(_ apdu: RecordedExchange.Parts, _ state: ConversationState) -> ExplainedExchange {
        switch apdu.parameter {
        case 0x0000:
            var fields: [ExplainedField] = []
            var kind = "the identifier"
            if !apdu.body.isEmpty {
                let uid = CardUID(readerBytes: apdu.body, technology: state.technology)
                kind = "the identifier, " + Self.text(of: uid.kind)
                let meaning = Self.text(of: uid.kind) + (uid.manufacturer.map { "; maker \($0)" } ?? "")
                fields = [ExplainedField("identifier", at: 0, apdu.body, meaning: meaning)]
            }
            return ExplainedExchange(
                .init("reader: asks for the card's identifier", apdu.dataFields()),
                .init(Self.title(apdu, kind), fields + Self.status(apdu))
            )
        case 0x0100:
            let title = "reader: asks for the card's historical bytes"
            return plain(apdu, title, nil, "the historical bytes", "historical bytes")
        default: return plain(apdu, "reader: asks for data \([apdu.p1, apdu.p2].hex)", nil, "the data")
        }
    }

    static func text(of kind: CardUID.Kind) -> String {
        switch kind {
        case .fixed: "fixed"
        case .random: "random, another one at each tap: it identifies nobody"
        case .nonUnique: "not unique: other cards may have it"
        }
    }

    private func read(_ apdu: RecordedExchange.Parts, _ state: inout ConversationState) -> ExplainedExchange {
        let name = BlockFields.name(of: state.tagType, apdu.parameter, apdu.expectedLength ?? 1)
        let done = apdu.isSuccess || apdu.status == .endReached
        let fields = done ? BlockFields.make(apdu.body, fromBlock: apdu.parameter, at: 0, &state) : []
        return ExplainedExchange(
            .init("reader: reads \(name)", apdu.dataFields()),
            .init(
                Self.title(apdu, BlockFields.name(of: state.tagType, apdu.parameter, apdu.body.count)),
                done ? fields + Self.status(apdu) : Self.answer(apdu)
            )
        )
    }

    private func write(_ apdu: RecordedExchange.Parts, _ state: inout ConversationState) -> ExplainedExchange {
        let name = BlockFields.name(of: state.tagType, apdu.parameter, apdu.data.count)
        let fields =
            apdu.isSuccess
            ? BlockFields.make(apdu.data, fromBlock: apdu.parameter, at: apdu.dataOffset, &state) + apdu.faults
            : apdu.dataFields()
        return plain(apdu, "reader: writes \(name)", fields, "it is written")
    }

    // MARK: Keys

    private func keyFields(_ apdu: RecordedExchange.Parts) -> [ExplainedField] {
        apdu.dataFields("key", Self.publicKeys[apdu.data] ?? "a key")
    }

    /// Keys that everybody knows.
    static let publicKeys: [[UInt8]: String] = [
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]: "the factory's key",
        [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5]: "the public key of application directories",
        [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7]: "the public key of NDEF sectors",
    ]

    private func authenticate(_ apdu: RecordedExchange.Parts) -> ExplainedExchange {
        var reader = FieldReader(apdu.data, at: apdu.dataOffset)
        var block = apdu.parameter
        if apdu.ins == Instruction.generalAuthenticate {
            reader.take("version", 1)
            let bytes = reader.take("block", 2) { "\($0.number(at: 0, count: 2))" }
            if let bytes { block = bytes.number(at: 0, count: 2) }
        }
        reader.take("which key", 1) { ["key A", "key B"][$0[0] & 0x01 == 0 ? 0 : 1] }
        reader.take("place of the key", 1) { "\($0[0])" }
        reader.rest("more")
        return ExplainedExchange(
            .init("reader: shows the card a key for block \(block)", reader.fields + apdu.faults),
            .init(
                Self.title(apdu, "the card took the key", [.memoryChanged: "the card did not take the key"]),
                Self.answer(apdu)
            )
        )
    }

    // MARK: The makers' own

    /// `FF 00`: an ACR122's own functions; what is for the chip within it.
    private func direct(_ apdu: RecordedExchange.Parts) -> ExplainedExchange {
        if let title = Self.directCommands[apdu.p1] { return plain(apdu, "reader: \(title)") }
        guard apdu.parameter == 0, apdu.data.first == 0xD4 else {
            return plain(apdu, "reader: direct command \([apdu.p1, apdu.p2].hex)")
        }
        let code = apdu.data.count > 1 ? apdu.data[1] : 0
        return plain(apdu, "reader: \(Self.chipCommands[code] ?? "command \([code].hex)") of its PN532")
    }

    private static let directCommands: [UInt8: String] = [
        0x40: "lights and sound", 0x48: "asks for its firmware", 0x50: "asks what it looks for",
        0x51: "says what it shall look for", 0x52: "says whether it shall signal a card",
    ]

    private static let chipCommands: [UInt8: String] = [
        0x00: "Diagnose", 0x02: "GetFirmwareVersion", 0x04: "GetGeneralStatus", 0x06: "ReadRegister",
        0x08: "WriteRegister", 0x12: "SetParameters", 0x14: "SAMConfiguration", 0x32: "RFConfiguration",
        0x40: "InDataExchange", 0x42: "InCommunicateThru", 0x44: "InDeselect", 0x4A: "InListPassiveTarget",
        0x52: "InRelease", 0x54: "InSelect", 0x60: "InAutoPoll",
    ]

    /// `FF C2`: a transparent session of PC/SC part 3.
    private func session(_ apdu: RecordedExchange.Parts) -> ExplainedExchange {
        let names: [UInt8: String] = [
            0: "manages a transparent session", 1: "exchanges a frame", 2: "changes the protocol",
        ]
        let what = names[apdu.p2] ?? "transparent session \([apdu.p1, apdu.p2].hex)"
        return ExplainedExchange(
            .init("reader: \(what)", TLVFields.make(apdu.data, at: apdu.dataOffset, Self.sessionTags) + apdu.faults),
            .init(Self.title(apdu, "done"), TLVFields.make(apdu.body, at: 0, Self.sessionTags) + Self.status(apdu))
        )
    }

    static let sessionTags = TagDictionary([
        0x80: .init("version"), 0x81: .init("begin the session"), 0x82: .init("end the session"),
        0x83: .init("field off"), 0x84: .init("field on"), 0x5F46: .init("timer"), 0x90: .init("transmission flags"),
        0x91: .init("bit framing of what is sent"), 0x92: .init("bit framing of what comes"),
        0x93: .init("frame to send"), 0x94: .init("wait for a frame"), 0x95: .init("frame to exchange"),
        0x96: .init("state of the answer"), 0x97: .init("frame that came"),
        0xC0: .init("status") { value, _ in
            guard value.count == 3 else { return .init() }
            let status = StatusWord(sw1: value[1], sw2: value[2])
            return .init(meaning: "\(status)" + (value[0] == 0 ? "" : ", at object \(value[0])"))
        },
    ])
}
