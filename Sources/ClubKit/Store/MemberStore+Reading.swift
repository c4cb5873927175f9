import Foundation
import GRDB

/// Who is there, and what is known of them.
extension MemberStore {
    /// The member with that ``Member/userId``.
    package func member(withUserID userID: String) async throws(ClubError) -> Member? {
        let key = device.identifiers(userID)
        return try await read("look up a member") { db in try db.members.found(key)?.member }
    }

    /// The member with that ``Member/userId``, read on the calling thread.
    package func memberNow(withUserID userID: String) throws(ClubError) -> Member? {
        let key = device.identifiers(userID)
        return try readNow("look up a member") { db in try db.members.found(key)?.member }
    }

    /// The member with that identifier of the original library's later files, which imports keep as the custom field
    /// `memberId`; or else with that ``Member/userId`` or card. It is read on the calling thread.
    func memberNow(withMemberID id: String) throws(ClubError) -> Member? {
        try readNow("look up a member") { db in
            if let row = try db.members.found(device.identifiers(id)) { return row.member }
            guard !id.isEmpty, !id.utf8.contains(0) else { return nil }
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT \(MemberRow.columns) FROM member
                    WHERE status = 0 AND json_extract(fields, '$.memberId') = ? ORDER BY id LIMIT 1
                    """,
                arguments: [id]
            )
            return try row.map { try MemberRow($0).member }
        }
    }

    /// The member with that identifier or card, or what is left of one who was deleted.
    package func heldMember(withUserID userID: String) async throws(ClubError) -> Member? {
        let keys = device.identifiers(userID)
        let attempt = "look up a member"
        return try await read(attempt) { db in
            do {
                return try db.members.heldRow(keys, attempt).member
            } catch let error as ClubError where error.kind == .noSuchMember {
                return nil
            }
        }
    }

    /// All members in that order.
    package func members(sortedBy order: MemberOrder) async throws(ClubError) -> [Member] {
        try await read("list the members") { db in
            var members: [Member] = []
            let rows = try Row.fetchCursor(
                db,
                sql: "SELECT \(MemberRow.shownColumns) FROM member WHERE status = 0 ORDER BY \(order.terms)"
            )
            while let row = try rows.next() { members.append(try Member(row)) }
            return members
        }
    }

    /// The members behind that identifier, in the order of their identifiers.
    func membersNow(after userID: String, limit: Int) throws(ClubError) -> [Member] {
        try readNow("list the members") { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT \(MemberRow.columns) FROM member WHERE status = 0 AND user_id > ? ORDER BY user_id LIMIT ?
                    """,
                arguments: [userID, limit]
            )
            var members: [Member] = []
            while let row = try rows.next() { members.append(try MemberRow(row).member) }
            return members
        }
    }

    /// How many members there are.
    package func memberCount() async throws(ClubError) -> Int {
        try await read("count the members") { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM member WHERE status = 0") ?? 0
        }
    }

    /// The time of the latest tap that the store knows, counted or not.
    package func lastEventDate() async throws(ClubError) -> Date? {
        try await read("find the latest tap") { db in
            try Int64.fetchOne(db, sql: "SELECT max(at) FROM receipt").map(Timestamp.date)
        }
    }

    /// All that the desk needs to know of a member, or `nil` if there is none.
    package func details(of key: String) async throws(ClubError) -> MemberDetails? {
        let key = device.identifiers(key)
        return try await read("look up a member") { db in
            guard let row = try db.members.found(key) else { return nil }
            let values = SystemValues(try row.facts())
            return MemberDetails(
                member: row.member,
                blocked: row.blocked,
                expires: row.expiresAt.map(Timestamp.date),
                visitsLeft: row.visitsLeft,
                notes: values.notes,
                tags: values.tags,
                cards: try db.members.cards(of: row)
            )
        }
    }

    /// The visits of a member, newest first, those that were undone too.
    ///
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - isHeld: whether it is also what is left of members who were deleted.
    package func visits(of key: String, limit: Int, held isHeld: Bool = false) async throws(ClubError) -> [Visit] {
        let attempt = "list a member's visits"
        let key = device.identifiers(key)
        return try await read(attempt) { db in
            try db.members.visits(of: key, limit: limit, held: isHeld, attempt)
        }
    }

    /// The member whose visit it is, or `nil` if there is no such visit or they were deleted.
    package func member(ofVisit id: UUID) async throws(ClubError) -> Member? {
        try await read("look up a visit") { db in
            let sql = "SELECT member_id FROM visit WHERE event_id = ?"
            guard let memberID = try Int64.fetchOne(db, sql: sql, arguments: [id]),
                let row = try db.members.row(id: memberID), row.exists
            else { return nil }
            return try db.members.representative(of: row).member
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
        let key = key.map { device.identifiers($0) }
        return try await read("read the audit log") { db in
            var subjects: [String] = []
            if let key {
                let rows =
                    isHeld
                    ? try db.members.held(with: db.members.heldRow(key, "read the audit log"))
                    : try db.members.found(key).map { try db.members.joined(to: $0) }
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

    /// What a member's values were before, the one that was replaced last first.
    ///
    /// - Parameter isHeld: whether it is also what is left of members who were deleted.
    package func formerValues(
        of key: String,
        limit: Int,
        held isHeld: Bool = false
    ) async throws(ClubError) -> [FormerValue] {
        let attempt = "list a member's former values"
        let key = device.identifiers(key)
        return try await read(attempt) { db in
            let rows = try db.members.rows(of: key, held: isHeld, attempt)
            let former = try rows.flatMap { try $0.facts().formerValues(of: $0.member.userId) }
            func order(_ value: FormerValue) -> (Date, Date, String) {
                (value.until ?? .distantPast, value.saidAt ?? .distantPast, value.name)
            }
            return Array(former.sorted { order($0) > order($1) }.prefix(limit))
        }
    }
}

extension MemberOrder {
    /// What SQLite sorts by.
    var terms: String {
        switch self {
        case .creation: "id"
        case .userId: "user_id"
        case .username: "username COLLATE NOCASE, user_id"
        case .added: "added_at, user_id"
        case .visits: "num_visits DESC, user_id"
        case .lastVisit: "last_visit_at DESC, user_id"
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
