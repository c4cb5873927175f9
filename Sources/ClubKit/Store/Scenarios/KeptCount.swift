import Foundation
import GRDB

/// How many events or executions of a subject lie after a moment, which costs the same however many there are: where
/// counting is dear, the number is kept in the database, and triggers change it with each row that changes.
struct KeptCount {
    struct Source {
        var table: String
        /// The column with the name that is counted under.
        var column: String
        /// What stands before that name in `scenario_count`, as SQL.
        var prefix: String
        /// Whether a row counts: `row` is what its columns are called by.
        var counts: @Sendable (_ row: String) -> String
    }

    static let events = Source(
        table: "scenario_event",
        column: "name",
        prefix: "''",
        counts: { row in
            """
            \(row).undone = 0 AND \(row).hlc > coalesce((SELECT r.hlc FROM scenario_reset AS r
                WHERE r.kind = \(row).kind AND r.subject = \(row).subject
                    AND r.scenario = \(SubjectEvents.resetNameSQL("\(row).name"))), -1)
            """
        }
    )

    /// A member's own are few.
    static let executions = Source(
        table: "scenario_execution",
        column: "scenario",
        prefix: "(char(1) || 'executions:')",
        counts: { "\($0).counts = 1" }
    )

    let source: Source
    let key: SubjectKey
    let name: String
    let db: Database
    /// What is asked for in this transaction, where numbers are kept; a look at a decision writes nothing.
    var asked: Asked?

    /// The moments since which was counted, whatever was counted: those numbers are in use.
    final class Asked {
        fileprivate var moments: Set<Int64> = []
    }

    /// Up to so many rows are counted each time.
    private static let few = 128
    /// When more numbers are kept of one name, those that are not in use are forgotten.
    private static let mostKept = 8
    private static let beginning = Int64.min

    /// All, with the first and the last.
    func all() throws -> (count: Int, first: Int64?, last: Int64?) {
        if let kept = try kept("after = ?4", Self.beginning) { return (kept.number, kept.first, kept.last) }
        let found: (count: Int, first: Int64?, last: Int64?) =
            try db.first("SELECT count(*), min(at), max(at) FROM \(rows)", values) {
                (try $0.value(0), try $0.optional(1), try $0.optional(2))
            } ?? (0, nil, nil)
        // Few may be left of many, which a reset left behind.
        try keep(found.count, after: Self.beginning, found.first, found.last)
        return found
    }

    /// How many lie after a moment, up to another.
    func count(after: Int64, through: Int64) throws -> Int {
        guard after < through else { return 0 }
        return try max(0, count(after: after) - (through == .max ? 0 : count(after: through)))
    }

    private func count(after moment: Int64) throws -> Int {
        asked?.moments.insert(moment)
        // What a reset left behind lies before the first, and is not gone through.
        if mayWrite {
            let all = try all()
            guard let first = all.first, first <= moment else { return all.count }
        }
        if let kept = try kept("after = ?4", moment) { return kept.number }
        let direct = try count(after: moment, through: .max, atMost: Self.few)
        guard direct >= Self.few else { return direct }
        // A window that moves is near where it was: what lies in between is counted alone.
        let near = [
            try kept("after < ?4 AND after > \(Self.beginning) ORDER BY after DESC", moment),
            try kept("after > ?4 ORDER BY after", moment),
        ].compactMap(\.self)
        for kept in near {
            let (start, end) = (min(kept.after, moment), max(kept.after, moment))
            let between = try count(after: start, through: end, atMost: Self.few)
            guard between < Self.few else { continue }
            let number = kept.after < moment ? kept.number - between : kept.number + between
            try move(kept.after, to: moment, number)
            return number
        }
        let number = try count(after: moment, through: .max, atMost: .max)
        try keep(number, after: moment)
        return number
    }

    // MARK: Rows

    private var rows: String {
        "\(source.table) AS e WHERE e.kind = ?1 AND e.subject = ?2 AND e.\(source.column) = ?3 AND born > ?4"
            + " AND \(source.counts("e"))"
    }

    private var values: [BoundValue] { names + [.integer(key.ended)] }

    private var names: [BoundValue] { key.values + [.text(name)] }

    private var isOfThis: String { "kind = ?1 AND subject = ?2 AND name = \(source.prefix) || ?3" }

    private func count(after: Int64, through: Int64, atMost limit: Int) throws -> Int {
        try db.first(
            "SELECT count(*) FROM (SELECT 1 FROM \(rows) AND at > ?5 AND at <= ?6 LIMIT ?7)",
            values + [.integer(after), .integer(through), .integer(Int64(limit))]
        ) { try $0.value(0) } ?? 0
    }

    // MARK: Numbers

    /// What a member had before a deletion is in a kept number too.
    private var isKept: Bool { key.ended < 0 }

    private func kept(
        _ condition: String,
        _ moment: Int64
    ) throws -> (after: Int64, number: Int, first: Int64?, last: Int64?)? {
        guard isKept else { return nil }
        return try db.first(
            """
            SELECT after, number, first_at, last_at FROM scenario_count
            WHERE \(isOfThis) AND \(condition) LIMIT 1
            """,
            names + [.integer(moment)]
        ) { (try $0.value(0), try $0.value(1), try $0.optional(2), try $0.optional(3)) }
    }

    private var mayWrite: Bool { isKept && asked != nil }

    private func keep(_ number: Int, after: Int64, _ first: Int64? = nil, _ last: Int64? = nil) throws {
        guard mayWrite else { return }
        let sql = """
            INSERT OR REPLACE INTO scenario_count (kind, subject, name, after, number, first_at, last_at)
            VALUES (?1, ?2, \(source.prefix) || ?3, ?4, ?5, ?6, ?7)
            """
        try db.run(sql, names + [.integer(after), .integer(Int64(number)), .optional(first), .optional(last)])
        let others: [Int64] = try db.values(
            "SELECT after FROM scenario_count WHERE \(isOfThis) AND after > \(Self.beginning)",
            [key.kind.rawValue, key.text, name]
        )
        guard others.count > Self.mostKept else { return }
        for after in others where asked?.moments.contains(after) == false {
            try db.run("DELETE FROM scenario_count WHERE \(isOfThis) AND after = ?4", names + [.integer(after)])
        }
    }

    func forget() throws {
        try db.run("DELETE FROM scenario_count WHERE \(isOfThis)", names)
    }

    private func move(_ former: Int64, to moment: Int64, _ number: Int) throws {
        guard mayWrite else { return }
        let sql = "UPDATE scenario_count SET after = ?5, number = ?6 WHERE \(isOfThis) AND after = ?4"
        try db.run(sql, names + [.integer(former), .integer(moment), .integer(Int64(number))])
    }
}
