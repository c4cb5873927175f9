import Foundation

/// The inbox of a club: messages are kept in its database, so that accepted ones survive a crash.
///
/// The club must be open; all methods throw ``ClubError/Kind/notOpen`` otherwise. Settled messages are removed after
/// ``keptFor`` when others arrive, dead letters never automatically. Erasing a member empties the messages that came on
/// a card with a tap of the member, and those whose payload has one of the member's identifiers as a text. Messages are
/// kept as they were sent, also in a club that hides identifiers (``IdentifierKey``).
public struct ClubInbox: MessageInbox {
    /// The time for which a settled message is remembered, so that it is not accepted again: 30 days.
    public static let keptFor: TimeInterval = StoredMessages.keptFor

    private let club: Club

    init(_ club: Club) {
        self.club = club
    }

    /// Keeps a message; once this returns it is on disk.
    public func add(_ message: Message) async throws(ClubError) -> Bool {
        let attempt = "keep a message"
        let store = try club.openStore(attempt)
        let kept = try KeptMessage(message, attempt)
        return try await store.write(attempt) { transaction in try transaction.messages.keep(kept) }
    }

    /// Records that processing a message begins.
    public func beginAttempt(_ id: String) async throws(ClubError) -> Int {
        let attempt = "begin to process a message"
        return try await write(attempt) { messages in try messages.begin(id, attempt) }
    }

    /// Records the outcome of a message.
    public func settle(_ id: String, outcome: RoutingResult.Outcome, at date: Date) async throws(ClubError) {
        let attempt = "say what became of a message"
        try await write(attempt) { messages in try messages.settle(id, outcome, at: date, attempt) }
    }

    /// Returns the messages to process, in order, except those that another program is processing.
    public func pending() async throws(ClubError) -> [InboxEntry] {
        try await list { messages in try messages.pending() }
    }

    /// Returns the messages in the order of arrival.
    public func entries(_ state: InboxEntry.State?, limit: Int) async throws(ClubError) -> [InboxEntry] {
        try await list { messages in
            let condition = "(?1 IS NULL OR state = ?1) ORDER BY seq DESC LIMIT ?2"
            return try messages.entries(where: condition, [state?.rawValue, max(0, limit)]).reversed()
        }
    }

    /// Returns the message with that identifier, in any state; `nil` if absent.
    public func entry(_ id: String) async throws(ClubError) -> InboxEntry? {
        try await list { messages in try messages.entries(where: "id = ?", [id]) }.first
    }

    /// Makes a dead letter pending again, after all others.
    public func reopen(_ id: String) async throws(ClubError) -> Message? {
        try await write("open a message again") { messages in try messages.reopen(id) }
    }

    /// Removes the messages settled before a moment.
    @discardableResult
    public func prune(before date: Date) async throws(ClubError) -> Int {
        try await write("forget messages") { messages in try messages.prune(before: date) }
    }

    private func write<Value: Sendable>(
        _ attempt: String,
        _ body: @escaping @Sendable (StoredMessages) throws -> Value
    ) async throws(ClubError) -> Value {
        try await club.openStore(attempt).write(attempt) { transaction in try body(transaction.messages) }
    }

    private func list(
        _ body: @escaping @Sendable (StoredMessages) throws -> [InboxEntry]
    ) async throws(ClubError) -> [InboxEntry] {
        let attempt = "list messages"
        let store = try club.openStore(attempt)
        return try await store.read(attempt) { db in try body(StoredMessages(db: db, device: store.device)) }
    }
}

extension Club {
    /// The inbox for a ``MessageRouter``, in the club's database.
    public var inbox: ClubInbox { ClubInbox(self) }

    /// Reports the result of a router to ``events`` and the delegate.
    public func report(_ result: RoutingResult) {
        publish(.routed(result))
    }
}
