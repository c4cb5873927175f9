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
    ///   - comparingTimes: whether times count, those of cards, answers, removals and Smart Reader lines.
    ///   - comparingHeaders: whether header lines count, in any order.
    public init(_ left: Capture, _ right: Capture, comparingTimes: Bool = false, comparingHeaders: Bool = false) {
        comparesTimes = comparingTimes
        if comparingHeaders { compareHeaders(left.headers, right.headers) }
        comparePresentations(left, right)
        compareLines(left.lines, right.lines)
    }

    /// Whether both mean the same.
    public var isSame: Bool { differences.isEmpty }

    private mutating func note(
        _ kind: CaptureDifference.Kind,
        in presentations: (Int?, Int?) = (nil, nil),
        lines: (Int?, Int?) = (nil, nil),
        name: String? = nil,
        _ left: String?,
        _ right: String?
    ) {
        guard left != right else { return }
        differences.append(
            CaptureDifference(
                kind: kind,
                leftPresentation: presentations.0,
                rightPresentation: presentations.1,
                leftLine: lines.0,
                rightLine: lines.1,
                name: name,
                left: left,
                right: right
            )
        )
    }

    // MARK: Headers and lines

    private mutating func compareHeaders(_ left: [Capture.Header], _ right: [Capture.Header]) {
        var rest = right
        for header in left {
            let index = rest.firstIndex { $0.key.lowercased() == header.key.lowercased() }
            note(.header, name: header.key, header.value, index.map { rest.remove(at: $0).value })
        }
        for header in rest { note(.header, name: header.key, nil, header.value) }
    }

    private mutating func compareLines(_ left: [Capture.Line], _ right: [Capture.Line]) {
        for step in Alignment.align(left.map(\.text), right.map(\.text)) {
            switch step {
            case .both(let a, let b): if comparesTimes { note(.time, seconds(left[a].at), seconds(right[b].at)) }
            case .left(let a): note(.line, left[a].text, nil)
            case .right(let b): note(.line, nil, right[b].text)
            }
        }
    }

    // MARK: Presentations

    /// What has to be equal for two presentations to be the same: no times, and facts in the order of their names. The
    /// reader is its place among several; that and the name of an only one do not count.
    private static func key(_ presentation: Capture.Presentation, in capture: Capture) -> Capture.Presentation {
        var key = presentation
        let place = capture.readers.firstIndex { $0.number == presentation.reader }
        key.reader = capture.readers.count > 1 ? place.map { $0 + 1 } : nil
        key.facts.values.sort { $0.name < $1.name }
        key.exchanges = presentation.exchanges.map(Self.key)
        (key.at, key.removedAt) = (.zero, nil)
        return key
    }

    private static func key(_ exchange: Capture.Exchange) -> Capture.Exchange {
        var key = exchange
        key.at = nil
        return key
    }

    private mutating func comparePresentations(_ left: Capture, _ right: Capture) {
        let a = left.presentations.map { Self.key($0, in: left) }
        let b = right.presentations.map { Self.key($0, in: right) }
        // First what is wholly the same, then what shows the same facts, then in order.
        let steps = Alignment.refine(Alignment.align(a, b)) { lefts, rights in
            let steps = Alignment.align(lefts.map { a[$0].facts }, rights.map { b[$0].facts })
                .map { $0.mapped(lefts, rights) }
            return Alignment.refine(steps) { Alignment.pair($0, $1) }
        }
        for step in steps {
            switch step {
            case .both(let l, let r):
                let (one, other) = (left.presentations[l], right.presentations[r])
                compare(one, other, (l + 1, r + 1), readers: (a[l].reader, b[r].reader))
            case .left(let l):
                let one = left.presentations[l]
                note(.presentation, in: (l + 1, nil), lines: (one.sourceLine, nil), Self.text(one), nil)
            case .right(let r):
                let other = right.presentations[r]
                note(.presentation, in: (nil, r + 1), lines: (nil, other.sourceLine), nil, Self.text(other))
            }
        }
    }

    private static func text(_ presentation: Capture.Presentation) -> String {
        let count = presentation.exchanges.count
        return CaptureText.card(presentation).trimmed + "  # \(count) exchange\(count == 1 ? "" : "s")"
    }

    private mutating func compare(
        _ l: Capture.Presentation,
        _ r: Capture.Presentation,
        _ numbers: (Int?, Int?),
        readers: (Int?, Int?)
    ) {
        func note(_ kind: CaptureDifference.Kind, name: String? = nil, _ a: String?, _ b: String?) {
            self.note(kind, in: numbers, lines: (l.sourceLine, r.sourceLine), name: name, a, b)
        }
        func text(_ reader: Int?) -> String { reader.map { "reader \($0)" } ?? "" }
        if comparesTimes { note(.time, name: "card", seconds(l.at), seconds(r.at)) }
        note(.reader, text(readers.0), text(readers.1))
        note(.fact, name: "technology", l.facts.technology?.rawValue, r.facts.technology?.rawValue)
        note(.fact, name: "atr", l.facts.atr?.hex, r.facts.atr?.hex)
        let names = Set(l.facts.values.map(\.name)).union(r.facts.values.map(\.name))
        for name in names.sorted() { note(.fact, name: name, l.facts[name]?.hex, r.facts[name]?.hex) }
        note(.connectFault, l.connectFault?.rawValue, r.connectFault?.rawValue)
        compareExchanges(l.exchanges, r.exchanges, numbers)
        if (l.removedAt == nil) != (r.removedAt == nil) {
            func text(_ time: Duration?) -> String? { time.map { "removed at \(seconds($0))" } }
            note(.removal, text(l.removedAt), text(r.removedAt))
        } else if comparesTimes {
            note(.time, name: "removed", l.removedAt.map(seconds), r.removedAt.map(seconds))
        }
    }

    // MARK: Exchanges

    private mutating func compareExchanges(
        _ a: [Capture.Exchange],
        _ b: [Capture.Exchange],
        _ presentations: (Int?, Int?)
    ) {
        let steps = Alignment.refine(Alignment.align(a.map(Self.key), b.map(Self.key))) { lefts, rights in
            Alignment.align(lefts.map { a[$0].request }, rights.map { b[$0].request }).map { $0.mapped(lefts, rights) }
        }
        for step in steps {
            switch step {
            case .both(let l, let r):
                let (lines, name) = ((a[l].sourceLine, b[r].sourceLine), CaptureText.request(a[l].request))
                note(.answer, in: presentations, lines: lines, name: name, Self.answer(a[l]), Self.answer(b[r]))
                guard comparesTimes else { continue }
                note(.time, in: presentations, lines: lines, name: name, a[l].at.map(seconds), b[r].at.map(seconds))
            case .left(let l): note(.exchange, in: presentations, lines: (a[l].sourceLine, nil), Self.text(a[l]), nil)
            case .right(let r): note(.exchange, in: presentations, lines: (nil, b[r].sourceLine), nil, Self.text(b[r]))
            }
        }
    }

    private static func text(_ exchange: Capture.Exchange) -> String { CaptureText.exchange(key(exchange)).trimmed }

    private static func answer(_ exchange: Capture.Exchange) -> String {
        text(exchange).split(separator: "\n").last.map(String.init) ?? ""
    }

    private func seconds(_ time: Duration) -> String { CaptureTime.text(time) }
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
        case header
        /// A whole presentation is in one capture only.
        case presentation
        case reader
        /// A fact of the card, or its technology.
        case fact
        /// The fault with which no conversation was possible.
        case connectFault
        /// A command with its answer is in one capture only.
        case exchange
        case answer
        /// Whether it is recorded that the card left.
        case removal
        case time
        case line
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
    public var title: String { [.connectFault: "fault of the card", .line: "Smart Reader line"][self] ?? rawValue }
}
