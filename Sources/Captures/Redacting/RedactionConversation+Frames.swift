import CardCore
import CardPasses
import CardTags

// Frames of cards' own protocols.
extension RedactionConversation {
    /// A frame of the card's own protocol, which begins at `start` in the command; its answer is a part of `answer`.
    mutating func takeFrame(
        _ index: Int,
        _ frame: [UInt8],
        _ start: Int,
        _ answer: [UInt8],
        _ body: Range<Int>
    ) {
        guard let first = frame.first else { return }
        func place(_ range: Range<Int>) -> Range<Int> {
            (start + min(range.lowerBound, frame.count))..<(start + min(range.upperBound, frame.count))
        }
        if wantsSector {
            wantsSector = false
            if frame.count == 4 {
                sector = Int(first)
                return
            }
        }
        if let page = wantedPage {
            wantedPage = nil
            if frame.count == 16 { return takeCompatible(index, page, frame, start) }
        }
        switch technology {
        case .felica: return takeFeliCa(index, frame, start, answer, body)
        case .iso15693: return takeVicinity(index, frame, start, answer, body)
        default: break
        }
        let space = RedactionMemory.Space.pages(sector: sector)
        // The frame stands somewhere in the command, and so do the bytes that it writes.
        let command = [UInt8](repeating: 0, count: start) + frame
        switch (first, frame.count) {
        case (0x30, 2) where isClassic:
            // One byte is a refusal; the check bytes of a block do not belong here.
            guard body.count > 1 else { break }
            takeBlocks(index, Int(frame[1]), answer, body.prefix(16), isCommand: false)
            if body.count > 16 { unexamined.append(index) }
        case (0xA0, 2): wantedPage = Int(frame[1])
        case (0x30, 2):
            touch(space, 4 * Int(frame[1]), answer[body], index, isCommand: false, isWrite: false)
        case (0x3A, 3), (0x21, 3):
            touch(space, 4 * Int(frame[1]), answer[body], index, isCommand: false, isWrite: false)
        case (0xA2, 6):
            touch(space, 4 * Int(frame[1]), command[place(2..<6)], index, isCommand: true, isWrite: true)
            if sector == 0 { findPassword(index, page: Int(frame[1]), place(2..<6)) }
        case (0xC2, 2): wantsSector = true
        case (0x1B, 5), (0x1B, 17):
            span(index, command: true, place(1..<frame.count), .key)
            span(index, command: false, body, .key)
        case (0x60, 12), (0x61, 12):
            // A Classic's authentication: block, key, and the identifier or its end.
            isClassic = true
            span(index, command: true, place(2..<8), .key)
            authenticated.append(Array(frame[8...]))
            telling.insert(index)
        case (0x60, 1):
            // GET_VERSION of Type 2 tags, or the first part of DESFire's.
            if body.first.map({ answer[$0] }) == 0xAF { chain = (0x60, 1) }
        case (0x26, 1), (0x52, 1), (0x50, 2), (0xE0, 2): break
        case (0x93, _), (0x95, _), (0x97, _): takeAnticollision(index, frame, Array(answer[body]))
        case (0x3C, 2), (0x39, 2):
            // A signature of the identifier tells the card as well as that does. A counter tells little.
            if first == 0x3C, body.count == 32 {
                span(index, command: false, body, .identifier)
            } else if body.count > 1 {
                unexamined.append(index)
            }
        case (0x00, _) where frame.count >= 4, (0x90, _) where frame.count >= 4, (0xFF, _) where frame.count >= 4:
            takeAPDU(index, frame, Array(answer[body]))
        case _
        where chain == nil && !APDUSecrets.isSecretNative(first) && APDUSecrets.isSecretCommand(frame[...]):
            takeAPDU(index, frame, Array(answer[body]))
        // A lone frame of sixteen bytes may be anything, and 1A and what goes on with AF are looked at below.
        case _ where frame.count != 16 && first != 0x1A && chain == nil && APDUSecrets.isSecretFrame(frame[...]):
            let isVicinity = ![0x60, 0x61, 0xAF, 0x1B, 0xA2].contains(first)
            span(index, command: true, place((isVicinity ? 3 : 1)..<frame.count), .key)
            span(index, command: false, body.dropFirst(), .key)
        default:
            let status = body.first.map { answer[$0] } ?? 0
            takeNative(index, first, command, place(1..<frame.count), answer, body.dropFirst(), status: status)
        }
    }

    /// The second part of a write that all tags of the family know: sixteen bytes, of which a page takes four.
    private mutating func takeCompatible(_ index: Int, _ page: Int, _ frame: [UInt8], _ start: Int) {
        let command = [UInt8](repeating: 0, count: start) + frame
        guard !isClassic else {
            return takeBlocks(index, page, command, start..<command.count, isCommand: true)
        }
        let written = command[start..<(start + 4)]
        touch(.pages(sector: sector), 4 * page, written, index, isCommand: true, isWrite: true)
        if sector == 0 { findPassword(index, page: page, start..<(start + 4)) }
        if frame[4...].contains(where: { $0 != 0 }) { unexamined.append(index) }
    }

    /// Anticollision: the identifier in parts of three bytes behind a cascade tag, the last of four.
    private mutating func takeAnticollision(_ index: Int, _ frame: [UInt8], _ answer: [UInt8]) {
        telling.insert(index)
        let part: [UInt8]
        if frame.count == 2, frame[1] == 0x20, answer.count >= 5 {
            part = Array(answer[..<4])
        } else if frame.count >= 7, frame[1] == 0x70 {
            part = Array(frame[2..<6])
        } else {
            // Parts of bytes, behind a collision.
            if frame.count > 2 || !answer.isEmpty { unexamined.append(index) }
            return
        }
        // The selection repeats what the anticollision told.
        if frame[0] == 0x93 { cascade = [] }
        let levels: [UInt8: Int] = [0x93: 0, 0x95: 3, 0x97: 6]
        guard let length = levels[frame[0]], cascade.count >= length else { return }
        cascade = Array(cascade[..<length])
        if part[0] == CardUID.cascadeTag {
            cascade += part[1...]
        } else {
            identifiers.append(cascade + part)
        }
    }

    /// A native command of DESFire or Ultralight C, wrapped or not; `body` is the answer without its status.
    mutating func takeNative(
        _ index: Int,
        _ code: UInt8,
        _ command: [UInt8],
        _ data: Range<Int>,
        _ answer: [UInt8],
        _ body: Range<Int>,
        status: UInt8
    ) {
        let (current, part) = code == 0xAF ? (chain?.command ?? code, (chain?.part ?? 0) + 1) : (code, 1)
        chain = status == 0xAF ? (current, part) : nil
        switch current {
        case 0x60:
            // The third part: identifier, batch, week and year.
            guard part == 3, body.count >= 14 else {
                if part >= 3, !body.isEmpty { unexamined.append(index) }
                return
            }
            telling.insert(index)
            let bytes = Array(answer[body])
            identifiers.append(Array(bytes[..<7]))
            span(index, command: false, (body.lowerBound + 7)..<(body.lowerBound + 12), .identifier)
        case 0x0A, 0x1A, 0xAA, 0x71, 0x77, 0x70:
            let isFirst = part == 1
            span(index, command: true, isFirst ? data.upperBound..<data.upperBound : data, .authentication)
            span(index, command: false, body, .authentication)
        case 0xC4, 0xC6, 0xC9:
            span(index, command: true, data.dropFirst(), .key)
            span(index, command: false, body, .authentication)
        case 0x51: span(index, command: false, body, .identifier)
        case 0x6A, 0x6F, 0x61, 0x45, 0x64, 0xF5, 0x6E, 0x5A, 0xF6: break
        case 0xBD, 0xAD, 0xBB, 0xAB, 0x6C, 0x3B:
            span(index, command: false, body, .content)
        case 0x3D, 0x8D, 0x8B: span(index, command: true, data.dropFirst(7), .content)
        case _ where APDUSecrets.isSecretNative(current):
            span(index, command: true, data, .key)
            span(index, command: false, body, .key)
        default:
            if !body.isEmpty || !data.isEmpty { unexamined.append(index) }
        }
    }

    mutating func takeFeliCa(
        _ index: Int,
        _ frame: [UInt8],
        _ start: Int,
        _ answer: [UInt8],
        _ body: Range<Int>
    ) {
        // With the length byte or without it.
        let skip = frame.first.map(Int.init) == frame.count ? 1 : 0
        let from = body.first.map { Int(answer[$0]) } == body.count ? body.dropFirst() : body
        guard frame.count > skip else { return }
        let content = frame.dropFirst(skip)
        switch frame[skip] {
        case 0x00 where from.count >= 17, 0x04 where from.count >= 9:
            telling.insert(index)
            identifiers.append(Array(answer[(from.lowerBound + 1)..<(from.lowerBound + 9)]))
        case 0x06 where from.count > 12:
            touchBlocks(Array(content), answer, from.dropFirst(12), index, isCommand: false)
        case 0x08:
            let list = Array(content)
            guard let end = Self.blockListEnd(list), end <= list.count else { return }
            let command = [UInt8](repeating: 0, count: start) + frame
            touchBlocks(list, command, (start + skip + end)..<command.count, index, isCommand: true)
        // Polling, modes, services and systems; a reading that was refused.
        case 0x00, 0x02, 0x04, 0x06, 0x0A, 0x0C: break
        default:
            if content.count > 9 || from.count > 9 { unexamined.append(index) }
        }
    }

    /// The place behind the block list of a command, which begins with its code.
    static func blockListEnd(_ command: [UInt8]) -> Int? {
        guard command.count > 10 else { return nil }
        var place = 10 + 2 * Int(command[9])
        guard place < command.count else { return nil }
        let count = Int(command[place])
        place += 1
        for _ in 0..<count {
            guard place < command.count else { return nil }
            place += command[place] & 0x80 != 0 ? 2 : 3
        }
        return place
    }

    mutating func touchBlocks(
        _ command: [UInt8],
        _ bytes: [UInt8],
        _ range: Range<Int>,
        _ index: Int,
        isCommand: Bool
    ) {
        guard command.count > 10 else { return }
        var place = 11 + 2 * Int(command[9])
        var from = range.lowerBound
        while place + 1 < command.count, from + 16 <= range.upperBound {
            let isShort = command[place] & 0x80 != 0
            guard isShort || place + 2 < command.count else { return }
            let block = isShort ? Int(command[place + 1]) : Int(command[place + 2]) << 8 | Int(command[place + 1])
            // FeliCa Lite: the challenge, the proofs and the key.
            switch block {
            case 0x80, 0x81, 0x91: span(index, command: isCommand, from..<(from + 16), .authentication)
            case 0x87: span(index, command: isCommand, from..<(from + 16), .key)
            default: break
            }
            touch(.type3, 16 * block, bytes[from..<(from + 16)], index, isCommand: isCommand, isWrite: isCommand)
            place += isShort ? 2 : 3
            from += 16
        }
    }
}

// Commands of class FF, which are for the reader, and the frames that it takes within them (see FrameEncapsulation).
extension RedactionConversation {
    /// How deep commands may stand within commands.
    private static let depthLimit = 3

    mutating func takeReader(
        _ index: Int,
        _ command: [UInt8],
        _ data: Range<Int>,
        _ answer: [UInt8],
        _ body: Range<Int>,
        isSecret: Bool
    ) {
        let parameter = Int(command[2]) << 8 | Int(command[3])
        switch command[1] {
        case 0xCA:
            if parameter == 0, CardUID.lengths.contains(body.count) {
                identifiers.append(Array(answer[body]))
                telling.insert(index)
            } else if !body.isEmpty, parameter != 0x0100 {
                // 01 00 asks for the historical bytes, which stay as ATRs do.
                unexamined.append(index)
            }
        case 0x82: span(index, command: true, data, .key)
        case 0x86 where !isSecret, 0x88 where !isSecret: break
        case 0xB0: readBlock(index, parameter, answer, body)
        case 0xD6: writeBlock(index, parameter, command, data)
        case 0xF3:
            // SpringCard's reading of a Classic's blocks, by a key.
            span(index, command: true, data, .key)
            takeBlocks(index, parameter, answer, body, isCommand: false)
        case 0xF4:
            // Whole blocks, then a key or the place of one.
            let blocks = data.lowerBound..<(data.lowerBound + data.count / 16 * 16)
            takeBlocks(index, parameter, command, blocks, isCommand: true)
            span(index, command: true, blocks.upperBound..<data.upperBound, .key)
            if !body.isEmpty { unexamined.append(index) }
        case 0xFE:
            let technologies: [UInt8: Technology] = [2: .iso14443b, 4: .iso15693, 7: .felica]
            takeWithin(index, command, data, answer, body, technologies[command[2]])
        case 0xEF: takeWithin(index, command, data, answer, body)
        case 0x00 where data.count >= 2 && command[data.lowerBound] == 0xD4:
            takeChip(index, command, data, answer, body)
        case 0xC2: takeSession(index, command, data, answer, body)
        default:
            // The lights and the sound of an ACR122 say nothing of a card.
            let isLight = command[1] == 0x00 && command[2] == 0x40
            if isSecret {
                span(index, command: true, data, .key, isOwn: true)
                span(index, command: false, body, .key, isOwn: true)
            } else if !isLight, !data.isEmpty || !body.isEmpty {
                unexamined.append(index)
            }
        }
    }

    /// A control to the reader, which may be one of its commands.
    mutating func takeControl(_ index: Int, _ data: [UInt8], _ answer: [UInt8]) {
        if data.first == 0xFF, data.count >= CaptureLimits.shortestCommand {
            takeAPDU(index, data, answer)
        } else if !data.isEmpty || !answer.isEmpty {
            unexamined.append(index)
        }
    }

    /// A frame that is a part of a command, and its answer, which is a part of an answer: as if they stood alone.
    mutating func takeWithin(
        _ index: Int,
        _ command: [UInt8],
        _ frame: Range<Int>,
        _ answer: [UInt8],
        _ body: Range<Int>,
        _ technology: Technology? = nil
    ) {
        guard !frame.isEmpty || !body.isEmpty else { return }
        guard depth < Self.depthLimit, !frame.isEmpty else { return unexamined.append(index) }
        let (firstSpan, firstTouch) = (spans.count, memory.touches.count)
        let own = self.technology
        if own == nil { self.technology = technology }
        depth += 1
        takeFrame(index, Array(command[frame]), 0, Array(answer[body]), 0..<body.count)
        depth -= 1
        self.technology = own
        for place in firstSpan..<spans.count {
            let shift = spans[place].isCommand ? frame.lowerBound : body.lowerBound
            let range = spans[place].range
            spans[place].range = (range.lowerBound + shift)..<(range.upperBound + shift)
        }
        memory.shift(from: firstTouch, command: frame.lowerBound, answer: body.lowerBound)
    }

    /// A frame to a PN53x behind a reader: `D4 42 FRAME` or `D4 40 01 FRAME`.
    mutating func takeChip(
        _ index: Int,
        _ command: [UInt8],
        _ data: Range<Int>,
        _ answer: [UInt8],
        _ body: Range<Int>
    ) {
        let code = command[data.lowerBound + 1]
        switch code {
        case 0x40, 0x42:
            let start = data.lowerBound + (code == 0x40 ? 3 : 2)
            guard start <= data.upperBound else { return unexamined.append(index) }
            // D5, the code and a status stand before the frame.
            takeWithin(index, command, start..<data.upperBound, answer, body.dropFirst(3))
        case 0x4A, 0x60:
            if body.count > 8 { span(index, command: false, body.dropFirst(4), .identifier) }
        case 0x00, 0x02, 0x04, 0x06, 0x0C, 0x0E, 0x12, 0x14, 0x16, 0x32, 0x44, 0x52, 0x54: break
        default: unexamined.append(index)
        }
    }

    /// MANAGE SESSION, TRANSPARENT EXCHANGE and SWITCH PROTOCOL: data objects, the frame in `95` and its answer in `97`.
    private mutating func takeSession(
        _ index: Int,
        _ command: [UInt8],
        _ data: Range<Int>,
        _ answer: [UInt8],
        _ body: Range<Int>
    ) {
        guard let sent = Self.objects(command, data), let received = Self.objects(answer, body) else {
            return unexamined.append(index)
        }
        // Sessions, the field, timers, parameters, bit framing; status, bit framing, the answer to a selection.
        let harmless: Set<Int> = [
            0x80, 0x81, 0x82, 0x83, 0x84, 0x8F, 0x90, 0x91, 0x92, 0x96, 0xC0, 0x5F46, 0x5F51, 0xFF6D, 0xFF6E,
        ]
        let frames = sent.filter { $0.tag == 0x93 || $0.tag == 0x95 }
        let answers = received.filter { $0.tag == 0x97 }
        let others = (sent + received).filter { !harmless.contains($0.tag) && !$0.content.isEmpty }
        if others.count != frames.count + answers.count || frames.count > 1 || answers.count > 1 {
            unexamined.append(index)
        }
        for (place, frame) in frames.enumerated() {
            let content = place == 0 ? answers.first?.content ?? body.upperBound..<body.upperBound : 0..<0
            takeWithin(index, command, frame.content, answer, content)
        }
        if frames.isEmpty, !answers.isEmpty { unexamined.append(index) }
    }

    /// A row of data objects, or `nil` if it is malformed.
    private static func objects(_ bytes: [UInt8], _ range: Range<Int>) -> [(tag: Int, content: Range<Int>)]? {
        var result: [(tag: Int, content: Range<Int>)] = []
        var place = range.lowerBound
        func next() -> Int? {
            guard place < range.upperBound else { return nil }
            defer { place += 1 }
            return Int(bytes[place])
        }
        while place < range.upperBound {
            guard var tag = next() else { return nil }
            if tag & 0x1F == 0x1F {
                guard let low = next() else { return nil }
                tag = tag << 8 | low
            }
            guard var length = next() else { return nil }
            if length == 0x81 || length == 0x82 {
                var value = 0
                for _ in 0..<(length - 0x80) {
                    guard let byte = next() else { return nil }
                    value = value << 8 | byte
                }
                length = value
            } else if length > 0x82 {
                return nil
            }
            guard length <= range.upperBound - place else { return nil }
            result.append((tag, place..<(place + length)))
            place += length
        }
        return result
    }
}
