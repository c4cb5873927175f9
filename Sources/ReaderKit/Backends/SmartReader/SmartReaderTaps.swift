/// Determines which of a reader's lines are taps: what came, but not what rests, what went, or what a reader reports
/// about itself.
struct SmartReaderTaps {
    private struct Seen: Hashable {
        var template: UInt8?
        var id: String
        var data: String?

        init(_ tag: SmartReaderTag) {
            (template, id, data) = (tag.template, tag.id, tag.data)
        }
    }

    private let configuration: SmartReaderConfiguration
    private var last: [Seen: ContinuousClock.Instant] = [:]
    /// The last line that was not well formed.
    private var damaged: (line: String, at: ContinuousClock.Instant)?
    private(set) var counts = SmartReaderCounts()

    /// More than so many tags are not remembered; no reader has them in its field.
    private static let mostRemembered = 64

    init(_ configuration: SmartReaderConfiguration) {
        self.configuration = configuration
    }

    /// The line to report, or `nil` if it is no tap.
    ///
    /// A line that is not well formed is reported as it is: somebody held a card to the reader. The same line again and
    /// again is no such person.
    mutating func take(_ line: String, at now: ContinuousClock.Instant) -> String? {
        guard let known = try? SmartReaderLine(decoding: line) else {
            defer { damaged = (line, now) }
            guard let before = damaged, before.line == line, now - before.at < configuration.repeatInterval else {
                return line
            }
            counts.repeats += 1
            return nil
        }
        guard case .tag(let tag) = known else {
            counts.greetings += 1
            return nil
        }
        switch tag.move {
        case .remove:
            counts.departures += 1
            last = last.filter { $0.key.id != tag.id }
            return nil
        case .insert, .insertAndRemove: break
        case nil:
            guard isNew(tag, at: now) else {
                counts.repeats += 1
                return nil
            }
        }
        return explicit(tag, line)
    }

    private mutating func isNew(_ tag: SmartReaderTag, at now: ContinuousClock.Instant) -> Bool {
        let interval = configuration.repeatInterval
        let before = last.updateValue(now, forKey: Seen(tag))
        if last.count > Self.mostRemembered {
            last = last.filter { now - $0.value < interval }
            if last.count > Self.mostRemembered { last = [Seen(tag): now] }
        }
        return before.map { now - $0 >= interval } ?? true
    }

    /// The line with what the template looks for in place of its number, if that is known.
    private func explicit(_ tag: SmartReaderTag, _ line: String) -> String {
        guard let number = tag.template, let lookUp = configuration.templates[number] else { return line }
        var tag = tag
        tag.template = lookUp
        let format = SmartReaderLine.format(of: Array(line.trimmed.utf8)[...])
        return (try? tag.line(as: format)) ?? line
    }
}
