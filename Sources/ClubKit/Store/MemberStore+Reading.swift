import Foundation
import GRDB

extension MemberStore {
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
            let condition = "status = 0 AND json_extract(fields, '$.memberId') = ? ORDER BY id LIMIT 1"
            return try MemberRow.all(where: condition, [id], in: db).first?.member
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

    package func members(sortedBy order: MemberOrder) async throws(ClubError) -> [Member] {
        try await read("list the members") { db in
            let sql = "SELECT \(MemberRow.shownColumns) FROM member WHERE status = 0 ORDER BY \(order.terms)"
            return try Array(Row.fetchCursor(db, sql: sql).map { row in try Member(row) })
        }
    }

    /// The members behind that identifier, in the order of their identifiers.
    func membersNow(after userID: String, limit: Int) throws(ClubError) -> [Member] {
        try readNow("list the members") { db in
            let condition = "status = 0 AND user_id > ? ORDER BY user_id LIMIT ?"
            return try MemberRow.all(where: condition, [userID, limit], in: db).map(\.member)
        }
    }

    /// The number of visits since a moment that count.
    func visitCount(since date: Date) async throws(ClubError) -> Int {
        let start = Timestamp.microseconds(date) ?? 0
        return try await read("count the visits") { db in
            let sql = """
                SELECT count(*) FROM visit LEFT JOIN undo USING (event_id) JOIN member ON member.id = visit.member_id
                WHERE visit.at >= ? AND undo.at IS NULL AND visit.born > member.ended_hlc
                """
            return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [start]) ?? 0
        }
    }

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

    /// When the visit was that this device recorded last, whatever its clock showed at the others.
    func latestRecordedVisit() async throws(ClubError) -> Date? {
        try await read("find the latest visit") { [device] db in
            let sql = "SELECT at FROM visit WHERE device_id = ? ORDER BY hlc DESC LIMIT 1"
            return try Int64.fetchOne(db, sql: sql, arguments: [device.id]).map(Timestamp.date)
        }
    }

    /// Whether there were visits, but none in the year before the last week: of a clock years ahead all are old.
    func hasClockLeapt(to now: Date) async throws(ClubError) -> Bool {
        guard let week = Timestamp.microseconds(now.addingTimeInterval(-7 * 86_400)),
            let start = Timestamp.microseconds(now.addingTimeInterval(-373 * 86_400))
        else { return true }
        let latest = try await read("find the latest visit") { db in
            try Int64.fetchOne(db, sql: "SELECT max(at) FROM visit WHERE at < ?", arguments: [week])
        }
        return latest.map { $0 < start } ?? false
    }

    /// The time of records that are so far ahead of the present that other devices refuse what is recorded here.
    func recordsAhead() async throws(ClubError) -> Date? {
        try await read("compare the records with the clock") { [device] db in
            try LogicalTimes.clockAhead(of: device.clock(), in: db).map {
                Date(timeIntervalSince1970: Double($0 >> 16) / 1000)
            }
        }
    }

    /// All that the desk needs to know of a member, or `nil` if absent.
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
        return try await read(attempt) { db in try db.members.visits(of: key, limit: limit, held: isHeld, attempt) }
    }

    /// How many visits of a member, or of what is left of one who was deleted, were removed because they were old.
    func numberOfRemovedVisits(of key: String) async throws(ClubError) -> Int {
        let attempt = "list a member's visits"
        let key = device.identifiers(key)
        return try await read(attempt) { db in
            try db.members.held(with: db.members.heldRow(key, attempt)).reduce(0) { sum, row in
                Int.sum(sum, row.hasFacts ? try row.facts().removedVisits : 0)
            }
        }
    }

    /// The member whose visit it is, or `nil` if there is no such visit or they were deleted.
    package func member(ofVisit id: UUID) async throws(ClubError) -> Member? {
        try await read("look up a visit") { db in
            guard let memberID: Int64 = try db.value("SELECT member_id FROM visit WHERE event_id = ?", [id]),
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
            let sql = """
                SELECT * FROM audit \(key == nil ? "" : "WHERE subject IN (\(list))")
                ORDER BY at DESC, hlc DESC LIMIT ?
                """
            return try db.rows(sql, StatementArguments(subjects) + [limit]).map { row in try AuditEntry(row) }
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
    var terms: String {
        switch self {
        case .creation: "id"
        case .userId: "user_id"
        case .username: "username COLLATE NOCASE, user_id"
        case .insertion: "added_at, user_id"
        case .visits: "num_visits DESC, user_id"
        case .lastVisit: "last_visit_at DESC, user_id"
        }
    }
}

extension AuditEntry {
    fileprivate init(_ row: Row) throws(ClubError) {
        let detail: String? = try row.optional("detail")
        self.init(
            at: try row.date("at"),
            actor: try row.optional("actor"),
            action: try Action(rawValue: try row.value("action")).orCorrupt("read the audit log"),
            subject: try row.optional("subject"),
            detail: detail.map(MemberRow.fields) ?? [:],
            device: try row.value("device_id")
        )
    }
}

extension Visit {
    /// A query for what ``init(_:)`` reads of visits.
    static let select = """
        SELECT visit.*, user_id, undo.at AS undone_at, undo.reason AS undone_reason, undo.actor AS undone_actor
        FROM visit JOIN member ON member.id = member_id LEFT JOIN undo USING (event_id)
        """

    init(_ row: Row) throws(ClubError) {
        self.init(
            id: try row.value("event_id"),
            userId: try row.value("user_id"),
            at: try row.date("at"),
            reader: try row.value("reader"),
            source: try Source(rawValue: try row.value("source")).orCorrupt("read a visit"),
            reason: try row.optional("reason"),
            actor: try row.optional("actor"),
            device: try row.value("device_id")
        )
        guard let undone = try row.optionalDate("undone_at") else { return }
        undoing = try Undoing(at: undone, reason: row.optional("undone_reason"), actor: row.optional("undone_actor"))
    }
}
