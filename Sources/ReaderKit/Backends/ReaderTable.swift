import Foundation
import Synchronization

/// What is known of a backend's readers, and who is notified of it: makes events of what their threads report.
final class ReaderTable: Sendable {
    /// What happened to a reader, in its order.
    enum Report: Sendable {
        case opened
        /// It is gone, and was opened before.
        case lost
        /// It is not there to be opened.
        case absent
        case trouble(ReaderError)
        /// The library below does not work, or works again.
        case service(ReaderError?)
        case inserted(CardPresence)
        case removed(CardPresence)
        /// A tap at a reader in Smart Reader mode.
        case line(String)
        /// Nothing will ever come again: standard input has ended.
        case ended
    }

    fileprivate struct Entry {
        var info: ReaderInfo
        var isOpen = false
        var card: CardPresence?
        /// Why it cannot be used, once that was reported.
        var trouble: ReaderError?
        var reports = 0
    }

    fileprivate struct State {
        var entries: [Entry] = []
        /// Why the library below does not work, while it does not.
        var fault: ReaderError?
        var watchers: [UUID: AsyncStream<ReaderEvent>.Continuation] = [:]

        func publish(_ event: ReaderEvent) {
            for watcher in watchers.values { watcher.yield(event) }
        }
    }

    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    private let epochs = Atomic(0)

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Numbers the stays of readers.
    func nextEpoch() -> Int { epochs.add(1, ordering: .relaxed).newValue }

    var watchers: Int { state.withLock { $0.watchers.count } }

    func trouble(of name: String) -> ReaderError? {
        state.withLock { state in state.fault ?? state.entries.first { $0.info.name == name }?.trouble }
    }

    /// Adds a watcher and reports to it what is there; returns whether it is the first one.
    ///
    /// - Parameter forgets: whether what was reported to earlier watchers may be over, if this is the first one again.
    func add(_ id: UUID, _ watcher: AsyncStream<ReaderEvent>.Continuation, forgets: Bool) -> Bool {
        state.withLock { state in
            let isFirst = state.watchers.isEmpty
            if isFirst, forgets { state.entries = [] }
            state.watchers[id] = watcher
            if let fault = state.fault { watcher.yield(.serviceLost(fault)) }
            for entry in state.entries where entry.isOpen { watcher.yield(.readerAdded(entry.info)) }
            for entry in state.entries {
                if let trouble = entry.trouble { watcher.yield(.readerStuck(entry.info, trouble)) }
                guard var card = entry.card else { continue }
                card.wasAlreadyThere = true
                watcher.yield(.cardInserted(card))
            }
            return isFirst
        }
    }

    /// Removes a watcher; whether it was the last one.
    func remove(_ id: UUID) -> Bool {
        state.withLock { state in
            guard state.watchers.removeValue(forKey: id) != nil else { return false }
            return state.watchers.isEmpty
        }
    }

    /// Forgets why a reader could not be used: it was used just now. Where somebody watches, its own reports state
    /// that.
    func noteUse(of name: String) {
        state.withLock { state in
            guard state.watchers.isEmpty else { return }
            state.entries.removeAll { $0.info.name == name }
        }
    }

    /// Forgets readers that could not be used and are not there any more.
    func forget(_ isGone: (String) -> Bool) {
        state.withLock { $0.entries.removeAll { !$0.isOpen && isGone($0.info.name) } }
    }

    func finish() {
        let watchers = state.withLock { Array($0.watchers.values) }
        // Not under the lock: each removes itself.
        for watcher in watchers { watcher.finish() }
    }

    func fail(_ error: ReaderError) {
        state.withLock { $0.publish(.failed(error)) }
    }

    func note(_ report: Report, of info: ReaderInfo) {
        state.withLock { state in
            var report = report
            if case .service(let fault) = report {
                guard let fault, state.entries.contains(where: \.isOpen) else { return state.serve(fault) }
                // It works for others, so this is one reader's trouble.
                report = .trouble(fault)
            }
            guard !info.name.isEmpty else { return }
            let known = state.entries.firstIndex { $0.info.name == info.name }
            let index = known ?? state.entries.endIndex
            if known == nil { state.entries.append(Entry(info: info)) }
            state.entries[index].note(report, now, state.publish)
        }
    }
}

extension ReaderTable.State {
    fileprivate mutating func serve(_ fault: ReaderError?) {
        switch (self.fault, fault) {
        case (nil, let fault?): publish(.serviceLost(fault))
        case (.some, nil): publish(.serviceBack)
        default: break
        }
        self.fault = fault
    }
}

extension ReaderTable.Entry {
    /// Events come in this order, whatever the reports: a card's removal before that of its reader, the reader before its
    /// trouble, and the end of the trouble before the reader.
    fileprivate mutating func note(_ report: ReaderTable.Report, _ now: () -> Date, _ publish: (ReaderEvent) -> Void) {
        switch report {
        case .opened:
            if trouble != nil { publish(.readerRecovered(info)) }
            trouble = nil
            guard !isOpen else { return }
            isOpen = true
            publish(.readerAdded(info))
        case .lost, .absent:
            leave(publish)
            if case .absent = report, trouble?.kind != .stuck { trouble = nil }
        case .trouble(let error):
            leave(publish)
            // While a call hangs nobody else gets at the reader, which is the same trouble.
            guard trouble?.kind != error.kind, trouble?.kind != .stuck else { return }
            trouble = error
            publish(.readerStuck(info, error))
        case .inserted(let presence):
            // A card that was seen before its reader was reported is reported again after it.
            guard isOpen, card?.number != presence.number || card?.epoch != presence.epoch else { return }
            if let card { publish(.cardRemoved(card)) }
            card = presence
            publish(.cardInserted(presence))
        case .removed(let presence):
            guard let card, card.number == presence.number, card.epoch == presence.epoch else { return }
            self.card = nil
            publish(.cardRemoved(card))
        case .line(let text):
            reports += 1
            publish(.cardReported(ReaderReport(reader: info, number: reports, at: now(), line: text)))
        case .service, .ended: break
        }
    }

    private mutating func leave(_ publish: (ReaderEvent) -> Void) {
        if let card { publish(.cardRemoved(card)) }
        card = nil
        if isOpen { publish(.readerRemoved(info)) }
        isOpen = false
    }
}
