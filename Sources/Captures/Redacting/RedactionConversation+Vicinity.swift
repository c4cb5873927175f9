import CardPasses
import CardTags

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
        case 0xB3, 0xB4: span(index, command: true, (start + min(place, frame.count))..<command.count, .key)
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
