import Foundation
import GRDB

extension MemberStore {
    /// All that the desk needs to know of a member, or `nil` if there is none.
    package func details(of key: String) async throws(ClubError) -> MemberDetails? {
        let key = identifiers(key)
        return try await read("look up a member") { db in
            guard let row = try Self.found(key, in: db) else { return nil }
            let values = SystemValues(try row.facts())
            return MemberDetails(
                member: row.member,
                blocked: row.blocked,
                expires: row.expiresAt.map(Timestamp.date),
                visitsLeft: row.visitsLeft,
                notes: values.notes,
                tags: values.tags,
                cards: try Self.cards(of: row, in: db)
            )
        }
    }

    /// The cards of a member and of whoever was joined to them.
    static func cards(of row: MemberRow, in db: Database) throws -> [MemberDetails.Card] {
        try cards(of: joined(to: row, in: db), first: row.member.userId, in: db)
    }

    /// The cards of members who are one, that one first.
    static func cards(of members: [MemberRow], first: String, in db: Database) throws -> [MemberDetails.Card] {
        var cards: [String: String?] = [:]
        for one in members {
            let userID = one.member.userId
            // Its own identifier is a card, unless somebody else has it now.
            cards.updateValue(nil, forKey: userID)
            let rows = try Row.fetchAll(
                db,
                sql: "SELECT card_id, blocked, member_key FROM card WHERE member_key = ?1 OR card_id = ?1",
                arguments: [userID]
            )
            for card in rows {
                let id: String = try card.value(0)
                let holder: String = try card.value(2)
                if holder == userID {
                    let blocked: String? = try card.optional(1)
                    cards.updateValue(blocked, forKey: id)
                } else if id == userID {
                    cards.removeValue(forKey: id)
                }
            }
        }
        let sorted = cards.map { MemberDetails.Card(id: $0.key, blocked: $0.value) }.sorted { $0.id < $1.id }
        return sorted.filter { $0.id == first } + sorted.filter { $0.id != first }
    }

    /// The visits of a member, newest first, those that were undone too.
    ///
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - isHeld: whether it is also what is left of members who were deleted.
    package func visits(of key: String, limit: Int, held isHeld: Bool = false) async throws(ClubError) -> [Visit] {
        let attempt = "list a member's visits"
        let key = identifiers(key)
        return try await read(attempt) { db in
            try Self.visits(of: key, limit: limit, held: isHeld, attempt, in: db)
        }
    }

    static func visits(
        of key: [String],
        limit: Int,
        held isHeld: Bool = false,
        _ attempt: String,
        in db: Database
    ) throws -> [Visit] {
        let rows = try rows(of: key, held: isHeld, attempt, in: db)
        var visits: [Visit] = []
        for one in rows {
            let cursor = try Row.fetchCursor(
                db,
                sql: """
                    SELECT \(VisitRow.columns) FROM visit LEFT JOIN undo USING (event_id)
                    WHERE member_id = ? AND born > ? ORDER BY visit.at DESC, visit.hlc DESC LIMIT ?
                    """,
                arguments: [one.id, isHeld && !one.exists ? -1 : one.ended, limit]
            )
            while let row = try cursor.next() { visits.append(try Visit(row, userID: one.member.userId)) }
        }
        visits.sort { $0.at > $1.at }
        return Array(visits.prefix(limit))
    }

    /// The member whose visit it is, or `nil` if there is no such visit or they were deleted.
    package func member(ofVisit id: UUID) async throws(ClubError) -> Member? {
        try await read("look up a visit") { db in
            let sql = "SELECT member_id FROM visit WHERE event_id = ?"
            guard let memberID = try Int64.fetchOne(db, sql: sql, arguments: [id]),
                let row = try Self.row(id: memberID, in: db), row.exists
            else { return nil }
            return try Self.representative(of: row, in: db).member
        }
    }

    /// What was done with a member, newest first; with everything, if no member is named.
    ///
    /// - Parameter isHeld: whether it is also of members who were joined and are deleted.
    package func auditLog(
        of key: String?,
        limit: Int,
        held isHeld: Bool = false
    ) async throws(ClubError) -> [AuditEntry] {
        let key = key.map { identifiers($0) }
        return try await read("read the audit log") { db in
            var subjects: [String] = []
            if let key {
                let rows =
                    isHeld
                    ? try Self.held(with: Self.heldRow(key, "read the audit log", in: db), in: db)
                    : try Self.found(key, in: db).map { try Self.joined(to: $0, in: db) }
                subjects = rows?.map(\.member.userId) ?? key
            }
            let list = databaseQuestionMarks(count: subjects.count)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT device_id, at, actor, action, subject, detail FROM audit
                    \(key == nil ? "" : "WHERE subject IN (\(list))") ORDER BY at DESC, hlc DESC LIMIT ?
                    """,
                arguments: StatementArguments(subjects) + [limit]
            )
            return try rows.map { row in
                let action: String = try row.value(3)
                let detail: String? = try row.optional(5)
                return AuditEntry(
                    at: Timestamp.date(try row.value(1)),
                    actor: try row.optional(2),
                    action: try AuditEntry.Action(rawValue: action).orCorrupt("read the audit log"),
                    subject: try row.optional(4),
                    detail: detail.map(MemberRow.fields) ?? [:],
                    device: try row.value(0)
                )
            }
        }
    }
}

extension VisitRow {
    /// What ``Visit/init(_:userID:)`` reads, from `visit LEFT JOIN undo`.
    static let columns = """
        visit.event_id, visit.at, visit.reader, visit.source, visit.reason, visit.actor, visit.device_id, undo.at, \
        undo.reason, undo.actor
        """
}

extension Visit {
    /// A row of ``VisitRow/columns``.
    init(_ row: Row, userID: String) throws(ClubError) {
        let undone: Int64? = try row.optional(7)
        self.init(
            id: try row.value(0),
            userId: userID,
            at: Timestamp.date(try row.value(1)),
            reader: try row.value(2),
            source: try Source(rawValue: try row.value(3)).orCorrupt("read a visit"),
            reason: try row.optional(4),
            actor: try row.optional(5),
            device: try row.value(6)
        )
        if let undone {
            undoing = Undoing(at: Timestamp.date(undone), reason: try row.optional(8), actor: try row.optional(9))
        }
    }
}

extension Optional {
    /// A stored value that has a meaning.
    ///
    /// - Throws: ``ClubError/Kind/corrupt``.
    func orCorrupt(_ attempt: String) throws(ClubError) -> Wrapped {
        guard let self else { throw ClubError(.corrupt, attempting: attempt, detail: "a value has no meaning") }
        return self
    }
}
