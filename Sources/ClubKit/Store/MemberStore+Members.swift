import Foundation
import GRDB

/// A member's row.
struct MemberRow {
    static let columns = "id, user_id, username, added_at, num_visits, last_visit_at, fields"

    var id: Int64
    var member: Member

    /// A row of ``columns``.
    ///
    /// - Throws: ``ClubError/Kind/corrupt`` for a value that the schema does not allow.
    init(_ row: Row) throws(ClubError) {
        id = try row.value(0)
        let lastVisit: Int64? = try row.optional(5)
        member = Member(
            userId: try row.value(1),
            username: try row.optional(2),
            timeStampAdded: Timestamp.seconds(try row.value(3)),
            numVisits: try row.value(4),
            timeStampOfLastVisit: lastVisit.map(Timestamp.seconds) ?? 0,
            fields: Self.fields(try row.value(6))
        )
    }

    /// The custom fields. The schema lets only JSON objects in; what is damaged nevertheless must not keep a member's
    /// visits from being counted, and is found by ``MemberStore/check()``.
    private static func fields(_ json: String) -> [String: FieldValue] {
        guard json != "{}" else { return [:] }
        return (try? JSONDecoder().decode([String: FieldValue].self, from: Data(json.utf8))) ?? [:]
    }
}

extension Row {
    /// A value that the schema wants. GRDB's own subscripts trap on a damaged one.
    func value<Value: DatabaseValueConvertible>(_ index: Int) throws(ClubError) -> Value {
        guard let value: Value = try optional(index) else { throw damage(index) }
        return value
    }

    /// A value that may be missing.
    func optional<Value: DatabaseValueConvertible>(_ index: Int) throws(ClubError) -> Value? {
        let stored: DatabaseValue = self[index]
        guard !stored.isNull else { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw damage(index) }
        return value
    }

    private func damage(_ index: Int) -> ClubError {
        let column = Array(columnNames)[index]
        return ClubError(.corrupt, attempting: "read the member database", detail: "'\(column)' holds no usable value")
    }
}

extension MemberStore {
    /// The member with that ``Member/userId``.
    package func member(withUserID userID: String) async throws(ClubError) -> Member? {
        try await read("look up a member") { db in try Self.row(userID: userID, in: db)?.member }
    }

    /// The member with that ``Member/userId``, read on the calling thread.
    package func memberNow(withUserID userID: String) throws(ClubError) -> Member? {
        try readNow("look up a member") { db in try Self.row(userID: userID, in: db)?.member }
    }

    /// All members in that order.
    package func members(sortedBy order: MemberOrder) async throws(ClubError) -> [Member] {
        let terms =
            switch order {
            case .userId: "user_id"
            case .username: "username COLLATE NOCASE, user_id"
            case .added: "added_at, user_id"
            case .visits: "num_visits DESC, user_id"
            case .lastVisit: "last_visit_at DESC, user_id"
            }
        return try await read("list the members") { db in
            var members: [Member] = []
            let rows = try Row.fetchCursor(db, sql: "SELECT \(MemberRow.columns) FROM member ORDER BY \(terms)")
            while let row = try rows.next() { members.append(try MemberRow(row).member) }
            return members
        }
    }

    /// How many members there are.
    package func memberCount() async throws(ClubError) -> Int {
        try await read("count the members") { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM member") ?? 0 }
    }

    /// Replaces those custom fields of a member; the others stay.
    ///
    /// - Returns: the member afterwards, or `nil` if there is none.
    package func setFields(_ fields: [String: FieldValue], ofUserID userID: String) async throws(ClubError) -> Member? {
        do {
            return try await database.write { db in
                guard var row = try Self.row(userID: userID, in: db) else { return nil }
                for (name, value) in fields where !FieldKey.baseNames.contains(name) { row.member.fields[name] = value }
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                let json = String(decoding: try encoder.encode(row.member.fields), as: UTF8.self)
                try db.execute(sql: "UPDATE member SET fields = ? WHERE id = ?", arguments: [json, row.id])
                return row.member
            }
        } catch {
            throw ClubError(error, attempting: "change a member")
        }
    }

    /// The time of the latest tap that the store knows, counted or not.
    package func lastEventDate() async throws(ClubError) -> Date? {
        try await read("find the latest tap") { db in
            try Int64.fetchOne(db, sql: "SELECT max(at) FROM receipt").map(Timestamp.date)
        }
    }

    static func row(userID: String, in db: Database) throws -> MemberRow? {
        // SQLite's text ends at the first NUL, so this would find somebody else.
        guard !userID.utf8.contains(0) else { return nil }
        let statement = try db.cachedStatement(sql: "SELECT \(MemberRow.columns) FROM member WHERE user_id = ?")
        return try Row.fetchOne(statement, arguments: [userID]).map(MemberRow.init)
    }

    /// Writes a member's totals from the ledger: the only place where they are computed.
    static func refreshTotals(of memberID: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE member SET (num_visits, last_visit_at) =
                    (SELECT count(*), max(at) FROM visit WHERE member_id = member.id)
                WHERE id = ?
                """
        )
        try statement.execute(arguments: [memberID])
    }
}
