import CardCore
import CardPasses
import Foundation

/// Makes lines of a capture's presentations, exchanges and reports.
struct CaptureWalk {
    private let capture: Capture
    private let numbers: CaptureLineNumbers?
    private var found: [ExplainedLine] = []

    init(_ capture: Capture, _ text: [UInt8]) {
        self.capture = capture
        numbers = text.isEmpty ? nil : CaptureLineNumbers(text)
    }

    mutating func lines() -> [ExplainedLine] {
        var reports = capture.lines.enumerated().makeIterator()
        var report = reports.next()
        for (index, presentation) in capture.presentations.enumerated() {
            while let next = report, next.element.at <= presentation.at {
                take(next.element, next.offset)
                report = reports.next()
            }
            take(presentation, number: index + 1)
        }
        while let next = report {
            take(next.element, next.offset)
            report = reports.next()
        }
        // Cards on several readers are interwoven in the file.
        guard found.allSatisfy({ $0.line != nil }) else { return found }
        return found.enumerated().sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
            .map(\.element)
    }

    private func reader(_ number: Int?) -> String? {
        let name = capture.readerName(number)
        return name == Capture.unnamedReader ? nil : name
    }

    private mutating func take(_ report: Capture.Line, _ index: Int) {
        let message = ReportText.message(report.text)
        found.append(
            ExplainedLine(
                .report,
                line: numbers.flatMap { $0.reports.indices.contains(index) ? $0.reports[index] : nil },
                reader: reader(report.reader),
                at: report.at,
                statement: CaptureText.line(report).trimmed,
                title: message.title,
                fields: message.fields
            )
        )
    }

    // MARK: One card

    private mutating func take(_ presentation: Capture.Presentation, number: Int) {
        let reader = reader(presentation.reader)
        func line(
            _ kind: ExplainedLine.Kind,
            _ place: Int?,
            at: Duration? = nil,
            _ statement: String,
            _ title: String
        ) -> ExplainedLine {
            ExplainedLine(
                kind,
                line: place,
                presentation: number,
                reader: reader,
                at: at,
                statement: statement.trimmed,
                title: title
            )
        }
        let card = presentation.sourceLine
        let statement = CaptureText.card(presentation)
        found.append(line(.card, card, at: presentation.at, statement, FactText.title(presentation.facts)))
        takeFacts(presentation.facts) { line(.fact, card, $0, $1) }
        if let fault = presentation.connectFault {
            let title = "no conversation with the card was possible: \(Self.text(of: fault))"
            found.append(line(.fault, numbers?.answer(to: card), "! \(fault.rawValue)", title))
        }
        takeExchanges(presentation) { line($0, $1, at: $2, $3, $4) }
        if let removedAt = presentation.removedAt {
            let place = numbers?.removal(ofCardOn: card, reader: presentation.reader)
            let statement = CaptureText.removed(presentation.reader, at: removedAt)
            found.append(line(.removal, place, at: removedAt, statement, "the card goes"))
        }
    }

    private mutating func takeFacts(_ facts: CardFacts, _ make: (String, String) -> ExplainedLine) {
        if let atr = facts.atr {
            let message = FactText.atr(atr)
            var line = make("atr \(atr.hex)", message.title)
            line.bytes = atr
            line.fields = message.fields
            found.append(line)
        }
        for value in facts.values {
            var line = make("\(value.name) \(value.bytes.hex)", FactText.value(value, facts))
            line.bytes = value.bytes
            found.append(line)
        }
    }

    private typealias Maker = (ExplainedLine.Kind, Int?, Duration?, String, String) -> ExplainedLine

    private mutating func takeExchanges(_ presentation: Capture.Presentation, _ make: Maker) {
        var walk = ExchangeWalk(presentation.facts)
        let keys = KeySpans(presentation)
        for (index, exchange) in presentation.exchanges.enumerated() {
            let explained = walk.explain(exchange)
            let (request, answer): (ExplainedLine.Kind, ExplainedLine.Kind) =
                switch exchange.request {
                case .apdu: (.command, .answer)
                case .raw: (.frame, .answer)
                case .control: (.control, .controlAnswer)
                }
            found.append(
                Self.line(
                    make(request, exchange.sourceLine, nil, "", explained.command.title),
                    CaptureText.request(exchange.request),
                    exchange.request.bytes,
                    explained.command.fields,
                    hiding: keys.ranges(index, isCommand: true)
                )
            )
            let place = numbers?.answer(to: exchange.sourceLine)
            let statement = CaptureText.exchange(exchange).split(separator: "\n").last.map(String.init) ?? ""
            if case .fault(let fault) = exchange.answer {
                found.append(make(.fault, place, exchange.at, statement, Self.text(of: fault)))
                continue
            }
            let isRaw = if case .raw = exchange.answer { true } else { false }
            found.append(
                Self.line(
                    make(isRaw ? .frameAnswer : answer, place, exchange.at, "", explained.answer.title),
                    statement,
                    exchange.answer.bytes,
                    explained.answer.fields,
                    hiding: keys.ranges(index, isCommand: false)
                )
            )
        }
    }

    /// Completes a line, without the keys in it.
    private static func line(
        _ line: ExplainedLine,
        _ statement: String,
        _ bytes: [UInt8],
        _ fields: [ExplainedField],
        hiding keys: [Range<Int>]
    ) -> ExplainedLine {
        var line = line
        line.statement = keys.isEmpty ? statement : hide(keys, in: statement, of: bytes)
        line.bytes = keys.isEmpty ? bytes : nil
        line.fields = keys.isEmpty ? fields : fields.map { $0.hiding(keys) }
        return line
    }

    /// The statement with `··` for each byte of a key. Its bytes stand apart, behind what it begins with.
    private static func hide(_ keys: [Range<Int>], in statement: String, of bytes: [UInt8]) -> String {
        let text = Hex.encode(bytes, separator: " ")
        let hidden = bytes.indices.map { index in
            keys.contains { $0.contains(index) } ? "··" : Hex.encode([bytes[index]])
        }
        guard let range = statement.range(of: text) else { return "not shown" }
        return statement.replacingCharacters(in: range, with: hidden.joined(separator: " "))
    }

    private static func text(of fault: Capture.Fault) -> String {
        switch fault {
        case .removed: "the card left the field"
        case .reset: "the card was reset: what was selected is gone"
        case .timeout: "no answer came in time"
        case .commError: "the radio link failed"
        }
    }
}

/// Where the lines of a capture stand in its file that the capture itself does not know: answers, removals, and the lines of
/// Smart Readers.
struct CaptureLineNumbers {
    private var answers: [Int] = []
    private var removals: [Int?: [Int]] = [:]
    private(set) var reports: [Int] = []

    /// Looks through the text of a capture that was read from it.
    init(_ text: [UInt8]) {
        for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            var line = line
            if index == 0, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
            let cursor = CaptureCursor(Array(line), line: index + 1, file: nil)
            switch cursor.current {
            case UInt8(ascii: "<"), UInt8(ascii: "!"): answers.append(index + 1)
            case UInt8(ascii: "l"): if Self.begins(cursor, "line") { reports.append(index + 1) }
            case UInt8(ascii: "r"):
                guard Self.begins(cursor, "removed") else { break }
                removals[Self.number(cursor, behind: "removed"), default: []].append(index + 1)
            default: break
            }
        }
    }

    /// The answer, or the fault, to what stands on that line.
    func answer(to line: Int?) -> Int? { line.flatMap { Self.first(after: $0, in: answers) } }

    /// The removal of the card that came on that line.
    func removal(ofCardOn line: Int?, reader: Int?) -> Int? {
        line.flatMap { Self.first(after: $0, in: removals[reader] ?? []) }
    }

    /// The first of some ascending numbers that is greater.
    private static func first(after line: Int, in lines: [Int]) -> Int? {
        var (low, high) = (0, lines.count)
        while low < high {
            let middle = (low + high) / 2
            if lines[middle] > line { high = middle } else { low = middle + 1 }
        }
        return low < lines.count ? lines[low] : nil
    }

    /// Whether a line is that statement, and no header of that name.
    private static func begins(_ line: CaptureCursor, _ word: StaticString) -> Bool {
        var line = line
        return line.skipWord(word)
    }

    private static func number(_ line: CaptureCursor, behind word: StaticString) -> Int? {
        var line = line
        _ = line.skipWord(word)
        return Int(String(decoding: line.peekWord(), as: UTF8.self))
    }
}

/// A recorded conversation, explained line by line: which command it is, which data objects and records it holds, and what
/// they mean.
///
/// It is for somebody who holds the capture: what is in it is shown, members' identifiers included. Keys and passwords are
/// left out, but those that everybody knows. What is encrypted stays so. What is not known here is reported as such; a
/// capture of any content is explained, however malformed what cards and readers said in it.
///
/// The facts behind it are those of ISO/IEC 7816-4, PC/SC part 3 and the NFC Forum, and what is publicly known of Apple VAS
/// and Google Smart Tap, which are their makers' own.
public struct ConversationExplanation: Sendable, Hashable {
    /// The lines, in the order of the file where it is known, else card by card in the order of their times.
    public let lines: [ExplainedLine]

    /// Explains a capture.
    ///
    /// - Parameters:
    ///   - capture: what was recorded.
    ///   - text: the text that it was read from, which reports where the answers stand; without it only those lines
    ///     have numbers of which the capture knows them.
    public init(of capture: Capture, text: [UInt8] = []) {
        var walk = CaptureWalk(capture, text)
        lines = walk.lines()
    }

    /// Reads a capture file and explains it.
    ///
    /// - Throws: ``CaptureFileError`` if it cannot be read, ``CaptureError`` if it is malformed.
    public init(contentsOf path: String) throws {
        let bytes = try CaptureFiles.bytes(of: path)
        self.init(of: try Capture(parsing: bytes, file: path), text: bytes)
    }
}
