import CardCore
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
    }

    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    private let watchers = EventBroadcaster<ReaderEvent>()
    private let epochs = Atomic(0)

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Numbers the stays of readers.
    func nextEpoch() -> Int { epochs.add(1, ordering: .relaxed).newValue }

    var isWatched: Bool { watchers.consumerCount > 0 }

    func trouble(of name: String) -> ReaderError? {
        state.withLock { state in state.fault ?? state.entries.first { $0.info.name == name }?.trouble }
    }

    /// Begins a watch with what is there; also returns whether nobody watched before.
    ///
    /// - Parameters:
    ///   - forgets: whether what was reported to earlier watchers may be over, if nobody watches any more.
    ///   - onEnd: called on a thread of its own, which holds nothing, as whoever ends a watch may hold what events wait
    ///     for.
    func watch(
        forgets: Bool,
        onEnd: @escaping @Sendable () -> Void
    ) -> (events: AsyncStream<ReaderEvent>, isFirst: Bool) {
        state.withLock { state in
            let isFirst = !isWatched
            if isFirst, forgets { state.entries = [] }
            let events = watchers.stream(beginningWith: state.present) {
                DispatchQueue.global().async(execute: onEnd)
            }
            return (events, isFirst)
        }
    }

    /// Forgets why a reader could not be used: it was used just now. Where somebody watches, its own reports state
    /// that.
    func noteUse(of name: String) {
        state.withLock { state in
            guard !isWatched else { return }
            state.entries.removeAll { $0.info.name == name }
        }
    }

    /// Forgets readers that could not be used and are not there any more.
    func forget(_ isGone: (String) -> Bool) {
        state.withLock { $0.entries.removeAll { !$0.isOpen && isGone($0.info.name) } }
    }

    func finish() { watchers.finish() }

    func fail(_ error: ReaderError) { watchers.yield(.failed(error)) }

    func note(_ report: Report, of info: ReaderInfo) {
        state.withLock { state in
            var report = report
            if case .service(let fault) = report {
                guard let fault, state.entries.contains(where: \.isOpen) else { return serve(fault, &state) }
                // It works for others, so this is one reader's trouble.
                report = .trouble(fault)
            }
            guard !info.name.isEmpty else { return }
            let known = state.entries.firstIndex { $0.info.name == info.name }
            let index = known ?? state.entries.endIndex
            if known == nil { state.entries.append(Entry(info: info)) }
            state.entries[index].note(report, now, publish)
        }
    }

    private func serve(_ fault: ReaderError?, _ state: inout State) {
        switch (state.fault, fault) {
        case (nil, let fault?): publish(.serviceLost(fault))
        case (.some, nil): publish(.serviceBack)
        default: break
        }
        state.fault = fault
    }

    private func publish(_ event: ReaderEvent) { watchers.yield(event) }
}

extension ReaderTable.State {
    /// What a new watcher is told.
    fileprivate var present: [ReaderEvent] {
        var events: [ReaderEvent] = []
        if let fault { events.append(.serviceLost(fault)) }
        for entry in entries where entry.isOpen { events.append(.readerAdded(entry.info)) }
        for entry in entries {
            if let trouble = entry.trouble { events.append(.readerStuck(entry.info, trouble)) }
            guard var card = entry.card else { continue }
            card.wasAlreadyThere = true
            events.append(.cardInserted(card))
        }
        return events
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
