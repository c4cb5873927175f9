import CardCore
import CardPasses
import CardTags

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
