import CardCore
import CardPasses
import CardTags

// Frames of cards' own protocols.
extension RedactionConversation {
    mutating func takeFrame() {
        guard let first = command.first else { return }
        if wantsSector {
            wantsSector = false
            if command.count == 4 {
                sector = Int(first)
                return
            }
        }
        if let page = wantedPage.take(), command.count == 16 { return takeCompatible(page) }
        switch technology {
        case .felica: return takeFeliCa()
        case .iso15693: return takeVicinity()
        default: break
        }
        let body = answer.indices
        let rest = command.indices.dropFirst()
        let space = RedactionMemory.Space.pages(sector: sector)
        switch (first, command.count) {
        case (0x30, 2) where isClassic:
            // One byte is a refusal; the check bytes of a block do not belong here.
            guard body.count > 1 else { break }
            takeBlocks(Int(command[1]), body.prefix(16), isCommand: false)
            unexamine(body.dropFirst(16))
        case (0xA0, 2): wantedPage = Int(command[1])
        case (0x30, 2), (0x3A, 3), (0x21, 3): touch(space, 4 * Int(command[1]), body, isCommand: false)
        case (0xA2, 6): takePage(Int(command[1]), 2..<6)
        case (0xC2, 2): wantsSector = true
        case (0x1B, 5), (0x1B, 17): span(command: rest, answer: body, .key)
        case (0x60, 12), (0x61, 12):
            // A Classic's authentication: block, key, and the identifier or its end.
            isClassic = true
            span(command: 2..<8, .key)
            authenticated.append(Array(command[8...]))
            telling.insert(index)
        case (0x60, 1):
            // GET_VERSION of Type 2 tags, or the first part of DESFire's.
            if answer.first == 0xAF { chain = (0x60, 1) }
        case (0x26, 1), (0x52, 1), (0x50, 2), (0xE0, 2): break
        case (0x93, _), (0x95, _), (0x97, _): takeAnticollision()
        // A signature of the identifier tells the card as well as that does. A counter tells little.
        case (0x3C, 2) where body.count == 32: span(answer: body, .identifier)
        case (0x3C, 2), (0x39, 2): unexamine(body.dropFirst())
        case (0x00, 4...), (0x90, 4...), (0xFF, 4...): takeAPDU()
        case _
        where chain == nil && !APDUSecrets.isSecretNative(first) && APDUSecrets.isSecretCommand(command[...]):
            takeAPDU()
        // A lone frame of sixteen bytes may be anything, and 1A and what goes on with AF are looked at below.
        case _ where command.count != 16 && first != 0x1A && chain == nil && APDUSecrets.isSecretFrame(command[...]):
            let isVicinity = ![0x60, 0x61, 0xAF, 0x1B, 0xA2].contains(first)
            span(command: command.indices.dropFirst(isVicinity ? 3 : 1), answer: body.dropFirst(), .key)
        default: takeNative(first, rest, body.dropFirst(), status: answer.first ?? 0)
        }
    }

    private mutating func takePage(_ page: Int, _ written: Range<Int>) {
        touch(.pages(sector: sector), 4 * page, written, isCommand: true)
        if sector == 0 { findPassword(page: page, written) }
    }

    /// The second part of a write that all tags of the family know: sixteen bytes, of which a page takes four.
    private mutating func takeCompatible(_ page: Int) {
        guard !isClassic else { return takeBlocks(page, command.indices, isCommand: true) }
        takePage(page, 0..<4)
        if command[4...].contains(where: { $0 != 0 }) { unexamine() }
    }

    /// Anticollision: the identifier in parts of three bytes behind a cascade tag, the last of four.
    private mutating func takeAnticollision() {
        telling.insert(index)
        let part: [UInt8]
        if command.count == 2, command[1] == 0x20, answer.count >= 5 {
            part = Array(answer[..<4])
        } else if command.count >= 7, command[1] == 0x70 {
            part = Array(command[2..<6])
        } else {
            // Parts of bytes, behind a collision.
            return unexamine(command.indices.dropFirst(2), answer.indices)
        }
        // The selection repeats what the anticollision told.
        if command[0] == 0x93 { cascade = [] }
        let levels: [UInt8: Int] = [0x93: 0, 0x95: 3, 0x97: 6]
        guard let length = levels[command[0]], cascade.count >= length else { return }
        cascade = Array(cascade[..<length])
        if part[0] == CardUID.cascadeTag {
            cascade += part[1...]
        } else {
            identifiers.append(cascade + part)
        }
    }

    /// A native command of DESFire or Ultralight C, wrapped or not; `body` is the answer without its status.
    mutating func takeNative(_ code: UInt8, _ data: Range<Int>, _ body: Range<Int>, status: UInt8) {
        let (current, part) =
            code == DESFireInstruction.additionalFrame.rawValue
            ? (chain?.command ?? code, (chain?.part ?? 0) + 1) : (code, 1)
        chain = status == DESFireStatus.additionalFrame.rawValue ? (current, part) : nil
        switch DESFireInstruction(rawValue: current) {
        // The third part: identifier, batch, week and year.
        case .getVersion where part == 3 && body.count >= 14:
            tell(answer[body.prefix(7)])
            span(answer: body.dropFirst(7).prefix(5), .identifier)
        case .getVersion: if part >= 3 { unexamine(body) }
        case .authenticateDES, .authenticateISO, .authenticateAES, .authenticateEV2First, .authenticateEV2NonFirst,
            .plusAuthenticateFirst:
            span(command: data.dropFirst(part == 1 ? data.count : 0), answer: body, .authentication)
        case .changeKey, .changeKeyEV2, .rollKeySet:
            span(command: data.dropFirst(part == 1 ? 1 : 0), .key)
            span(answer: body, .authentication)
        case .getCardUID: span(answer: body, .identifier)
        case .getApplicationIDs, .getFileIDs, .getISOFileIDs, .getKeySettings, .getKeyVersion, .getFileSettings,
            .freeMemory, .selectApplication, .getFileCounters:
            break
        case .readData, .readDataLight, .readRecords, .readRecordsLight, .getValue: span(answer: body, .content)
        case .writeData, .writeDataLight, .writeRecord, .writeRecordLight:
            // Only the first part begins with the file, the place and the length.
            span(command: data.dropFirst(part == 1 ? 7 : 0), .content)
        case _ where APDUSecrets.isSecretNative(current): span(command: data, answer: body, .key)
        default: unexamine(data, body)
        }
    }

    private mutating func takeFeliCa() {
        // With the length byte or without it.
        let skip = command.first.map(Int.init) == command.count ? 1 : 0
        let body = answer.indices.dropFirst(answer.first.map(Int.init) == answer.count ? 1 : 0)
        guard command.count > skip else { return }
        let content = Array(command[skip...])
        let blocks = RecordedExchange.feliCaBlocks(of: content)
        switch content[0] {
        case 0x00 where body.count >= 17, 0x04 where body.count >= 9: tell(answer[body.dropFirst().prefix(8)])
        case 0x06 where body.count > 12: takeFeliCa(blocks.map(\.number), body.dropFirst(12), isCommand: false)
        case 0x08:
            // Behind the services stands the number of blocks, and behind the list of them what is written.
            guard content.count > 10, case let list = 10 + 2 * Int(content[9]), list < content.count,
                case let count = Int(content[list]), count <= blocks.count
            else { return }
            let end = count == 0 ? list + 1 : blocks[count - 1].end
            takeFeliCa(blocks.map(\.number), command.indices.dropFirst(skip + end), isCommand: true)
        // Polling, modes, services and systems; a reading that was refused.
        case 0x00, 0x02, 0x04, 0x06, 0x0A, 0x0C: break
        default: unexamine(content.indices.dropFirst(9), body.dropFirst(9))
        }
    }

    private mutating func takeFeliCa(_ blocks: [Int], _ content: Range<Int>, isCommand: Bool) {
        for (place, block) in blocks.enumerated().prefix(content.count / 16) {
            let part = content.dropFirst(16 * place).prefix(16)
            // FeliCa Lite: the challenge, the proofs and the key.
            switch block {
            case 0x80, 0x81, 0x91: span(part, isCommand: isCommand, .authentication)
            case 0x87: span(part, isCommand: isCommand, .key)
            default: break
            }
            touch(.type3, 16 * block, part, isCommand: isCommand)
        }
    }
}

// Commands of class FF, which are for the reader, and the frames that it takes within them (see FrameEncapsulation).
extension RedactionConversation {
    mutating func takeReader(_ apdu: RecordedExchange.Parts, _ data: Range<Int>, _ body: Range<Int>, isSecret: Bool) {
        if let carried = apdu.carriedFrame {
            guard data.count >= carried.data else { return unexamine() }
            let technologies: [UInt8: Technology] =
                apdu.ins == Instruction.encapsulate ? [2: .iso14443b, 4: .iso15693, 7: .felica] : [:]
            return takeWithin(data.dropFirst(carried.data), body.dropFirst(carried.answer), technologies[apdu.p1])
        }
        switch apdu.ins {
        case Instruction.getData where apdu.parameter == 0 && CardUID.lengths.contains(body.count): tell(answer[body])
        // 01 00 asks for the historical bytes, which stay as ATRs do.
        case Instruction.getData: if apdu.parameter != 0x0100 { unexamine(body) }
        case Instruction.loadKey: span(command: data, .key)
        case Instruction.generalAuthenticate where !isSecret, Instruction.internalAuthenticate where !isSecret: break
        case Instruction.readBinary: takeStorage(apdu.parameter, body, isCommand: false)
        case Instruction.updateBinary: takeStorage(apdu.parameter, data, isCommand: true)
        case Instruction.classicRead:
            // SpringCard's reading of a Classic's blocks, by a key.
            span(command: data, .key)
            takeBlocks(apdu.parameter, body, isCommand: false)
        case Instruction.classicWrite:
            // Whole blocks, then a key or the place of one.
            let blocks = data.prefix(data.count / 16 * 16)
            takeBlocks(apdu.parameter, blocks, isCommand: true)
            span(command: data.dropFirst(blocks.count), .key)
            unexamine(body)
        case Instruction.directTransmit where data.count >= 2 && apdu.data[0] == 0xD4: takeChip(apdu.data[1], body)
        case Instruction.transparentExchange: takeSession(data, body)
        case _ where isSecret: span(command: data, answer: body, .key, isOwn: true)
        // The lights and the sound of an ACR122 say nothing of a card.
        case Instruction.directTransmit where apdu.p1 == 0x40: break
        default: unexamine(data, body)
        }
    }

    private mutating func takeChip(_ code: UInt8, _ body: Range<Int>) {
        switch code {
        case 0x4A, 0x60: if body.count > 8 { span(answer: body.dropFirst(4), .identifier) }
        case 0x00, 0x02, 0x04, 0x06, 0x0C, 0x0E, 0x12, 0x14, 0x16, 0x32, 0x44, 0x52, 0x54: break
        default: unexamine()
        }
    }

    /// MANAGE SESSION, TRANSPARENT EXCHANGE and SWITCH PROTOCOL: data objects, the frame in `95` and its answer in `97`.
    private mutating func takeSession(_ data: Range<Int>, _ body: Range<Int>) {
        guard let sent = Self.objects(command, data), let received = Self.objects(answer, body) else {
            return unexamine()
        }
        // Sessions, the field, timers, parameters, bit framing; status, bit framing, the answer to a selection.
        let harmless: Set<Int> = [
            0x80, 0x81, 0x82, 0x83, 0x84, 0x8F, 0x90, 0x91, 0x92, 0x96, 0xC0, 0x5F46, 0x5F51, 0xFF6D, 0xFF6E,
        ]
        let frames = sent.filter { $0.tag == 0x93 || $0.tag == 0x95 }
        let answers = received.filter { $0.tag == 0x97 }
        let others = (sent + received).filter { !harmless.contains($0.tag) && !$0.content.isEmpty }
        if others.count != frames.count + answers.count || frames.count > 1 || answers.count > 1 { unexamine() }
        for (place, frame) in frames.enumerated() {
            let content = place == 0 ? answers.first?.content ?? body.upperBound..<body.upperBound : 0..<0
            takeWithin(frame.content, content)
        }
        if frames.isEmpty, !answers.isEmpty { unexamine() }
    }
}
