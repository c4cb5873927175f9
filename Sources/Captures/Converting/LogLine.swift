import CardCore
import CardPasses

/// One line of a log: its bytes, with what steers a terminal replaced by spaces, so that columns stay.
struct LogLine {
    let bytes: [UInt8]
    let number: Int
    let file: String?
    /// The bytes in small letters, to look for words.
    private let small: [UInt8]
    /// Where its own words begin: behind the marks of a quotation and, if most lines have one, behind a time.
    var start = 0
    /// Whether it is the last one and has no line end: what it says may go on.
    var isCut = false

    init(bytes: [UInt8], number: Int, file: String?, isCut: Bool = false) {
        (self.bytes, self.number, self.file, self.isCut) = (bytes, number, file, isCut)
        small = bytes.map(Self.small)
    }

    private static func small(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    var isBlank: Bool { bytes[min(start, bytes.count)...].allSatisfy(CaptureCursor.isSpace) }

    /// Splits a text, within the limits that hold for captures. It may be UTF-16, and quoted in a mail.
    static func split(_ text: [UInt8], file: String?) throws(CaptureError) -> [LogLine] {
        guard text.count <= CaptureLimits.fileLength else {
            let message = "the file has \(text.count) bytes, \(CaptureLimits.fileLength) are allowed"
            throw CaptureError(file: file, line: 1, column: 1, code: .fileTooLong, message: message)
        }
        var lines: [LogLine] = []
        var rest = utf8(text)[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != 0x0A && $0 != 0x0D }
            let number = lines.count + 1
            guard line.count <= CaptureLimits.lineLength else {
                let message = "the line has \(line.count) bytes, \(CaptureLimits.lineLength) are allowed"
                throw CaptureError(file: file, line: number, column: 1, code: .lineTooLong, message: message)
            }
            rest = rest[line.endIndex...]
            lines.append(LogLine(bytes: plain(line), number: number, file: file, isCut: rest.isEmpty))
            // A line ends with LF, CR, or any number of CR before an LF.
            let returns = rest.prefix { $0 == 0x0D }
            rest = rest[returns.endIndex...].first == 0x0A ? rest[returns.endIndex...].dropFirst() : rest.dropFirst()
        }
        unquote(&lines)
        let ends = lines.map { $0.isBlank ? $0.start : $0.endOfStamp }
        if isMost(lines, { ends[$0] > lines[$0].skippingSpaces(lines[$0].start) }) {
            for index in lines.indices { lines[index].start = ends[index] }
        }
        return lines
    }

    /// UTF-16, which Windows' shells write, as UTF-8: by its mark, or by the zeros in every other place.
    private static func utf8(_ text: [UInt8]) -> [UInt8] {
        let head = text.prefix(64)
        let zeros = head.indices.filter { head[$0] == 0 }
        let isEven = !zeros.isEmpty && zeros.allSatisfy { $0 % 2 == 0 }
        let isOdd = !zeros.isEmpty && zeros.allSatisfy { $0 % 2 == 1 }
        let isWide = zeros.count * 3 >= head.count
        guard text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) || isWide && (isEven || isOdd) else {
            return text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
        }
        let isBig = text.starts(with: [0xFE, 0xFF]) || isEven && !text.starts(with: [0xFF, 0xFE])
        let units = stride(from: 0, to: text.count - 1, by: 2).map { place -> UInt16 in
            let (high, low) = isBig ? (text[place], text[place + 1]) : (text[place + 1], text[place])
            return UInt16(high) << 8 | UInt16(low)
        }
        return Array(String(decoding: units.first == 0xFEFF ? units.dropFirst() : units[...], as: UTF16.self).utf8)
    }

    /// Replaces ANSI colours (`ESC [ … letter`), other control characters and no-break spaces by spaces, one for each
    /// byte, and what HTML writes for marks by the marks. A NUL within a line stands for what was lost there.
    private static func plain(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = Array(line)
        let isPlain = bytes.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "&") }
        guard !isPlain else { return bytes }
        let words = bytes.indices.filter { bytes[$0] != 0 && !CaptureCursor.isSpace(bytes[$0]) }
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x1B, index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "[") {
                let end = bytes[(index + 2)...].firstIndex { (0x40...0x7E).contains($0) } ?? bytes.count - 1
                for place in index...end { bytes[place] = UInt8(ascii: " ") }
                index = end
            } else if byte == 0, let first = words.first, let last = words.last, (first...last).contains(index) {
                bytes[index] = UInt8(ascii: "?")
            } else if byte < 0x20 || byte == 0x7F {
                bytes[index] = UInt8(ascii: " ")
            } else if byte == 0xC2, index + 1 < bytes.count, bytes[index + 1] == 0xA0 {
                bytes[index] = UInt8(ascii: " ")
                bytes[index + 1] = UInt8(ascii: " ")
            } else if byte == 0xE2, index + 2 < bytes.count, bytes[index + 1] == 0x80,
                (0x80...0x8D).contains(bytes[index + 2]) || bytes[index + 2] == 0xAF
            {
                // U+2000 to U+200D and U+202F: spaces of every width, and of none.
                for place in index...(index + 2) { bytes[place] = UInt8(ascii: " ") }
            }
            index += 1
        }
        guard bytes.contains(UInt8(ascii: "&")) else { return bytes }
        let text = String(decoding: bytes, as: UTF8.self)
        let marks = [("&nbsp;", " "), ("&gt;", ">"), ("&lt;", "<"), ("&amp;", "&")]
        return Array(marks.reduce(text) { $0.replacing($1.0, with: $1.1) }.utf8)
    }

    // MARK: What stands before a line's own words

    private static func isMost(_ lines: [LogLine], _ isSo: (Int) -> Bool) -> Bool {
        let spoken = lines.indices.filter { !lines[$0].isBlank }
        return !spoken.isEmpty && spoken.count(where: isSo) * 5 >= spoken.count * 4
    }

    /// Takes off the `>` of a mail, level by level. A transcript has such marks of its own: it is one of a mail if
    /// something else that a log says stands behind them.
    private static func unquote(_ lines: inout [LogLine]) {
        let others: [StaticString] = [
            "libnfc.", "SW:", "RX:", "Received", "Response:", "<Buffer", "Incoming", "| Tag", "bRecvBuffer", "[nfc.",
            "<<",
        ]
        for _ in 0..<4 {
            func first(_ line: LogLine, _ start: Int) -> UInt8? {
                let place = line.skippingSpaces(start)
                return place < line.bytes.count ? line.bytes[place] : nil
            }
            let marks = lines.map { first($0, $0.start) }
            guard isMost(lines, { marks[$0] == UInt8(ascii: ">") }), !marks.contains(UInt8(ascii: "<")) else { return }
            let isQuoted = lines.contains { line in
                let place = line.skippingSpaces(line.start) + 1
                let next = first(line, place)
                // `>>` is a mark of its own.
                let isMark = next == UInt8(ascii: "<") || next == UInt8(ascii: ">") && line.bytes[place] == 0x20
                return isMark || others.contains { line.contains($0) }
            }
            guard isQuoted else { return }
            for index in lines.indices where marks[index] == UInt8(ascii: ">") {
                let place = lines[index].skippingSpaces(lines[index].start) + 1
                let isSpace = place < lines[index].bytes.count && CaptureCursor.isSpace(lines[index].bytes[place])
                lines[index].start = isSpace ? place + 1 : place
            }
        }
    }

    private static let days: Set<String> = [
        "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
        "Oct", "Nov", "Dec",
    ]

    private static let levels: Set<String> = ["trace", "debug", "info", "warn", "warning", "error", "critical"]

    /// The place behind a date, a time, the name of a machine and a program, words in square brackets, a level and the name
    /// of a logger, a container's name before a bar; the place of the first word if there is nothing such.
    var endOfStamp: Int {
        var place = skippingSpaces(start)
        var (isDated, isDay) = (false, false)
        while place < bytes.count {
            let end = bytes[place...].firstIndex(where: CaptureCursor.isSpace) ?? bytes.count
            let word = text(from: place, to: end)
            let next = skippingSpaces(end)
            let isNumber = word.utf8.allSatisfy(CaptureCursor.isDigit)
            let isTime =
                word.utf8.first.map(CaptureCursor.isDigit) == true
                && word.utf8.allSatisfy { CaptureCursor.isDigit($0) || ":.,+-/TZs".utf8.contains($0) }
                && (word.contains(":") || word.split(whereSeparator: { ".-/".contains($0) }).count > 1)
            if word.hasPrefix("["), let bracket = bytes[place...].firstIndex(of: UInt8(ascii: "]")), bracket > place + 1
            {
                place = skippingSpaces(bracket + 1)
            } else if isTime || isNumber && isDay {
                (isDated, place, isDay) = (true, next, false)
            } else if Self.days.contains(word.capitalized.replacing(",", with: "")) {
                (isDay, place) = (true, next)
            } else if isNumber, text(from: next, to: next + 3).lowercased() == "ms" {
                place = skippingSpaces(next + 2)
            } else if isDated, let end = endOfProgram(next) {
                return end
            } else if isDated, let end = endOfLogcat(place) {
                return end
            } else if let end = endOfLogger(word, at: place, next, isDated) {
                (isDated, place) = (true, end)
            } else if next + 1 < bytes.count, bytes[next] == UInt8(ascii: "|"), bytes[next + 1] == 0x20, !isNumber,
                !["rdr", "tag", "src"].contains(word.lowercased())
            {
                return skippingSpaces(next + 1)
            } else {
                return place
            }
        }
        return bytes.count
    }

    /// The place behind a level or a logger's name, as Python and Java write them: `DEBUG`, `DEBUG:nfc.tag:`, and behind a
    /// date or a level `- nfc.tag - DEBUG -`, `nfc.tag:`.
    private func endOfLogger(_ word: String, at place: Int, _ next: Int, _ isBehind: Bool) -> Int? {
        func isName(_ word: Substring) -> Bool {
            let small = word.lowercased()
            let isPlain = small.utf8.allSatisfy { (0x61...0x7A).contains($0) || "0123456789._-".utf8.contains($0) }
            // Bytes are no name; libnfc's are looked at by its own form.
            return isPlain && small.utf8.contains { (0x67...0x7A).contains($0) } && !small.hasPrefix("libnfc")
        }
        let parts = word.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        if Self.levels.contains(parts[0].lowercased()) {
            guard parts.count > 1 else { return next }
            let name = parts.count > 2 && isName(parts[1]) ? parts[1].utf8.count + 1 : 0
            return skippingSpaces(place + parts[0].utf8.count + 1 + name)
        }
        guard isBehind else { return nil }
        if isName(word[...]), end(ofPrefix: "- ", at: next) != nil { return skippingSpaces(next + 1) }
        let isDotted = parts[0].contains(".") && isName(parts[0]) && (parts.count == 1 || parts[1].isEmpty)
        return word == "-" || isDotted ? next : nil
    }

    /// The place behind `1234  1250 D Tag  :` and `D/Tag( 1234):`, as Android's logcat writes them.
    private func endOfLogcat(_ place: Int) -> Int? {
        // Not far from there, since each word of a line may be asked.
        guard let mark = bytes[place...].prefix(64).firstIndex(of: UInt8(ascii: ":")),
            end(ofPrefix: ": ", at: mark) != nil
        else { return nil }
        let words = text(from: place, to: mark + 1).split(separator: " ")
        let isLong =
            words.count > 3 && words[2].count == 1 && (words[0] + words[1]).utf8.allSatisfy(CaptureCursor.isDigit)
        let isShort = words.first?.dropFirst().hasPrefix("/") == true && words.last?.hasSuffix("):") == true
        guard isLong || isShort, let level = words[isLong ? 2 : 0].first else { return nil }
        return "VDIWEFvdiwef".contains(level) ? skippingSpaces(mark + 1) : nil
    }

    /// The place behind `program[123]:`, as the journal and syslog write it.
    private func endOfProgram(_ place: Int) -> Int? {
        let end = bytes[min(place, bytes.count)...].firstIndex(where: CaptureCursor.isSpace) ?? bytes.count
        let word = text(from: place, to: end).lowercased()
        return word.hasSuffix("]:") && word.contains("[") || word == "pcscd:" ? skippingSpaces(end) : nil
    }

    // MARK: Looking for words

    /// The place behind the first occurrence of a text, at or behind `start`, in capitals or not.
    func end(of text: StaticString, from start: Int = 0) -> Int? {
        small.withUnsafeBufferPointer { line in
            text.withUTF8Buffer { wanted in
                guard let first = wanted.first.map(Self.small), line.count >= wanted.count else { return nil }
                var place = start
                while place <= line.count - wanted.count {
                    var index = 0
                    if line[place] == first {
                        while index < wanted.count, line[place + index] == Self.small(wanted[index]) { index += 1 }
                    }
                    if index == wanted.count { return place + index }
                    place += 1
                }
                return nil
            }
        }
    }

    func contains(_ text: StaticString) -> Bool { end(of: text) != nil }

    /// The place behind a text that stands at `start`.
    func end(ofPrefix text: StaticString, at start: Int) -> Int? {
        text.withUTF8Buffer { wanted in
            guard start >= 0, start <= small.count - wanted.count else { return nil }
            var index = 0
            while index < wanted.count, small[start + index] == Self.small(wanted[index]) { index += 1 }
            return index == wanted.count ? start + index : nil
        }
    }

    /// What stands from a place on, without white space round it.
    func text(from start: Int, to end: Int? = nil) -> String {
        let end = min(end ?? bytes.count, bytes.count)
        guard start < end else { return "" }
        return String(decoding: bytes[start..<end], as: UTF8.self).trimmed
    }

    /// What stands behind the first occurrence of a text.
    func text(behind text: StaticString, to end: Int? = nil) -> String? {
        self.end(of: text).map { self.text(from: $0, to: end) }
    }

    /// The first number from a place on.
    func number(from start: Int) -> Int? {
        let digits = bytes[min(start, bytes.count)...].drop { !CaptureCursor.isDigit($0) }
        return Int(String(decoding: digits.prefix(while: CaptureCursor.isDigit), as: UTF8.self))
    }

    /// Whether bytes stand behind a `>` or a `<`, wherever that is.
    var hasMarkedBytes: Bool {
        bytes.indices.contains { place in
            guard bytes[place] == UInt8(ascii: ">") || bytes[place] == UInt8(ascii: "<") else { return false }
            let said = LogBytes([(self, place + 1..<min(bytes.count, place + 64))], isAnswer: false, isFrame: true)
            return said.damage == nil && said.bytes.count > 1
        }
    }

    /// The first place from there on that is no white space.
    func skippingSpaces(_ start: Int) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { !CaptureCursor.isSpace($0) } ?? bytes.count
    }

    func error(_ code: CaptureError.Code, at place: Int, _ message: String) -> CaptureError {
        CaptureCursor(bytes, line: number, file: file).error(code, at: place, message)
    }
}
