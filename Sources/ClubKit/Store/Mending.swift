import Foundation
import GRDB
import ReaderKit

/// Puts a database right whose tables can be read, inside one transaction: what is said twice is made to agree, and
/// what follows from something else is computed anew.
struct Mending {
    private let store: MemberStore
    private let db: Database
    private(set) var mended: [String] = []
    private(set) var lost: [String] = []

    init(_ store: MemberStore, _ db: Database) {
        self.store = store
        self.db = db
    }

    mutating func run(reindexing: Bool) throws {
        try note("permits to change the ledger were withdrawn", changing: "DELETE FROM ledger_permit")
        try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('repair')")
        if reindexing {
            try db.execute(sql: "REINDEX")
            mended.append("the indexes were built again")
        }
        try mendClock()
        try mendValues()
        try mendFacts()
        try mendMissingMembers()
        try mendVisitsAndReceipts()
        for one in try MemberStore.presentThoughErased(in: db) {
            guard let row = try MemberStore.row(id: one.id, in: db) else { continue }
            try store.change(row, in: db) { $0.erase(one.erasure) }
            note("members who were erased and were there again are gone", 1)
        }
        try mendShownValues()
        try resetJournal()
        try db.execute(sql: "DELETE FROM ledger_permit")
        summarise()
    }

    // MARK: Counting what was done

    private var counts: [(text: String, count: Int, isLoss: Bool)] = []

    private mutating func note(_ text: String, _ count: Int, isLoss: Bool = false) {
        guard count > 0 else { return }
        if let index = counts.firstIndex(where: { $0.text == text }) {
            counts[index].count += count
        } else {
            counts.append((text, count, isLoss))
        }
    }

    private mutating func note(
        _ text: String,
        isLoss: Bool = false,
        changing sql: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws {
        try db.execute(sql: sql, arguments: arguments)
        note(text, db.changesCount, isLoss: isLoss)
    }

    private mutating func summarise() {
        for one in counts {
            let text = "\(one.count) \(one.text)"
            if one.isLoss { lost.append(text) } else { mended.append(text) }
        }
    }

    // MARK: Steps

    private mutating func mendClock() throws {
        try note("visits got a possible logical time", changing: "UPDATE visit SET hlc = abs(hlc) WHERE hlc < 0")
        try note("visits count again", changing: "UPDATE visit SET born = 0 WHERE born < 0")
        let latest = try Int64.fetchOne(
            db,
            sql: """
                SELECT max(coalesce((SELECT max(hlc) FROM visit), 0), coalesce((SELECT max(hlc) FROM undo), 0),
                    coalesce((SELECT max(hlc) FROM audit), 0), coalesce((SELECT max(hlc) FROM card), 0),
                    coalesce((SELECT max(hlc) FROM erased), 0), coalesce((SELECT max(origin_hlc) FROM member), 0),
                    coalesce((SELECT max(ended_hlc) FROM member), 0))
                """
        )
        let stored = try Int64.fetchOne(db, sql: "SELECT hlc FROM clock")
        guard stored == nil || stored ?? 0 < latest ?? 0 else { return }
        try db.execute(sql: "REPLACE INTO clock (id, hlc) VALUES (1, ?)", arguments: [latest ?? 0])
        mended.append("the logical clock was set after all records")
    }

    private mutating func mendValues() throws {
        try note(
            "visits got a source",
            changing: "UPDATE visit SET source = 'card' WHERE source NOT IN ('card', 'manual')"
        )
        try note(
            "entries of the audit log lost particulars that could not be read",
            isLoss: true,
            changing: "UPDATE audit SET detail = NULL WHERE detail IS NOT NULL AND NOT json_valid(detail)"
        )
        try note(
            "receipts lost notices that could not be read",
            isLoss: true,
            changing: "UPDATE receipt SET notices = NULL WHERE notices IS NOT NULL AND NOT json_valid(notices)"
        )
        try note(
            "members lost tags that could not be read",
            isLoss: true,
            changing: "UPDATE member SET tags = NULL WHERE tags IS NOT NULL AND NOT json_valid(tags) AND facts IS NULL"
        )
        // Where facts are kept, tags and fields follow from them.
        try db.execute(sql: "UPDATE member SET tags = NULL WHERE tags IS NOT NULL AND NOT json_valid(tags)")
        try note(
            "members lost custom fields that could not be read",
            isLoss: true,
            changing: """
                UPDATE member SET fields = '{}' WHERE facts IS NULL
                    AND CASE WHEN json_valid(fields) THEN json_type(fields) <> 'object' ELSE 1 END
                """
        )
        try db.execute(
            sql: """
                UPDATE member SET fields = '{}'
                WHERE CASE WHEN json_valid(fields) THEN json_type(fields) <> 'object' ELSE 1 END
                """
        )
        try note("members got a state", changing: "UPDATE member SET status = 0 WHERE status NOT IN (0, 1, 2)")
    }

    /// What was said of a member and cannot be read becomes what is shown.
    private mutating func mendFacts() throws {
        for id in try Int64.fetchAll(db, sql: "SELECT id FROM member WHERE facts IS NOT NULL") {
            guard let row = try MemberStore.row(id: id, in: db), (try? row.facts()) == nil else { continue }
            let tags = try String.fetchOne(db, sql: "SELECT tags FROM member WHERE id = ?", arguments: [id])
            let facts = try rebuilt(
                row.member,
                row.origin,
                exists: row.exists,
                ended: row.ended,
                Extras(
                    blocked: row.blocked,
                    expiresAt: row.expiresAt,
                    visitsLeft: row.visitsLeft,
                    tags: tags,
                    mergedInto: row.mergedInto,
                    claim: row.claim
                )
            )
            try db.execute(sql: "UPDATE member SET facts = '{}' WHERE id = ?", arguments: [id])
            try store.save(facts, of: id, in: db)
            note("members lost notes and former values; what is shown of them was kept", 1, isLoss: true)
        }
    }

    /// What is shown of a member beside the base values.
    struct Extras {
        var blocked: String?
        var expiresAt: Int64?
        var visitsLeft: Int?
        var tags: String?
        var mergedInto: String?
        var claim: (visits: Int, at: Int64)?
    }

    /// Facts that show what was shown.
    private func rebuilt(
        _ member: Member,
        _ origin: Stamp,
        exists: Bool,
        ended: Int64,
        _ extras: Extras
    ) throws -> MemberFacts {
        var facts = MemberFacts()
        if ended >= 0 { facts.delete(Stamp(time: ended, device: store.deviceID)) }
        guard exists else {
            if ended < 0 { facts.delete(try store.nextStamp(in: db)) }
            return facts
        }
        let added = Timestamp.microseconds(Date(timeIntervalSince1970: member.timeStampAdded)) ?? 0
        let origin = facts.isAlive(origin) ? origin : try store.nextStamp(in: db)
        facts.join(
            .plain(
                origin: origin,
                addedAt: added,
                username: member.username,
                fields: member.fields,
                claim: extras.claim
            )
        )
        if let reason = extras.blocked { facts.set(SystemValues.Name.blocked, .string(reason), origin) }
        if let time = extras.expiresAt { facts.set(SystemValues.Name.expires, .int(Int(time)), origin) }
        if let target = extras.mergedInto { facts.set(SystemValues.Name.mergedInto, .string(target), origin) }
        if let text = extras.tags, let tags = try? JSONDecoder().decode([FieldValue].self, from: Data(text.utf8)) {
            facts.set(SystemValues.Name.tags, .array(tags), origin)
        }
        if let left = extras.visitsLeft {
            // What was bought from now on, so that all visits before are paid for.
            facts.add(MemberFacts.Pack(try store.nextStamp(in: db), visits: left))
        }
        return facts
    }

    /// Makes members of whom nothing is left but their visits and what the journal of changes has.
    private mutating func mendMissingMembers() throws {
        try note(
            "receipts of taps that were not counted do not name a member any more, who is missing",
            isLoss: true,
            changing: """
                UPDATE receipt SET member_id = NULL WHERE member_id IS NOT NULL
                    AND outcome NOT IN ('created', 'visit')
                    AND NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)
                """
        )
        let missing = try Int64.fetchAll(
            db,
            sql: """
                SELECT member_id FROM visit WHERE NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)
                UNION SELECT member_id FROM receipt
                WHERE member_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)
                """
        )
        for id in missing { try mendMissingMember(id) }
    }

    private mutating func mendMissingMember(_ id: Int64) throws {
        let first = try Row.fetchOne(
            db,
            sql: "SELECT born, at, device_id FROM visit WHERE member_id = ? ORDER BY born, at LIMIT 1",
            arguments: [id]
        )
        var member = Member(userId: "recovered-\(id)")
        var extras = Extras()
        if let image = try image(of: id), try MemberStore.row(userID: image.member.userId, in: db) == nil {
            (member, extras) = image
            note("members who were missing are there again, as they were when they changed last", 1)
        } else {
            note(
                "members whose record was lost are there as 'recovered-' and a number, with their visits",
                1,
                isLoss: true
            )
        }
        if member.timeStampAdded == 0 {
            let at: Int64? = try first?.optional(1)
            let receipt = try Int64.fetchOne(
                db,
                sql: "SELECT min(at) FROM receipt WHERE member_id = ?",
                arguments: [id]
            )
            member.timeStampAdded = Timestamp.seconds(at ?? receipt ?? 0)
        }
        var origin = try store.nextStamp(in: db)
        if let first { origin = Stamp(time: try first.value(0), device: try first.value(2)) }
        let facts = try rebuilt(member, origin, exists: true, ended: -1, extras)
        try db.execute(
            sql: "INSERT INTO member (id, user_id, added_at, status, facts) VALUES (?, ?, 0, 1, '{}')",
            arguments: [id, member.userId]
        )
        try store.save(facts, of: id, in: db)
    }

    /// The latest values that the journal of changes has of a member.
    private func image(of id: Int64) throws -> (member: Member, Extras)? {
        let text = try String.fetchOne(
            db,
            sql: "SELECT before FROM change WHERE member_id = ? AND before IS NOT NULL ORDER BY seq DESC LIMIT 1",
            arguments: [id]
        )
        guard let text, let values = try? JSONDecoder().decode([FieldValue].self, from: Data(text.utf8)),
            values.count >= 10, case .string(let userID) = values[0], MemberID.isUsable(userID)
        else { return nil }
        var member = Member(userId: userID)
        if case .string(let name) = values[1] { member.username = name } else { member.username = nil }
        if case .int(let time) = values[2] { member.timeStampAdded = Timestamp.seconds(Int64(time)) }
        if case .object(let fields) = values[5] { member.fields = fields }
        var extras = Extras()
        if case .string(let reason) = values[6] { extras.blocked = reason }
        if case .int(let time) = values[7] { extras.expiresAt = Int64(time) }
        if case .int(let left) = values[8] { extras.visitsLeft = left }
        if case .array = values[9] { extras.tags = try MemberRow.json(values[9]) }
        return (member, extras)
    }

    private mutating func mendVisitsAndReceipts() throws {
        let missing = try Row.fetchAll(
            db,
            sql: """
                SELECT event_id, at, reader, backend, member_id FROM receipt
                WHERE outcome IN ('created', 'visit') AND member_id IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
                """
        )
        for receipt in missing {
            let at: Int64 = try receipt.value(1)
            let id: Int64 = try receipt.value(4)
            guard let member = try MemberStore.row(id: id, in: db) else { continue }
            let time = try freeTime(at)
            let visit = VisitRow(
                eventID: try receipt.value(0),
                stamp: Stamp(time: time, device: store.deviceID),
                at: at,
                reader: try receipt.value(2),
                backend: try receipt.value(3),
                // What was before the member was deleted does not count again.
                born: time <= member.ended ? time : member.origin.time
            )
            try store.insertVisit(visit, of: id, in: db)
            try store.observe(time, in: db)
            touched.insert(id)
            note("visits that were acknowledged are in the ledger again", 1)
        }
        try note(
            "receipts say again that the tap was counted",
            changing: """
                UPDATE receipt SET outcome = 'visit', reason_code = NULL, reason = NULL
                WHERE outcome NOT IN ('created', 'visit')
                    AND EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
                """
        )
        try note(
            "receipts name the member of the ledger again",
            changing: """
                UPDATE receipt SET member_id = (SELECT member_id FROM visit WHERE visit.event_id = receipt.event_id)
                WHERE member_id IS NOT (SELECT member_id FROM visit WHERE visit.event_id = receipt.event_id)
                    AND EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
                """
        )
        try note(
            "receipts of taps that are in the ledger were written again",
            changing: """
                INSERT INTO receipt (event_id, at, reader, backend, outcome, member_id, num_visits, last_visit_at)
                SELECT event_id, at, reader, backend, 'visit', member_id,
                    (SELECT count(*) FROM visit AS earlier
                        WHERE earlier.member_id = visit.member_id AND earlier.at <= visit.at), at
                FROM visit WHERE device_id = ? AND source = 'card'
                    AND NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.event_id = visit.event_id)
                """,
            [store.deviceID]
        )
        try note(
            "receipts of counted taps remain without a visit and a member",
            isLoss: true,
            changing: """
                UPDATE receipt SET outcome = 'rejected', reason_code = ?, reason = ?, member_id = NULL
                WHERE outcome IN ('created', 'visit')
                    AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
                """,
            [Rejection.erased.code.rawValue, Rejection.erased.message]
        )
    }

    private var touched: Set<Int64> = []

    /// A logical time near that time which this device has not used.
    private func freeTime(_ at: Int64) throws -> Int64 {
        var time = HybridTimestamp(milliseconds: at / 1000, counter: 0).rawValue
        while try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM visit WHERE device_id = ? AND hlc = ?)"),
            arguments: [store.deviceID, time]
        ) ?? false {
            // The largest counter is that of files.
            time &+= time & 0xFFFF == 0xFFFE ? 2 : 1
        }
        return time
    }

    /// Computes totals, and what else follows, of every member whose row differs, and of whoever they are joined with.
    private mutating func mendShownValues() throws {
        for id in touched { try saveAgain(id) }
        // Joined members depend on one another, so what one needs may only be seen after another was put right.
        for _ in 0..<5 {
            var ids = Set(try Int64.fetchAll(db, sql: IntegrityQuestion.differingSimpleRows))
            try MemberStore.forEachContradiction(in: db) { id, _ in ids.insert(id) }
            if ids.isEmpty { return }
            note("members' totals and shown values were computed again", ids.subtracting(touched).count)
            for id in ids.sorted() { try saveAgain(id) }
            touched.formUnion(ids)
        }
    }

    private func saveAgain(_ id: Int64) throws {
        guard let row = try MemberStore.row(id: id, in: db) else { return }
        try store.save(try row.facts(), of: id, in: db)
    }

    /// Makes every list look at all members again.
    private mutating func resetJournal() throws {
        let latest =
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT max(coalesce((SELECT max(seq) FROM change), 0),
                        coalesce((SELECT max(change_seq) FROM member), 0))
                    """
            ) ?? 0
        try db.execute(sql: "DELETE FROM change")
        mended.append("lists of members begin anew")
        // A number is left out, so that whoever follows the journal knows that something is missing.
        try db.execute(sql: "INSERT INTO change (seq, member_id) VALUES (?, 0)", arguments: [latest &+ 2])
    }
}
