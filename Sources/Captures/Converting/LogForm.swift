import CardCore
import CardPasses

/// One of the forms in which programs log: what each of its lines says, and what that means.
///
/// A form looks at one line at a time. Whether a line goes on with the one before it, and where an answer ends, is found
/// by ``read(_:into:)`` for all forms.
protocol LogForm {
    associatedtype Tag

    init(_ lines: [LogLine])

    /// What a line says, or `nil` if it is of no use, or goes on with another. Asking changes nothing.
    func mark(_ line: LogLine) -> LogMark<Tag>?

    /// Takes what a mark says, with its bytes where it has some.
    mutating func take(_ tag: Tag, _ bytes: LogBytes, into builder: inout ConversionBuilder)

    mutating func finish(into builder: inout ConversionBuilder)
}

/// What a line says, and where its bytes are.
struct LogMark<Tag> {
    var tag: Tag
    var layout = LogLayout.line
    var from: Int
    var to: Int?
    /// Whether the bytes go on in the next lines, up to a `>`.
    var isOpen = false

    init(_ tag: Tag, _ layout: LogLayout = .line, from: Int = 0, to: Int? = nil) {
        (self.tag, self.layout, self.from, self.to) = (tag, layout, from, to)
    }
}

enum LogLayout {
    /// A status is the end of the answer in the lines before it.
    enum Role { case command, answer, frame, frameAnswer, stream, status }

    /// The line counts as it is.
    case line
    /// Bytes in words, as many as the line says or, with `nil`, as there are.
    case text(Role, count: Int? = nil)
    /// Lines of a dump follow: so many bytes or, with `nil`, as many as there are; behind them come others.
    case dump(total: Int?, suffix: [UInt8] = [], isFrame: Bool = false)
}

extension LogForm {
    mutating func finish(into builder: inout ConversionBuilder) {}

    static func read(_ lines: [LogLine], into builder: inout ConversionBuilder) {
        var form = Self(lines)
        // Programs that break their lines behind sixteen or seventeen bytes show no more of an answer in any.
        let isGScriptor = lines.contains { $0.contains("Beginning script execution") }
        func count(_ line: LogLine) -> Int {
            guard let mark = form.mark(line), case .text(.answer, _) = mark.layout else { return 0 }
            return LogSpan(mark, line).bytes(isLast: false).bytes.count
        }
        let isBroken = !lines.contains { count($0) > 17 }
        func hasRow(_ index: Int) -> Bool {
            guard lines[index].contains("Received: "), count(lines[index]) == 17 else { return false }
            let following = lines[(index + 1)...].prefix(3)
            let next = following.first { form.mark($0) != nil || LogBytes.continuation($0) != nil }
            return next.map { form.mark($0) == nil } == true
        }
        let isSeventeen = isGScriptor || isBroken && lines.indices.contains(where: hasRow)
        let breaks = LogBreaks(rows: isSeventeen ? 17...17 : isBroken ? 16...17 : nil, lines)
        var open: LogSpan<Tag>?
        func close(_ isLast: Bool = false) {
            guard let span = open else { return }
            open = nil
            form.take(span.mark.tag, span.bytes(isLast: isLast), into: &builder)
        }
        for (index, line) in lines.enumerated() {
            if line.isBlank {
                if open?.endsAtBlank == true { close() }
                continue
            }
            if open?.endBuffer(with: line) == true {
                close()
            } else if open?.appendDump(line) == true {
                if open?.isComplete == true { close() }
            } else if let mark = form.mark(line) {
                if case .text(.status, _) = mark.layout, open?.end(with: line, from: mark.from) == true {
                    close()
                    continue
                }
                close()
                open = LogSpan(mark, line, breaks)
                if open?.isComplete == true { close() }
            } else if open?.canExtend(with: line) == true {
                if form.isEcho(line, lines[(index + 1)...]) {
                    builder.skip(line, "the next line says the same")
                    close()
                } else if open?.repeats(line) == true {
                    builder.skip(line, "the line before says the same")
                    close()
                } else {
                    open?.extend(with: line)
                    if open?.isComplete == true { close() }
                }
            } else {
                open?.spoil(with: line)
                if open?.survivesNoise == false { close() }
                open?.isInterrupted = true
                if form.isEcho(line, lines[(index + 1)...]) { builder.skip(line, "the next line says the same") }
            }
        }
        close(true)
        form.finish(into: &builder)
    }

    /// Whether the next line is a command of the same bytes: scriptor prints each line of a file as it is, and again.
    private func isEcho(_ line: LogLine, _ following: ArraySlice<LogLine>) -> Bool {
        guard let next = following.first(where: { !$0.isBlank }), let mark = mark(next),
            case .text(.command, _) = mark.layout, LogBytes.continuation(line) != nil
        else { return false }
        func digits(_ line: LogLine, _ start: Int) -> [UInt8] {
            line.bytes[start...].filter { !CaptureCursor.isSpace($0) }.map { $0 | 0x20 }
        }
        return digits(line, line.start) == digits(next, mark.from)
    }
}

/// Where the lines of a log are broken.
struct LogBreaks {
    /// How many bytes stand on the lines of a program that breaks them.
    var rows: ClosedRange<Int>?
    /// How long lines are that a mail or a terminal broke: as is usual, and as the longest of this log are.
    private var widths = [70, 72, 74, 76, 78, 79, 80, 100, 120, 132]

    init(rows: ClosedRange<Int>?, _ lines: [LogLine]) {
        self.rows = rows
        let widths = lines.map(Self.width)
        let longest = widths.max() ?? 0
        if widths.count(where: { $0 + 3 > longest }) > 2 { self.widths.append(longest) }
    }

    private static func width(_ line: LogLine) -> Int {
        (line.bytes.lastIndex { !CaptureCursor.isSpace($0) } ?? -1) + 1
    }

    /// Whether a line is so long that the next word had no place in it.
    func isBroken(_ line: LogLine, before next: ArraySlice<UInt8>) -> Bool {
        let width = Self.width(line)
        let word = next.prefix { !CaptureCursor.isSpace($0) }.count
        return widths.contains { width <= $0 && width + 1 + word > $0 }
    }
}

/// What a mark says, with the lines that go on with it.
struct LogSpan<Tag> {
    let mark: LogMark<Tag>
    /// Whether another line stood between.
    var isInterrupted = false
    private var segments: [(line: LogLine, range: Range<Int>)]
    /// What they say, and what those before `first` do, which end with a whole byte: a long span is read once.
    private var said: LogBytes
    private var (whole, first): (LogBytes?, Int) = (nil, 0)
    private var isClosed = false
    /// Where the lines before the last one end, and whether they were broken there.
    private var ends: [(count: Int, lines: Int, isBroken: Bool)] = []
    /// The bytes of a dump so far, and how many its last line had.
    private var dumped: [UInt8] = []
    private var lastRow = 16
    private var dumpDamage: CaptureError?

    private let breaks: LogBreaks?
    private var rows: ClosedRange<Int>? { breaks?.rows }

    init(_ mark: LogMark<Tag>, _ line: LogLine, _ breaks: LogBreaks? = nil) {
        self.mark = mark
        self.breaks = breaks
        let end = max(mark.from, min(mark.to ?? line.bytes.count, line.bytes.count))
        segments = [(line, mark.from..<end)]
        said = LogBytes(line, at: mark.from)
        if case .text = mark.layout { said = parsed() }
    }

    private var role: LogLayout.Role? {
        if case .text(let role, _) = mark.layout { role } else { nil }
    }
    private var isAnswer: Bool { role == .answer || role == .frameAnswer || role == .status }

    private func parsed() -> LogBytes {
        let isFrame = role == .frame || role == .frameAnswer || role == .stream
        let part = LogBytes(
            Array(segments[first...]),
            isAnswer: isAnswer,
            isFrame: isFrame,
            before: whole?.bytes.count ?? 0
        )
        guard var all = whole else { return part }
        all.bytes += part.bytes
        all.lines += part.lines
        (all.bits, all.damage, all.isEnded) = (part.bits, part.damage, part.isEnded)
        return all
    }

    /// Whether nothing can follow.
    var isComplete: Bool {
        switch mark.layout {
        case .line: true
        // A row may follow where the line says that there is none.
        case .dump(0, let suffix, _) where !suffix.isEmpty: false
        case .dump(let total, _, _): total.map { dumped.count >= $0 } ?? (lastRow < 16)
        case .text(_, let count?): said.bytes.count >= count
        case .text(.stream, nil): false
        case .text: said.isEnded || isClosed
        }
    }

    var endsAtBlank: Bool {
        switch mark.layout {
        case .dump(let total, _, _): total == nil
        case .text(_, let count): count == nil
        case .line: true
        }
    }

    private var lastSegmentIsRow: Bool {
        (rows ?? (isAnswer ? nil : 16...17))?.contains(said.bytes.count - (ends.last?.count ?? 0)) == true
    }

    /// Whether a line that says nothing may stand before the rest.
    var survivesNoise: Bool {
        switch mark.layout {
        case .line, .dump(0, _, _): false
        case .dump: true
        case .text(.stream, _): true
        case .text(_, let count): count != nil || lastSegmentIsRow
        }
    }

    mutating func appendDump(_ line: LogLine) -> Bool {
        guard case .dump(let total, _, _) = mark.layout else { return false }
        let known = total.map { min(16, $0 - dumped.count) }
        guard let row = LogBytes.dump(line, at: dumped.count, known: known) else { return false }
        dumped += row
        lastRow = row.count
        said.lines.append(line)
        return true
    }

    /// A line that says nothing stands behind the others: where a row is expected that nobody counts, it may be one.
    mutating func spoil(with line: LogLine) {
        guard case .dump(let total, let suffix, _) = mark.layout, total ?? 0 == 0, !suffix.isEmpty else { return }
        let words = line.bytes[line.start...].split(whereSeparator: CaptureCursor.isSpace).filter { $0.count == 2 }
        func isDigit(_ byte: UInt8) -> Bool { CaptureCursor.digit(byte) != nil }
        let first = words.first?.contains(where: isDigit) == true ? words.first?.startIndex : nil
        let pairs = words.count { $0.allSatisfy(isDigit) }
        // Prose has words of two letters, `be`, too.
        guard words.contains(where: { $0.contains(where: CaptureCursor.isDigit) }),
            first == line.skippingSpaces(line.start) || pairs > 1 && words.count - pairs < 2
        else { return }
        dumpDamage = dumpDamage ?? line.error(.invalidHex, at: line.start, "a row of the dump cannot be read")
        said.lines.append(line)
    }

    // MARK: Lines that were broken

    /// What a line adds.
    private func continuation(_ line: LogLine) -> Range<Int>? {
        LogBytes.continuation(line, to: mark.isOpen ? line.bytes.firstIndex(of: UInt8(ascii: ">")) : nil)
    }

    func canExtend(with line: LogLine) -> Bool {
        guard case .text(let role, let count) = mark.layout, let range = continuation(line),
            let last = segments.last, !isInterrupted || survivesNoise
        else { return false }
        // Half a byte is the other half of one, or the end of pyscard's `90 0`.
        let (tail, head) = (LogBytes.halves(last.line.bytes[last.range]).last, LogBytes.halves(line.bytes[range]).first)
        let isZero = role == .answer && line.text(from: range.lowerBound) == "0"
        guard tail ?? false == head ?? false || isZero else { return false }
        guard role != .stream, count == nil, !mark.isOpen, line.bytes[range].first != UInt8(ascii: ":") else {
            return true
        }
        guard !said.isEnded else { return false }
        guard role == .frame || role == .frameAnswer, said.damage == nil else { return true }
        return lastSegmentIsRow || breaks?.isBroken(last.line, before: line.bytes[range]) == true
    }

    /// Whether a program prints the data of the answer again, or the beginning of them.
    func repeats(_ line: LogLine) -> Bool {
        guard role == .answer, said.damage == nil, LogBytes.hasStatus(said.bytes), let range = continuation(line) else {
            return false
        }
        let data = said.bytes.dropLast(2)
        let again = LogBytes([(line, range)], isAnswer: false, isFrame: true).bytes
        return !again.isEmpty && data.starts(with: again) && (again.count == data.count || again.count >= 8)
    }

    /// Takes a line that begins with the `>` at the end of a buffer, and so is no mark.
    mutating func endBuffer(with line: LogLine) -> Bool {
        let place = line.skippingSpaces(line.start)
        guard mark.isOpen, !isInterrupted, place < line.bytes.count, line.bytes[place] == UInt8(ascii: ">") else {
            return false
        }
        said.lines.append(line)
        isClosed = true
        return true
    }

    mutating func extend(with line: LogLine) {
        guard let range = continuation(line) else { return }
        isInterrupted = false
        isClosed = mark.isOpen && range.upperBound < line.bytes.count
        // What is too long already is not looked at.
        guard said.bytes.count <= CaptureLimits.longestCommand else { return said.lines.append(line) }
        // A comma at the end is no damage where bytes follow.
        let isSound = said.damage == nil || said.damage?.code == .missingBytes && !said.isEnded
        let isJoint =
            LogBytes.halves(line.bytes[range]).first == true
            || segments.last.map { LogBytes.halves($0.line.bytes[$0.range]).last == true } == true
        // Where whole bytes stand, the next part begins: what was read is not read again.
        let isWhole = said.damage == nil && segments.count - first > 1
        if isSound, !isJoint || isWhole { (whole, first) = (said, segments.count) }
        if said.damage == nil, !isJoint, let last = segments.last {
            let isBroken = lastSegmentIsRow || breaks?.isBroken(last.line, before: line.bytes[range]) == true
            ends.append((said.bytes.count, segments.count, isBroken))
        }
        segments.append((line, range))
        // Nothing but half a byte is mended by another line.
        guard isSound || isJoint && said.damage?.code == .oddHex else { return said.lines.append(line) }
        said = parsed()
    }

    /// Takes the status word of an answer.
    mutating func end(with line: LogLine, from place: Int) -> Bool {
        guard role == .answer, !isInterrupted else { return false }
        let status = LogBytes([(line, place..<line.bytes.count)], isAnswer: true, isFrame: false).bytes
        if said.bytes.suffix(2) == status[...] { said.ends = [(said.bytes.count, said.lines.count)] }
        said.bytes += status
        said.lines.append(line)
        (said.isEnded, ends) = (true, [])
        return true
    }

    // MARK: The end

    func bytes(isLast: Bool) -> LogBytes {
        switch mark.layout {
        case .line: return LogBytes(segments[0].line, at: mark.from)
        case .text(let role, let count):
            var bytes = said
            if role == .answer, count == nil {
                if !bytes.isEnded { bytes.ends = possibleEnds }
                // Where a program breaks its lines itself, all but the last are whole.
                if let rows, bytes.isEnded || rows == 17...17, bytes.damage == nil,
                    zip(ends, [0] + ends.map(\.count)).contains(where: { end, start in
                        end.count < bytes.bytes.count && !rows.contains(end.count - start)
                    })
                {
                    bytes.isShort = true
                }
            } else if role == .command, !ends.isEmpty, bytes.damage == nil {
                // Lines behind a command are none of it if it is whole without.
                func isWhole(_ count: Int) -> Bool { (try? APDULayout(Array(bytes.bytes.prefix(count)))) != nil }
                if LogBytes.lacksData(bytes.bytes) {
                    bytes.damage = bytes.error(.missingBytes, "the command says that it has more data")
                } else if !isWhole(bytes.bytes.count) {
                    if LogBytes.isISO(bytes.bytes), let end = ends.last(where: { isWhole($0.count) }) {
                        bytes = bytes.prefix((end.count, end.lines))
                    } else {
                        bytes.damage = bytes.error(.wrongLength, "the command has more bytes than it says")
                    }
                }
            }
            bytes.isEnded = bytes.isEnded || isClosed
            bytes.mayGoOn = isLast && lastSegmentIsRow && !bytes.isEnded
            if mark.isOpen, !isClosed {
                bytes.damage = bytes.damage ?? bytes.error(.missingBytes, "the end of the buffer is missing")
            }
            if let count {
                bytes.expect(count)
                if bytes.damage == nil { bytes.isEnded = true }
            }
            return bytes
        case .dump(let total, let suffix, let isFrame):
            var bytes = said
            bytes.bytes = dumped
            bytes.carrier = isFrame ? .frame : .apdu
            bytes.damage = dumpDamage
            if let total {
                bytes.expect(total)
            } else if dumped.isEmpty, bytes.damage == nil {
                bytes.damage = bytes.error(.missingBytes, "the bytes of the answer are missing")
            }
            bytes.isEnded = bytes.damage == nil && (total != nil || lastRow < 16)
            bytes.mayGoOn = isLast && total == nil && lastRow == 16
            bytes.bytes += suffix
            return bytes
        }
    }

    /// The lines of an answer that end in a status word. Of those that were broken behind it, only 9000 is one; gscriptor
    /// prints no bytes behind an answer.
    private var possibleEnds: [(count: Int, lines: Int)] {
        ends.filter { end in
            let status = Array(said.bytes[..<end.count].suffix(2))
            return LogBytes.hasStatus(status) && (!end.isBroken || rows != 17...17 && status == [0x90, 0x00])
        }
        .map { ($0.count, $0.lines) }
    }
}

extension LogBytes {
    /// There are as many as the log says, or they are damaged.
    mutating func expect(_ count: Int) {
        guard damage == nil, bytes.count != count else { return }
        let message = "the log says that there are \(count) bytes, and shows \(bytes.count)"
        damage = error(.wrongLength, message)
    }
}
