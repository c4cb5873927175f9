import ClubKit
import Foundation
import Synchronization
import ToolSupport

/// How far a long work is, on the last line of a terminal's standard error.
///
/// Nothing is shown without a terminal, with `NO_COLOR`, or where JSON goes to the same terminal.
final class ProgressBar: Sendable {
    private struct State {
        var shown: ContinuousClock.Instant?
        var length = 0
    }

    private let title: String
    private let isShown: Bool
    private let began = ContinuousClock.now
    private let state = Mutex(State())

    init(_ title: String, _ out: Output) {
        self.title = title
        let environment = ProcessInfo.processInfo.environment
        isShown =
            isatty(STDERR_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty
            && !(out.isJSON && isatty(STDOUT_FILENO) == 1) && environment["TERM"] != "dumb"
    }

    /// Shows a state, at most ten times a second.
    func show(_ fraction: Double?, _ count: String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            if let shown = state.shown, now - shown < .milliseconds(100) { return }
            state.shown = now
            Self.draw(line(fraction, count, elapsed: now - began), &state)
        }
    }

    func end() {
        guard isShown else { return }
        state.withLock { state in
            if state.length > 0 { Self.draw("", &state) }
        }
    }

    private func line(_ fraction: Double?, _ count: String, elapsed: Duration) -> String {
        guard let fraction else { return "\(title)  \(count)" }
        let done = min(max(fraction, 0), 1)
        let filled = Int((done * 24).rounded(.down))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 24 - filled)
        var text = "\(title)  \(bar)  \(Int(done * 100)) %  \(count)"
        let seconds = Double(elapsed.components.seconds)
        if done > 0.02, seconds >= 2 { text += "  \(Self.span(seconds / done * (1 - done))) left" }
        return text
    }

    private static func span(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 359_999).rounded(.up))
        return whole < 60 ? "\(whole) s" : "\(whole / 60) min \(whole % 60) s"
    }

    private static func draw(_ line: String, _ state: inout State) {
        let rest = String(repeating: " ", count: max(0, state.length - line.count))
        state.length = line.count
        let bytes = Array("\r\(line)\(rest)\(line.isEmpty ? "\r" : "")".utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension ProgressBar {
    func show(_ progress: TransferProgress) {
        show(progress.fraction, Count.text(progress.rows, "row"))
    }
}

/// Counts, from whatever thread.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }

    /// Counts one more.
    ///
    /// - Returns: how many there were before.
    @discardableResult
    func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue }
}
