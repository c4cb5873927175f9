import GRDB

extension MemberOrder {
    /// What an order compares before the identifiers.
    struct Primary {
        /// The column of `member`.
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
        case .added: Primary(column: "added_at")
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
        try page(stretches(after: image), limit: limit, at: now, in: db)
    }

    /// The members that come last before a place in the list, at most `limit`, in the order of the list.
    func page(before image: MemberImage, limit: Int, at now: Int64, in db: Database) throws -> [MemberImage] {
        try page(stretches(before: image), limit: limit, at: now, in: db).reversed()
    }

    private func page(
        _ stretches: [Stretch],
        limit: Int,
        at now: Int64,
        in db: Database
    ) throws -> [MemberImage] {
        var images: [MemberImage] = []
        for stretch in stretches where images.count < limit {
            let request: SQLRequest<Row> = SQLRequest(
                literal: """
                    SELECT \(sql: MemberImage.columns) FROM member
                    WHERE \(membership(at: now)) AND \(stretch.condition)
                    ORDER BY \(sql: stretch.terms) LIMIT \(limit - images.count)
                    """,
                cached: true
            )
            images += try Self.images(request, in: db)
        }
        return images
    }

    private func stretches(after image: MemberImage) -> [Stretch] {
        guard let primary = order.primary else {
            return order == .creation
                ? [Stretch(condition: "id > \(image.id)", terms: "id")]
                : [Stretch(condition: "user_id > \(image.userID)", terms: "user_id")]
        }
        let column = SQL(sql: primary.column)
        let expression = SQL(sql: primary.expression)
        let value = value(of: image)
        let equal: SQL = value.isNull ? "\(column) IS NULL" : "\(expression) = \(value)"
        var stretches = [Stretch(condition: "\(equal) AND user_id > \(image.userID)", terms: "user_id")]
        switch (primary.isDescending, value.isNull) {
        case (false, true):
            stretches.append(Stretch(condition: "\(column) IS NOT NULL", terms: order.terms))
        case (false, false):
            stretches.append(Stretch(condition: "\(expression) > \(value)", terms: order.terms))
        case (true, true):
            break
        case (true, false):
            stretches.append(Stretch(condition: "\(expression) < \(value)", terms: order.terms))
            stretches.append(Stretch(condition: "\(column) IS NULL", terms: "user_id"))
        }
        return stretches
    }

    private func stretches(before image: MemberImage) -> [Stretch] {
        guard let primary = order.primary else {
            return order == .creation
                ? [Stretch(condition: "id < \(image.id)", terms: "id DESC")]
                : [Stretch(condition: "user_id < \(image.userID)", terms: "user_id DESC")]
        }
        let column = SQL(sql: primary.column)
        let expression = SQL(sql: primary.expression)
        let terms = primary.expression + (primary.isDescending ? ", user_id DESC" : " DESC, user_id DESC")
        let value = value(of: image)
        let equal: SQL = value.isNull ? "\(column) IS NULL" : "\(expression) = \(value)"
        var stretches = [Stretch(condition: "\(equal) AND user_id < \(image.userID)", terms: "user_id DESC")]
        switch (primary.isDescending, value.isNull) {
        case (false, true):
            break
        case (false, false):
            stretches.append(Stretch(condition: "\(expression) < \(value)", terms: terms))
            stretches.append(Stretch(condition: "\(column) IS NULL", terms: "user_id DESC"))
        case (true, true):
            stretches.append(Stretch(condition: "\(column) IS NOT NULL", terms: terms))
        case (true, false):
            stretches.append(Stretch(condition: "\(expression) > \(value)", terms: terms))
        }
        return stretches
    }

    private func value(of image: MemberImage) -> DatabaseValue {
        switch order {
        case .creation: image.id.databaseValue
        case .userId: image.userID.databaseValue
        case .username: image.username.databaseValue
        case .added: image.addedAt.databaseValue
        case .visits: image.visits.databaseValue
        case .lastVisit: image.lastVisitAt.databaseValue
        }
    }
}
