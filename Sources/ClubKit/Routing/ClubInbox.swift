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
        return try await store.write(attempt) { db in try store.keep(kept, in: db) }
    }

    /// Notes that processing a message begins.
    public func beginAttempt(_ id: String) async throws(ClubError) -> Int {
        let attempt = "begin to process a message"
        let store = try club.openStore(attempt)
        return try await store.write(attempt) { db in
            try Self.refuseIfHeld(id, by: store, attempt, in: db)
            let attempts = try Int.fetchOne(
                db,
                sql: """
                    UPDATE message SET attempts = attempts + 1, holder = ? WHERE id = ? AND state = 'pending'
                    RETURNING attempts
                    """,
                arguments: [store.holder.text, id]
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
        try await store.write(attempt) { db in
            try Self.refuseIfHeld(id, by: store, attempt, in: db)
            try db.execute(
                sql: "UPDATE message SET state = ?, outcome = ?, reason = ?, settled_at = ? WHERE id = ?",
                arguments: [
                    (outcome.isDead ? InboxEntry.State.dead : .done).rawValue, outcome.name,
                    outcome.reason.map(PlainText.line), Timestamp.microseconds(date) ?? 0,
                    id,
                ]
            )
            guard db.changesCount == 1 else {
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
            let others = holders.filter { $0 != store.holder.text && WorkHolder.isAlive($0) }
            let names = String(decoding: try JSONEncoder().encode(others), as: UTF8.self)
            return try Self.read(
                "state = 'pending' AND coalesce(holder, '') NOT IN (SELECT value FROM json_each(?)) ORDER BY seq",
                [names],
                in: db
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
        return try await store.write(attempt) { db in
            try db.execute(
                sql: """
                    UPDATE message SET seq = (SELECT max(seq) + 1 FROM message), state = 'pending', attempts = 0,
                        outcome = NULL, reason = NULL, settled_at = NULL, holder = NULL
                    WHERE id = ? AND state = 'dead'
                    """,
                arguments: [id]
            )
            guard db.changesCount == 1 else { return nil }
            return try Self.read("id = ?", [id], in: db).first?.message
        }
    }

    /// Forgets the messages that were settled before a moment.
    @discardableResult
    public func prune(before date: Date) async throws(ClubError) -> Int {
        let attempt = "forget messages"
        return try await club.openStore(attempt).write(attempt) { db in
            try db.execute(
                sql: "DELETE FROM message WHERE state <> 'pending' AND settled_at < ?",
                arguments: [Timestamp.microseconds(date) ?? 0]
            )
            return db.changesCount
        }
    }

    // MARK: Rows

    /// - Throws: ``ClubError/Kind/noSuchMessage`` if another program works on a message.
    private static func refuseIfHeld(
        _ id: String,
        by store: MemberStore,
        _ attempt: String,
        in db: Database
    ) throws {
        let holder = try String.fetchOne(db, sql: "SELECT holder FROM message WHERE id = ?", arguments: [id])
        if let holder, holder != store.holder.text, WorkHolder.isAlive(holder) {
            throw ClubError(.noSuchMessage, attempting: attempt, detail: "none that nobody else works on")
        }
    }

    private func list(
        _ condition: String,
        _ arguments: [(any DatabaseValueConvertible & Sendable)?]
    ) async throws(ClubError) -> [InboxEntry] {
        let attempt = "list messages"
        return try await club.openStore(attempt).read(attempt) { db in
            try Self.read(condition, StatementArguments(arguments), in: db)
        }
    }

    private static func read(
        _ condition: String,
        _ arguments: StatementArguments,
        in db: Database
    ) throws -> [InboxEntry] {
        let rows = try Row.fetchCursor(
            db,
            sql: "SELECT content, state, attempts, outcome, reason, settled_at FROM message WHERE \(condition)",
            arguments: arguments
        )
        var entries: [InboxEntry] = []
        while let row = try rows.next() {
            let text: String = try row.value(0)
            // What is damaged is found by `check`, and must not keep the others from being processed.
            guard let message = try? JSONDecoder().decode(Message.self, from: Data(text.utf8)),
                let state = InboxEntry.State(rawValue: try row.value(1))
            else { continue }
            let outcome: String? = try row.optional(3)
            let reason: String? = try row.optional(4)
            let settled: Int64? = try row.optional(5)
            entries.append(
                InboxEntry(
                    message: message,
                    state: state,
                    attempts: try row.value(2),
                    outcome: outcome.flatMap { RoutingResult.Outcome(name: $0, reason: reason) },
                    settledAt: settled.map(Timestamp.date)
                )
            )
        }
        return entries
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
