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
