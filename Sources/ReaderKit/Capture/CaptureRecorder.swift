import Foundation
import Synchronization

/// Collects the events and exchanges of a ``RecordingBackend`` in one capture, and writes it continuously.
///
/// A recording ends when a capture would exceed its maximum length (``CaptureLimits/fileLength``): it is complete up to
/// then, and ``failure`` has the reason.
///
/// Times are recorded so that a replay returns the same scan events: a presentation to the millisecond, an answer to a
/// tenth of a millisecond, never decreasing.
public final class CaptureRecorder: Sendable {
    typealias Request = Capture.Exchange.Request
    typealias Answer = Capture.Exchange.Answer

    private let now: @Sendable () -> Date
    private let writer: CaptureWriter?
    private let limit: Int
    private let state: Mutex<State>

    /// The moment of time 0, in whole milliseconds.
    public let started: Date

    private struct State {
        var capture: Capture
        var numbers: [String: Int] = [:]
        var notes: [Note] = []
        var indexes: [Key: Int] = [:]
        /// The readers of the capture's lines, in their order, and what was recorded of each report.
        var reporters: [String] = []
        var reports: [Key: ReaderReport] = [:]
        /// The presentation to which the last lines of the file belong.
        var block: Int?
        var failure: CaptureFileError?
        /// The most bytes that the text of the capture can have by now.
        var size = 0
        /// Whether what comes no longer fits, so that nothing more is kept.
        var isFull = false
    }

    private struct Key: Hashable {
        var reader: String
        var epoch = 0
        var number: Int

        init(_ presence: CardPresence) {
            (reader, epoch, number) = (presence.reader.name, presence.epoch, presence.number)
        }

        init(_ report: ReaderReport) {
            (reader, number) = (report.reader.name, report.number)
        }
    }

    private struct Note {
        var original: CardPresence
        var recorded: CardPresence
        var conversations = 0
        var hasTalked = false
        var latest: Duration
        /// A removal that came while a conversation was under way.
        var removal: Duration?
    }

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - headers: header lines; `started` and the readers are added.
    ///   - writer: the file to write, from the first presentation on; `nil` to collect only.
    ///   - limit: the maximum size of the recording, in bytes; more than ``CaptureLimits/fileLength`` cannot be read.
    ///   - now: the clock; by default one that starts with the time of day and then runs evenly.
    public init(
        headers: [Capture.Header] = [],
        writer: CaptureWriter? = nil,
        limit: Int = CaptureLimits.fileLength,
        now: @escaping @Sendable () -> Date = CaptureRecorder.steadyClock()
    ) {
        self.now = now
        self.writer = writer
        self.limit = limit
        started = CaptureTime.wholeMilliseconds(now())
        var capture = Capture(headers: headers)
        capture.started = started
        state = Mutex(State(capture: capture, size: capture.text().utf8.count))
    }

    /// Returns a clock that starts with the time of day and ignores corrections of it.
    public static func steadyClock() -> @Sendable () -> Date {
        let (date, instant) = (Date(), ContinuousClock.now)
        return { date + (ContinuousClock.now - instant) / .seconds(1) }
    }

    /// The recording so far.
    public var capture: Capture { state.withLock { $0.capture } }

    /// The error of writing the file, after which only ``capture`` continues; `nil` if there is none.
    public var failure: CaptureFileError? { state.withLock { $0.failure } }

    // MARK: What the backend sees

    /// Notes a presentation and returns it with the time under which it is kept.
    func inserted(_ presence: CardPresence) -> CardPresence {
        state.withLock { state in
            let key = Key(presence)
            if let index = state.indexes[key], state.capture.presentations[index].removedAt == nil {
                // Another watch of the same backend reported it already.
                return state.notes[index].recorded
            }
            // Besides the line of the card: its removal, a fault, and the name of a new reader with its number.
            let length = CaptureText.card(.init(at: .zero, facts: presence.facts)).utf8.count
            guard fits(length + presence.reader.name.utf8.count + 160, in: &state) else { return presence }
            let (isNew, number) = declare(presence.reader.name, in: &state)
            let earlier = state.notes.indices.last { state.notes[$0].original.reader.name == presence.reader.name }
            if let earlier { close(earlier, at: nil, in: &state) }
            let at = max(
                CaptureTime.milliseconds(from: started, to: presence.at),
                state.capture.presentations.last?.at ?? .zero,
                state.capture.lines.last?.at ?? .zero,
                earlier.map { max(state.notes[$0].latest, state.capture.presentations[$0].removedAt ?? .zero) } ?? .zero
            )
            var facts = presence.facts
            facts.atr = facts.atr.map { Array($0.prefix(ReaderLimits.atrLength)) }
            var recorded = presence
            recorded.at = CaptureTime.moment(started, plus: at)
            let index = state.notes.count
            state.indexes[key] = index
            state.notes.append(Note(original: presence, recorded: recorded, latest: at))
            state.capture.presentations.append(.init(reader: number, at: at, facts: facts))
            state.block = index
            if isNew {
                rewrite(&state)
            } else {
                append("\n" + CaptureText.card(state.capture.presentations[index]), to: &state)
            }
            return recorded
        }
    }

    /// Notes that a card left, and returns its presentation as it was recorded.
    func removed(_ presence: CardPresence) -> CardPresence {
        let moment = now()
        return state.withLock { state in
            let key = Key(presence)
            guard let index = state.indexes[key] else { return presence }
            let time = CaptureTime.milliseconds(from: started, to: moment)
            if state.notes[index].conversations > 0 {
                state.notes[index].removal = time
            } else {
                close(index, at: time, in: &state)
            }
            return state.notes[index].recorded
        }
    }

    /// Notes what a reader reported, and returns it with the time under which it is kept.
    func reported(_ report: ReaderReport) -> ReaderReport {
        state.withLock { state in
            // Another watch of the same backend reported it already.
            if let recorded = state.reports[Key(report)] { return recorded }
            // Besides the line: its time, and the name of a new reader with its number.
            guard fits(report.line.utf8.count + report.reader.name.utf8.count + 120, in: &state) else { return report }
            let (isNew, number) = declare(report.reader.name, in: &state)
            let at = max(
                CaptureTime.milliseconds(from: started, to: report.at),
                state.capture.presentations.last?.at ?? .zero,
                state.capture.lines.last?.at ?? .zero
            )
            var recorded = report
            recorded.at = CaptureTime.moment(started, plus: at)
            state.reports[Key(report)] = recorded
            state.reporters.append(report.reader.name)
            let line = Capture.Line(reader: number, at: at, text: report.line)
            state.capture.lines.append(line)
            if isNew {
                rewrite(&state)
            } else {
                append(CaptureText.line(line), to: &state)
            }
            return recorded
        }
    }

    // MARK: Conversations

    /// A conversation begins: returns the presentation as the recorded backend knows it, and its index here.
    func begin(_ presence: CardPresence) -> (original: CardPresence, index: Int?) {
        state.withLock { state in
            guard let index = state.indexes[Key(presence)] else { return (presence, nil) }
            state.notes[index].conversations += 1
            return (state.notes[index].original, index)
        }
    }

    func connected(_ index: Int) {
        state.withLock { $0.notes[index].hasTalked = true }
    }

    /// The conversation is over; `error` is why there was none.
    func end(_ index: Int, _ error: ReaderError?) {
        state.withLock { state in
            state.notes[index].conversations -= 1
            if let error, !state.notes[index].hasTalked, let fault = Self.connectFault(error),
                state.capture.presentations[index].connectFault == nil
            {
                state.capture.presentations[index].connectFault = fault
                appendTo(index, "! \(fault.rawValue)\n", in: &state)
            }
            if state.notes[index].conversations == 0, let time = state.notes[index].removal {
                close(index, at: time, in: &state)
            }
        }
    }

    /// Notes an exchange and returns the time since the presentation under which it is kept.
    func note(_ index: Int, _ request: Request, _ answer: Answer) -> Duration {
        let moment = now()
        return state.withLock { state in
            let (start, end) = (state.capture.presentations[index].at, state.capture.presentations[index].removedAt)
            var time = max(CaptureTime.fine(from: started, to: moment), state.notes[index].latest)
            // What comes after the removal was noted belongs before it.
            if let end { time = min(time, end) }
            guard let exchange = Self.writable(request, answer, at: time) else { return time - start }
            let text = CaptureText.exchange(exchange)
            // A line that goes over to another reader may stand before it.
            guard fits(text.utf8.count + 16, in: &state) else { return time - start }
            state.notes[index].latest = time
            state.capture.presentations[index].exchanges.append(exchange)
            appendTo(index, text, in: &state)
            return time - start
        }
    }

    /// Notes that the card was powered anew. The format has no line for it, so it is a comment in the file.
    func noteReset(_ index: Int) {
        state.withLock { state in
            let presentation = state.capture.presentations[index]
            let comment = "# reset\n"
            guard presentation.removedAt == nil, state.block == index, fits(comment.utf8.count, in: &state) else {
                return
            }
            append(comment, to: &state)
        }
    }

    /// Whether that many bytes more can be kept; when they cannot, the recording is over.
    private func fits(_ count: Int, in state: inout State) -> Bool {
        guard !state.isFull else { return false }
        guard state.size + count <= limit else {
            state.isFull = true
            let path = writer?.path ?? "the recording"
            state.failure = state.failure ?? CaptureFileError(path: path, kind: .notWritable, code: EFBIG)
            return false
        }
        state.size += count
        return true
    }

    /// An exchange as the format can hold it, or `nil` if it cannot.
    private static func writable(_ request: Request, _ answer: Answer, at time: Duration) -> Capture.Exchange? {
        var answer = answer
        switch (request, answer) {
        case (.apdu(let command), _) where command.count < CaptureLimits.shortestCommand: return nil
        case (.raw(let frame), _) where frame.bytes.isEmpty: return nil
        case (.apdu, .bytes(let bytes)) where bytes.count < CaptureLimits.shortestAnswer: answer = .fault(.commError)
        case (.raw, .raw(let frame)) where frame.bytes.isEmpty: answer = .fault(.timeout)
        default: break
        }
        return Capture.Exchange(request, answer, at: time)
    }

    /// The fault of a card that could not be connected, if the failure is the card's and not the service's.
    private static func connectFault(_ error: ReaderError) -> Capture.Fault? {
        switch error.kind {
        case .cardRemoved, .cardReset, .cardUnresponsive, .cardUnpowered, .communication, .timeout:
            Capture.Fault(error)
        default: nil
        }
    }

    // MARK: The capture and its file

    /// Puts a reader into the header, with numbers as soon as there are two.
    private func declare(_ name: String, in state: inout State) -> (isNew: Bool, number: Int?) {
        if let number = state.numbers[name] { return (false, state.capture.readers.count > 1 ? number : nil) }
        state.numbers[name] = state.numbers.count + 1
        let names = state.numbers.sorted { $0.value < $1.value }
        guard names.count > 1 else {
            state.capture.readers = [Capture.Reader(name: name)]
            return (true, nil)
        }
        state.capture.readers = names.map { Capture.Reader(number: $0.value, name: $0.key) }
        for index in state.notes.indices {
            state.capture.presentations[index].reader = state.numbers[state.notes[index].original.reader.name]
        }
        for index in state.reporters.indices {
            state.capture.lines[index].reader = state.numbers[state.reporters[index]]
        }
        return (true, names.count)
    }

    /// Ends a presentation, not before its last answer; without a time, only a removal that was put off is written.
    private func close(_ index: Int, at time: Duration?, in state: inout State) {
        guard state.capture.presentations[index].removedAt == nil, let time = time ?? state.notes[index].removal else {
            return
        }
        let end = max(time, state.notes[index].latest)
        state.capture.presentations[index].removedAt = end
        append(CaptureText.removed(state.capture.presentations[index].reader, at: end), to: &state)
        if state.block == index { state.block = nil }
    }

    private func appendTo(_ index: Int, _ text: String, in state: inout State) {
        let presentation = state.capture.presentations[index]
        guard presentation.removedAt == nil, state.block == index || presentation.reader != nil else {
            // The file has gone on to something else, behind which these lines cannot stand.
            return rewrite(&state)
        }
        if state.block != index, let reader = presentation.reader {
            append(CaptureText.change(to: reader), to: &state)
            state.block = index
        }
        append(text, to: &state)
    }

    private func append(_ text: String, to state: inout State) {
        write(&state) { writer, _ throws(CaptureFileError) in try writer.append(text) }
    }

    /// - Returns: whether there is a file that is still written.
    @discardableResult
    private func write(
        _ state: inout State,
        _ body: (CaptureWriter, Capture) throws(CaptureFileError) -> Void
    ) -> Bool {
        // The removals of cards that are kept still have their place where the recording is full.
        guard let writer, state.failure == nil || state.failure?.code == EFBIG && state.isFull else { return false }
        do throws(CaptureFileError) {
            try body(writer, state.capture)
        } catch {
            state.failure = error
        }
        return true
    }

    private func rewrite(_ state: inout State) {
        let isWritten = write(&state) { writer, capture throws(CaptureFileError) in
            try writer.replace(with: capture.text())
        }
        guard isWritten else { return }
        state.block = state.capture.presentations.indices.last { state.capture.presentations[$0].removedAt == nil }
        // Behind the whole text, only the last presentation's lines can go on as they are.
        if state.block != state.capture.presentations.indices.last { state.block = nil }
    }
}
