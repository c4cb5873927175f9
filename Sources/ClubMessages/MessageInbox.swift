import ClubRecords
import Foundation

/// Where messages are kept from their arrival on: what a router relies on for nothing to be lost and nothing to be
/// processed twice.
///
/// One router at a time works on an inbox. Calls may come from any task, several at a time; each takes effect as a whole.
/// What a durable inbox has answered holds after a crash.
public protocol MessageInbox: Sendable {
    /// Keeps a message, behind all others, as pending.
    ///
    /// - Returns: `false` if a message with this identifier is or was there, in any state; it is left as it is.
    func add(_ message: Message) async throws(ClubError) -> Bool

    /// Notes that processing a message begins.
    ///
    /// - Returns: the how many-th attempt it is, from 1.
    /// - Throws: ``ClubError/Kind/noSuchMessage`` if there is no such message, or it is not pending.
    func beginAttempt(_ id: String) async throws(ClubError) -> Int

    /// Notes what became of a message: it is done, or a dead letter if ``RoutingResult/Outcome/isDead`` says so.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMessage`` if there is no such message.
    func settle(_ id: String, outcome: RoutingResult.Outcome, at date: Date) async throws(ClubError)

    /// The messages that are to be processed, in the order in which they came or were opened again.
    func pending() async throws(ClubError) -> [InboxEntry]

    /// What is there, in the same order: of more than `limit` entries the latest ones.
    ///
    /// - Parameter state: only those in this state; all if `nil`.
    func entries(_ state: InboxEntry.State?, limit: Int) async throws(ClubError) -> [InboxEntry]

    /// Makes a dead letter pending again, behind all others that are, without attempts, an outcome or a reason.
    ///
    /// - Returns: the message, or `nil` if there is no such dead letter.
    func reopen(_ id: String) async throws(ClubError) -> Message?

    /// Forgets the messages that were settled before a moment. Their identifiers are new from then on.
    ///
    /// - Returns: how many.
    @discardableResult
    func prune(before date: Date) async throws(ClubError) -> Int
}

/// A message in an inbox, and what became of it.
public struct InboxEntry: Sendable, Hashable, Identifiable {
    /// The message.
    public var message: Message

    /// How far it has got.
    public var state: State

    /// How often processing it was begun since it came, or was opened again.
    public var attempts: Int

    /// What became of it; `nil` while it is pending.
    public var outcome: RoutingResult.Outcome?

    /// When it was settled; `nil` while it is pending.
    public var settledAt: Date?

    /// How far a message has got.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// It is to be processed.
        case pending
        /// It was processed. It is kept to recognise it, should it come again.
        case done
        /// A dead letter: it could not be processed, and can be replayed.
        case dead
    }

    /// ``Message/id``.
    public var id: String { message.id }

    /// Why it became a dead letter, for a person.
    public var reason: String? { outcome?.reason }

    /// An entry; a new message if nothing else is said.
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
