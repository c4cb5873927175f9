import Foundation
import GRDB

extension MemberStore {
    /// The member with that ``Member/userId``.
    package func member(withUserID userID: String) async throws(ClubError) -> Member? {
        let key = identifiers(userID)
        return try await read("look up a member") { db in try Self.found(key, in: db)?.member }
    }

    /// The member with that ``Member/userId``, read on the calling thread.
    package func memberNow(withUserID userID: String) throws(ClubError) -> Member? {
        let key = identifiers(userID)
        return try readNow("look up a member") { db in try Self.found(key, in: db)?.member }
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

    // MARK: Rows

    static func row(userID: String, in db: Database) throws -> MemberRow? {
        // SQLite's text ends at the first NUL, so this would find somebody else.
        guard !userID.utf8.contains(0) else { return nil }
        return try db.first(rowByUserID, [.text(userID)]) { try MemberRow($0) }
    }

    static func row(id: Int64, in db: Database) throws -> MemberRow? {
        try db.first(rowByID, [.integer(id)]) { try MemberRow($0) }
    }

    private static let rowByUserID = "SELECT \(MemberRow.columns) FROM member WHERE user_id = ?"
    private static let rowByID = "SELECT \(MemberRow.columns) FROM member WHERE id = ?"

    /// To whom a card belongs.
    enum Holder {
        /// To this member. The card may be blocked all the same.
        case member(MemberRow, cardIsBlocked: Bool)
        /// To nobody. A row may be left of somebody who was deleted.
        case nobody(former: MemberRow?)
    }

    /// Finds the member by any of their cards.
    static func holder(of key: String, in db: Database) throws -> Holder {
        guard !key.utf8.contains(0) else { return .nobody(former: nil) }
        let card = try db.first(
            "SELECT member_key, blocked IS NOT NULL, hlc FROM card WHERE card_id = ?",
            [.text(key)]
        ) { card in
            (userID: try card.value(0) as String, isBlocked: try card.value(1) as Bool, hlc: try card.value(2) as Int64)
        }
        // What was said of the card before its member was deleted does not hold for one who is there again.
        if let card, let row = try Self.row(userID: card.userID, in: db), row.exists, row.ended < card.hlc {
            return .member(try representative(of: row, in: db), cardIsBlocked: card.isBlocked)
        }
        guard let row = try Self.row(userID: key, in: db) else { return .nobody(former: nil) }
        guard row.exists else { return .nobody(former: row) }
        return .member(row.status == .present ? row : try representative(of: row, in: db), cardIsBlocked: false)
    }

    /// The member with that identifier or card.
    static func found(_ key: String, in db: Database) throws -> MemberRow? {
        if case .member(let row, _) = try holder(of: key, in: db) { row } else { nil }
    }

    /// The member with that identifier or card.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    static func member(_ key: String, _ attempt: String, in db: Database) throws -> MemberRow {
        guard let row = try found(key, in: db) else { throw ClubError(.noSuchMember, attempting: attempt) }
        return row
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
