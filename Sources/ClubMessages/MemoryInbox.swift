import ClubRecords
import Foundation

/// An inbox in memory: what is in it ends with the program. For tests, and where losing messages does no harm.
public actor MemoryInbox: MessageInbox {
    /// How many settled messages are kept; the oldest beyond them are forgotten.
    public nonisolated let limit: Int

    private struct Kept {
        var entry: InboxEntry
        /// Greater for what came, or was opened again, later.
        var number: Int
    }

    private var kept: [String: Kept] = [:]
    private var lastNumber = 0
    private var settledCount = 0

    /// An empty inbox.
    ///
    /// - Parameter limit: how many settled messages are kept, at least 1.
    public init(limit: Int = 10_000) {
        self.limit = max(limit, 1)
    }

    /// Keeps a message.
    public func add(_ message: Message) -> Bool {
        guard kept[message.id] == nil else { return false }
        keep(InboxEntry(message: message))
        return true
    }

    /// Notes that processing a message begins.
    public func beginAttempt(_ id: String) throws(ClubError) -> Int {
        guard var found = kept[id], found.entry.state == .pending else { throw Self.noSuchMessage("begin a message") }
        found.entry.attempts += 1
        kept[id] = found
        return found.entry.attempts
    }

    /// Notes what became of a message.
    public func settle(_ id: String, outcome: RoutingResult.Outcome, at date: Date) throws(ClubError) {
        guard var found = kept[id] else { throw Self.noSuchMessage("settle a message") }
        if found.entry.state == .pending { settledCount += 1 }
        found.entry.state = outcome.isDead ? .dead : .done
        found.entry.outcome = outcome
        found.entry.settledAt = date
        kept[id] = found
        // A tenth at a time, so that sorting costs little for each message.
        if settledCount > limit + limit / 10 { forgetOldest() }
    }

    /// The messages that are to be processed.
    public func pending() -> [InboxEntry] {
        entries(.pending, limit: .max)
    }

    /// What is there.
    public func entries(_ state: InboxEntry.State?, limit: Int) -> [InboxEntry] {
        kept.values.filter { state == nil || $0.entry.state == state }.sorted { $0.number < $1.number }
            .suffix(max(limit, 0)).map(\.entry)
    }

    /// Makes a dead letter pending again.
    public func reopen(_ id: String) -> Message? {
        guard let found = kept[id], found.entry.state == .dead else { return nil }
        keep(InboxEntry(message: found.entry.message))
        settledCount -= 1
        return found.entry.message
    }

    /// Forgets the messages that were settled before a moment.
    public func prune(before date: Date) -> Int {
        forget(kept.filter { $0.value.entry.settledAt.map { $0 < date } ?? false }.keys.map { $0 })
    }

    private func keep(_ entry: InboxEntry) {
        lastNumber += 1
        kept[entry.id] = Kept(entry: entry, number: lastNumber)
    }

    private func forgetOldest() {
        let settled = kept.values.filter { $0.entry.state != .pending }.sorted { $0.number < $1.number }
        forget(settled.dropLast(limit).map(\.entry.id))
    }

    @discardableResult
    private func forget(_ ids: [String]) -> Int {
        for id in ids { kept[id] = nil }
        settledCount -= ids.count
        return ids.count
    }

    private static func noSuchMessage(_ attempt: String) -> ClubError {
        ClubError(.noSuchMessage, attempting: attempt, detail: "or it is settled")
    }
}
