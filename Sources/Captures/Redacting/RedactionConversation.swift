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
    /// Identifiers that the facts, the reader or the card reported.
    var identifiers: [[UInt8]] = []
    var telling: Set<Int> = []
    var unexamined: Set<Int> = []

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
    /// The exchange under way: its number, its bytes, or those of what it carries, and how deep and where those stand.
    private(set) var index = 0
    var command: [UInt8] = []
    var answer: [UInt8] = []
    private var depth = 0
    private var shift = (command: 0, answer: 0)
    /// Where the next part of an announced answer belongs.
    var following: (space: RedactionMemory.Space, address: Int)?
    /// A native DESFire or Type 2 command that goes on with `AF`.
    var chain: (command: UInt8, part: Int)?
    var isPass = false
    var secrets = APDUSecrets()

    init(_ presentation: Capture.Presentation) {
        let facts = presentation.facts
        technology = facts.shownTechnology
        let usesKeys = presentation.exchanges.contains { exchange in
            guard case .apdu(let bytes) = exchange.request, bytes.count > 1, bytes[0] == 0xFF else { return false }
            return [0x82, 0x86, 0x88, 0xF3, 0xF4].contains(bytes[1])
        }
        isClassic = usesKeys || ClassicSize(facts: facts) != nil
        for name in ["uid", "idm", "pupi"] {
            if let bytes = facts[name] { identifiers.append(bytes) }
        }
        for (index, exchange) in presentation.exchanges.enumerated() {
            self.index = index
            take(RecordedExchange(exchange))
        }
        findCascade()
        for end in authenticated where !identifiers.contains(where: { $0.suffix(4).elementsEqual(end) }) {
            identifiers.append(end)
        }
    }

    // MARK: Exchanges

    private mutating func take(_ exchange: RecordedExchange) {
        (command, answer) = (exchange.command, exchange.answer ?? [])
        switch exchange.carrier {
        case .apdu: takeAPDU(exchange)
        case .frame: takeFrame()
        // A control to the reader may be one of its commands.
        case .control where command.first == 0xFF && command.count >= CaptureLimits.shortestCommand: takeAPDU()
        case .control: unexamine(command.indices, answer.indices)
        }
    }

    mutating func takeAPDU() { take(RecordedExchange(.apdu, command, answer)) }

    /// A frame that is a part of a command, and its answer, which is a part of an answer: as if they stood alone.
    mutating func takeWithin(_ frame: Range<Int>, _ body: Range<Int>, _ technology: Technology? = nil) {
        guard !frame.isEmpty || !body.isEmpty else { return }
        guard depth < RecordedExchange.depthLimit, !frame.isEmpty else { return unexamine() }
        let outer = (command, answer, shift, self.technology)
        self.technology = self.technology ?? technology
        shift = (shift.command + frame.lowerBound, shift.answer + body.lowerBound)
        depth += 1
        take(RecordedExchange(.frame, Array(command[frame]), Array(answer[body])))
        depth -= 1
        (command, answer, shift, self.technology) = outer
    }

    /// Ranges of the command and of the answer under way that are replaced.
    mutating func span(
        command: Range<Int> = 0..<0,
        answer: Range<Int> = 0..<0,
        _ kind: CaptureSecret.Kind,
        isMessage: Bool = false,
        isOwn: Bool = false
    ) {
        for (isCommand, range) in [(true, command), (false, answer)] where !range.isEmpty {
            let start = range.lowerBound + (isCommand ? shift.command : shift.answer)
            let range = start..<(start + range.count)
            var span = Span(exchange: index, isCommand: isCommand, range: range, kind: kind)
            (span.isMessage, span.isOwn) = (isMessage, isOwn)
            spans.append(span)
        }
    }

    mutating func span(_ range: Range<Int>, isCommand: Bool, _ kind: CaptureSecret.Kind) {
        span(command: isCommand ? range : 0..<0, answer: isCommand ? 0..<0 : range, kind)
    }

    /// A range of the command under way that is written to a memory, or one of the answer that was read from it.
    mutating func touch(_ space: RedactionMemory.Space, _ address: Int, _ range: Range<Int>, isCommand: Bool) {
        let touch = RedactionMemory.Touch(
            space: space,
            exchange: index,
            isCommand: isCommand,
            offset: range.lowerBound + (isCommand ? shift.command : shift.answer),
            count: range.count,
            address: address
        )
        memory.note(touch, (isCommand ? command : answer)[range])
    }

    /// An identifier of the card that the exchange under way contains.
    mutating func tell(_ identifier: some Sequence<UInt8>) {
        telling.insert(index)
        identifiers.append(Array(identifier))
    }

    /// The exchange under way holds what is not understood: what stands there, if anything does, or anywhere.
    mutating func unexamine(_ ranges: Range<Int>...) {
        if ranges.isEmpty || ranges.contains(where: { !$0.isEmpty }) { unexamined.insert(index) }
    }

    private mutating func takeAPDU(_ exchange: RecordedExchange) {
        guard let apdu = exchange.apdu else { return }
        let data = apdu.dataRange
        let body = 0..<max(0, answer.count - 2)
        // What is malformed is judged by its header alone.
        let judged = (try? CommandAPDU(bytes: command)) ?? (try? CommandAPDU(bytes: Array(command[..<4])))
        let isSecret = judged.map { secrets.isSecret($0) } ?? true
        let file = apdu.parameter < 0x8000 ? selected.map { (RedactionMemory.Space.file($0), apdu.parameter) } : nil
        switch (apdu.cla, apdu.ins) {
        case (0xFF, _): takeReader(apdu, data, body, isSecret: isSecret)
        case (0x80, Instruction.getData): takeVAS(data, body)
        case (0x90, Instruction.getSmartTapData) where isPass, (0x90, Instruction.pushSmartTapData) where isPass,
            (0x90, Instruction.negotiateSecureSession) where isPass, (0x90, Instruction.getResponse) where isPass:
            span(command: data, .pass, isMessage: true)
            span(answer: body, .pass, isMessage: apdu.ins != Instruction.getResponse)
        case (0x90, _): takeNative(apdu.ins, data, body, status: answer.last ?? 0)
        case _ where isSecret: span(command: data, answer: body, .key, isOwn: true)
        case (_, Instruction.select): select(apdu, body)
        case (_, Instruction.readBinary): read(file, body)
        case (_, Instruction.withObjects(Instruction.readBinary)): takeLong(data, body, isWrite: false)
        case (_, Instruction.updateBinary):
            if let (space, offset) = file { touch(space, offset, data, isCommand: true) } else { unexamine(data) }
        case (_, Instruction.withObjects(Instruction.updateBinary)): takeLong(data, body, isWrite: true)
        case (_, Instruction.getResponse): read(following, body)
        default: unexamine(data, body)
        }
        let goesOn = [Instruction.getResponse, Instruction.readBinary].contains(apdu.ins) || apdu.cla == 0x90
        if !goesOn { following = nil }
    }

    private mutating func select(_ apdu: RecordedExchange.Parts, _ body: Range<Int>) {
        let name = apdu.data
        if apdu.p1 == 0x04 {
            selected = nil
            // Wallets of phones: OSE.VAS.01 and Smart Tap.
            isPass = name == Array("OSE.VAS.01".utf8) || name.starts(with: [0xA0, 0x00, 0x00, 0x04, 0x76])
            // Other applications may say in their answer whose they are.
            let isNDEF = name.starts(with: [0xD2, 0x76, 0x00, 0x00, 0x85])
            if !isPass, !isNDEF { unexamine(body) }
        } else if name.count == 2 {
            selected = UInt16(name[0]) << 8 | UInt16(name[1])
        }
    }

    // MARK: Storage cards

    mutating func takeStorage(_ block: Int, _ range: Range<Int>, isCommand: Bool) {
        guard !isClassic else { return takeBlocks(block, range, isCommand: isCommand) }
        let space: RedactionMemory.Space = technology == .iso15693 ? .type5 : .pages(sector: 0)
        touch(space, 4 * block, range, isCommand: isCommand)
        if isCommand, space == .pages(sector: 0) { findPassword(page: block, range) }
    }

    mutating func takeBlocks(_ block: Int, _ range: Range<Int>, isCommand: Bool) {
        for place in stride(from: range.lowerBound, to: range.upperBound, by: 16) {
            let part = place..<min(place + 16, range.upperBound)
            takeClassic(block + (place - range.lowerBound) / 16, part, isCommand: isCommand)
        }
    }

    private mutating func takeClassic(_ block: Int, _ range: Range<Int>, isCommand: Bool) {
        if ClassicSize.isTrailer(block) {
            span(range.prefix(6), isCommand: isCommand, .key)
            return span(range.dropFirst(10), isCommand: isCommand, .key)
        }
        if block == 0 { return takeManufacturerBlock(range, isCommand: isCommand) }
        let sector = ClassicSize.sector(ofBlock: block)
        let first = ClassicSize.blocks(ofSector: sector).lowerBound + (sector == 0 ? 1 : 0)
        if ClassicSize.directorySectors.contains(sector) {
            touch(.directory(sector: sector), 16 * (block - first), range, isCommand: isCommand)
        } else if let address = ClassicSize.dataAddress(ofBlock: block) {
            touch(.classic, address, range, isCommand: isCommand)
        } else {
            unexamine()
        }
    }

    /// Block 0: four bytes of identifier with a check byte, or seven without one; SAK, ATQA; what the maker wrote.
    private mutating func takeManufacturerBlock(_ range: Range<Int>, isCommand: Bool) {
        guard range.count >= 16 else { return unexamine(range.dropFirst()) }
        let block = Array((isCommand ? command : answer)[range])
        let isLong = identifiers.contains { $0.elementsEqual(block[..<7]) }
        let isShort = !isLong && CardUID.checkByte(of: block[..<5]) == 0
        tell(block[..<(isShort ? 4 : 7)])
        span(range.dropFirst(isShort ? 8 : 10), isCommand: isCommand, .identifier)
    }

    /// Pages that hold a password or a key, by the size in a tag's capability container.
    private static let passwordPages: [(sizes: [UInt8], pages: [Int])] = [
        // Also an Ultralight C, whose key lies in the last four.
        ([0x12], [0x2B, 0x2C, 0x2D, 0x2E, 0x2F]), ([0x3E, 0x3F], [0x85, 0x86]), ([0x6D, 0x6F], [0xE5, 0xE6]),
        ([0x06, 0x10], [0x12, 0x13, 0x27, 0x28, 0x2C, 0x2D, 0x2E, 0x2F]),
    ]

    /// Finds a password in what is written to a page, which may be any tag's while the size is not known.
    mutating func findPassword(page: Int, _ data: Range<Int>) {
        let size = memory.image(.pages(sector: 0))[14]
        let tags = Self.passwordPages.filter { size.map($0.sizes.contains) ?? true }
        if tags.contains(where: { $0.pages.contains(page) }) { span(command: data, .key) }
    }

    // MARK: Type A identifiers in pages 0 to 2

    /// Pages 0 to 2 of a Type 2 tag hold the identifier with its check bytes.
    mutating func findCascade() {
        let image = memory.image(.pages(sector: 0))
        let bytes = (0..<9).prefix { image[$0] != nil }.compactMap { image[$0] }
        guard bytes.count >= 5 else { return }
        for touch in memory.touches where touch.space == .pages(sector: 0) && touch.address < 9 {
            telling.insert(touch.exchange)
        }
        let isFirst = CardUID.checkByte(of: [CardUID.cascadeTag] + bytes[..<4]) == 0
        if isFirst, bytes.count >= 8, bytes.count < 9 || CardUID.checkByte(of: bytes[4..<9]) == 0 {
            identifiers.append(Array(bytes[0..<3] + bytes[4..<8]))
        } else if CardUID.checkByte(of: bytes[..<5]) == 0, Set(bytes[..<4]).count > 1 {
            // Block 0 of a Classic that nothing told to be one. What its maker wrote is not looked for.
            identifiers.append(Array(bytes[..<4]))
            unexamined.formUnion(
                memory.touches.filter { $0.space == .pages(sector: 0) && $0.address == 0 }.map(\.exchange)
            )
        }
    }
}

// Files of ISO 7816 applications, and the answers of passes.
extension RedactionConversation {
    private mutating func read(_ place: (space: RedactionMemory.Space, address: Int)?, _ body: Range<Int>) {
        guard let (space, address) = place else { return unexamine(body) }
        touch(space, address, body, isCommand: false)
        following = answer.suffix(2).first == 0x61 ? (space, address + body.count) : nil
    }

    /// READ BINARY and UPDATE BINARY with an offset object `54`; what is read or written is an object `53`.
    private mutating func takeLong(_ data: Range<Int>, _ body: Range<Int>, isWrite: Bool) {
        guard let selected, let place = Self.object(0x54, command, data),
            let content = isWrite
                ? Self.object(0x53, command, place.upperBound..<data.upperBound) : Self.object(0x53, answer, body)
        else { return unexamine(isWrite ? data : body) }
        let offset = place.count <= 4 ? command.number(at: place.lowerBound, count: place.count) : 0
        touch(.file(selected), offset, content, isCommand: isWrite)
    }

    /// Where the content of a data object stands with which some bytes begin.
    private static func object(_ tag: UInt8, _ bytes: [UInt8], _ range: Range<Int>) -> Range<Int>? {
        guard range.count >= 2, bytes[range.lowerBound] == tag,
            let (length, start) = length(bytes, at: range.lowerBound + 1, before: range.upperBound),
            length <= range.upperBound - start
        else { return nil }
        return start..<(start + length)
    }

    /// The length of a data object, in up to two bytes behind `81` or `82`, and where its content begins.
    private static func length(_ bytes: [UInt8], at place: Int, before end: Int) -> (length: Int, start: Int)? {
        let more = bytes[place] == 0x81 ? 1 : bytes[place] == 0x82 ? 2 : 0
        guard more > 0 else { return (Int(bytes[place]), place + 1) }
        guard place + 1 + more <= end else { return nil }
        return (bytes.number(at: place + 1, count: more), place + 1 + more)
    }

    /// A row of data objects, or `nil` if it is malformed.
    static func objects(_ bytes: [UInt8], _ range: Range<Int>) -> [(tag: Int, content: Range<Int>)]? {
        var result: [(tag: Int, content: Range<Int>)] = []
        var place = range.lowerBound
        while place < range.upperBound {
            let size = bytes[place] & 0x1F == 0x1F ? 2 : 1
            guard place + size < range.upperBound, bytes[place + size] <= 0x82,
                let (length, start) = length(bytes, at: place + size, before: range.upperBound),
                length <= range.upperBound - start
            else { return nil }
            result.append((bytes.number(at: place, count: size), start..<(start + length)))
            place = start + length
        }
        return result
    }

    /// The answer to GET VAS DATA: `70 … 9F2A … 9F27 …`, of which the contents are replaced.
    private mutating func takeVAS(_ data: Range<Int>, _ body: Range<Int>) {
        guard isPass else { return unexamine(data, body) }
        var place = body.lowerBound
        while place + 2 < body.upperBound {
            if answer[place] == 0x9F, answer[place + 1] == 0x27 || answer[place + 1] == 0x2A {
                guard let (length, start) = Self.length(answer, at: place + 2, before: body.upperBound) else { break }
                place = min(start + length, body.upperBound)
                span(answer: start..<place, .pass)
            } else {
                place += 1
            }
        }
    }
}

// Frames of ISO/IEC 15693.
extension RedactionConversation {
    /// Flags, code, for makers' own commands the maker, perhaps the identifier, parameters.
    mutating func takeVicinity() {
        guard command.count >= 2 else { return unexamine(answer.indices) }
        let (flags, code) = (command[0], command[1])
        let answered = answer.count >= 10 ? answer[2..<10].reversed() : nil
        if flags & 0x04 != 0 || code == 0x01 {
            if let answered { tell(answered) }
            return
        }
        var place = code >= 0xA0 ? 3 : 2
        if flags & 0x20 != 0 {
            guard command.count >= place + 8 else { return unexamine() }
            tell(command[place..<(place + 8)].reversed())
            place += 8
        }
        let parameters = command.indices.dropFirst(place)
        // An answer that begins with the error flag holds only the error.
        let isError = answer.first.map { $0 & 0x01 != 0 } ?? true
        let data = answer.indices.dropFirst(isError ? answer.count : 1)
        switch code {
        case 0x02, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x2C, 0x3C, 0x22: break
        case 0x2B, 0x3B:
            if !isError, let answered { tell(answered) }
        case 0x20, 0x23, 0x30, 0x33, 0x21, 0x24, 0x31, 0x34:
            guard let (block, count, length) = Self.blocks(Array(command[parameters]), code) else {
                return unexamine(parameters, data)
            }
            guard [0x01, 0x04].contains(code & 0x0F) else {
                return takeVicinityBlocks(block, count, hasSecurity: flags & 0x40 != 0, data)
            }
            let written = parameters.dropFirst(length)
            let size = written.count / count
            guard size > 0 else { return unexamine() }
            touch(.type5, block * size, written, isCommand: true)
        case 0xBD: span(answer: data, .identifier)
        case 0xB2: span(answer: data, .authentication)
        case 0xB1, 0xB3, 0xB4, 0xB9, 0xBA: span(command: parameters, .key)
        default: unexamine(parameters, data)
        }
    }

    /// The first block, how many, and the length of the parameters that state them. Extended commands have two bytes for
    /// each number, the low one first; the number of blocks is one less than it is.
    private static func blocks(_ parameters: [UInt8], _ code: UInt8) -> (block: Int, count: Int, length: Int)? {
        let isExtended = code & 0xF0 == 0x30
        let isMultiple = code & 0x0F >= 0x03
        let size = isExtended ? 2 : 1
        let length = isMultiple ? 2 * size : size
        guard parameters.count >= length else { return nil }
        func number(_ place: Int) -> Int { Int(parameters[place]) | (isExtended ? Int(parameters[place + 1]) << 8 : 0) }
        return (number(0), isMultiple ? number(size) + 1 : 1, length)
    }

    /// Blocks that were read, each behind its security byte if that was asked for.
    private mutating func takeVicinityBlocks(_ block: Int, _ count: Int, hasSecurity: Bool, _ data: Range<Int>) {
        guard !data.isEmpty else { return }
        let step = data.count / count
        guard step > (hasSecurity ? 1 : 0), step * count == data.count else { return unexamine() }
        let size = hasSecurity ? step - 1 : step
        for number in 0..<count {
            let end = data.lowerBound + (number + 1) * step
            touch(.type5, (block + number) * size, (end - size)..<end, isCommand: false)
        }
    }
}
