import Foundation
import GRDB

/// A list of members as questions to SQLite.
struct MemberListing: Sendable {
    let order: MemberOrder
    let filter: MemberFilter

    /// The longest text that is looked for, in Unicode scalars; nobody has a longer one.
    static let longestText = 2048

    var isWhole: Bool { condition(at: 0) == nil }

    var dependsOnTime: Bool { filter.isExpired != nil }

    // MARK: Filter

    /// What SQLite has to find true of a member, apart from being one; `nil` if there is no condition.
    ///
    /// - Parameter now: in microseconds since 1970.
    func condition(at now: Int64) -> SQL? {
        var terms: [SQL] = []
        if let text = filter.text, !text.isEmpty { terms.append(Self.contains(text)) }
        if let isBlocked = filter.isBlocked { terms.append(isBlocked ? "blocked IS NOT NULL" : "blocked IS NULL") }
        if let isExpired = filter.isExpired { terms.append("coalesce(expires_at <= \(now), 0) = \(isExpired)") }
        if let hasNoVisitsLeft = filter.hasNoVisitsLeft {
            terms.append("coalesce(visits_left <= 0, 0) = \(hasNoVisitsLeft)")
        }
        if let since = filter.visitedSince { terms.append("last_visit_at >= \(Self.microseconds(since))") }
        if let tag = filter.tag {
            terms.append("tags IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = \(tag))")
        }
        return terms.isEmpty ? nil : terms.map { "(\($0))" }.joined(separator: " AND ")
    }

    /// A time outside of those that the store knows is before or after all of them.
    private static func microseconds(_ date: Date) -> Int64 {
        Timestamp.microseconds(date) ?? (date.timeIntervalSince1970 < 0 ? 0 : Int64.max)
    }

    private static func contains(_ text: String) -> SQL {
        // SQLite's text ends at the first NUL, so this would find others.
        guard text.unicodeScalars.count <= longestText, !text.utf8.contains(0) else { return "0" }
        return SearchedText.condition(text)
    }

    /// `WHERE` with everything.
    func membership(at now: Int64) -> SQL {
        // With the plus sign, SQLite does not take the index of another order, whose rows it would have to sort.
        let isPresent: SQL = order.primary == nil ? "+status = 0" : "status = 0"
        guard let condition = condition(at: now) else { return isPresent }
        return "\(isPresent) AND \(condition)"
    }

    // MARK: Reading

    func count(at now: Int64, in db: Database) throws -> Int {
        let request: SQLRequest<Int> =
            if let condition = condition(at: now) {
                SQLRequest(literal: "SELECT count(*) FROM member WHERE status = 0 AND \(condition)", cached: true)
            } else {
                // SQLite counts a whole table without looking at its rows, and those who are gone by their index.
                "SELECT (SELECT count(*) FROM member) - (SELECT count(*) FROM member WHERE status <> 0)"
            }
        return try request.fetchOne(db) ?? 0
    }

    func page(offset: Int, limit: Int, at now: Int64, in db: Database) throws -> [MemberImage] {
        try Self.images(page(offset: offset, limit: limit, at: now), in: db)
    }

    func page(offset: Int, limit: Int, at now: Int64) -> SQL {
        """
        SELECT \(sql: MemberImage.columns) FROM member WHERE \(membership(at: now))
        ORDER BY \(sql: order.terms) LIMIT \(limit) OFFSET \(offset)
        """
    }

    /// A member's image now, if the list shows them.
    func image(of id: Int64, at now: Int64, in db: Database) throws -> MemberImage? {
        try Self.images(
            "SELECT \(sql: MemberImage.columns) FROM member WHERE id = \(id) AND \(membership(at: now))",
            in: db
        ).first
    }

    /// The image that the journal kept at that number, if the list showed the member.
    func image(before sequence: Int64, at now: Int64, in db: Database) throws -> MemberImage? {
        // Not with '??', which GRDB makes SQL's IFNULL of.
        let condition: SQL = if let condition = condition(at: now) { condition } else { "1" }
        return try Self.images(
            """
            SELECT * FROM (SELECT \(sql: MemberImage.journalColumns) FROM change
                WHERE seq = \(sequence) AND before IS NOT NULL)
            WHERE \(condition)
            """,
            in: db
        ).first
    }

    private static func images(_ query: SQL, in db: Database) throws -> [MemberImage] {
        try Array(SQLRequest<Row>(literal: query, cached: true).fetchCursor(db).map { row in try MemberImage(row) })
    }

    func keys(at now: Int64, in db: Database) throws -> [MemberKey] {
        var keys: [MemberKey] = []
        // Only the columns that the order needs, most of which an index has.
        let value = order.primary.map { "\($0.column), user_id" } ?? (order == .userId ? "NULL, user_id" : "NULL, NULL")
        let query: SQL = """
            SELECT id, \(sql: value) FROM member WHERE \(membership(at: now)) ORDER BY \(sql: order.terms)
            """
        let rows = try SQLRequest<Row>(literal: query, cached: true).fetchCursor(db)
        var isSorted = true
        while let row = try rows.next() {
            let key = try MemberKey(keyRow: row, order: order)
            if let last = keys.last, !(last < key) { isSorted = false }
            keys.append(key)
        }
        // SQLite sorts alike, unless a damaged index misleads it.
        if !isSorted { keys.sort() }
        return keys
    }

    /// The earliest end of a membership after that time: when who is shown may change by itself.
    func nextEnd(after now: Int64, in db: Database) throws -> Int64? {
        guard dependsOnTime else { return nil }
        return try SQLRequest<Int64?>(
            literal: "SELECT min(expires_at) FROM member WHERE status = 0 AND expires_at > \(now)",
            cached: true
        ).fetchOne(db) ?? nil
    }
}

extension MemberKey {
    /// A row of the member's id, the value that the order compares first, and the identifier.
    fileprivate init(keyRow row: Row, order: MemberOrder) throws(ClubError) {
        let id: Int64 = try row.value(0)
        switch order {
        case .creation: self.init(order, id: id)
        case .userId: self.init(order, id: id, userID: try row.value(2))
        case .username: self.init(order, id: id, userID: try row.value(2), username: try row.optional(1))
        case .insertion, .visits: self.init(order, id: id, userID: try row.value(2), number: try row.value(1))
        case .lastVisit: self.init(order, id: id, userID: try row.value(2), number: try row.optional(1))
        }
    }
}

extension MemberOrder {
    /// What an order compares before the identifiers.
    struct Primary {
        var column: String
        /// How names are compared, or nothing.
        var collation = ""
        var isDescending = false

        var expression: String { column + collation }
    }

    /// What the order compares first; `nil` where it compares one column only.
    var primary: Primary? {
        switch self {
        case .creation, .userId: nil
        case .username: Primary(column: "username", collation: " COLLATE NOCASE")
        case .insertion: Primary(column: "added_at")
        case .visits: Primary(column: "num_visits", isDescending: true)
        case .lastVisit: Primary(column: "last_visit_at", isDescending: true)
        }
    }
}

extension MemberListing {
    /// A part of the list that SQLite finds in an index, if the order has one.
    private struct Stretch {
        var condition: SQL
        var terms: String
    }

    /// The members that come after a place in the list, at most `limit`.
    func page(after image: MemberImage, limit: Int, at now: Int64, in db: Database) throws -> [MemberImage] {
        try page(stretches(from: image, isAfter: true), limit: limit, at: now, in: db)
    }

    /// The members that come last before a place in the list, at most `limit`, in the order of the list.
    func page(before image: MemberImage, limit: Int, at now: Int64, in db: Database) throws -> [MemberImage] {
        try page(stretches(from: image, isAfter: false), limit: limit, at: now, in: db).reversed()
    }

    private func page(_ stretches: [Stretch], limit: Int, at now: Int64, in db: Database) throws -> [MemberImage] {
        var images: [MemberImage] = []
        for stretch in stretches where images.count < limit {
            images += try Self.images(
                """
                SELECT \(sql: MemberImage.columns) FROM member
                WHERE \(membership(at: now)) AND \(stretch.condition)
                ORDER BY \(sql: stretch.terms) LIMIT \(limit - images.count)
                """,
                in: db
            )
        }
        return images
    }

    /// What lies after a place, or before it, the nearest first.
    private func stretches(from image: MemberImage, isAfter: Bool) -> [Stretch] {
        let beyond = SQL(sql: isAfter ? ">" : "<")
        let down = isAfter ? "" : " DESC"
        guard let primary = order.primary else {
            return order == .creation
                ? [Stretch(condition: "id \(beyond) \(image.id)", terms: "id" + down)]
                : [Stretch(condition: "user_id \(beyond) \(image.userID)", terms: "user_id" + down)]
        }
        let column = SQL(sql: primary.column)
        let expression = SQL(sql: primary.expression)
        let terms =
            isAfter ? order.terms : primary.expression + (primary.isDescending ? "" : " DESC") + ", user_id DESC"
        let value = order == .username ? image.username.databaseValue : image.number(order).databaseValue
        let equal: SQL = value.isNull ? "\(column) IS NULL" : "\(expression) = \(value)"
        var stretches = [Stretch(condition: "\(equal) AND user_id \(beyond) \(image.userID)", terms: "user_id" + down)]
        // NULL is less than everything.
        switch (isAfter != primary.isDescending, value.isNull) {
        case (true, true): stretches.append(Stretch(condition: "\(column) IS NOT NULL", terms: terms))
        case (true, false): stretches.append(Stretch(condition: "\(expression) > \(value)", terms: terms))
        case (false, true): break
        case (false, false):
            stretches.append(Stretch(condition: "\(expression) < \(value)", terms: terms))
            stretches.append(Stretch(condition: "\(column) IS NULL", terms: "user_id" + down))
        }
        return stretches
    }
}
