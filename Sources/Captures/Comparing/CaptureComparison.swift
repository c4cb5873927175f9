import CardCore

/// Two captures compared by what they mean: spaces, the case of digits, comments and line numbers do not count.
///
/// Presentations and exchanges are aligned, so that one that was put in or left out is one difference. Times and headers
/// count only when asked for.
public struct CaptureComparison: Sendable {
    /// The differences, in the order of the captures.
    public private(set) var differences: [CaptureDifference] = []

    private let comparesTimes: Bool

    /// Compares two captures.
    ///
    /// - Parameters:
    ///   - left: the first capture.
    ///   - right: the second one.
    ///   - comparingTimes: whether times count, those of cards, answers, removals and Smart Reader lines.
    ///   - comparingHeaders: whether header lines count, in any order.
    public init(
        _ left: Capture,
        _ right: Capture,
        comparingTimes: Bool = false,
        comparingHeaders: Bool = false
    ) {
        comparesTimes = comparingTimes
        if comparingHeaders { compareHeaders(left.headers, right.headers) }
        comparePresentations(left, right)
        compareLines(left.lines, right.lines)
    }

    /// Whether both mean the same.
    public var isSame: Bool { differences.isEmpty }

    // MARK: Headers and lines

    private mutating func compareHeaders(_ left: [Capture.Header], _ right: [Capture.Header]) {
        var rest = right
        for header in left {
            let index = rest.firstIndex { $0.key.lowercased() == header.key.lowercased() }
            let other = index.map { rest.remove(at: $0) }
            if other?.value != header.value {
                differences.append(.init(.header, name: header.key, left: header.value, right: other?.value))
            }
        }
        for header in rest { differences.append(.init(.header, name: header.key, left: nil, right: header.value)) }
    }

    private mutating func compareLines(_ left: [Capture.Line], _ right: [Capture.Line]) {
        for step in Alignment.align(left.map(\.text), right.map(\.text)) {
            switch step {
            case .both(let a, let b):
                guard comparesTimes, left[a].at != right[b].at else { continue }
                differences.append(.init(.time, left: seconds(left[a].at), right: seconds(right[b].at)))
            case .left(let a): differences.append(.init(.line, left: left[a].text, right: nil))
            case .right(let b): differences.append(.init(.line, left: nil, right: right[b].text))
            }
        }
    }

    // MARK: Presentations

    /// What has to be equal for two presentations to be the same.
    private struct PresentationKey: Hashable {
        var reader: String
        var facts: CardFacts
        var connectFault: Capture.Fault?
        var exchanges: [ExchangeKey]
    }

    private struct ExchangeKey: Hashable {
        var request: Capture.Exchange.Request
        var answer: Capture.Exchange.Answer
    }

    /// The number of the reader. The name of an only one does not count.
    private static func reader(_ presentation: Capture.Presentation, in capture: Capture) -> String {
        guard capture.readers.count > 1, let number = presentation.reader else { return "" }
        return capture.readers.firstIndex { $0.number == number }.map { "reader \($0 + 1)" } ?? ""
    }

    private static func keys(_ capture: Capture) -> [PresentationKey] {
        let isSingle = capture.readers.count < 2
        return capture.presentations.map { presentation in
            PresentationKey(
                reader: isSingle ? "" : reader(presentation, in: capture),
                facts: presentation.facts.sorted,
                connectFault: presentation.connectFault,
                exchanges: presentation.exchanges.map { ExchangeKey(request: $0.request, answer: $0.answer) }
            )
        }
    }

    private mutating func comparePresentations(_ left: Capture, _ right: Capture) {
        let (a, b) = (Self.keys(left), Self.keys(right))
        // First what is wholly the same, then what shows the same facts, then in order.
        let steps = Alignment.refine(Alignment.align(a, b)) { lefts, rights in
            let steps = Alignment.align(lefts.map { a[$0].facts }, rights.map { b[$0].facts })
                .map { $0.mapped(lefts, rights) }
            return Alignment.refine(steps) { Alignment.pair($0, $1) }
        }
        for step in steps {
            switch step {
            case .both(let l, let r):
                compare((l, left.presentations[l], a[l]), (r, right.presentations[r], b[r]))
            case .left(let l):
                let presentation = left.presentations[l]
                let text = Self.text(presentation)
                differences.append(
                    .init(
                        .presentation,
                        presentations: (l + 1, nil),
                        lines: (presentation.sourceLine, nil),
                        left: text,
                        right: nil
                    )
                )
            case .right(let r):
                let presentation = right.presentations[r]
                let text = Self.text(presentation)
                differences.append(
                    .init(
                        .presentation,
                        presentations: (nil, r + 1),
                        lines: (nil, presentation.sourceLine),
                        left: nil,
                        right: text
                    )
                )
            }
        }
    }

    private static func text(_ presentation: Capture.Presentation) -> String {
        let count = presentation.exchanges.count
        return CaptureText.card(presentation).trimmed + "  # \(count) exchange\(count == 1 ? "" : "s")"
    }

    private mutating func compare(
        _ left: (index: Int, value: Capture.Presentation, key: PresentationKey),
        _ right: (index: Int, value: Capture.Presentation, key: PresentationKey)
    ) {
        let (l, r) = (left.value, right.value)
        let lines = (l.sourceLine, r.sourceLine)
        let presentations: (Int?, Int?) = (left.index + 1, right.index + 1)
        func note(_ kind: CaptureDifference.Kind, name: String? = nil, _ a: String?, _ b: String?) {
            guard a != b else { return }
            differences.append(
                .init(kind, presentations: presentations, lines: lines, name: name, left: a, right: b)
            )
        }
        if comparesTimes { note(.time, name: "card", seconds(l.at), seconds(r.at)) }
        note(.reader, left.key.reader, right.key.reader)
        note(.fact, name: "technology", l.facts.technology?.rawValue, r.facts.technology?.rawValue)
        note(.fact, name: "atr", l.facts.atr?.hex, r.facts.atr?.hex)
        let names = Set(l.facts.values.map(\.name)).union(r.facts.values.map(\.name))
        for name in names.sorted() { note(.fact, name: name, l.facts[name]?.hex, r.facts[name]?.hex) }
        note(.connectFault, l.connectFault?.rawValue, r.connectFault?.rawValue)
        compareExchanges(l, r, presentations: presentations)
        if (l.removedAt == nil) != (r.removedAt == nil) {
            func text(_ time: Duration?) -> String? { time.map { "removed at \(seconds($0))" } }
            note(.removal, text(l.removedAt), text(r.removedAt))
        } else if comparesTimes {
            note(.time, name: "removed", l.removedAt.map(seconds), r.removedAt.map(seconds))
        }
    }

    // MARK: Exchanges

    private mutating func compareExchanges(
        _ left: Capture.Presentation,
        _ right: Capture.Presentation,
        presentations: (Int?, Int?)
    ) {
        let (a, b) = (left.exchanges, right.exchanges)
        func key(_ exchange: Capture.Exchange) -> ExchangeKey {
            ExchangeKey(request: exchange.request, answer: exchange.answer)
        }
        let steps = Alignment.refine(Alignment.align(a.map(key), b.map(key))) { lefts, rights in
            Alignment.align(lefts.map { a[$0].request }, rights.map { b[$0].request }).map { $0.mapped(lefts, rights) }
        }
        for step in steps {
            switch step {
            case .both(let l, let r):
                let lines = (a[l].sourceLine, b[r].sourceLine)
                if a[l].answer != b[r].answer {
                    differences.append(
                        .init(
                            .answer,
                            presentations: presentations,
                            lines: lines,
                            name: CaptureText.request(a[l].request),
                            left: Self.answer(a[l]),
                            right: Self.answer(b[r])
                        )
                    )
                }
                if comparesTimes, a[l].at != b[r].at {
                    differences.append(
                        .init(
                            .time,
                            presentations: presentations,
                            lines: lines,
                            name: CaptureText.request(a[l].request),
                            left: a[l].at.map(seconds),
                            right: b[r].at.map(seconds)
                        )
                    )
                }
            case .left(let l):
                differences.append(
                    .init(
                        .exchange,
                        presentations: presentations,
                        lines: (a[l].sourceLine, nil),
                        left: Self.text(a[l]),
                        right: nil
                    )
                )
            case .right(let r):
                differences.append(
                    .init(
                        .exchange,
                        presentations: presentations,
                        lines: (nil, b[r].sourceLine),
                        left: nil,
                        right: Self.text(b[r])
                    )
                )
            }
        }
    }

    private static func text(_ exchange: Capture.Exchange) -> String {
        var exchange = exchange
        exchange.at = nil
        return CaptureText.exchange(exchange).trimmed
    }

    private static func answer(_ exchange: Capture.Exchange) -> String {
        text(exchange).split(separator: "\n").last.map(String.init) ?? ""
    }

    private func seconds(_ time: Duration) -> String { CaptureTime.text(time) }
}

extension CardFacts {
    /// The same facts in the order of their names, which states nothing.
    fileprivate var sorted: CardFacts {
        CardFacts(atr: atr, technology: technology, values: values.sorted { $0.name < $1.name })
    }
}

/// One difference between two captures.
public struct CaptureDifference: Sendable, Hashable, Codable {
    /// What differs.
    public var kind: Kind

    /// The presentation of the first capture, from 1, or `nil` if it has none there.
    public var leftPresentation: Int?

    /// The presentation of the second capture, from 1, or `nil` if it has none there.
    public var rightPresentation: Int?

    /// The line of the first capture, where its file is known: of the card, or of the command.
    public var leftLine: Int?

    /// The line of the second capture.
    public var rightLine: Int?

    /// The name of the fact or header that differs.
    public var name: String?

    /// What the first capture has there, as captures write it, or `nil` if nothing.
    public var left: String?

    /// What the second capture has there, or `nil` if nothing.
    public var right: String?

    /// What can differ.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A header line.
        case header
        /// A whole presentation is in one capture only.
        case presentation
        /// The reader of a presentation.
        case reader
        /// A fact of the card, or its technology.
        case fact
        /// The fault with which no conversation was possible.
        case connectFault
        /// A command with its answer is in one capture only.
        case exchange
        /// The answer to the same command.
        case answer
        /// Whether it is told that the card left.
        case removal
        /// A time.
        case time
        /// A line of a reader in Smart Reader mode.
        case line
    }

    /// A difference.
    public init(
        _ kind: Kind,
        presentations: (Int?, Int?) = (nil, nil),
        lines: (Int?, Int?) = (nil, nil),
        name: String? = nil,
        left: String?,
        right: String?
    ) {
        self.kind = kind
        (leftPresentation, rightPresentation) = presentations
        (leftLine, rightLine) = lines
        self.name = name
        self.left = left
        self.right = right
    }
}

extension CaptureDifference: CustomStringConvertible {
    /// Some lines for people: what, where, and behind `-` and `+` what each capture has.
    public var description: String {
        func place(_ label: String, _ presentation: Int?, _ line: Int?) -> String? {
            let parts = [presentation.map { "card \($0)" }, line.map { "line \($0)" }].compactMap { $0 }
            return parts.isEmpty ? nil : "\(label) " + parts.joined(separator: ", ")
        }
        let places = [
            place("A", leftPresentation, leftLine), place("B", rightPresentation, rightLine),
        ].compactMap { $0 }.joined(separator: "; ")
        var text = kind.title + (name.map { " '\($0)'" } ?? "") + (places.isEmpty ? "" : " (\(places))")
        func add(_ mark: String, _ value: String?) {
            for line in (value ?? "").split(separator: "\n") { text += "\n  \(mark) \(line)" }
        }
        add("-", left)
        add("+", right)
        return text
    }
}

extension CaptureDifference.Kind {
    /// The name for people.
    public var title: String {
        switch self {
        case .header: "header"
        case .presentation: "presentation"
        case .reader: "reader"
        case .fact: "fact"
        case .connectFault: "fault of the card"
        case .exchange: "exchange"
        case .answer: "answer"
        case .removal: "removal"
        case .time: "time"
        case .line: "Smart Reader line"
        }
    }
}
