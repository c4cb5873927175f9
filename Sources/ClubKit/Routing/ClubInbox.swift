import Foundation
import GRDB

/// The inbox of a club: messages are kept in its database, so that what was accepted survives a crash.
///
/// The club must be open; all methods throw ``ClubError/Kind/notOpen`` otherwise. Messages that were done with are
/// forgotten once ``keptFor`` is over and others come, dead letters never by themselves. With a member who is erased
/// those are emptied that came on a card with a tap of theirs, and those whose payload has one of their identifiers as a
/// text. They are kept as they were sent, also in a club that hides identifiers (``IdentifierKey``).
public struct ClubInbox: MessageInbox {
    /// How long a message that was done with is remembered, so that it is not taken a second time: 30 days.
    public static let keptFor: TimeInterval = 30 * 86_400

    private let club: Club

    init(_ club: Club) {
        self.club = club
    }

    /// Keeps a message; when this returns it is on disk.
    public func add(_ message: Message) async throws(ClubError) -> Bool {
        let attempt = "keep a message"
        let store = try club.openStore(attempt)
        let kept = try KeptMessage(message, attempt)
        return try await store.write(attempt) { transaction in try transaction.messages.keep(kept) }
    }

    /// Notes that processing a message begins.
    public func beginAttempt(_ id: String) async throws(ClubError) -> Int {
        let attempt = "begin to process a message"
        let store = try club.openStore(attempt)
        return try await store.write(attempt) { transaction in
            try transaction.messages.refuseIfHeld(id, attempt)
            let attempts = try Int.fetchOne(
                transaction.db,
                sql: """
                    UPDATE message SET attempts = attempts + 1, holder = ? WHERE id = ? AND state = 'pending'
                    RETURNING attempts
                    """,
                arguments: [store.device.holder.text, id]
            )
            guard let attempts else {
                throw ClubError(.noSuchMessage, attempting: attempt, detail: "none that is pending")
            }
            return attempts
        }
    }

    /// Notes what became of a message.
    public func settle(_ id: String, outcome: RoutingResult.Outcome, at date: Date) async throws(ClubError) {
        let attempt = "say what became of a message"
        let store = try club.openStore(attempt)
        try await store.write(attempt) { transaction in
            try transaction.messages.refuseIfHeld(id, attempt)
            try transaction.db.execute(
                sql: "UPDATE message SET state = ?, outcome = ?, reason = ?, settled_at = ? WHERE id = ?",
                arguments: [
                    (outcome.isDead ? InboxEntry.State.dead : .done).rawValue, outcome.name,
                    outcome.reason.map(PlainText.line), Timestamp.microseconds(date) ?? 0,
                    id,
                ]
            )
            guard transaction.db.changesCount == 1 else {
                throw ClubError(.noSuchMessage, attempting: attempt)
            }
        }
    }

    /// The messages that are to be processed, in order, without those on which another program works.
    public func pending() async throws(ClubError) -> [InboxEntry] {
        let attempt = "list messages"
        let store = try club.openStore(attempt)
        return try await store.read(attempt) { db in
            let holders = try String.fetchAll(
                db,
                sql: "SELECT DISTINCT holder FROM message WHERE state = 'pending' AND holder IS NOT NULL"
            )
            let others = holders.filter { $0 != store.device.holder.text && WorkHolder.isAlive($0) }
            let names = String(decoding: try JSONEncoder().encode(others), as: UTF8.self)
            return try StoredMessages(db: db, device: store.device).entries(
                where:
                    "state = 'pending' AND coalesce(holder, '') NOT IN (SELECT value FROM json_each(?)) ORDER BY seq",
                [names]
            )
        }
    }

    /// What is there, in the order of arrival.
    public func entries(_ state: InboxEntry.State?, limit: Int) async throws(ClubError) -> [InboxEntry] {
        try await list(
            "(?1 IS NULL OR state = ?1) ORDER BY seq DESC LIMIT ?2",
            [state?.rawValue, max(0, limit)]
        ).reversed()
    }

    /// The message with that identifier, in whatever state.
    public func entry(_ id: String) async throws(ClubError) -> InboxEntry? {
        try await list("id = ?", [id]).first
    }

    /// Makes a dead letter pending again, behind all others.
    public func reopen(_ id: String) async throws(ClubError) -> Message? {
        let attempt = "open a message again"
        let store = try club.openStore(attempt)
        return try await store.write(attempt) { transaction in
            try transaction.db.execute(
                sql: """
                    UPDATE message SET seq = (SELECT max(seq) + 1 FROM message), state = 'pending', attempts = 0,
                        outcome = NULL, reason = NULL, settled_at = NULL, holder = NULL
                    WHERE id = ? AND state = 'dead'
                    """,
                arguments: [id]
            )
            guard transaction.db.changesCount == 1 else { return nil }
            return try transaction.messages.entries(where: "id = ?", [id]).first?.message
        }
    }

    /// Forgets the messages that were settled before a moment.
    @discardableResult
    public func prune(before date: Date) async throws(ClubError) -> Int {
        let attempt = "forget messages"
        return try await club.openStore(attempt).write(attempt) { transaction in
            try transaction.db.execute(
                sql: "DELETE FROM message WHERE state <> 'pending' AND settled_at < ?",
                arguments: [Timestamp.microseconds(date) ?? 0]
            )
            return transaction.db.changesCount
        }
    }

    // MARK: Rows

    private func list(
        _ condition: String,
        _ arguments: [(any DatabaseValueConvertible & Sendable)?]
    ) async throws(ClubError) -> [InboxEntry] {
        let attempt = "list messages"
        let store = try club.openStore(attempt)
        return try await store.read(attempt) { db in
            try StoredMessages(db: db, device: store.device).entries(where: condition, StatementArguments(arguments))
        }
    }
}

extension Club {
    /// Where messages of a ``MessageRouter`` are kept, in the club's database.
    public var inbox: ClubInbox { ClubInbox(self) }

    /// Tells ``events`` and the delegate of what a router did.
    public func report(_ result: RoutingResult) {
        publish(.routed(result))
    }
}
