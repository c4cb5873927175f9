import Foundation
import Synchronization

/// What is known of the lines, and who is notified of it: makes events of what their threads report.
final class SmartReaderTable: Sendable {
    /// What happened to a line, in its order.
    enum Report: Sendable {
        /// It was opened.
        case opened
        /// It is gone, or not there to be opened.
        case absent
        /// It is there and cannot be used.
        case trouble(ReaderError)
        /// Nothing will ever come again: standard input has ended.
        case ended
        /// A tap.
        case line(String)
    }

    private struct Entry {
        var reader: ReaderInfo
        var isOpen = false
        /// Why it cannot be used, once that was reported.
        var trouble: ReaderError?
        var reports = 0
    }

    private struct State {
        var entries: [Entry] = []
        var watchers: [UUID: AsyncStream<ReaderEvent>.Continuation] = [:]

        func publish(_ event: ReaderEvent) {
            for watcher in watchers.values { watcher.yield(event) }
        }
    }

    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Adds a reader, of which nothing is known yet.
    ///
    /// - Returns: its index.
    func add(_ reader: ReaderInfo) -> Int {
        state.withLock { state in
            state.entries.append(Entry(reader: reader))
            return state.entries.count - 1
        }
    }

    /// Ends all watches.
    func finish() {
        let watchers = state.withLock { Array($0.watchers.values) }
        // Not under the lock: each removes itself.
        for watcher in watchers { watcher.finish() }
    }

    /// Adds a watcher and gives it what is there.
    ///
    /// - Returns: whether it is the first one.
    func add(_ id: UUID, _ watcher: AsyncStream<ReaderEvent>.Continuation) -> Bool {
        state.withLock { state in
            defer { state.watchers[id] = watcher }
            for entry in state.entries {
                if entry.isOpen { watcher.yield(.readerAdded(entry.reader)) }
                if let trouble = entry.trouble { watcher.yield(.readerStuck(entry.reader, trouble)) }
            }
            return state.watchers.isEmpty
        }
    }

    /// Removes a watcher.
    ///
    /// - Returns: whether none is left.
    func remove(_ id: UUID) -> Bool {
        state.withLock { state in
            state.watchers[id] = nil
            return state.watchers.isEmpty
        }
    }

    /// Takes over what happened to a line.
    func note(_ report: Report, of index: Int) {
        state.withLock { state in
            let reader = state.entries[index].reader
            switch report {
            case .opened:
                if state.entries[index].trouble != nil { state.publish(.readerRecovered(reader)) }
                state.entries[index].trouble = nil
                state.entries[index].isOpen = true
                state.publish(.readerAdded(reader))
            case .absent:
                leave(index, &state)
                state.entries[index].trouble = nil
            case .trouble(let error):
                leave(index, &state)
                guard state.entries[index].trouble?.kind != error.kind else { return }
                state.entries[index].trouble = error
                state.publish(.readerStuck(reader, error))
            case .ended: break
            case .line(let text):
                state.entries[index].reports += 1
                let number = state.entries[index].reports
                state.publish(.cardReported(ReaderReport(reader: reader, number: number, at: now(), line: text)))
            }
        }
    }

    private func leave(_ index: Int, _ state: inout State) {
        if state.entries[index].isOpen { state.publish(.readerRemoved(state.entries[index].reader)) }
        state.entries[index].isOpen = false
    }
}
