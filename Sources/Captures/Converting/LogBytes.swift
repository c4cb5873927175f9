import CardCore
import CardPasses

/// The bytes of a command or an answer, as a log shows them in one line or several.
struct LogBytes {
    enum Carrier: Hashable {
        case apdu
        case frame
        case control(UInt32)
    }

    var bytes: [UInt8] = []
    /// How many bits of the last byte of a frame count.
    var bits = 8
    var carrier = Carrier.apdu
    /// The lines that they stand on, at least one.
    var lines: [LogLine]
    /// Where they begin in the first line.
    var place: Int
    /// Why they cannot be relied on.
    var damage: CaptureError?
    /// Whether the log shows their end, or says how many there are.
    var isEnded = false
    /// Whether the log ends where a further line of them may be missing.
    var mayGoOn = false
    /// Where else they may end, if the last lines are none of them after all: so many bytes, on so many lines.
    var ends: [(count: Int, lines: Int)] = []
    /// Whether a line of theirs is shorter than the program makes them.
    var isShort = false

    var line: LogLine { lines[0] }
    var isCut: Bool { !isEnded && lines.last?.isCut == true }

    /// Nothing but a line.
    init(_ line: LogLine, at place: Int, bytes: [UInt8] = []) {
        (lines, self.place, self.bytes) = ([line], place, bytes)
    }

    func error(_ code: CaptureError.Code, _ message: String) -> CaptureError { line.error(code, at: place, message) }

    /// The first of them, on the first lines.
    func prefix(_ end: (count: Int, lines: Int)) -> LogBytes {
        var first = LogBytes(line, at: place, bytes: Array(bytes.prefix(end.count)))
        (first.lines, first.carrier) = (Array(lines.prefix(end.lines)), carrier)
        return first
    }

    /// Reads bytes in the ways in which they are written: with or without spaces, colons, commas, dashes and `0x`.
    ///
    /// What is in round brackets, behind a `#` or an `@`, or behind a colon and a space ends them, as does a word that is
    /// none; one that says that bytes are left out is a damage, and `SW=9000` or `(9000)` behind an answer is its end. A
    /// single digit is a damage but at the end of an answer, where older versions of pyscard write `90 00` as `90 0`.
    /// Frames may end in an incomplete byte, `0A/4`. A line may begin with the place of its first byte, `0010:`.
    ///
    /// - Parameter before: how many bytes stand before these.
    init(_ segments: [(line: LogLine, range: Range<Int>)], isAnswer: Bool, isFrame: Bool, before: Int = 0) {
        lines = segments.map(\.line)
        place = segments[0].range.lowerBound
        carrier = isFrame ? .frame : .apdu
        var text: [UInt8] = []
        var origins: [(line: LogLine, place: Int)] = []
        var (starts, isHalf) = ([Int]()[...], false)
        for (line, range) in segments {
            let halves = Self.halves(line.bytes[range])
            if !text.isEmpty, line.end(ofPrefix: "0x", at: range.lowerBound) != nil || halves.first == true && !isHalf {
                text.append(UInt8(ascii: " "))
                origins.append((line, range.lowerBound))
            }
            isHalf = halves.last == true
            starts.append(text.count)
            text += line.bytes[range]
            origins += range.map { (line, $0) }
        }
        var index = 0
        func digit(_ place: Int) -> UInt8? { text.indices.contains(place) ? CaptureCursor.digit(text[place]) : nil }
        func isSeparator(_ place: Int) -> Bool {
            let byte = text[place]
            if byte == UInt8(ascii: "-") { return digit(place - 1) != nil && digit(place + 1) != nil }
            return CaptureCursor.isSpace(byte) || [0x2C, 0x3A, 0x5B, 0x5D].contains(byte)
        }
        // A colon between bytes separates them, whatever spaces are round it.
        lazy var prose =
            text.split { CaptureCursor.isSpace($0) || [0x2C, 0x2D, 0x3A, 0x5B, 0x5D].contains($0) }
            .last { !Self.isPairs($0) }?.startIndex ?? -1
        lazy var last = text.lastIndex { !CaptureCursor.isSpace($0) } ?? -1
        func isEnd(_ colon: Int) -> Bool {
            let isBehind = colon > 0 && text[colon - 1] == 0x20
            return prose > colon ? isBehind || text[colon + 1] == 0x20 : isBehind && last == colon
        }
        lazy var hasZeros = text.indices.contains {
            text[$0...].starts(with: [0x30, 0x78, 0x30]) && digit($0 + 3) != nil
        }
        func spoil(_ place: Int, _ code: CaptureError.Code, _ message: String) {
            guard damage == nil else { return }
            let origin = place < origins.count ? origins[place] : nil
            damage = (origin?.line ?? line).error(code, at: origin?.place ?? segments[0].range.upperBound, message)
        }
        while index < text.count, damage == nil {
            let isColon = text[index] == UInt8(ascii: ":") && isEnd(index)
            let isHash = text[index] == 0x23 && !text[index...].starts(with: [0x23, 0x23, 0x23])
            let isNote =
                isColon || isHash || text[index...].starts(with: [0x2F, 0x2F])
                || [0x28, 0x40].contains(text[index])
            guard isNote || !isSeparator(index) else {
                index += 1
                continue
            }
            var end = index
            while end < text.count, !isSeparator(end), text[end] != UInt8(ascii: "(") { end += 1 }
            let word = text[index..<end]
            let isHex = word.allSatisfy { CaptureCursor.digit($0) != nil }
            // `[16 bytes removed]`
            let isCount =
                bytes.count > 1 && word.allSatisfy(CaptureCursor.isDigit)
                && text[end...].drop(while: CaptureCursor.isSpace).prefix(4).map { $0 | 0x20 } == Array("byte".utf8)
            if isNote || isCount || !bytes.isEmpty && Self.isProse(word) && !Self.hasPairs(text[end...]) {
                isEnded = true
                if isColon { break }
                let note = String(decoding: text[index...].prefix(80), as: UTF8.self).lowercased()
                if Self.leavesOut(note, isStatus: isAnswer && bytes.count == 2) {
                    spoil(index, .missingBytes, "bytes are left out here")
                } else if isAnswer, !isFrame, let status = Self.statusWord(note) {
                    if status.isEmpty { spoil(index, .invalidHex, "the status word cannot be read") }
                    if !bytes.reversed().starts(with: status.reversed()) { bytes += status }
                }
                break
            }
            var isHead = false
            while let start = starts.first, start <= index {
                starts.removeFirst()
                isHead = true
            }
            let isPlace = text[end...].starts(with: [0x3A, 0x20])
            if isHead, isHex, (4...8).contains(word.count), isPlace || text[end...].starts(with: [0x20, 0x20]),
                Self.hasPairs(text[end...])
            {
                let digits = String(decoding: word, as: UTF8.self)
                if [Int(digits, radix: 16), Int(digits)].contains(before + bytes.count) {
                    index = isPlace ? end + 1 : end
                    continue
                }
                if isPlace, !isEnd(end) {
                    spoil(index, .missingBytes, "\(before + bytes.count) bytes stand before this place")
                }
            }
            if isAnswer, !isFrame, end - index == 1, let last = digit(index), let first = bytes.last,
                Self.isStatus(first), text[end...].allSatisfy(CaptureCursor.isSpace),
                last == 0, !isCut || first == 0x90
            {
                bytes.append(last)
                break
            }
            if digit(index) == 0, end - index > 2, text[index + 1] | 0x20 == UInt8(ascii: "x") {
                index += 2
                // Python writes 0x0.
                if end - index == 1, let value = digit(index), !hasZeros {
                    bytes.append(value)
                    index = end
                }
            }
            let slash = text[index..<end].firstIndex(of: UInt8(ascii: "/"))
            while index < slash ?? end, damage == nil {
                guard let high = digit(index) else {
                    spoil(index, .invalidHex, "'\(Self.character(text[index...]))' is not a hexadecimal digit")
                    break
                }
                guard index + 1 < slash ?? end else {
                    spoil(index, .oddHex, "the number of hexadecimal digits is odd")
                    break
                }
                guard let low = digit(index + 1) else {
                    spoil(
                        index + 1,
                        .invalidHex,
                        "'\(Self.character(text[(index + 1)...]))' is not a hexadecimal digit"
                    )
                    break
                }
                bytes.append(high << 4 | low)
                index += 2
            }
            if let slash, damage == nil {
                let count = slash + 2 == end ? digit(slash + 1).map(Int.init) : nil
                let isLast = text[end...].allSatisfy(CaptureCursor.isSpace) || text[end...].contains(UInt8(ascii: "@"))
                if isFrame, let count, (1...7).contains(count), isLast {
                    bits = count
                } else {
                    spoil(slash, .invalidBits, "an incomplete byte has 1 to 7 bits and ends a frame")
                }
            }
            index = end
        }
        if last >= 0, [0x2C, 0x3A].contains(text[last]), !isEnded {
            spoil(text.count, .missingBytes, "the bytes go on behind the '\(Self.character(text[last...]))'")
        }
        // Somebody made the data unreadable.
        if isEnded, !isAnswer, !isFrame, Self.lacksData(bytes) {
            spoil(index, .missingBytes, "the command says that it has more data")
        }
    }

    /// Whether a command says that it has more data than there are; those that show a PIN have some always.
    static func lacksData(_ command: [UInt8]) -> Bool {
        guard isISO(command) else { return false }
        if command.count == 5, command[4] > 0, [0x20, 0x24, 0x2C].contains(command[1] & 0xFE) { return true }
        do throws(APDUError) { _ = try APDULayout(command) } catch { return error.code == .dataTruncated }
        return false
    }

    /// Whether a command is an APDU by its class: those that native DESFire sends count nothing.
    static func isISO(_ command: [UInt8]) -> Bool {
        command.first.map { $0 < 0x10 || (0x80...0x8F).contains($0) || [0x90, 0xA0, 0xFF].contains($0) } ?? false
    }

    private static func isPairs(_ word: ArraySlice<UInt8>) -> Bool {
        let digits = word.starts(with: [0x30, 0x78]) || word.starts(with: [0x30, 0x58]) ? word.dropFirst(2) : word
        return digits.count % 2 == 0 && digits.allSatisfy { CaptureCursor.digit($0) != nil }
    }

    /// Whether a word explains, and is no damaged bytes.
    private static func isProse(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count > 2, let first = word.first else { return false }
        let others = word.count { CaptureCursor.digit($0) == nil }
        let isOther = CaptureCursor.digit(first) == nil
        return word.contains(where: CaptureCursor.isDigit) ? isOther && others > 1 : others > 1 || isOther
    }

    /// Whether a note says that bytes are missing: by dots, a row of `X`, or words.
    private static func leavesOut(_ note: String, isStatus: Bool) -> Bool {
        let text = note.drop { " ([{<-/\"'“„‘`".contains($0) }
        for text in [text, text.drop { "# ".contains($0) }.drop { " ([{<-/\"'“„‘`".contains($0) }] {
            let word = text.prefix { !" )]}>,;\"'”“’`".contains($0) }
            if word.utf8.count > 2, word.allSatisfy({ "x*#?._…•●█■░▒▓".contains($0) }) { return true }
        }
        // At the beginnings of words: `executed` and `fetch` say nothing of that.
        let stems = ["snip", "trunc", "omit", "remov", "hidden", "redact", "mask", "censor", "anonym"]
        let words = note.split { !$0.isLetter }
        if words.contains(where: { word in word == "cut" || word == "etc" || stems.contains { word.hasPrefix($0) } }) {
            return true
        }
        // `61 10 (more bytes …)` explains.
        return !isStatus
            && (words.contains { $0 == "continued" || $0 == "continues" }
                || text.drop { "+ ".contains($0) || $0.isNumber }.hasPrefix("more byte"))
    }

    /// The status word that a note names, none if it cannot be read, or `nil` if the note is about something else.
    private static func statusWord(_ note: String) -> [UInt8]? {
        let word =
            #/[(\[{<|, ]*(?:sw|status(?: ?word)?)[12]{0,2}(?:sw2)?\W*(?:0x)?([0-9a-f]{2})\W*(?:sw2)?\W*(?:0x)?([0-9a-f]{2})\b/#
        if let found = note.prefixMatch(of: word) { return try? Hex.decode(String(found.1 + found.2)) }
        // In brackets or behind a `#` it needs no name.
        let plain =
            #/(?:(?:sw|status)[^(0-9]{0,16}\(|[(#\/{<])[(#\/ ]*(?:0x)?([0-9a-f]{2}) ?(?:0x)?([0-9a-f]{2})\b(?! ?(?:[0-9a-f]{2}\b|bytes?\b|[mµu]?s\b))/#
        if let found = note.prefixMatch(of: plain), let status = try? Hex.decode(String(found.1 + found.2)),
            isStatus(status[0])
        {
            return status
        }
        return note.prefixMatch(of: #/[(\[{<|, ]*sw[12]{0,2} ?[=:] ?\S*[0-9]/#) == nil ? nil : []
    }

    /// Which words have an odd number of digits.
    static func halves(_ text: ArraySlice<UInt8>) -> [Bool] {
        text.split { CaptureCursor.isSpace($0) || [0x2C, 0x3A, 0x2D, 0x5D].contains($0) }
            .map { $0.count % 2 == 1 }
    }

    private static func character(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix(4), as: UTF8.self).unicodeScalars.first.map { String($0) } ?? ""
    }

    /// Whether words of two hexadecimal digits stand there.
    static func hasPairs(_ text: ArraySlice<UInt8>, atLeast count: Int = 1) -> Bool {
        let words = text.split { CaptureCursor.isSpace($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ",") }
        let digits = words.filter { $0.count % 2 == 0 && $0.allSatisfy { CaptureCursor.digit($0) != nil } }
        return digits.reduce(0) { $0 + ($1.count == 2 || $1.count >= 8 ? $1.count / 2 : 0) } >= count
    }

    /// Whether an answer can end with a status word of that first byte (ISO/IEC 7816-4, 5.6).
    static func isStatus(_ first: UInt8) -> Bool { (0x61...0x6F).contains(first) || (0x90...0x9F).contains(first) }

    static func hasStatus(_ answer: [UInt8]) -> Bool { answer.count >= 2 && isStatus(answer[answer.count - 2]) }

    // MARK: Lines of bytes alone

    /// The place of what a line of bytes alone says, which goes on with the line before it; an explanation may follow.
    static func continuation(_ line: LogLine, to end: Int? = nil) -> Range<Int>? {
        let end = end ?? line.bytes.count
        let start = min(line.skippingSpaces(line.start), end)
        let text = line.bytes[start..<end]
        let colon = text.indices.first { place in
            text[place] == UInt8(ascii: ":") && (place == start || line.bytes[place - 1] == 0x20)
                && (place + 1 == line.bytes.count || line.bytes[place + 1] == 0x20)
        }
        let words = text[..<(colon ?? end)].split {
            CaptureCursor.isSpace($0) || [0x2C, 0x3A].contains($0)
        }
        .map { $0.starts(with: [0x30, 0x78]) || $0.starts(with: [0x30, 0x58]) ? $0.dropFirst(2) : $0 }
        let isHex = words.allSatisfy { !$0.isEmpty && $0.allSatisfy { CaptureCursor.digit($0) != nil } }
        // Only a line that was broken begins or ends with half a byte.
        let isPairs = words.dropFirst().dropLast().allSatisfy { $0.count % 2 == 0 }
        return (!words.isEmpty || colon == start) && isHex && isPairs ? start..<end : nil
    }

    /// A line of a dump: perhaps the place of its first byte, up to sixteen `HH `, then as many characters, in a column of
    /// their own behind the first line.
    ///
    /// - Parameter known: how many bytes it has, or `nil` if only the characters tell.
    static func dump(_ line: LogLine, at address: Int, known: Int?) -> [UInt8]? {
        let bytes = line.bytes[..<((line.bytes.lastIndex { !CaptureCursor.isSpace($0) } ?? -1) + 1)]
        var start = line.skippingSpaces(line.start)
        guard start < bytes.endIndex else { return nil }
        func word() -> ArraySlice<UInt8> { bytes[start...].prefix { !CaptureCursor.isSpace($0) } }
        // pcsc-spy marks what goes in and what comes out.
        if let mark = word().first, word().count == 1, [0x69, 0x6F].contains(mark | 0x20) {
            start = min(line.skippingSpaces(start + 1), bytes.endIndex)
        }
        let digits = word().filter { $0 != UInt8(ascii: ":") }
        if (4...8).contains(digits.count), digits.allSatisfy({ CaptureCursor.digit($0) != nil }) {
            guard Int(String(decoding: digits, as: UTF8.self), radix: 16) == address else { return nil }
            start = min(line.skippingSpaces(start + word().count), bytes.endIndex)
        }
        var found: [UInt8] = []
        for place in stride(from: start, to: min(start + 48, bytes.count), by: 3) where place + 1 < bytes.count {
            guard let high = CaptureCursor.digit(bytes[place]), let low = CaptureCursor.digit(bytes[place + 1]),
                place + 2 == bytes.count || CaptureCursor.isSpace(bytes[place + 2])
            else { break }
            found.append(high << 4 | low)
        }
        func fits(_ count: Int, from column: Int) -> Bool {
            guard bytes.count - column <= count, !line.isCut || line.bytes.count - column >= count else { return false }
            return (0..<count).allSatisfy { index in
                // Editors take away spaces at the end of a line.
                let shown = column + index < bytes.count ? bytes[column + index] : UInt8(ascii: " ")
                guard (0x20...0x7E).contains(found[index]) else { return shown == UInt8(ascii: ".") || shown >= 0x80 }
                return shown == found[index] || shown | 0x20 == found[index] | 0x20 && shown >= 0x40
            }
        }
        if let known {
            // The characters may look like further bytes.
            let isWhole = found.count == known || found.count > known && fits(known, from: start + 3 * known)
            return known > 0 && isWhole ? Array(found.prefix(known)) : nil
        }
        return (1...16).reversed().first { count in
            count <= found.count
                && (fits(count, from: start + 3 * count) || count == found.count && fits(count, from: start + 48))
        }
        .map { Array(found.prefix($0)) }
    }
}
