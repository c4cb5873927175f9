import CardPasses

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
