/// What is personal in the conversation with one card.
struct RedactionConversation {
    /// Some bytes of a command or an answer that are replaced as a whole.
    struct Span {
        var exchange: Int
        var isCommand: Bool
        var range: Range<Int>
        var kind: CaptureSecret.Kind
        /// Whether it is an NDEF message, whose records stay.
        var isMessage = false
    }

    private(set) var spans: [Span] = []
    private(set) var memory = RedactionMemory()
    /// Identifiers that the facts, the reader or the card told.
    private(set) var identifiers: [[UInt8]] = []
    /// Exchanges whose answers hold data that are not understood.
    private(set) var unexamined: [Int] = []

    private let technology: Technology?
    private let isClassic: Bool
    private var selected: UInt16?
    private var sector = 0
    private var wantsSector = false
    /// Where the next part of an announced answer belongs.
    private var following: (space: RedactionMemory.Space, address: Int)?
    /// A native DESFire or Type 2 command that goes on with `AF`.
    private var chain: (command: UInt8, part: Int)?
    private var isPass = false

    init(_ presentation: Capture.Presentation) {
        let facts = presentation.facts
        let atr = facts.atr.flatMap { try? ATR($0) }
        technology = facts.technology ?? atr?.technology
        let usesKeys = presentation.exchanges.contains { exchange in
            guard case .apdu(let bytes) = exchange.request, bytes.count > 1, bytes[0] == 0xFF else { return false }
            return [0x82, 0x86, 0x88].contains(bytes[1])
        }
        isClassic = usesKeys || atr?.storageCard?.displayName.contains("Classic") == true
        for name in ["uid", "idm", "pupi"] {
            if let bytes = facts[name] { identifiers.append(bytes) }
        }
        for (index, exchange) in presentation.exchanges.enumerated() { take(index, exchange) }
        findCascade()
    }

    // MARK: Exchanges

    private mutating func take(_ index: Int, _ exchange: Capture.Exchange) {
        switch (exchange.request, exchange.answer) {
        case (.apdu(let command), let answer):
            var bytes: [UInt8] = []
            if case .bytes(let given) = answer { bytes = given }
            takeAPDU(index, command, bytes)
        case (.raw(let frame), let answer):
            var bytes: [UInt8] = []
            if case .raw(let given) = answer { bytes = given.bytes }
            takeFrame(index, frame.bytes, 0, bytes, 0..<bytes.count)
        case (.control, _): break
        }
    }

    private mutating func span(
        _ index: Int,
        command: Bool,
        _ range: Range<Int>,
        _ kind: CaptureSecret.Kind,
        isMessage: Bool = false
    ) {
        guard !range.isEmpty else { return }
        spans.append(Span(exchange: index, isCommand: command, range: range, kind: kind, isMessage: isMessage))
    }

    private mutating func takeAPDU(_ index: Int, _ command: [UInt8], _ answer: [UInt8]) {
        guard command.count >= CaptureLimits.shortestCommand else { return }
        let layout = try? APDULayout(command)
        let data = layout?.data ?? (min(5, command.count)..<command.count)
        let body = 0..<max(0, answer.count - 2)
        let status = answer.suffix(2)
        let parameter = Int(command[2]) << 8 | Int(command[3])
        switch (command[0], command[1]) {
        case (0xFF, 0xCA):
            if parameter == 0, [4, 7, 8, 10].contains(body.count) { identifiers.append(Array(answer[body])) }
        case (0xFF, 0x82), (0xFF, 0xF3): span(index, command: true, data, .key)
        case (0xFF, 0x86), (0xFF, 0x88): break
        case (0xFF, 0xB0): readBlock(index, parameter, answer, body)
        case (0xFF, 0xD6): writeBlock(index, parameter, command, data)
        case (0xFF, 0xFE): takeFrame(index, Array(command[data]), data.lowerBound, answer, body)
        case (0xFF, 0x00) where data.count > 2 && command[data.lowerBound] == 0xD4:
            takeChip(index, command, data, answer, body)
        case (0xFF, _): break
        case (0x80, 0xCA): takeVAS(index, answer, body)
        case (0x90, 0x50) where isPass, (0x90, 0x52) where isPass, (0x90, 0x53) where isPass, (0x90, 0xC0) where isPass:
            span(index, command: true, data, .pass, isMessage: true)
            span(index, command: false, body, .pass, isMessage: command[1] != 0xC0)
        case (0x90, _): takeNative(index, command[1], command, data, answer, body, status: status.last ?? 0)
        case (_, 0xA4): select(command, data)
        case (_, 0xB0): readFile(index, parameter, answer, body, status)
        case (_, 0xB1): readLong(index, command, data, answer, body)
        case (_, 0xD6):
            if let selected, parameter < 0x8000 {
                touch(.file(selected), parameter, command[data], index, isCommand: true, isWrite: true)
            }
        case (_, 0xD7): writeLong(index, command, data)
        case (_, 0xC0): readFollowing(index, answer, body, status)
        case (_, 0x82), (_, 0x20), (_, 0x24), (_, 0x88):
            span(index, command: true, data, .key)
            span(index, command: false, body, .key)
        default:
            if !body.isEmpty { unexamined.append(index) }
        }
        if command[1] != 0xC0, command[1] != 0xB0, command[0] != 0x90 { following = nil }
    }

    private mutating func select(_ command: [UInt8], _ data: Range<Int>) {
        let name = Array(command[data])
        if command[2] == 0x04 {
            selected = nil
            // Wallets of phones: OSE.VAS.01 and Smart Tap.
            isPass = name == Array("OSE.VAS.01".utf8) || name.starts(with: [0xA0, 0x00, 0x00, 0x04, 0x76])
        } else if name.count == 2 {
            selected = UInt16(name[0]) << 8 | UInt16(name[1])
        }
    }

    private mutating func touch(
        _ space: RedactionMemory.Space,
        _ address: Int,
        _ bytes: ArraySlice<UInt8>,
        _ index: Int,
        isCommand: Bool,
        isWrite: Bool
    ) {
        memory.touch(space, address: address, bytes, exchange: index, isCommand: isCommand, isWrite: isWrite)
    }

    // MARK: Storage cards through the reader

    private mutating func readBlock(_ index: Int, _ block: Int, _ answer: [UInt8], _ body: Range<Int>) {
        guard isClassic else {
            let space: RedactionMemory.Space = technology == .iso15693 ? .type5 : .pages(sector: 0)
            return touch(space, 4 * block, answer[body], index, isCommand: false, isWrite: false)
        }
        for place in stride(from: body.lowerBound, to: body.upperBound, by: 16) {
            let range = place..<min(place + 16, body.upperBound)
            takeClassic(index, block + (place - body.lowerBound) / 16, answer, range, isCommand: false)
        }
    }

    private mutating func writeBlock(_ index: Int, _ block: Int, _ command: [UInt8], _ data: Range<Int>) {
        guard isClassic else {
            let space: RedactionMemory.Space = technology == .iso15693 ? .type5 : .pages(sector: 0)
            touch(space, 4 * block, command[data], index, isCommand: true, isWrite: true)
            if space == .pages(sector: 0) { findPassword(index, page: block, data) }
            return
        }
        takeClassic(index, block, command, data, isCommand: true)
    }

    private mutating func takeClassic(
        _ index: Int,
        _ block: Int,
        _ bytes: [UInt8],
        _ range: Range<Int>,
        isCommand: Bool
    ) {
        let isLarge = block >= 128
        let size = isLarge ? 16 : 4
        if block % size == size - 1 {
            span(index, command: isCommand, range.lowerBound..<min(range.lowerBound + 6, range.upperBound), .key)
            span(index, command: isCommand, min(range.lowerBound + 10, range.upperBound)..<range.upperBound, .key)
            return
        }
        if block == 0 { return }
        // Data blocks in a row, from sector 1 on, where the first sector of an NDEF application is.
        let row = isLarge ? 96 + (block - 128) / 16 * 15 + (block - 128) % 16 : block / 4 * 3 + block % 4
        touch(.classic, 16 * (row - 3), bytes[range], index, isCommand: isCommand, isWrite: isCommand)
    }

    /// Pages that hold a tag's password: where it lies depends on the tag, which its capability container tells.
    private mutating func findPassword(_ index: Int, page: Int, _ data: Range<Int>) {
        let size = memory.image(.pages(sector: 0))[14]
        let pages: [Int] =
            switch size {
            case 0x12: [0x2B, 0x2C]
            case 0x3E, 0x3F: [0x85, 0x86]
            case 0x6D, 0x6F: [0xE5, 0xE6]
            case 0x06, 0x10: [0x12, 0x13, 0x27, 0x28, 0x2C, 0x2D, 0x2E, 0x2F]
            case nil: [0x12, 0x13, 0x27, 0x28, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F, 0x85, 0x86, 0xE5, 0xE6]
            default: []
            }
        if pages.contains(page) { span(index, command: true, data, .key) }
    }

    // MARK: Frames of cards

    /// A frame to a PN53x behind a reader: `D4 42 FRAME` or `D4 40 01 FRAME`.
    private mutating func takeChip(
        _ index: Int,
        _ command: [UInt8],
        _ data: Range<Int>,
        _ answer: [UInt8],
        _ body: Range<Int>
    ) {
        let code = command[data.lowerBound + 1]
        guard code == 0x40 || code == 0x42, body.count >= 3 else {
            if code == 0x4A, body.count > 8 { span(index, command: false, body.dropFirst(4), .identifier) }
            return
        }
        let start = data.lowerBound + (code == 0x40 ? 3 : 2)
        guard start <= data.upperBound else { return }
        takeFrame(index, Array(command[start..<data.upperBound]), start, answer, body.dropFirst(3))
    }

    /// A frame of the card's own protocol, which begins at `start` in the command; its answer is a part of `answer`.
    private mutating func takeFrame(
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
        switch technology {
        case .felica: return takeFeliCa(index, frame, start, answer, body)
        case .iso15693: return takeVicinity(index, frame, start, answer, body)
        default: break
        }
        let space = RedactionMemory.Space.pages(sector: sector)
        // The frame stands somewhere in the command, and so do the bytes that it writes.
        let command = [UInt8](repeating: 0, count: start) + frame
        switch (first, frame.count) {
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
        case (0x60, 12), (0x61, 12): span(index, command: true, place(2..<8), .key)
        case (0x60, 1):
            // GET_VERSION of Type 2 tags, or the first part of DESFire's.
            if body.first.map({ answer[$0] }) == 0xAF { chain = (0x60, 1) }
        case (0x26, 1), (0x52, 1), (0x50, 2), (0x39, 2), (0x93, _), (0x95, _), (0x97, _), (0xE0, 2): break
        case (0x3C, 2): break
        case (0x00, _) where frame.count >= 4, (0x90, _) where frame.count >= 4, (0xFF, _) where frame.count >= 4:
            if start == 0 { takeAPDU(index, frame, Array(answer[body])) }
        default:
            let status = body.first.map { answer[$0] } ?? 0
            takeNative(index, first, command, place(1..<frame.count), answer, body.dropFirst(), status: status)
        }
    }

    /// A native command of DESFire or Ultralight C, wrapped or not; `body` is the answer without its status.
    private mutating func takeNative(
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
            guard part == 3, body.count >= 14 else { return }
            let bytes = Array(answer[body])
            identifiers.append(Array(bytes[..<7]))
            span(index, command: false, (body.lowerBound + 7)..<(body.lowerBound + 12), .identifier)
        case 0x0A, 0x1A, 0xAA, 0x71, 0x77, 0x70:
            let isFirst = part == 1
            span(index, command: true, isFirst ? data.upperBound..<data.upperBound : data, .authentication)
            span(index, command: false, body, .authentication)
        case 0xC4, 0xC6, 0xC9: span(index, command: true, data.dropFirst(), .key)
        case 0x51: span(index, command: false, body, .identifier)
        case 0x6A, 0x6F, 0x61, 0x45, 0x64, 0xF5, 0x6E, 0x5A, 0xF6: break
        case 0xBD, 0xAD, 0xBB, 0xAB, 0x6C, 0x3B:
            span(index, command: false, body, .content)
        case 0x3D, 0x8D, 0x8B: span(index, command: true, data.dropFirst(7), .content)
        default:
            if !body.isEmpty { unexamined.append(index) }
        }
    }

    private mutating func takeFeliCa(
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
            identifiers.append(Array(answer[(from.lowerBound + 1)..<(from.lowerBound + 9)]))
        case 0x06 where from.count > 12:
            touchBlocks(Array(content), answer, from.dropFirst(12), index, isCommand: false)
        case 0x08:
            let list = Array(content)
            guard let end = Self.blockListEnd(list), end <= list.count else { return }
            let command = [UInt8](repeating: 0, count: start) + frame
            touchBlocks(list, command, (start + skip + end)..<command.count, index, isCommand: true)
        default: break
        }
    }

    /// The place behind the block list of a command, which begins with its code.
    private static func blockListEnd(_ command: [UInt8]) -> Int? {
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

    private mutating func touchBlocks(
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
            touch(.type3, 16 * block, bytes[from..<(from + 16)], index, isCommand: isCommand, isWrite: isCommand)
            place += isShort ? 2 : 3
            from += 16
        }
    }

    /// ISO 15693: flags, code, perhaps the identifier, parameters.
    private mutating func takeVicinity(
        _ index: Int,
        _ frame: [UInt8],
        _ start: Int,
        _ answer: [UInt8],
        _ body: Range<Int>
    ) {
        guard frame.count >= 2 else { return }
        let isInventory = frame[0] & 0x04 != 0
        if isInventory || frame[1] == 0x01 {
            if body.count >= 10 {
                identifiers.append(answer[(body.lowerBound + 2)..<(body.lowerBound + 10)].reversed())
            }
            return
        }
        let place = frame[0] & 0x20 != 0 ? 10 : 2
        if place == 10, frame.count >= 10 { identifiers.append(frame[2..<10].reversed()) }
        guard place < frame.count else {
            if frame[1] == 0x2B, body.count >= 10 {
                identifiers.append(answer[(body.lowerBound + 2)..<(body.lowerBound + 10)].reversed())
            }
            return
        }
        let data = body.dropFirst(1)
        switch frame[1] {
        case 0x20:
            let address = Int(frame[place]) * max(data.count, 1)
            touch(.type5, address, answer[data], index, isCommand: false, isWrite: false)
        case 0x21:
            let size = max(frame.count - place - 1, 1)
            let command = [UInt8](repeating: 0, count: start) + frame
            let written = command[(start + place + 1)...]
            touch(.type5, Int(frame[place]) * size, written, index, isCommand: true, isWrite: true)
        case 0x23:
            guard place + 1 < frame.count else { return }
            let size = max(data.count / (Int(frame[place + 1]) + 1), 1)
            touch(.type5, Int(frame[place]) * size, answer[data], index, isCommand: false, isWrite: false)
        case 0xB3, 0xB4: span(index, command: true, (start + place)..<(start + frame.count), .key)
        default: break
        }
    }

    // MARK: Files

    private mutating func readFile(
        _ index: Int,
        _ offset: Int,
        _ answer: [UInt8],
        _ body: Range<Int>,
        _ status: ArraySlice<UInt8>
    ) {
        guard let selected, offset < 0x8000 else {
            if !body.isEmpty { unexamined.append(index) }
            return
        }
        touch(.file(selected), offset, answer[body], index, isCommand: false, isWrite: false)
        following = status.first == 0x61 ? (.file(selected), offset + body.count) : nil
    }

    private mutating func readFollowing(
        _ index: Int,
        _ answer: [UInt8],
        _ body: Range<Int>,
        _ status: ArraySlice<UInt8>
    ) {
        guard let place = following else {
            if !body.isEmpty { unexamined.append(index) }
            return
        }
        touch(place.space, place.address, answer[body], index, isCommand: false, isWrite: false)
        following = status.first == 0x61 ? (place.space, place.address + body.count) : nil
    }

    /// READ BINARY with an offset object `54`; the answer is an object `53`.
    private mutating func readLong(
        _ index: Int,
        _ command: [UInt8],
        _ data: Range<Int>,
        _ answer: [UInt8],
        _ body: Range<Int>
    ) {
        guard let selected, let (offset, _) = Self.object(0x54, command, data),
            let (_, content) = Self.object(0x53, answer, body)
        else {
            if !body.isEmpty { unexamined.append(index) }
            return
        }
        touch(.file(selected), offset, answer[content], index, isCommand: false, isWrite: false)
    }

    private mutating func writeLong(_ index: Int, _ command: [UInt8], _ data: Range<Int>) {
        guard let selected, let (offset, range) = Self.object(0x54, command, data),
            let (_, content) = Self.object(0x53, command, range.upperBound..<data.upperBound)
        else { return }
        touch(.file(selected), offset, command[content], index, isCommand: true, isWrite: true)
    }

    /// A data object at the beginning of some bytes: its content as a number, and where it stands.
    private static func object(_ tag: UInt8, _ bytes: [UInt8], _ range: Range<Int>) -> (Int, Range<Int>)? {
        guard range.count >= 2, bytes[range.lowerBound] == tag else { return nil }
        var place = range.lowerBound + 1
        var length = Int(bytes[place])
        place += 1
        if length == 0x81 || length == 0x82 {
            let count = length - 0x80
            guard place + count <= range.upperBound else { return nil }
            length = bytes[place..<(place + count)].reduce(0) { $0 << 8 | Int($1) }
            place += count
        }
        guard length <= range.upperBound - place else { return nil }
        let content = place..<(place + length)
        return (length <= 4 ? bytes[content].reduce(0) { $0 << 8 | Int($1) } : 0, content)
    }

    /// The answer to GET VAS DATA: `70 … 9F2A … 9F27 …`, of which the contents are replaced.
    private mutating func takeVAS(_ index: Int, _ answer: [UInt8], _ body: Range<Int>) {
        guard isPass else {
            if !body.isEmpty { unexamined.append(index) }
            return
        }
        var place = body.lowerBound
        while place + 2 < body.upperBound {
            if answer[place] == 0x9F, answer[place + 1] == 0x27 || answer[place + 1] == 0x2A {
                var length = Int(answer[place + 2])
                var start = place + 3
                if length == 0x81 || length == 0x82 {
                    let count = length - 0x80
                    guard start + count <= body.upperBound else { break }
                    length = answer[start..<(start + count)].reduce(0) { $0 << 8 | Int($1) }
                    start += count
                }
                let end = min(start + length, body.upperBound)
                span(index, command: false, start..<end, .pass)
                place = max(end, place + 1)
            } else {
                place += 1
            }
        }
    }

    // MARK: Type A identifiers in pages 0 to 2

    /// Pages 0 to 2 of a Type 2 tag hold the identifier with its check bytes.
    private mutating func findCascade() {
        let image = memory.image(.pages(sector: 0))
        let bytes = (0..<9).compactMap { image[$0] }
        guard bytes.count == 9, CardUID.checkByte(of: [CardUID.cascadeTag] + bytes[0..<4]) == 0,
            CardUID.checkByte(of: bytes[4..<9]) == 0
        else { return }
        identifiers.append(Array(bytes[0..<3] + bytes[4..<8]))
    }
}
