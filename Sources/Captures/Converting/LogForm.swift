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

    init(_ tag: Tag, _ layout: LogLayout = .line, from: Int = 0, to: Int? = nil) {
        (self.tag, self.layout, self.from, self.to) = (tag, layout, from, to)
    }
}

enum LogLayout {
    enum Role { case command, answer, frame, frameAnswer, stream }

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
        // Programs that break their lines behind sixteen bytes show no more of an answer in any.
        let hasRows = !lines.contains { line in
            guard let mark = form.mark(line), case .text(.answer, _) = mark.layout else { return false }
            return LogSpan(mark, line).bytes(isLast: false).bytes.count > 16
        }
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
            if open?.appendDump(line) == true {
                if open?.isComplete == true { close() }
            } else if let mark = form.mark(line) {
                close()
                open = LogSpan(mark, line, hasRows: hasRows)
                if open?.isComplete == true { close() }
            } else if open?.canExtend(with: line) == true {
                if form.isEcho(line, lines[(index + 1)...]) {
                    builder.skip(line, "the next line says the same")
                    close()
                } else {
                    open?.extend(with: line)
                    if open?.isComplete == true { close() }
                }
            } else {
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

/// What a mark says, with the lines that go on with it.
struct LogSpan<Tag> {
    let mark: LogMark<Tag>
    /// Whether another line stood between.
    var isInterrupted = false
    private var segments: [(line: LogLine, range: Range<Int>)]
    /// The bytes of a dump so far, and how many its last line had.
    private var dumped: [UInt8] = []
    private var lastRow = 16
    private var rows: [LogLine] = []

    private let hasRows: Bool

    init(_ mark: LogMark<Tag>, _ line: LogLine, hasRows: Bool = false) {
        self.mark = mark
        self.hasRows = hasRows
        let end = max(mark.from, min(mark.to ?? line.bytes.count, line.bytes.count))
        segments = [(line, mark.from..<end)]
    }

    private var role: LogLayout.Role? {
        if case .text(let role, _) = mark.layout { role } else { nil }
    }
    private var isAnswer: Bool { role == .answer || role == .frameAnswer }

    private func parsed(_ count: Int? = nil) -> LogBytes {
        let isFrame = role == .frame || role == .frameAnswer || role == .stream
        return LogBytes(Array(segments.prefix(count ?? segments.count)), isAnswer: isAnswer, isFrame: isFrame)
    }

    /// Whether nothing can follow.
    var isComplete: Bool {
        switch mark.layout {
        case .line: true
        case .dump(let total, _, _): total.map { dumped.count >= $0 } ?? (lastRow < 16)
        case .text(_, let count?): parsed().bytes.count >= count
        case .text(.stream, nil): false
        case .text: parsed().isEnded
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
        guard hasRows || !isAnswer, let last = segments.last else { return false }
        return LogBytes([last], isAnswer: false, isFrame: true).bytes.count == 16
    }

    /// Whether a line that says nothing may stand before the rest.
    var survivesNoise: Bool {
        switch mark.layout {
        case .line: false
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
        rows.append(line)
        return true
    }

    // MARK: Lines that were broken

    func canExtend(with line: LogLine) -> Bool {
        guard case .text(let role, let count) = mark.layout, let range = LogBytes.continuation(line),
            let last = segments.last, !isInterrupted || survivesNoise
        else { return false }
        // Half a byte is the other half of one.
        let (tail, head) = (Self.halves(last.line.bytes[last.range]).last, Self.halves(line.bytes[range]).first)
        guard (tail ?? false) == (head ?? false) else { return false }
        guard role != .stream, count == nil, line.bytes[range].first != UInt8(ascii: ":") else { return true }
        let bytes = parsed()
        guard !bytes.isEnded else { return false }
        let isWhole =
            bytes.damage == nil
            && (isAnswer
                ? role == .frameAnswer || LogBytes.hasStatus(bytes.bytes)
                : role == .frame || (try? APDULayout(bytes.bytes)) != nil)
        return !isWhole || lastSegmentIsRow || Self.isBroken(last.line, before: line.bytes[range])
    }

    /// Which words have an odd number of digits.
    private static func halves(_ text: ArraySlice<UInt8>) -> [Bool] {
        text.split { CaptureCursor.isSpace($0) || [0x2C, 0x3A, 0x2D, 0x5D].contains($0) }
            .map { $0.count % 2 == 1 }
    }

    /// Whether a line is as long as one that was broken at a usual width, so that the next word had no place in it.
    private static func isBroken(_ line: LogLine, before next: ArraySlice<UInt8>) -> Bool {
        let width = (line.bytes.lastIndex { !CaptureCursor.isSpace($0) } ?? -1) + 1
        let word = next.prefix { !CaptureCursor.isSpace($0) }.count
        return [70, 72, 74, 76, 78, 79, 80, 100, 120, 132].contains { width <= $0 && width + 1 + word > $0 }
    }

    mutating func extend(with line: LogLine) {
        guard let range = LogBytes.continuation(line) else { return }
        segments.append((line, range))
        isInterrupted = false
    }

    // MARK: The end

    func bytes(isLast: Bool) -> LogBytes {
        switch mark.layout {
        case .line: return LogBytes(segments[0].line, at: mark.from)
        case .text(let role, let count):
            var bytes = parsed()
            // What a program printed behind the answer looks as if it went on.
            if role == .answer, count == nil, !bytes.isEnded {
                bytes.shorter = (1..<max(1, segments.count)).map(parsed).filter { $0.bytes.suffix(2) == [0x90, 0x00] }
            }
            bytes.mayGoOn = isLast && lastSegmentIsRow && !bytes.isEnded
            if let count {
                bytes.expect(count)
                if bytes.damage == nil { bytes.isEnded = true }
            }
            return bytes
        case .dump(let total, let suffix, let isFrame):
            var bytes = LogBytes(segments[0].line, at: mark.from, bytes: dumped)
            bytes.lines += rows
            bytes.carrier = isFrame ? .frame : .apdu
            if let total {
                bytes.expect(total)
            } else if rows.isEmpty {
                bytes.damage = bytes.error(.missingBytes, "the bytes of the answer are missing")
            }
            bytes.isEnded = bytes.damage == nil && (total != nil || lastRow < 16)
            bytes.mayGoOn = isLast && total == nil && lastRow == 16
            bytes.bytes += suffix
            return bytes
        }
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
