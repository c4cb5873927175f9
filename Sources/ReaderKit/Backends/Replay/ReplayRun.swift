import Foundation

actor ReplayRun {
    typealias Pace = @Sendable (Duration) async throws -> Void

    private let backend: ReplayBackend
    private var position = 0
    private var steps: ArraySlice<Step> = []
    private var readers: [Int?: ReaderInfo] = [:]
    private var start = Date(timeIntervalSince1970: 0)
    private var pace: Pace?
    /// The cards that lie on the readers, by the index of their presentation.
    private var presences: [Int: CardPresence] = [:]
    private var reports = 0

    enum Step {
        case add(Int?)
        case insert(Int, at: Duration)
        case report(Int, at: Duration)
        case remove(Int, at: Duration)
        case take(Int?)
    }

    init(backend: ReplayBackend) {
        self.backend = backend
    }

    func next() async -> ReaderEvent? {
        while steps.isEmpty {
            guard position < backend.captures.count else { return nil }
            let capture = backend.captures[position]
            position += 1
            start = await backend.startOf(capture)
            pace = backend.pace()
            let named = capture.readers.map { ($0.number, ReaderInfo(recordedName: $0.name)) }
            readers = Dictionary(named) { first, _ in first }
            steps = Self.steps(of: capture)[...]
        }
        guard let step = steps.popFirst() else { return nil }
        let capture = backend.captures[position - 1]
        do {
            switch step {
            case .add(let number): return .readerAdded(reader(number))
            case .take(let number): return .readerRemoved(reader(number))
            case .insert(let index, let time):
                try await pace?(time)
                return .cardInserted(present(capture.presentations[index], index: index, file: capture.file))
            case .report(let index, let time):
                try await pace?(time)
                return .cardReported(report(capture.lines[index]))
            case .remove(let index, let time):
                try await pace?(time)
                guard let presence = presences.removeValue(forKey: index) else { return nil }
                backend.remove(presence.number)
                return .cardRemoved(presence)
            }
        } catch {
            return nil
        }
    }

    private func present(_ presentation: Capture.Presentation, index: Int, file: String?) -> CardPresence {
        let reader = reader(presentation.reader)
        let presence = CardPresence(
            reader: reader,
            number: backend.present(presentation, on: reader, file: file),
            facts: presentation.facts,
            at: CaptureTime.moment(start, plus: presentation.at)
        )
        presences[index] = presence
        return presence
    }

    private func report(_ line: Capture.Line) -> ReaderReport {
        reports += 1
        let at = CaptureTime.moment(start, plus: line.at)
        return ReaderReport(reader: reader(line.reader), number: reports, at: at, line: line.text)
    }

    private func reader(_ number: Int?) -> ReaderInfo {
        readers[number] ?? ReaderInfo(recordedName: Capture.unnamedReader)
    }

    /// What happens in a capture: its readers come, cards come and leave and lines come in the order of their times, its
    /// readers go.
    ///
    /// Of things at the same time, removals come first, then lines. A card whose removal is not recorded leaves when the next one
    /// comes to its reader, or at the end.
    static func steps(of capture: Capture) -> [Step] {
        var readers: [Int?] = capture.readers.map(\.number)
        for reader in capture.presentations.map(\.reader) + capture.lines.map(\.reader) where !readers.contains(reader)
        {
            readers.append(reader)
        }
        var steps = readers.map(Step.add)
        var present: [(index: Int, reader: Int?, until: Duration?)] = []
        func leave(before time: Duration, where isLeaving: ((index: Int, reader: Int?, until: Duration?)) -> Bool) {
            let leaving = present.filter(isLeaving).map { (index: $0.index, until: min($0.until ?? time, time)) }
            present.removeAll(where: isLeaving)
            for card in leaving.sorted(by: { ($0.until, $0.index) < ($1.until, $1.index) }) {
                steps.append(.remove(card.index, at: card.until))
            }
        }
        var lines = capture.lines.enumerated().makeIterator()
        var line = lines.next()
        func report(until time: Duration?) {
            while let (index, next) = line.map({ ($0.offset, $0.element) }), time.map({ next.at <= $0 }) ?? true {
                leave(before: next.at) { card in card.until.map { $0 <= next.at } ?? false }
                steps.append(.report(index, at: next.at))
                line = lines.next()
            }
        }
        for (index, presentation) in capture.presentations.enumerated() {
            report(until: presentation.at)
            leave(before: presentation.at) { card in
                card.reader == presentation.reader || card.until.map { $0 <= presentation.at } ?? false
            }
            steps.append(.insert(index, at: presentation.at))
            present.append((index, presentation.reader, presentation.removedAt))
        }
        report(until: nil)
        leave(before: capture.duration) { _ in true }
        return steps + readers.map(Step.take)
    }
}
