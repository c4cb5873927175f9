import CardCore
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
            let (request, sent) = Self.request(exchange.request)
            found.append(
                Self.line(
                    make(request, exchange.sourceLine, nil, "", explained.command.title),
                    CaptureText.request(exchange.request),
                    sent,
                    explained.command.fields,
                    hiding: keys.command(index)
                )
            )
            let place = numbers?.answer(to: exchange.sourceLine)
            let kind: ExplainedLine.Kind = request == .control ? .controlAnswer : .answer
            let statement = CaptureText.exchange(exchange).split(separator: "\n").last.map(String.init) ?? ""
            switch exchange.answer {
            case .fault(let fault):
                found.append(make(.fault, place, exchange.at, statement, Self.text(of: fault)))
            case .bytes(let bytes):
                found.append(
                    Self.line(
                        make(kind, place, exchange.at, "", explained.answer.title),
                        statement,
                        bytes,
                        explained.answer.fields,
                        hiding: keys.answer(index)
                    )
                )
            case .raw(let frame):
                found.append(
                    Self.line(
                        make(.frameAnswer, place, exchange.at, "", explained.answer.title),
                        statement,
                        frame.bytes,
                        explained.answer.fields,
                        hiding: keys.answer(index)
                    )
                )
            }
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

    private static func request(_ request: Capture.Exchange.Request) -> (ExplainedLine.Kind, [UInt8]) {
        switch request {
        case .apdu(let bytes): (.command, bytes)
        case .raw(let frame): (.frame, frame.bytes)
        case .control(_, let bytes): (.control, bytes)
        }
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
