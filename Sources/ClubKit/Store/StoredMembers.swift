import Foundation
import GRDB

extension Database {
    var members: StoredMembers { StoredMembers(db: self) }
}

struct StoredMembers {
    let db: Database

    // MARK: Rows

    func row(userID: String) throws -> MemberRow? {
        // SQLite's text ends at the first NUL, so this would find somebody else.
        guard !userID.utf8.contains(0) else { return nil }
        return try db.first(Self.rowByUserID, [.text(userID)]) { try MemberRow($0) }
    }

    func row(id: Int64) throws -> MemberRow? { try db.first(Self.rowByID, [.integer(id)]) { try MemberRow($0) } }

    private static let rowByUserID = "SELECT \(MemberRow.columns) FROM member WHERE user_id = ?"

    private static let rowByID = "SELECT \(MemberRow.columns) FROM member WHERE id = ?"

    enum Holder {
        /// To this member. The card may be blocked all the same.
        case member(MemberRow, cardIsBlocked: Bool)
        /// To nobody. A row may be left of somebody who was deleted.
        case nobody(former: MemberRow?)
    }

    func holder(of key: String) throws -> Holder {
        guard !key.utf8.contains(0) else { return .nobody(former: nil) }
        let sql = "SELECT member_key, blocked IS NOT NULL, hlc FROM card WHERE card_id = ?"
        let card = try db.first(sql, [.text(key)]) { card in
            (userID: try card.value(0) as String, isBlocked: try card.value(1) as Bool, hlc: try card.value(2) as Int64)
        }
        // What was recorded of the card before its member was deleted does not hold for one who is there again.
        if let card, let row = try self.row(userID: card.userID), row.exists, row.ended < card.hlc {
            return .member(try representative(of: row), cardIsBlocked: card.isBlocked)
        }
        guard let row = try self.row(userID: key) else { return .nobody(former: nil) }
        guard row.exists else { return .nobody(former: row) }
        return .member(row.status == .present ? row : try representative(of: row), cardIsBlocked: false)
    }

    private func found(_ key: String) throws -> MemberRow? {
        if case .member(let row, _) = try holder(of: key) { row } else { nil }
    }

    /// The one of ``LocalDevice/identifiers(_:)`` that leads to a member, else the form that a reader reports.
    func cardKey(_ keys: [String]) throws -> String {
        for key in keys where try found(key) != nil { return key }
        return keys.last ?? ""
    }

    /// The member with the first of these identifiers that leads to one.
    func found(_ keys: [String]) throws -> MemberRow? {
        for key in keys { if let row = try found(key) { return row } }
        return nil
    }

    /// The member with the first of these identifiers that leads to one; throws ``ClubError/Kind/noSuchMember``.
    func member(_ keys: [String], _ attempt: String) throws -> MemberRow {
        guard let row = try found(keys) else { throw ClubError(.noSuchMember, attempting: attempt) }
        return row
    }

    /// Whose card the identifier of that member is, if it is that of somebody else. What was recorded of the card
    /// before its holder was deleted does not hold for one who is there again (see ``StoredMembers/holder(of:)``).
    func holderOfIdentifier(_ id: Int64) throws -> String? {
        let sql = """
            SELECT member_key FROM card JOIN member ON card_id = user_id
            WHERE member.id = ? AND member_key <> user_id AND NOT EXISTS (
                SELECT 1 FROM member AS holder WHERE holder.user_id = member_key
                    AND holder.ended_hlc >= card.hlc)
            """
        return try db.value(sql, [id])
    }

    /// Why a card of a member who is there is blocked, if it is.
    func blocked(_ card: String) throws -> String? {
        guard case .member(_, true) = try holder(of: card) else { return nil }
        return try String.fetchOne(db, sql: "SELECT blocked FROM card WHERE card_id = ?", arguments: [card])
    }

    func tags(of id: Int64) throws -> [String] {
        let text = try db.first("SELECT tags FROM member WHERE id = ?", [.integer(id)]) { row -> String? in
            try row.optional(0)
        }
        guard let json = text ?? nil else { return [] }
        return (try? JSONDecoder().decode([String].self, from: Data(json.utf8))) ?? []
    }

    /// The cards of a member and of whoever was joined to them.
    func cards(of row: MemberRow) throws -> [MemberDetails.Card] {
        try cards(of: joined(to: row), first: row.member.userId)
    }

    /// The cards of members who are one, that one first.
    func cards(of members: [MemberRow], first: String) throws -> [MemberDetails.Card] {
        var cards: [String: String?] = [:]
        for one in members {
            let userID = one.member.userId
            // Its own identifier is a card, unless somebody else has it now.
            cards.updateValue(nil, forKey: userID)
            let sql = "SELECT card_id, blocked, member_key FROM card WHERE member_key = ?1 OR card_id = ?1"
            let rows = try db.rows(sql, [userID])
            for card in rows {
                let id: String = try card.value("card_id")
                if try card.value("member_key") == userID {
                    let blocked: String? = try card.optional("blocked")
                    cards.updateValue(blocked, forKey: id)
                } else if id == userID {
                    cards.removeValue(forKey: id)
                }
            }
        }
        let sorted = cards.map { MemberDetails.Card(id: $0.key, blocked: $0.value) }.sorted { $0.id < $1.id }
        return sorted.filter { $0.id == first } + sorted.filter { $0.id != first }
    }

    func visits(
        of key: [String],
        limit: Int,
        held isHeld: Bool = false,
        counted isCounted: Bool = false,
        _ attempt: String
    ) throws -> [Visit] {
        let rows = try self.rows(of: key, held: isHeld, attempt)
        let visits = try rows.flatMap { one in
            try db.rows(
                """
                \(Visit.select) WHERE member_id = ? AND born > ? \(isCounted ? "AND undo.event_id IS NULL" : "")
                ORDER BY visit.at DESC, visit.hlc DESC LIMIT ?
                """,
                [one.id, isHeld && !one.exists ? -1 : one.ended, limit]
            ).map { row in try Visit(row) }
        }
        return Array(visits.sorted { $0.at > $1.at }.prefix(limit))
    }

    // MARK: Members who are one, since a person joined them, or by a card

    /// The member who stands for a row: itself, or whom it was joined to in the end.
    func representative(of row: MemberRow) throws -> MemberRow {
        var chain = [row]
        var seen: Set<Int64> = [row.id]
        var last = row
        while last.exists, let target = last.mergedInto, let next = try self.row(userID: target), next.exists {
            guard seen.insert(next.id).inserted else {
                // Two devices joined them both ways.
                let start = chain.firstIndex { $0.id == next.id } ?? 0
                return chain[start...].min(by: Self.precedes) ?? row
            }
            chain.append(next)
            last = next
        }
        return last
    }

    /// The row that is shown for this one: itself, or of whom it is a part.
    func shown(for row: MemberRow) throws -> MemberRow { row.status == .merged ? try representative(of: row) : row }

    /// Who of a circle stands for all; identifiers that Swift takes for equal may be different bytes.
    private static func precedes(_ one: MemberRow, _ other: MemberRow) -> Bool {
        one.member.userId.utf8.lexicographicallyPrecedes(other.member.userId.utf8)
    }

    /// Whether somebody was joined to the member with that identifier, who may be not there yet, or has one of their cards.
    func isTarget(_ userID: String) throws -> Bool {
        try db.first("SELECT EXISTS (SELECT 1 FROM member WHERE merged_into = ?)", [.text(userID)]) {
            try $0.value(0)
        } ?? false
    }

    /// All rows that stand for the same member as this one.
    func joined(to row: MemberRow) throws -> [MemberRow] {
        let rows = try connected(to: row)
        let representatives = Self.representatives(in: rows)
        guard let index = rows.firstIndex(where: { $0.id == row.id }) else { return [row] }
        return rows.indices.filter { representatives[$0] == representatives[index] }.map { rows[$0] }
    }

    /// All rows that stand for the member with the first of these identifiers that leads to one.
    ///
    /// - Parameter isHeld: whether it is also what is left of members who were deleted.
    func rows(of keys: [String], held isHeld: Bool, _ attempt: String) throws -> [MemberRow] {
        try isHeld ? held(with: heldRow(keys, attempt)) : joined(to: member(keys, attempt))
    }

    /// All rows to which a row leads, or which lead to it, in whatever way.
    func connected(to row: MemberRow) throws -> [MemberRow] {
        let sql = "\(Self.connectedIdentifiers) SELECT \(MemberRow.columns) FROM member WHERE user_id IN joined"
        let userID = row.member.userId
        return try MemberRow.fetchAll(db.cachedStatement(sql: sql), arguments: [userID, userID])
    }

    /// Who is joined to either of two, in whatever way, and the two; so many at most.
    func connected(_ one: String, _ other: String, atMost limit: Int) throws -> [String] {
        try db.values("\(Self.connectedIdentifiers) SELECT user_id FROM joined LIMIT ?", [one, other, limit])
    }

    /// A table `joined` of all identifiers to which one of two leads, or which lead to it.
    private static let connectedIdentifiers = """
        WITH RECURSIVE joined (user_id) AS (
            VALUES (?), (?)
            UNION SELECT member.merged_into FROM joined JOIN member USING (user_id)
                WHERE member.merged_into IS NOT NULL
            UNION SELECT member.user_id FROM joined JOIN member ON member.merged_into = joined.user_id)
        """

    /// Who stands for each of the connected rows, by the rules of ``representative(of:)``, in one pass through them.
    static func representatives(in rows: [MemberRow]) -> [Int] {
        let places = Dictionary(rows.indices.map { (Array(rows[$0].member.userId.utf8), $0) }) { first, _ in first }
        var found = [Int?](repeating: nil, count: rows.count)
        var visited = [Int?](repeating: nil, count: rows.count)
        for start in rows.indices where found[start] == nil {
            var path: [Int] = []
            var at = start
            var representative: Int?
            while representative == nil {
                if let known = found[at] {
                    representative = known
                } else if visited[at] == start {
                    // Two devices joined them both ways.
                    let circle = path[(path.firstIndex(of: at) ?? 0)...]
                    representative = circle.min { precedes(rows[$0], rows[$1]) } ?? at
                } else {
                    visited[at] = start
                    path.append(at)
                    let target = rows[at].exists ? rows[at].mergedInto.flatMap { places[Array($0.utf8)] } : nil
                    if let target, rows[target].exists { at = target } else { representative = at }
                }
            }
            for index in path { found[index] = representative }
        }
        return rows.indices.map { found[$0] ?? $0 }
    }

    /// Rows of members who were joined to others, with the row of whom they are.
    func standIns() throws -> [Int64: Int64] {
        var standIns: [Int64: Int64] = [:]
        var done: Set<Int64> = []
        let sql = "SELECT \(MemberRow.columns) FROM member WHERE merged_into IS NOT NULL AND status <> 1"
        let rows = try MemberRow.fetchCursor(db, sql: sql)
        while let member = try rows.next() {
            guard !done.contains(member.id) else { continue }
            // Once for all who are connected.
            let members = try connected(to: member)
            for (index, target) in Self.representatives(in: members).enumerated() where target != index {
                standIns[members[index].id] = members[target].id
            }
            done.formUnion(members.map(\.id))
        }
        return standIns
    }

    /// All rows that stand for the same member as this one, with those of whoever was joined to them and was deleted since.
    func held(with row: MemberRow) throws -> [MemberRow] {
        var rows = try joined(to: row)
        var ids = Set(rows.map(\.id))
        var index = 0
        // A deletion ends that two are joined, like everything recorded of them; only the log contains it then.
        while index < rows.count {
            let others = try MemberRow.all(
                where: """
                    status = 1 AND user_id IN (
                        SELECT subject FROM audit WHERE action = ?2 AND json_extract(detail, '$.into') = ?1
                        UNION SELECT json_extract(detail, '$.into') FROM audit WHERE action = ?2 AND subject = ?1)
                    """,
                [rows[index].member.userId, AuditEntry.Action.joined.rawValue],
                in: db
            )
            for other in others where ids.insert(other.id).inserted { rows.append(other) }
            index += 1
        }
        return rows
    }

    /// The member with that identifier or card, or what is still held on one who was deleted.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    func heldRow(_ keys: [String], _ attempt: String) throws -> MemberRow {
        if let row = try found(keys) { return row }
        for key in keys where !key.utf8.contains(0) {
            let card = try String.fetchOne(db, sql: "SELECT member_key FROM card WHERE card_id = ?", arguments: [key])
            if let row = try self.row(userID: key) ?? card.flatMap({ try self.row(userID: $0) }) { return row }
        }
        throw ClubError(.noSuchMember, attempting: attempt)
    }

    // MARK: Totals

    /// What a member's row comes to by itself.
    struct Totals {
        var visits: Int
        var latest: Int64?
        var left: Int?
    }

    func totals(of row: MemberRow) throws -> Totals {
        let facts = try row.facts()
        func count(_ condition: String, _ value: Int64) throws -> Int {
            try db.value(
                "SELECT count(*) FROM visit WHERE member_id = ? AND born > ? AND \(condition) > ? AND \(VisitRow.isCounted)",
                [row.id, row.ended, value]
            ) ?? 0
        }
        var totals: Totals
        if facts.claims.isEmpty {
            totals = Totals(visits: Int.sum(try count("at", -1), facts.removedVisits))
            let sql = "SELECT max(at) FROM visit WHERE member_id = ? AND born > ? AND \(VisitRow.isCounted)"
            totals.latest = try db.value(sql, [row.id, row.ended])
            if let removed = facts.latestRemovedVisit { totals.latest = max(totals.latest ?? 0, removed) }
        } else {
            let total = try visitTotal(of: row, facts)
            totals = Totals(visits: total.visits, latest: total.latest)
        }
        let packs = SystemValues(facts).packs
        if let first = packs.first {
            let bought = packs.reduce(0) { Int.sum($0, $1.visits) }
            let removed = facts.removedVisits(boughtSince: first)
            // Neither is negative, so the difference does not overflow.
            totals.left = max(0, max(0, max(0, bought) - max(0, removed)) - (try count("hlc", first.stamp.time)))
        }
        return totals
    }

    /// What the visits of a row by itself come to, and what is known of them.
    func visitTotal(of row: MemberRow, _ facts: MemberFacts) throws -> VisitTotal {
        let sql = """
            SELECT at, \(VisitRow.isCounted) AS counts FROM visit WHERE member_id = ? AND born > ? ORDER BY at
            """
        return VisitTotal(facts, try db.rows(sql, [row.id, row.ended]).map { (try $0.value(0), try $0.value(1)) })
    }

    /// What a row has of all who are one.
    struct JoinedTotals {
        var status: MemberRow.Status
        var visits = 0
        var latest: Int64 = 0
    }

    /// What each of connected rows has: who stands for others has the visits of all, everybody else their own.
    func joinedTotals(of rows: [MemberRow]) throws -> [JoinedTotals] {
        let representatives = Self.representatives(in: rows)
        var sums = rows.indices.map { index in
            let isShown = representatives[index] == index
            return JoinedTotals(status: !rows[index].exists ? .gone : isShown ? .present : .merged)
        }
        for (index, one) in rows.enumerated() where one.exists {
            let own = try totals(of: one)
            func add(to index: Int) {
                sums[index].visits = Int.sum(sums[index].visits, own.visits)
                sums[index].latest = max(sums[index].latest, own.latest ?? 0)
            }
            add(to: representatives[index])
            if representatives[index] != index { add(to: index) }
        }
        return sums
    }
}

extension Int {
    /// The sum of two numbers that are not negative; the greatest number if it is greater.
    static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
