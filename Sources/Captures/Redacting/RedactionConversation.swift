import CardCore
import CardPasses
import CardTags

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
        /// Whether it is of an application, such as a PIN, and so secret whatever it is: no factory's key.
        var isOwn = false

        /// Whether it holds what everybody knows, or nothing.
        func isPublic(in presentation: Capture.Presentation) -> Bool {
            let exchange = presentation.exchanges[exchange]
            let bytes = isCommand ? exchange.request.bytes : exchange.answer.bytes
            let part = bytes[range.clamped(to: bytes.indices)]
            return part.isEmpty || !isOwn && RedactionVocabulary.isPublic(Array(part))
        }
    }

    var spans: [Span] = []
    var memory = RedactionMemory()
    /// Identifiers that the facts, the reader or the card told.
    var identifiers: [[UInt8]] = []
    /// Exchanges that tell the card's identifier.
    var telling: Set<Int> = []
    /// Exchanges that hold data that are not understood.
    var unexamined: [Int] = []

    var technology: Technology?
    var isClassic: Bool
    var selected: UInt16?
    var sector = 0
    var wantsSector = false
    /// The page or block to which the next frame of sixteen bytes is written.
    var wantedPage: Int?
    /// The parts of an identifier that anticollision gave so far.
    var cascade: [UInt8] = []
    /// The identifiers, or their last four bytes, with which a Classic's authentications were begun.
    var authenticated: [[UInt8]] = []
    /// How deep the command under way stands within commands to the reader.
    var depth = 0
    /// Where the next part of an announced answer belongs.
    var following: (space: RedactionMemory.Space, address: Int)?
    /// A native DESFire or Type 2 command that goes on with `AF`.
    var chain: (command: UInt8, part: Int)?
    var isPass = false
    /// Which commands are secret, in their order.
    var secrets = APDUSecrets()

    init(_ presentation: Capture.Presentation) {
        let facts = presentation.facts
        let atr = facts.atr.flatMap { try? ATR($0) }
        technology = facts.technology ?? atr?.technology
        let usesKeys = presentation.exchanges.contains { exchange in
            guard case .apdu(let bytes) = exchange.request, bytes.count > 1, bytes[0] == 0xFF else { return false }
            return [0x82, 0x86, 0x88, 0xF3, 0xF4].contains(bytes[1])
        }
        isClassic = usesKeys || ClassicSize(facts: facts) != nil
        for name in ["uid", "idm", "pupi"] {
            if let bytes = facts[name] { identifiers.append(bytes) }
        }
        for (index, exchange) in presentation.exchanges.enumerated() { take(index, exchange) }
        findCascade()
        for end in authenticated where !identifiers.contains(where: { $0.suffix(4).elementsEqual(end) }) {
            identifiers.append(end)
        }
    }

    // MARK: Exchanges

    mutating func take(_ index: Int, _ exchange: Capture.Exchange) {
        switch (exchange.request, exchange.answer) {
        case (.apdu(let command), let answer):
            var bytes: [UInt8] = []
            if case .bytes(let given) = answer { bytes = given }
            takeAPDU(index, command, bytes)
        case (.raw(let frame), let answer):
            var bytes: [UInt8] = []
            if case .raw(let given) = answer { bytes = given.bytes }
            takeFrame(index, frame.bytes, 0, bytes, 0..<bytes.count)
        case (.control(_, let data), let answer):
            var bytes: [UInt8] = []
            if case .bytes(let given) = answer { bytes = given }
            takeControl(index, data, bytes)
        }
    }

    mutating func span(
        _ index: Int,
        command: Bool,
        _ range: Range<Int>,
        _ kind: CaptureSecret.Kind,
        isMessage: Bool = false,
        isOwn: Bool = false
    ) {
        guard !range.isEmpty else { return }
        spans.append(
            Span(exchange: index, isCommand: command, range: range, kind: kind, isMessage: isMessage, isOwn: isOwn)
        )
    }

    mutating func takeAPDU(_ index: Int, _ command: [UInt8], _ answer: [UInt8]) {
        guard command.count >= CaptureLimits.shortestCommand else { return }
        let layout = try? APDULayout(command)
        let data = layout?.data ?? (min(5, command.count)..<command.count)
        let body = 0..<max(0, answer.count - 2)
        let status = answer.suffix(2)
        let parameter = Int(command[2]) << 8 | Int(command[3])
        // What is malformed is judged by its header alone.
        let judged = (try? CommandAPDU(bytes: command)) ?? (try? CommandAPDU(bytes: Array(command[..<4])))
        let isSecret = judged.map { secrets.isSecret($0) } ?? true
        switch (command[0], command[1]) {
        case (0xFF, _): takeReader(index, command, data, answer, body, isSecret: isSecret)
        case (0x80, 0xCA): takeVAS(index, data, answer, body)
        case (0x90, 0x50) where isPass, (0x90, 0x52) where isPass, (0x90, 0x53) where isPass, (0x90, 0xC0) where isPass:
            span(index, command: true, data, .pass, isMessage: true)
            span(index, command: false, body, .pass, isMessage: command[1] != 0xC0)
        case (0x90, _): takeNative(index, command[1], command, data, answer, body, status: status.last ?? 0)
        case _ where isSecret:
            span(index, command: true, data, .key, isOwn: true)
            span(index, command: false, body, .key, isOwn: true)
        case (_, 0xA4): select(index, command, data, body)
        case (_, 0xB0): readFile(index, parameter, answer, body, status)
        case (_, 0xB1): readLong(index, command, data, answer, body)
        case (_, 0xD6):
            if let selected, parameter < 0x8000 {
                touch(.file(selected), parameter, command[data], index, isCommand: true, isWrite: true)
            } else if !data.isEmpty {
                unexamined.append(index)
            }
        case (_, 0xD7): writeLong(index, command, data)
        case (_, 0xC0): readFollowing(index, answer, body, status)
        default:
            if !body.isEmpty || !data.isEmpty { unexamined.append(index) }
        }
        if command[1] != 0xC0, command[1] != 0xB0, command[0] != 0x90 { following = nil }
    }

    mutating func select(_ index: Int, _ command: [UInt8], _ data: Range<Int>, _ body: Range<Int>) {
        let name = Array(command[data])
        if command[2] == 0x04 {
            selected = nil
            // Wallets of phones: OSE.VAS.01 and Smart Tap.
            isPass = name == Array("OSE.VAS.01".utf8) || name.starts(with: [0xA0, 0x00, 0x00, 0x04, 0x76])
            // Other applications may say in their answer whose they are.
            let isNDEF = name.starts(with: [0xD2, 0x76, 0x00, 0x00, 0x85])
            if !isPass, !isNDEF, !body.isEmpty { unexamined.append(index) }
        } else if name.count == 2 {
            selected = UInt16(name[0]) << 8 | UInt16(name[1])
        }
    }

    mutating func touch(
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

    mutating func readBlock(_ index: Int, _ block: Int, _ answer: [UInt8], _ body: Range<Int>) {
        guard isClassic else {
            let space: RedactionMemory.Space = technology == .iso15693 ? .type5 : .pages(sector: 0)
            return touch(space, 4 * block, answer[body], index, isCommand: false, isWrite: false)
        }
        takeBlocks(index, block, answer, body, isCommand: false)
    }

    /// Blocks of a Classic in a row.
    mutating func takeBlocks(_ index: Int, _ block: Int, _ bytes: [UInt8], _ range: Range<Int>, isCommand: Bool) {
        for place in stride(from: range.lowerBound, to: range.upperBound, by: 16) {
            let part = place..<min(place + 16, range.upperBound)
            takeClassic(index, block + (place - range.lowerBound) / 16, bytes, part, isCommand: isCommand)
        }
    }

    mutating func writeBlock(_ index: Int, _ block: Int, _ command: [UInt8], _ data: Range<Int>) {
        guard isClassic else {
            let space: RedactionMemory.Space = technology == .iso15693 ? .type5 : .pages(sector: 0)
            touch(space, 4 * block, command[data], index, isCommand: true, isWrite: true)
            if space == .pages(sector: 0) { findPassword(index, page: block, data) }
            return
        }
        takeBlocks(index, block, command, data, isCommand: true)
    }

    mutating func takeClassic(
        _ index: Int,
        _ block: Int,
        _ bytes: [UInt8],
        _ range: Range<Int>,
        isCommand: Bool
    ) {
        if ClassicSize.isTrailer(block) {
            span(index, command: isCommand, range.lowerBound..<min(range.lowerBound + 6, range.upperBound), .key)
            span(index, command: isCommand, min(range.lowerBound + 10, range.upperBound)..<range.upperBound, .key)
            return
        }
        if block == 0 { return takeManufacturerBlock(index, bytes, range, isCommand: isCommand) }
        let sector = ClassicSize.sector(ofBlock: block)
        let first = ClassicSize.blocks(ofSector: sector).lowerBound + (sector == 0 ? 1 : 0)
        if ClassicSize.directorySectors.contains(sector) {
            let address = 16 * (block - first)
            touch(.directory(sector: sector), address, bytes[range], index, isCommand: isCommand, isWrite: isCommand)
        } else if let address = ClassicSize.dataAddress(ofBlock: block) {
            touch(.classic, address, bytes[range], index, isCommand: isCommand, isWrite: isCommand)
        } else {
            unexamined.append(index)
        }
    }

    /// Block 0: four bytes of identifier with a check byte, or seven without one; SAK, ATQA; what the maker wrote.
    private mutating func takeManufacturerBlock(
        _ index: Int,
        _ bytes: [UInt8],
        _ range: Range<Int>,
        isCommand: Bool
    ) {
        guard range.count >= 16 else {
            if range.count > 1 { unexamined.append(index) }
            return
        }
        telling.insert(index)
        let block = Array(bytes[range])
        let isLong = identifiers.contains { $0.elementsEqual(block[..<7]) }
        let isShort = !isLong && CardUID.checkByte(of: block[..<5]) == 0
        identifiers.append(Array(block[..<(isShort ? 4 : 7)]))
        let rest = range.lowerBound + (isShort ? 8 : 10)
        span(index, command: isCommand, rest..<range.upperBound, .identifier)
    }

    /// Pages that hold a tag's password: where it lies depends on the tag, which its capability container tells.
    mutating func findPassword(_ index: Int, page: Int, _ data: Range<Int>) {
        let size = memory.image(.pages(sector: 0))[14]
        let pages: [Int] =
            switch size {
            // Also an Ultralight C, whose key lies in the last four.
            case 0x12: [0x2B, 0x2C, 0x2D, 0x2E, 0x2F]
            case 0x3E, 0x3F: [0x85, 0x86]
            case 0x6D, 0x6F: [0xE5, 0xE6]
            case 0x06, 0x10: [0x12, 0x13, 0x27, 0x28, 0x2C, 0x2D, 0x2E, 0x2F]
            case nil: [0x12, 0x13, 0x27, 0x28, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F, 0x85, 0x86, 0xE5, 0xE6]
            default: []
            }
        if pages.contains(page) { span(index, command: true, data, .key) }
    }

    // MARK: Type A identifiers in pages 0 to 2

    /// Pages 0 to 2 of a Type 2 tag hold the identifier with its check bytes.
    mutating func findCascade() {
        let image = memory.image(.pages(sector: 0))
        let bytes = (0..<9).prefix { image[$0] != nil }.compactMap { image[$0] }
        guard bytes.count >= 5 else { return }
        for (space, touch) in memory.touches where space == .pages(sector: 0) && touch.address < 9 {
            telling.insert(touch.exchange)
        }
        let isFirst = CardUID.checkByte(of: [CardUID.cascadeTag] + bytes[..<4]) == 0
        if isFirst, bytes.count >= 8, bytes.count < 9 || CardUID.checkByte(of: bytes[4..<9]) == 0 {
            identifiers.append(Array(bytes[0..<3] + bytes[4..<8]))
        } else if CardUID.checkByte(of: bytes[..<5]) == 0, Set(bytes[..<4]).count > 1 {
            // Block 0 of a Classic that nothing told to be one. What its maker wrote is not looked for.
            identifiers.append(Array(bytes[..<4]))
            unexamined += memory.touches.filter { $0.space == .pages(sector: 0) && $0.touch.address == 0 }
                .map(\.touch.exchange)
        }
    }
}

// Files of ISO 7816 applications, and the answers of passes.
extension RedactionConversation {
    mutating func readFile(
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

    mutating func readFollowing(
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
    mutating func readLong(
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

    mutating func writeLong(_ index: Int, _ command: [UInt8], _ data: Range<Int>) {
        guard let selected, let (offset, range) = Self.object(0x54, command, data),
            let (_, content) = Self.object(0x53, command, range.upperBound..<data.upperBound)
        else {
            if !data.isEmpty { unexamined.append(index) }
            return
        }
        touch(.file(selected), offset, command[content], index, isCommand: true, isWrite: true)
    }

    /// A data object at the beginning of some bytes: its content as a number, and where it stands.
    static func object(_ tag: UInt8, _ bytes: [UInt8], _ range: Range<Int>) -> (Int, Range<Int>)? {
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
    mutating func takeVAS(_ index: Int, _ data: Range<Int>, _ answer: [UInt8], _ body: Range<Int>) {
        guard isPass else {
            if !data.isEmpty || !body.isEmpty { unexamined.append(index) }
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
}

// Frames of ISO/IEC 15693.
extension RedactionConversation {
    /// Flags, code, for makers' own commands the maker, perhaps the identifier, parameters.
    mutating func takeVicinity(
        _ index: Int,
        _ frame: [UInt8],
        _ start: Int,
        _ answer: [UInt8],
        _ body: Range<Int>
    ) {
        guard frame.count >= 2 else {
            if !body.isEmpty { unexamined.append(index) }
            return
        }
        let (flags, code) = (frame[0], frame[1])
        func identifier(at place: Int) {
            guard body.lowerBound + place + 8 <= body.upperBound else { return }
            let begin = body.lowerBound + place
            telling.insert(index)
            identifiers.append(answer[begin..<(begin + 8)].reversed())
        }
        if flags & 0x04 != 0 || code == 0x01 { return identifier(at: 2) }
        var place = code >= 0xA0 ? 3 : 2
        if flags & 0x20 != 0 {
            guard frame.count >= place + 8 else { return unexamined.append(index) }
            identifiers.append(frame[place..<(place + 8)].reversed())
            telling.insert(index)
            place += 8
        }
        let parameters = frame.dropFirst(place)
        // An answer that begins with the error flag holds only the error.
        let isError = body.first.map { answer[$0] & 0x01 != 0 } ?? true
        let data = isError ? body.upperBound..<body.upperBound : body.dropFirst(1)
        let command = [UInt8](repeating: 0, count: start) + frame
        switch code {
        case 0x02, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x2C, 0x3C, 0x22: break
        case 0x2B, 0x3B:
            if !isError { identifier(at: 2) }
        case 0x20, 0x23, 0x30, 0x33:
            guard let (block, count, _) = Self.blocks(Array(parameters), code) else { break }
            takeVicinityBlocks(index, block, count, hasSecurity: flags & 0x40 != 0, answer, data)
            return
        case 0x21, 0x24, 0x31, 0x34:
            guard let (block, count, length) = Self.blocks(Array(parameters), code) else { break }
            let written = min(start + place + length, command.count)..<command.count
            let size = written.count / count
            guard size > 0 else { return unexamined.append(index) }
            touch(.type5, block * size, command[written], index, isCommand: true, isWrite: true)
            return
        case 0xBD: span(index, command: false, data, .identifier)
        case 0xB2: span(index, command: false, data, .authentication)
        case 0xB1, 0xB3, 0xB4, 0xB9, 0xBA:
            span(index, command: true, (start + min(place, frame.count))..<command.count, .key)
        default:
            if !parameters.isEmpty || !data.isEmpty { unexamined.append(index) }
            return
        }
        // Blocks whose numbers are missing.
        if [0x20, 0x23, 0x30, 0x33, 0x21, 0x24, 0x31, 0x34].contains(code), !parameters.isEmpty || !data.isEmpty {
            unexamined.append(index)
        }
    }

    /// The first block, how many, and the length of the parameters that tell it. Extended commands have two bytes for
    /// each number, the low one first; the number of blocks is one less than it is.
    private static func blocks(_ parameters: [UInt8], _ code: UInt8) -> (block: Int, count: Int, length: Int)? {
        let isExtended = code & 0xF0 == 0x30
        let isMultiple = code & 0x0F >= 0x03
        let size = isExtended ? 2 : 1
        let length = isMultiple ? 2 * size : size
        guard parameters.count >= length else { return nil }
        func number(_ place: Int) -> Int {
            Int(parameters[place]) | (isExtended ? Int(parameters[place + 1]) << 8 : 0)
        }
        return (number(0), isMultiple ? number(size) + 1 : 1, length)
    }

    /// Blocks that were read, each behind its security byte if that was asked for.
    private mutating func takeVicinityBlocks(
        _ index: Int,
        _ block: Int,
        _ count: Int,
        hasSecurity: Bool,
        _ answer: [UInt8],
        _ data: Range<Int>
    ) {
        guard !data.isEmpty else { return }
        let step = data.count / count
        guard step > (hasSecurity ? 1 : 0), step * count == data.count else { return unexamined.append(index) }
        let size = hasSecurity ? step - 1 : step
        for number in 0..<count {
            let end = data.lowerBound + (number + 1) * step
            touch(
                .type5,
                (block + number) * size,
                answer[(end - size)..<end],
                index,
                isCommand: false,
                isWrite: false
            )
        }
    }
}
