import CardCore
import CardPasses
import Foundation

/// Makes lines of a capture's presentations, exchanges and reports.
struct CaptureWalk {
    private let capture: Capture
    private let numbers: CaptureLineNumbers?
    private var found: [ExplainedLine] = []
    /// The number of the presentation under way.
    private var number: Int?
    private var reader: String?

    init(_ capture: Capture, _ text: [UInt8]) {
        self.capture = capture
        numbers = text.isEmpty ? nil : CaptureLineNumbers(text)
    }

    mutating func lines() -> [ExplainedLine] {
        var reports = Array(capture.lines.enumerated())[...]
        for (index, presentation) in capture.presentations.enumerated() {
            let due = reports.prefix { $0.element.at <= presentation.at }
            reports = reports.dropFirst(due.count)
            for report in due { take(report.element, report.offset) }
            take(presentation, number: index + 1)
        }
        for report in reports { take(report.element, report.offset) }
        // Cards on several readers are interwoven in the file.
        guard found.allSatisfy({ $0.line != nil }) else { return found }
        return found.enumerated().sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
            .map(\.element)
    }

    /// Adds a line, without the keys in it.
    private mutating func add(
        _ kind: ExplainedLine.Kind,
        _ line: Int?,
        at time: Duration? = nil,
        _ statement: String,
        _ message: ExplainedExchange.Message,
        bytes: [UInt8]? = nil,
        hiding keys: [Range<Int>] = []
    ) {
        let isShown = keys.isEmpty
        found.append(
            ExplainedLine(
                kind: kind,
                line: line,
                presentation: number,
                reader: reader == Capture.unnamedReader ? nil : reader,
                at: time,
                statement: isShown ? statement.trimmed : Self.hide(keys, in: statement, of: bytes ?? []),
                bytes: isShown ? bytes : nil,
                title: message.title,
                fields: isShown ? message.fields : message.fields.map { $0.hiding(keys) }
            )
        )
    }

    private mutating func take(_ report: Capture.Line, _ index: Int) {
        (number, reader) = (nil, capture.readerName(report.reader))
        let line = numbers.flatMap { $0.reports.indices.contains(index) ? $0.reports[index] : nil }
        add(.report, line, at: report.at, CaptureText.line(report), ReportText.message(report.text))
    }

    // MARK: One card

    private mutating func take(_ presentation: Capture.Presentation, number: Int) {
        (self.number, reader) = (number, capture.readerName(presentation.reader))
        let (card, facts) = (presentation.sourceLine, presentation.facts)
        add(.card, card, at: presentation.at, CaptureText.card(presentation), .init(FactText.title(facts)))
        if let atr = facts.atr { add(.fact, card, "atr \(atr.hex)", FactText.atr(atr), bytes: atr) }
        for value in facts.values {
            let statement = "\(value.name) \(value.bytes.hex)"
            add(.fact, card, statement, .init(FactText.value(value, facts)), bytes: value.bytes)
        }
        if let fault = presentation.connectFault {
            let title = "no conversation with the card was possible: \(Self.text(of: fault))"
            add(.fault, numbers?.answer(to: card), "! \(fault.rawValue)", .init(title))
        }
        takeExchanges(presentation)
        if let removedAt = presentation.removedAt {
            let line = numbers?.removal(ofCardOn: card, reader: presentation.reader)
            let statement = CaptureText.removed(presentation.reader, at: removedAt)
            add(.removal, line, at: removedAt, statement, .init("the card goes"))
        }
    }

    private mutating func takeExchanges(_ presentation: Capture.Presentation) {
        var walk = ExchangeWalk(presentation.facts)
        // Those that everybody knows are no secret.
        let secrets = RedactionConversation(presentation).spans
            .filter { $0.kind == .key && !$0.isPublic(in: presentation) }
        let keys = Dictionary(grouping: secrets, by: \.exchange)
        for (index, exchange) in presentation.exchanges.enumerated() {
            let explained = walk.explain(exchange)
            func hidden(_ isCommand: Bool) -> [Range<Int>] {
                (keys[index] ?? []).filter { $0.isCommand == isCommand }.map(\.range)
            }
            var (request, answer): (ExplainedLine.Kind, ExplainedLine.Kind) =
                switch exchange.request {
                case .apdu: (.command, .answer)
                case .raw: (.frame, .answer)
                case .control: (.control, .controlAnswer)
                }
            if case .raw = exchange.answer { answer = .frameAnswer }
            let statement = CaptureText.request(exchange.request)
            let bytes = exchange.request.bytes
            add(request, exchange.sourceLine, statement, explained.command, bytes: bytes, hiding: hidden(true))
            let line = numbers?.answer(to: exchange.sourceLine)
            let reply = CaptureText.exchange(exchange).split(separator: "\n").last.map(String.init) ?? ""
            if case .fault(let fault) = exchange.answer {
                add(.fault, line, at: exchange.at, reply, .init(Self.text(of: fault)))
                continue
            }
            let came = exchange.answer.bytes
            add(answer, line, at: exchange.at, reply, explained.answer, bytes: came, hiding: hidden(false))
        }
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

    init(_ text: [UInt8]) {
        var lines = LineSequence(text)
        while let line = lines.next() {
            let number = lines.number
            var cursor = CaptureCursor(Array(line), line: number, file: nil)
            switch cursor.current {
            case UInt8(ascii: "<"), UInt8(ascii: "!"): answers.append(number)
            // A header may have such a name.
            case UInt8(ascii: "l"): if cursor.skipWord("line") { reports.append(number) }
            case UInt8(ascii: "r"):
                guard cursor.skipWord("removed") else { break }
                removals[Int(String(decoding: cursor.peekWord(), as: UTF8.self)), default: []].append(number)
            default: break
            }
        }
    }

    /// The answer, or the fault, to what stands on that line.
    func answer(to line: Int?) -> Int? { line.flatMap { Self.first(after: $0, in: answers) } }

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
}

/// A recorded conversation, explained line by line: which command it is, which data objects and records it holds, and what
/// they mean.
///
/// It is for somebody who holds the capture: what is in it is shown, members' identifiers included. Keys and passwords are
/// left out, but those that everybody knows. What is encrypted stays so. What is not known here is reported as such; a
/// capture of any content is explained, however malformed what cards and readers sent.
///
/// The facts behind it are those of ISO/IEC 7816-4, PC/SC part 3 and the NFC Forum, and what is publicly known of Apple VAS
/// and Google Smart Tap, which are their makers' own.
public struct ConversationExplanation: Sendable, Hashable {
    /// The lines, in the order of the file where it is known, else card by card in the order of their times.
    public let lines: [ExplainedLine]

    /// Explains a capture.
    ///
    /// - Parameter text: what it was read from, which shows where the answers stand; without it only those lines have
    ///   numbers of which the capture knows them.
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
