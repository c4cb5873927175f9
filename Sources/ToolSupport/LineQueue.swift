import Foundation
import ReaderKit
import Synchronization

/// Prints lines, in their order, on a thread of its own: whoever sends one does not wait for whoever reads it.
///
/// A screen that hangs must not keep a tap from being recorded. Lines that wait are kept up to a limit; what is over it
/// is lost, and counted.
package final class LineQueue: Sendable {
    /// A line that waits, and who is to be notified of what became of it.
    private struct Line {
        var text: String
        var file: Int32
        var whenDone: (@Sendable (_ isWritten: Bool) -> Void)?
    }

    private struct State {
        var waiting: [Line] = []
        /// Lines that the thread has taken and not printed yet.
        var taken = 0
        var isStarted = false
        var lost = 0
        /// The error number of the file that could not be written.
        var faults: [Int32: Int32] = [:]
        var whenEmpty: [@Sendable () -> Void] = []
    }

    private let limit: Int
    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let isHidden = Atomic(false)

    /// - Parameter limit: how many lines may wait.
    package init(limit: Int = 10_000) {
        self.limit = limit
    }

    /// Whether lines for standard output are not printed and count as written, since a screen shows what they report.
    package func hideResults(_ isHidden: Bool) { self.isHidden.store(isHidden, ordering: .releasing) }

    /// Takes a line for that file.
    ///
    /// - Parameter whenDone: called with whether the whole line was written, once that is known; on any thread, and it
    ///   must not wait. It is not called for a line that is still waiting when the process ends.
    /// - Returns: the error number if the file could not be written before.
    func add(_ line: String, to file: Int32, whenDone: (@Sendable (_ isWritten: Bool) -> Void)? = nil) -> Int32? {
        if file == STDOUT_FILENO, isHidden.load(ordering: .acquiring) {
            whenDone?(true)
            return nil
        }
        let (fault, isTaken, mustStart) = state.withLock { state in
            if let fault = state.faults[file] { return (fault as Int32?, false, false) }
            guard state.waiting.count + state.taken < limit else {
                state.lost += 1
                return (nil, false, false)
            }
            state.waiting.append(Line(text: line, file: file, whenDone: whenDone))
            defer { state.isStarted = true }
            return (nil, true, !state.isStarted)
        }
        guard isTaken else {
            whenDone?(false)
            return fault
        }
        if mustStart { DetachedThread.start(name: "output") { self.run() } }
        signal.signal()
        return nil
    }

    private func run() {
        while true {
            signal.wait()
            let lines = state.withLock { state in
                defer { (state.waiting, state.taken) = ([], state.waiting.count) }
                return state.waiting
            }
            // Signals of lines that were taken with earlier ones.
            if lines.isEmpty { continue }
            for line in lines {
                let fault = Output.write(line.text, to: line.file)
                // Before the line is counted as done: whoever waits for all of them finds all of them reported.
                line.whenDone?(fault == nil)
                state.withLock { state in
                    state.taken -= 1
                    if let fault { state.faults[line.file] = fault }
                }
            }
            let (lost, whenEmpty) = state.withLock { state -> (Int, [@Sendable () -> Void]) in
                guard state.waiting.isEmpty else { return (0, []) }
                defer { (state.lost, state.whenEmpty) = (0, []) }
                return (state.lost, state.whenEmpty)
            }
            if lost > 0 { Output.tell("\(lost) lines were not printed: nobody read them. What they told was done.") }
            for done in whenEmpty { done() }
        }
    }

    /// Waits until all is printed, or at most for so long.
    ///
    /// - Returns: how many lines were not, and the error number of standard output if it could not be written.
    func finish(within limit: Duration) async -> (left: Int, fault: Int32?) {
        await waiting(atMost: limit) { done in
            let isEmpty = state.withLock { state in
                if state.waiting.isEmpty, state.taken == 0 { return true }
                state.whenEmpty.append(done)
                return false
            }
            if isEmpty { done() }
        }
        return state.withLock { ($0.waiting.count + $0.taken + $0.lost, $0.faults[STDOUT_FILENO]) }
    }
}
