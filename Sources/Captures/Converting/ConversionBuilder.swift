import CardCore
import CardPasses

/// Puts a capture together from the contents of a log, so that it keeps the rules of the format.
struct ConversionBuilder {
    let file: String?
    /// The name of the reader where the log has none.
    let reader: String?
    let atr: [UInt8]?
    /// How many lines of the log were of use.
    var usedLines = 0

    private var presentations: [Capture.Presentation] = []
    private var names: [String?] = []
    private var latest: [Duration] = []
    private var open: [String?: Int] = [:]
    /// The name that a log states for its only reader.
    var soleReader: String?

    init(file: String?, reader: String?, atr: [UInt8]?) {
        self.file = file
        self.reader = reader
        self.atr = atr
    }

    /// The time of the next presentation in a log that has no times.
    var nextTime: Duration { presentations.isEmpty ? .zero : .seconds(2 * presentations.count) }

    func isOpen(_ name: String?) -> Bool { open[name] != nil }

    func facts(_ name: String?) -> CardFacts? { open[name].map { presentations[$0].facts } }

    mutating func card(on name: String?, at time: Duration, facts: CardFacts = CardFacts(), line: Int) {
        removed(from: name, at: nil)
        let earliest = names.indices.last { names[$0] == name }.map { latest[$0] } ?? .zero
        let at = max(time, earliest, presentations.last?.at ?? .zero)
        open[name] = presentations.count
        presentations.append(.init(at: at, facts: facts, sourceLine: line))
        names.append(name)
        latest.append(at)
    }

    /// The ATR of the card on a reader, if none is known yet.
    mutating func setATR(_ atr: [UInt8], on name: String?) {
        guard let index = open[name], presentations[index].facts.atr == nil else { return }
        presentations[index].facts.atr = atr
    }

    /// The last card of a reader is there again, if nothing was sent to it and it shows the same facts.
    mutating func resume(on name: String?, facts: CardFacts) -> Bool {
        if open[name] != nil { return self.facts(name) == facts }
        guard let index = names.indices.last(where: { names[$0] == name }),
            presentations[index].exchanges.isEmpty, presentations[index].facts == facts
        else { return false }
        presentations[index].removedAt = nil
        open[name] = index
        return true
    }

    /// An exchange with the card on a reader; a card is presented if there is none.
    mutating func exchange(
        _ request: Capture.Exchange.Request,
        _ answer: Capture.Exchange.Answer,
        on name: String?,
        at time: Duration?,
        line: Int
    ) {
        if open[name] == nil { card(on: name, at: time ?? nextTime, line: line) }
        guard let index = open[name] else { return }
        let at = time.map { max($0, latest[index]) }
        latest[index] = at ?? latest[index]
        presentations[index].exchanges.append(.init(request, answer, at: at, sourceLine: line))
    }

    mutating func removed(from name: String?, at time: Duration?) {
        guard let index = open.removeValue(forKey: name) else { return }
        // A log without times: one second after it came.
        presentations[index].removedAt = max(time ?? presentations[index].at + .seconds(1), latest[index])
        latest[index] = presentations[index].removedAt ?? latest[index]
    }

    /// The capture. Cards that were not seen to leave, leave at the end.
    mutating func finish(_ format: CaptureConversion.Format) -> Capture {
        for name in Array(open.keys) { removed(from: name, at: nil) }
        var capture = Capture(headers: [.init("source", "converted from \(format.title)")], file: file)
        var order: [String?] = []
        for name in names where !order.contains(name) { order.append(name) }
        let titles = order.map { Self.oneLine($0 ?? soleReader ?? reader ?? "") }
        if order.count > 1 {
            capture.readers = titles.enumerated().map {
                .init(number: $0.offset + 1, name: $0.element.isEmpty ? "reader \($0.offset + 1)" : $0.element)
            }
        } else if let title = titles.first, !title.isEmpty {
            capture.readers = [.init(name: title)]
        }
        for index in presentations.indices {
            if order.count > 1 { presentations[index].reader = order.firstIndex(of: names[index]).map { $0 + 1 } }
            let facts = presentations[index].facts
            if facts.atr == nil, facts.technology == nil { presentations[index].facts.atr = atr }
        }
        capture.presentations = presentations
        return capture
    }

    private static func oneLine(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
            .trimmed
    }

    /// The answer of a card to an APDU, as the format can hold it.
    static func answer(_ bytes: [UInt8]) -> Capture.Exchange.Answer {
        let possible = CaptureLimits.shortestAnswer...ReaderLimits.responseLength
        return possible.contains(bytes.count) ? .bytes(bytes) : .fault(.commError)
    }
}
