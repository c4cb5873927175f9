import Foundation
import GRDB

/// Members who are one, since a person joined them, or by a card.
extension MemberStore {
    /// The member who stands for a row: itself, or whom it was joined to in the end.
    static func representative(of row: MemberRow, in db: Database) throws -> MemberRow {
        var chain = [row]
        var seen: Set<Int64> = [row.id]
        var last = row
        while last.exists, let target = last.mergedInto, let next = try Self.row(userID: target, in: db), next.exists {
            guard seen.insert(next.id).inserted else {
                // Two devices joined them both ways.
                let start = chain.firstIndex { $0.id == next.id } ?? 0
                return chain[start...].min(by: precedes) ?? row
            }
            chain.append(next)
            last = next
        }
        return last
    }

    /// The row that is shown for this one: itself, or of whom it is a part.
    static func shown(for row: MemberRow, in db: Database) throws -> MemberRow {
        row.status == .merged ? try representative(of: row, in: db) : row
    }

    /// Who of a circle stands for all; identifiers that Swift takes for equal may be different bytes.
    private static func precedes(_ one: MemberRow, _ other: MemberRow) -> Bool {
        one.member.userId.utf8.lexicographicallyPrecedes(other.member.userId.utf8)
    }

    /// All rows that stand for the same member as this one.
    static func joined(to row: MemberRow, in db: Database) throws -> [MemberRow] {
        let rows = try connected(to: row, in: db)
        let representatives = representatives(in: rows)
        guard let index = rows.firstIndex(where: { $0.id == row.id }) else { return [row] }
        return rows.indices.filter { representatives[$0] == representatives[index] }.map { rows[$0] }
    }

    /// All rows that stand for the member with the first of these identifiers that leads to one.
    ///
    /// - Parameter isHeld: whether it is also what is left of members who were deleted.
    static func rows(of keys: [String], held isHeld: Bool, _ attempt: String, in db: Database) throws -> [MemberRow] {
        isHeld
            ? try held(with: heldRow(keys, attempt, in: db), in: db)
            : try joined(to: member(keys, attempt, in: db), in: db)
    }

    /// All rows to which a row leads, or which lead to it, in whatever way.
    static func connected(to row: MemberRow, in db: Database) throws -> [MemberRow] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: "\(connectedIdentifiers) SELECT \(MemberRow.columns) FROM member WHERE user_id IN joined"
            ),
            arguments: [row.member.userId, row.member.userId]
        ).map { row in try MemberRow(row) }
    }

    /// Who is joined to either of two, in whatever way, and the two; so many at most.
    static func connected(_ one: String, _ other: String, atMost limit: Int, in db: Database) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: "\(connectedIdentifiers) SELECT user_id FROM joined LIMIT ?"),
            arguments: [one, other, limit]
        )
    }

    /// A table `joined` of all identifiers to which one of two leads, or which lead to it.
    private static let connectedIdentifiers = """
        WITH RECURSIVE joined (user_id) AS (
            VALUES (?), (?)
            UNION SELECT member.merged_into FROM joined JOIN member USING (user_id)
                WHERE member.merged_into IS NOT NULL
            UNION SELECT member.user_id FROM joined JOIN member ON member.merged_into = joined.user_id)
        """

    /// Who stands for each of connected rows, as ``representative(of:in:)`` says, in one way through them.
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

    /// What a row has of all who are one.
    struct JoinedTotals {
        var status: MemberRow.Status
        var visits = 0
        var latest: Int64 = 0
    }

    /// What each of connected rows has: who stands for others has the visits of all, everybody else their own.
    static func joinedTotals(of rows: [MemberRow], in db: Database) throws -> [JoinedTotals] {
        let representatives = representatives(in: rows)
        var sums = rows.indices.map { index in
            let isShown = representatives[index] == index
            return JoinedTotals(status: !rows[index].exists ? .gone : isShown ? .present : .merged)
        }
        for (index, one) in rows.enumerated() where one.exists {
            let own = try totals(of: one, in: db)
            func add(to index: Int) {
                let (visits, overflow) = sums[index].visits.addingReportingOverflow(own.visits)
                sums[index].visits = overflow ? Int.max : visits
                sums[index].latest = max(sums[index].latest, own.latest ?? 0)
            }
            add(to: representatives[index])
            if representatives[index] != index { add(to: index) }
        }
        return sums
    }

    /// Gives the visits of members who were joined to those whom they were joined to.
    ///
    /// It looks at all who are connected, so whoever changes many in one transaction calls it once, at the end.
    ///
    /// - Parameters:
    ///   - ids: the rows that were written, whose changes have been noted.
    ///   - willChange: called with each row that is about to change.
    func refreshJoined(
        _ ids: Set<Int64>,
        in db: Database,
        willChange: (MemberRow) throws -> Void = { _ in }
    ) throws {
        var done: Set<Int64> = []
        for id in ids.sorted() where !done.contains(id) {
            guard let row = try Self.row(id: id, in: db) else { continue }
            let rows = try Self.connected(to: row, in: db)
            done.formUnion(rows.map(\.id))
            for (one, sum) in zip(rows, try Self.joinedTotals(of: rows, in: db)) where one.exists {
                if sum.status == one.status, sum.visits == one.member.numVisits, sum.latest == one.latest { continue }
                try willChange(one)
                if !ids.contains(one.id) { try markChanged(one.id, in: db) }
                try db.cachedStatement(
                    sql: "UPDATE member SET status = ?, num_visits = ?, last_visit_at = ? WHERE id = ?"
                ).execute(arguments: [sum.status.rawValue, sum.visits, sum.latest == 0 ? nil : sum.latest, one.id])
            }
        }
    }
}
