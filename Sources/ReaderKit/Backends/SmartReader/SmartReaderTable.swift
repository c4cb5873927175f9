import Foundation
import Synchronization

/// What is known of the lines, and who is told of it: makes events of what their threads report.
final class SmartReaderTable: Sendable {
    /// What happened to a line, in its order.
    enum Report: Sendable {
        /// It was opened.
        case opened
        /// It is gone, or not there to be opened.
        case absent
        /// It is there and cannot be used.
        case trouble(ReaderError)
        /// A tap.
        case line(String)
    }

    private struct Entry {
        var isOpen = false
        /// Why it cannot be used, once that was told.
        var trouble: ReaderError?
        var reports = 0
    }

    private struct State {
        var entries: [Entry]
        var watchers: [UUID: AsyncStream<ReaderEvent>.Continuation] = [:]

        func publish(_ event: ReaderEvent) {
            for watcher in watchers.values { watcher.yield(event) }
        }
    }

    private let readers: [ReaderInfo]
    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    init(_ readers: [ReaderInfo], now: @escaping @Sendable () -> Date) {
        self.readers = readers
        self.now = now
        state = Mutex(State(entries: readers.map { _ in Entry() }))
    }

    /// Adds a watcher and gives it what is there.
    ///
    /// - Returns: whether it is the first one.
    func add(_ id: UUID, _ watcher: AsyncStream<ReaderEvent>.Continuation) -> Bool {
        state.withLock { state in
            defer { state.watchers[id] = watcher }
            for (reader, entry) in zip(readers, state.entries) {
                if entry.isOpen { watcher.yield(.readerAdded(reader)) }
                if let trouble = entry.trouble { watcher.yield(.readerStuck(reader, trouble)) }
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
            let reader = readers[index]
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
            case .line(let text):
                state.entries[index].reports += 1
                let number = state.entries[index].reports
                state.publish(.cardReported(ReaderReport(reader: reader, number: number, at: now(), line: text)))
            }
        }
    }

    private func leave(_ index: Int, _ state: inout State) {
        if state.entries[index].isOpen { state.publish(.readerRemoved(readers[index])) }
        state.entries[index].isOpen = false
    }
}
