import Foundation
import GRDB

/// A message as it is kept in the database.
struct KeptMessage: Sendable {
    let id: String
    /// The message as JSON.
    let content: String
    let receivedAt: Int64

    /// - Throws: ``ClubError/Kind/invalidValue`` if its identifier is none.
    init(_ message: Message, _ attempt: String) throws(ClubError) {
        guard Message.isName(message.id) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: Message.nameRule)
        }
        do {
            content = try MemberRow.json(message)
        } catch {
            throw ClubError(error, attempting: attempt)
        }
        id = message.id
        receivedAt = Timestamp.microseconds(message.receivedAt) ?? 0
    }
}

/// The messages of a club's inbox.
struct StoredMessages {
    let db: Database
    let device: LocalDevice

    /// How many messages that are no longer remembered go with each one that comes.
    private static let forgottenAtOnce = 4

    /// Keeps a message as pending.
    ///
    /// - Returns: `false` if one with its identifier is there, in any state.
    @discardableResult
    func keep(_ message: KeptMessage) throws -> Bool {
        try db.execute(
            sql: "INSERT OR IGNORE INTO message (id, content, received_at) VALUES (?, ?, ?)",
            arguments: [message.id, message.content, message.receivedAt]
        )
        guard db.changesCount == 1 else { return false }
        // The oldest, some at a time: so no message has to wait until many are removed.
        let end = device.clock().addingTimeInterval(-ClubInbox.keptFor)
        try db.execute(
            sql: """
                DELETE FROM message WHERE settled_at < ?1 AND seq IN (
                    SELECT seq FROM message WHERE state = 'done' ORDER BY seq LIMIT ?2)
                """,
            arguments: [Timestamp.microseconds(end) ?? 0, Self.forgottenAtOnce]
        )
        return true
    }

    // MARK: Forgetting

    /// The JSON of a message; what is damaged must not keep anybody from being erased.
    static let soundContent = "iif(json_valid(content), content, '{}')"

    /// A query for the messages (`seq`) that came on cards with some taps: their identifiers begin with the tap's, which
    /// an index finds.
    ///
    /// - Parameter taps: a query for the identifiers of the taps, as `event_id`.
    static func messages(ofTaps taps: String) -> String {
        """
        SELECT seq FROM (
            SELECT substr(digits, 1, 8) || '-' || substr(digits, 9, 4) || '-' || substr(digits, 13, 4) || '-'
                || substr(digits, 17, 4) || '-' || substr(digits, 21) AS name
            FROM (SELECT hex(event_id) AS digits FROM (\(taps))))
            CROSS JOIN message ON message.id > name || '/' AND message.id < name || '0'
        WHERE \(soundContent) ->> '$.source.kind' = 'card'
        """
    }

    /// Empties messages. Their identifiers stay, so that none is taken again, also while it is being processed.
    ///
    /// - Parameters:
    ///   - chosen: a query for their `seq`, or a list.
    ///   - condition: another one, which may have arguments that the query has not.
    func empty(
        _ chosen: String,
        where condition: String = "TRUE",
        _ arguments: StatementArguments = StatementArguments()
    ) throws {
        try db.execute(
            sql: """
                UPDATE message SET state = 'done', outcome = '\(RoutingResult.Outcome.noData.name)', reason = NULL,
                    received_at = 0, settled_at = \(device.now),
                    content = json_object('id', id, 'payload', json('{}'),
                        'source', json_object('kind', \(Self.soundContent) ->> '$.source.kind'),
                        'receivedAt', '1970-01-01T00:00:00.000Z')
                WHERE \(condition) AND seq IN (\(chosen))
                """,
            arguments: arguments
        )
    }

    /// Empties the messages that came on a card with a tap, of which there are most often none.
    func empty(ofTap id: UUID) throws {
        let isThere = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM message WHERE id > ? AND id < ?)"),
            arguments: ["\(id.uuidString)/", "\(id.uuidString)0"]
        )
        guard isThere == true else { return }
        try empty(Self.messages(ofTaps: "SELECT ?1 AS event_id"), [id])
    }

    /// Empties the messages that name somebody who was erased, as of then.
    func empty(naming erased: [(identifier: String, stamp: Stamp)]) throws {
        var latest: [String: Int64] = [:]
        for (identifier, stamp) in erased {
            latest[identifier] = max(latest[identifier] ?? .min, (stamp.time >> 16) * 1000 + 999)
        }
        let found = try messages { name, received in latest[name].map { received <= $0 } ?? false }
        guard !found.isEmpty else { return }
        try empty(found.map(String.init).joined(separator: ","))
    }

    /// The messages (`seq`) whose payload has one of these identifiers, however a person spells it, as a text of its own.
    func messages(naming identifiers: Set<String>) throws -> [Int64] {
        try messages { name, _ in identifiers.contains(name) }
    }

    private func messages(where isMeant: (_ identifier: String, _ receivedAt: Int64) -> Bool) throws -> [Int64] {
        var found: [Int64] = []
        let rows = try Row.fetchCursor(db, sql: "SELECT seq, received_at, content FROM message")
        while let row = try rows.next() {
            let received: Int64 = try row.value(1)
            let text: String = try row.value(2)
            guard let message = try? JSONDecoder().decode(Message.self, from: Data(text.utf8)) else { continue }
            let isNamed = message.payload.containsText { text in
                device.identifiers(text).contains { isMeant($0, received) }
            }
            if isNamed { found.append(try row.value(0)) }
        }
        return found
    }

    // MARK: Processing

    /// - Throws: ``ClubError/Kind/noSuchMessage`` if another program works on a message.
    func refuseIfHeld(_ id: String, _ attempt: String) throws {
        let holder = try String.fetchOne(db, sql: "SELECT holder FROM message WHERE id = ?", arguments: [id])
        if let holder, holder != device.holder.text, WorkHolder.isAlive(holder) {
            throw ClubError(.noSuchMessage, attempting: attempt, detail: "none that nobody else works on")
        }
    }

    /// What is in the inbox.
    func entries(where condition: String, _ arguments: StatementArguments) throws -> [InboxEntry] {
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

extension FieldValue {
    /// Whether one of the texts in it, wherever it stands, is meant.
    fileprivate func containsText(_ isMeant: (String) -> Bool) -> Bool {
        switch self {
        case .string(let text): isMeant(text)
        case .array(let values): values.contains { $0.containsText(isMeant) }
        case .object(let fields): fields.values.contains { $0.containsText(isMeant) }
        case .null, .bool, .int, .double: false
        }
    }
}
