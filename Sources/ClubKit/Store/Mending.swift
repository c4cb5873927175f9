import Foundation
import GRDB
import ReaderKit

/// Repairs a database whose tables can be read, inside one transaction: what is stored twice is made to agree, and what
/// follows from something else is computed anew.
struct Mending {
    let transaction: StoreTransaction
    var db: Database { transaction.db }
    var mended: [String] = []
    private var lost: [String]

    /// Repairs the database, and records that in the audit log.
    ///
    /// - Parameters:
    ///   - remark: put before what was mended in the audit log.
    ///   - reindexing: whether the indexes are damaged.
    ///   - lost: what is known to be lost.
    ///   - named: members of whose rows there is only what the indexes had.
    ///   - visits: how many visits there were, if that is known and some may be missing.
    static func run(
        _ transaction: StoreTransaction,
        _ context: ActionContext,
        remark: [String] = [],
        reindexing: Bool = false,
        lost: [String] = [],
        named: [Int64] = [],
        visits: Int? = nil
    ) throws -> (mended: [String], lost: [String]) {
        var mending = Mending(transaction: transaction, lost: lost)
        try mending.run(reindexing, named, visits)
        let detail = ["mended": remark + mending.mended, "lost": mending.lost].mapValues { texts in
            FieldValue.array(texts.map { .string($0) })
        }
        try transaction.audit(.repaired, of: nil, context, detail: detail)
        return (mending.mended, mending.lost)
    }

    private mutating func run(_ reindexing: Bool, _ named: [Int64], _ visits: Int?) throws {
        try note("permits to change the ledger were withdrawn", changing: "DELETE FROM ledger_permit")
        try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('repair')")
        for object in try DatabaseSchema.missing(in: db) {
            try db.execute(sql: object.sql)
            mended.append("the \(object.type) '\(object.name)' was missing")
        }
        if reindexing {
            try db.execute(sql: "REINDEX")
            mended.append("the indexes were built again")
        }
        try mendClock()
        try mendTimes()
        try mendValues()
        try mendFacts()
        try mendMissingMembers()
        try mendVisitsAndReceipts()
        try mendScenarios()
        if let visits {
            let found = try Int.fetchOne(db, sql: "SELECT count(*) FROM visit") ?? 0
            note("visits that could not be read", visits - found, isLoss: true)
        }
        try mendNamedMembers(named)
        for one in try db.members.presentThoughErased() {
            guard let row = try db.members.row(id: one.id) else { continue }
            try transaction.members.change(row) { $0.erase(one.erasure) }
            note("members who were erased and were there again are gone", 1)
        }
        try mendShownValues()
        // What was put right may be later than the clock was.
        try mendClock()
        try resetJournal()
        try db.execute(sql: "DELETE FROM ledger_permit")
        summarise()
    }

    // MARK: Counting what was done

    private var counts: [(text: String, count: Int, isLoss: Bool)] = []

    mutating func note(_ text: String, _ count: Int, isLoss: Bool = false) {
        guard count > 0 else { return }
        if let index = counts.firstIndex(where: { $0.text == text }) {
            counts[index].count += count
        } else {
            counts.append((text, count, isLoss))
        }
    }

    mutating func note(
        _ text: String,
        isLoss: Bool = false,
        changing sql: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws {
        try db.execute(sql: sql, arguments: arguments)
        note(text, db.changesCount, isLoss: isLoss)
    }

    /// - Parameter changes: what is done by which SQL.
    mutating func note(_ changes: KeyValuePairs<String, String>, isLoss: Bool = false) throws {
        for (text, sql) in changes { try note(text, isLoss: isLoss, changing: sql) }
    }

    private mutating func summarise() {
        for one in counts {
            let text = "\(one.count) \(one.text)"
            if one.isLoss { lost.append(text) } else { mended.append(text) }
        }
    }

    // MARK: Steps

    private mutating func mendValues() throws {
        let isNoObject = "CASE WHEN json_valid(fields) THEN json_type(fields) <> 'object' ELSE 1 END"
        try note(
            [
                "entries of the audit log lost particulars that could not be read":
                    "UPDATE audit SET detail = NULL WHERE detail IS NOT NULL AND NOT json_valid(detail)",
                "receipts lost notices that could not be read":
                    "UPDATE receipt SET notices = NULL WHERE notices IS NOT NULL AND NOT json_valid(notices)",
                "members lost tags that could not be read":
                    "UPDATE member SET tags = NULL WHERE tags IS NOT NULL AND NOT json_valid(tags) AND facts IS NULL",
                "members lost custom fields that could not be read":
                    "UPDATE member SET fields = '{}' WHERE facts IS NULL AND \(isNoObject)",
            ],
            isLoss: true
        )
        // Where facts are kept, tags and fields follow from them.
        try db.execute(sql: "UPDATE member SET tags = NULL WHERE tags IS NOT NULL AND NOT json_valid(tags)")
        try db.execute(sql: "UPDATE member SET fields = '{}' WHERE \(isNoObject)")
        try note([
            "visits got a source": "UPDATE visit SET source = 'card' WHERE source NOT IN ('card', 'manual')",
            "members got a state": "UPDATE member SET status = 0 WHERE status NOT IN (0, 1, 2)",
        ])
    }

    /// Members whose shown values have to be computed again.
    var touched: Set<Int64> = []

    /// Computes totals, and what else follows, of every member whose row differs, and of whoever they are joined with.
    private mutating func mendShownValues() throws {
        for id in touched { try saveAgain(id) }
        // Joined members depend on one another, so what one needs may only be seen after another was put right.
        for _ in 0..<5 {
            var ids = Set(try Int64.fetchAll(db, sql: IntegrityQuestion.differingSimpleRows))
            try db.members.forEachContradiction { id, _ in ids.insert(id) }
            if ids.isEmpty { return }
            note("members' totals and shown values were computed again", ids.subtracting(touched).count)
            for id in ids.sorted() { try saveAgain(id) }
            touched.formUnion(ids)
        }
    }

    func saveAgain(_ id: Int64) throws {
        guard let row = try db.members.row(id: id) else { return }
        try transaction.members.save(try row.facts(), of: id)
    }

    /// Makes every list look at all members again.
    private mutating func resetJournal() throws {
        let latest =
            try db.value(
                """
                SELECT max(coalesce((SELECT max(seq) FROM change), 0),
                    coalesce((SELECT max(change_seq) FROM member), 0))
                """
            ) as Int64? ?? 0
        try db.execute(sql: "DELETE FROM change")
        mended.append("lists of members begin anew")
        // A number is left out, so that whoever follows the journal knows that something is missing.
        try db.execute(sql: "INSERT INTO change (seq, member_id) VALUES (?, 0)", arguments: [latest &+ 2])
    }
}
