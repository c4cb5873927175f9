import Foundation
import GRDB

struct KeptMessage: Sendable {
    let id: String
    let content: String
    let receivedAt: Int64

    /// - Throws: ``ClubError/Kind/invalidValue`` if its identifier is none.
    init(_ message: Message, _ attempt: String) throws(ClubError) {
        guard Message.isName(message.id) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: Message.nameRule)
        }
        content = try ClubError.wrapping(attempt) { try MemberRow.json(message) }
        id = message.id
        receivedAt = Timestamp.microseconds(message.receivedAt) ?? 0
    }
}

struct StoredMessages {
    /// How long a message that was done with is remembered, in seconds: 30 days.
    static let keptFor: TimeInterval = 30 * 86_400

    let db: Database
    let device: LocalDevice

    /// How many messages that are no longer remembered go with each one that comes.
    private static let forgottenAtOnce = 4

    /// Keeps a message as pending; returns `false` if one with its identifier is there, in any state.
    @discardableResult
    func keep(_ message: KeptMessage) throws -> Bool {
        try db.execute(
            sql: "INSERT OR IGNORE INTO message (id, content, received_at) VALUES (?, ?, ?)",
            arguments: [message.id, message.content, message.receivedAt]
        )
        guard db.changesCount == 1 else { return false }
        // The oldest, some at a time: so no message has to wait until many are removed.
        let end = device.clock().addingTimeInterval(-Self.keptFor)
        let sql = """
            DELETE FROM message WHERE settled_at < ?1 AND seq IN (
                SELECT seq FROM message WHERE state = 'done' ORDER BY seq LIMIT ?2)
            """
        try db.execute(sql: sql, arguments: [Timestamp.microseconds(end) ?? 0, Self.forgottenAtOnce])
        return true
    }

    // MARK: Forgetting

    /// The JSON of a message; what is damaged must not keep anybody from being erased.
    static let soundContent = "iif(json_valid(content), content, '{}')"

    /// A query for the messages (`seq`) that came on cards with some taps: their identifiers begin with the tap's, which
    /// an index finds.
    ///
    /// - Parameter taps: a query for the identifiers of the taps, as `event_id`.
    static func ofTaps(_ taps: String) -> String {
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
        let sql = """
            UPDATE message SET state = 'done', outcome = '\(RoutingResult.Outcome.noData.name)', reason = NULL,
                received_at = 0, settled_at = \(device.now),
                content = json_object('id', id, 'payload', json('{}'),
                    'source', json_object('kind', \(Self.soundContent) ->> '$.source.kind'),
                    'receivedAt', '1970-01-01T00:00:00.000Z')
            WHERE \(condition) AND seq IN (\(chosen))
            """
        try db.execute(sql: sql, arguments: arguments)
    }

    /// Empties the messages that came on a card with a tap, of which there are most often none.
    func empty(ofTap id: UUID) throws {
        guard try db.has("message WHERE id > ? AND id < ?", ["\(id.uuidString)/", "\(id.uuidString)0"]) else { return }
        try empty(Self.ofTaps("SELECT ?1 AS event_id"), [id])
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
    func naming(_ identifiers: Set<String>) throws -> [Int64] { try messages { name, _ in identifiers.contains(name) } }

    private func messages(where isMeant: (_ identifier: String, _ receivedAt: Int64) -> Bool) throws -> [Int64] {
        var found: [Int64] = []
        let rows = try Row.fetchCursor(db, sql: "SELECT seq, received_at, content FROM message")
        while let row = try rows.next() {
            let received: Int64 = try row.value("received_at")
            let text: String = try row.value("content")
            guard let message = try? JSONDecoder().decode(Message.self, from: Data(text.utf8)) else { continue }
            let isNamed = message.payload.containsText { text in
                device.identifiers(text).contains { isMeant($0, received) }
            }
            if isNamed { found.append(try row.value("seq")) }
        }
        return found
    }

    // MARK: Processing

    /// Notes that this opening begins to process a message; returns how often it was begun.
    func begin(_ id: String, _ attempt: String) throws -> Int {
        try refuseIfHeld(id, attempt)
        let sql = """
            UPDATE message SET attempts = attempts + 1, holder = ? WHERE id = ? AND state = 'pending'
            RETURNING attempts
            """
        let attempts: Int? = try db.value(sql, [device.holder.text, id])
        guard let attempts else { throw ClubError(.noSuchMessage, attempting: attempt, detail: "none that is pending") }
        return attempts
    }

    func settle(_ id: String, _ outcome: RoutingResult.Outcome, at date: Date, _ attempt: String) throws {
        try refuseIfHeld(id, attempt)
        try db.execute(
            sql: "UPDATE message SET state = ?, outcome = ?, reason = ?, settled_at = ? WHERE id = ?",
            arguments: [
                (outcome.isDead ? InboxEntry.State.dead : .done).rawValue, outcome.name,
                outcome.reason.map(PlainText.line), Timestamp.microseconds(date) ?? 0, id,
            ]
        )
        guard db.changesCount == 1 else { throw ClubError(.noSuchMessage, attempting: attempt) }
    }

    /// - Throws: ``ClubError/Kind/noSuchMessage`` if another program works on a message.
    private func refuseIfHeld(_ id: String, _ attempt: String) throws {
        let holder = try String.fetchOne(db, sql: "SELECT holder FROM message WHERE id = ?", arguments: [id])
        if let holder, holder != device.holder.text, WorkHolder.isAlive(holder) {
            throw ClubError(.noSuchMessage, attempting: attempt, detail: "none that nobody else works on")
        }
    }

    /// Makes a dead letter pending again, behind all others; returns `nil` if absent with that identifier.
    func reopen(_ id: String) throws -> Message? {
        let sql = """
            UPDATE message SET seq = (SELECT max(seq) + 1 FROM message), state = 'pending', attempts = 0,
                outcome = NULL, reason = NULL, settled_at = NULL, holder = NULL
            WHERE id = ? AND state = 'dead'
            """
        try db.execute(sql: sql, arguments: [id])
        return try db.changesCount == 1 ? entries(where: "id = ?", [id]).first?.message : nil
    }

    /// Forgets the messages that were settled before a moment; returns how many.
    func prune(before date: Date) throws -> Int {
        let sql = "DELETE FROM message WHERE state <> 'pending' AND settled_at < ?"
        try db.execute(sql: sql, arguments: [Timestamp.microseconds(date) ?? 0])
        return db.changesCount
    }

    /// The messages that are to be processed, in order, without those on which another program works.
    func pending() throws -> [InboxEntry] {
        let holders: [String] = try db.values(
            "SELECT DISTINCT holder FROM message WHERE state = 'pending' AND holder IS NOT NULL"
        )
        let others = holders.filter { $0 != device.holder.text && WorkHolder.isAlive($0) }
        return try entries(
            where: "state = 'pending' AND coalesce(holder, '') NOT IN (SELECT value FROM json_each(?)) ORDER BY seq",
            [MemberRow.json(others)]
        )
    }

    func entries(where condition: String, _ arguments: StatementArguments) throws -> [InboxEntry] {
        let sql = "SELECT * FROM message WHERE \(condition)"
        let rows = try Row.fetchCursor(db, sql: sql, arguments: arguments)
        return try Array(rows.compactMap { row in try InboxEntry(row) })
    }
}

extension InboxEntry {
    /// `nil` for what is damaged, which is found by `check` and must not keep the others from being processed.
    fileprivate init?(_ row: Row) throws {
        let text: String = try row.value("content")
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(text.utf8)),
            let state = State(rawValue: try row.value("state"))
        else { return nil }
        let outcome: String? = try row.optional("outcome")
        let reason: String? = try row.optional("reason")
        self.init(
            message: message,
            state: state,
            attempts: try row.value("attempts"),
            outcome: outcome.flatMap { RoutingResult.Outcome(name: $0, reason: reason) },
            settledAt: try row.optionalDate("settled_at")
        )
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
