import ClubRecords
import Foundation

/// The store of a router's messages from their arrival on, so that none is lost or processed twice.
///
/// One router at a time uses an inbox. Calls may come from any task, concurrently; each is atomic. A durable inbox
/// keeps acknowledged changes after a crash.
public protocol MessageInbox: Sendable {
    /// Keeps a message, after all others, as pending.
    ///
    /// - Returns: `false` if a message with this identifier is or was present, in any state; it is not changed.
    func add(_ message: Message) async throws(ClubError) -> Bool

    /// Records that processing a message begins.
    ///
    /// - Returns: the number of the attempt, from 1.
    /// - Throws: ``ClubError/Kind/noSuchMessage`` if the message is absent or not pending.
    func beginAttempt(_ id: String) async throws(ClubError) -> Int

    /// Records the outcome of a message: it is done, or a dead letter if ``RoutingResult/Outcome/isDead``.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMessage`` if the message is absent.
    func settle(_ id: String, outcome: RoutingResult.Outcome, at date: Date) async throws(ClubError)

    /// Returns the messages to process, in the order in which they arrived or were reopened.
    func pending() async throws(ClubError) -> [InboxEntry]

    /// Returns at most the `limit` newest messages, in the same order.
    ///
    /// - Parameter state: only messages in this state; all if `nil`.
    func entries(_ state: InboxEntry.State?, limit: Int) async throws(ClubError) -> [InboxEntry]

    /// Makes a dead letter pending again, after all others, without attempts, outcome and reason.
    ///
    /// - Returns: the message; `nil` if there is no such dead letter.
    func reopen(_ id: String) async throws(ClubError) -> Message?

    /// Removes the messages settled before a moment. Their identifiers are new from then on.
    ///
    /// - Returns: the number of removed messages.
    @discardableResult
    func prune(before date: Date) async throws(ClubError) -> Int
}

/// A message in an inbox, with its state.
public struct InboxEntry: Sendable, Hashable, Identifiable {
    /// The message.
    public var message: Message

    /// The state of the message.
    public var state: State

    /// The number of attempts to process it since it arrived or was reopened.
    public var attempts: Int

    /// The outcome; `nil` while it is pending.
    public var outcome: RoutingResult.Outcome?

    /// The time at which it was settled; `nil` while it is pending.
    public var settledAt: Date?

    /// The states of a message.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// It is yet to be processed.
        case pending
        /// It was processed. It is kept to recognize a duplicate.
        case done
        /// A dead letter: it could not be processed, and can be replayed.
        case dead
    }

    /// ``Message/id``.
    public var id: String { message.id }

    /// The reason why it is a dead letter, for a person.
    public var reason: String? { outcome?.reason }

    /// Creates an entry; by default for a new message.
    public init(
        message: Message,
        state: State = .pending,
        attempts: Int = 0,
        outcome: RoutingResult.Outcome? = nil,
        settledAt: Date? = nil
    ) {
        self.message = message
        self.state = state
        self.attempts = attempts
        self.outcome = outcome
        self.settledAt = settledAt
    }
}

/// An inbox in memory, whose content is lost when the program ends. For tests, and where that does no harm.
public actor MemoryInbox: MessageInbox {
    /// The maximum number of settled messages; the oldest beyond it are removed.
    public nonisolated let limit: Int

    private struct Kept {
        var entry: InboxEntry
        /// Greater for what came, or was opened again, later.
        var number: Int
    }

    private var kept: [String: Kept] = [:]
    private var lastNumber = 0
    private var settledCount = 0

    /// Creates an empty inbox.
    ///
    /// - Parameter limit: the maximum number of settled messages, at least 1.
    public init(limit: Int = 10_000) {
        self.limit = max(limit, 1)
    }

    /// Keeps a message.
    public func add(_ message: Message) -> Bool {
        guard kept[message.id] == nil else { return false }
        keep(InboxEntry(message: message))
        return true
    }

    /// Records that processing a message begins.
    public func beginAttempt(_ id: String) throws(ClubError) -> Int {
        guard var found = kept[id], found.entry.state == .pending else { throw Self.noSuchMessage("begin a message") }
        found.entry.attempts += 1
        kept[id] = found
        return found.entry.attempts
    }

    /// Records the outcome of a message.
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

    /// Returns the messages to process.
    public func pending() -> [InboxEntry] { entries(.pending, limit: .max) }

    /// Returns at most the `limit` newest messages.
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

    /// Removes the messages settled before a moment.
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
