import Foundation
import GRDB
import ReaderKit

/// Members of whom something cannot be read, or whose row is gone.
extension Mending {
    /// Replaces facts of a member that cannot be read by what is shown.
    mutating func mendFacts() throws {
        for id in try Int64.fetchAll(db, sql: "SELECT id FROM member WHERE facts IS NOT NULL") {
            guard let row = try db.members.row(id: id) else { continue }
            if let facts = try? row.facts(), facts.latestTime < Stamp.latestTime { continue }
            var shown = Shown(row)
            shown.tags = try String.fetchOne(db, sql: "SELECT tags FROM member WHERE id = ?", arguments: [id])
            try write(shown, of: id)
            note("members lost notes and former values; what is shown of them was kept", 1, isLoss: true)
        }
    }

    struct Shown {
        var member: Member
        var origin = Stamp(time: 0, device: Stamp.legacyDevice)
        var exists = true
        var ended: Int64 = -1
        var blocked: String?
        var expiresAt: Int64?
        var visitsLeft: Int?
        var tags: String?
        var mergedInto: String?
        var claim: (visits: Int, at: Int64)?
    }

    /// Replaces the facts of a member by ones that show this.
    func write(_ shown: Shown, of id: Int64) throws {
        let facts = try rebuilt(shown)
        try db.execute(sql: "UPDATE member SET facts = '{}' WHERE id = ?", arguments: [id])
        try transaction.members.save(facts, of: id)
    }

    private func rebuilt(_ shown: Shown) throws -> MemberFacts {
        var facts = MemberFacts()
        if shown.ended >= 0 { facts.delete(Stamp(time: shown.ended, device: transaction.device.id)) }
        guard shown.exists else {
            if shown.ended < 0 { facts.delete(try transaction.nextStamp()) }
            return facts
        }
        let added = Timestamp.microseconds(Date(timeIntervalSince1970: shown.member.timeStampAdded)) ?? 0
        let origin = facts.isAlive(shown.origin) ? shown.origin : try transaction.nextStamp()
        facts.join(
            .plain(
                origin: origin,
                addedAt: added,
                username: shown.member.username,
                fields: shown.member.fields,
                claim: shown.claim
            )
        )
        if let reason = shown.blocked { facts.set(SystemValues.Name.blocked, .string(reason), origin) }
        if let time = shown.expiresAt { facts.set(SystemValues.Name.expires, .int(Int(time)), origin) }
        if let target = shown.mergedInto { facts.set(SystemValues.Name.mergedInto, .string(target), origin) }
        if let text = shown.tags, let tags = try? JSONDecoder().decode([FieldValue].self, from: Data(text.utf8)) {
            for case .string(let tag) in tags { facts.setTag(tag, true, origin) }
        }
        if let left = shown.visitsLeft {
            // What was bought from now on, so that all visits before are paid for.
            facts.add(MemberFacts.Pack(try transaction.nextStamp(), visits: left))
        }
        return facts
    }

    /// Makes members of whom nothing is left but their visits and what the journal of changes has.
    mutating func mendMissingMembers() throws {
        try note(
            "receipts of taps that were not counted do not name a member any more, who is missing",
            isLoss: true,
            changing: """
                UPDATE receipt SET member_id = NULL WHERE member_id IS NOT NULL
                    AND outcome NOT IN ('created', 'visit')
                    AND NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)
                """
        )
        let sql = """
            SELECT member_id FROM visit WHERE NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)
            UNION SELECT member_id FROM receipt
            WHERE member_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)
            """
        let missing: [Int64] = try db.values(sql)
        for id in missing { try mendMissingMember(id) }
    }

    mutating func mendMissingMember(_ id: Int64) throws {
        var shown = Shown(member: Member(userId: "recovered-\(id)"))
        if let image = try image(of: id), try db.members.row(userID: image.member.userId) == nil {
            shown = image
            note("members who were missing are there again, as they were when they changed last", 1)
        } else {
            let text = "members whose record was lost are there as 'recovered-' and a number, with their visits"
            note(text, 1, isLoss: true)
        }
        if shown.member.timeStampAdded == 0 {
            let sql = """
                SELECT coalesce((SELECT min(at) FROM visit WHERE member_id = ?1),
                    (SELECT min(at) FROM receipt WHERE member_id = ?1))
                """
            let at: Int64? = try db.value(sql, [id])
            shown.member.timeStampAdded = Timestamp.seconds(at ?? 0)
        }
        shown.origin = try origin(id) ?? transaction.nextStamp()
        let sql = "INSERT INTO member (id, user_id, added_at, status, facts) VALUES (?, ?, 0, 1, '{}')"
        try db.execute(sql: sql, arguments: [id, shown.member.userId])
        try write(shown, of: id)
    }

    /// The creation that a member's visits name, or the first tap of which only the receipt is left.
    private func origin(_ id: Int64) throws -> Stamp? {
        for sql in [Rescue.namedOrigin(of: "?"), Rescue.firstVisit(of: "?")] {
            guard let row = try Row.fetchOne(db, sql: sql, arguments: [id]) else { continue }
            return Stamp(time: try row.value(0), device: try row.optional(1) ?? Stamp.legacyDevice)
        }
        let sql = "SELECT min(at) FROM receipt WHERE member_id = ? AND outcome IN ('created', 'visit')"
        let at: Int64? = try db.value(sql, [id])
        guard let at else { return nil }
        return Stamp(
            time: try freeTime(near: at, of: transaction.device.id, in: "visit"),
            device: transaction.device.id
        )
    }

    /// The latest values that the journal of changes has of a member.
    private func image(of id: Int64) throws -> Shown? {
        let sql = "SELECT before FROM change WHERE member_id = ? AND before IS NOT NULL ORDER BY seq DESC LIMIT 1"
        let text: String? = try db.value(sql, [id])
        return try text.flatMap { try image($0) }
    }

    /// The values that a row of the journal of changes has of a member.
    func image(_ text: String) throws -> Shown? {
        guard let values = try? JSONDecoder().decode([FieldValue].self, from: Data(text.utf8)),
            values.count >= 10, case .string(let userID) = values[0], MemberID.isUsable(userID)
        else { return nil }
        var shown = Shown(member: Member(userId: userID))
        if case .string(let name) = values[1] { shown.member.username = name } else { shown.member.username = nil }
        if case .int(let time) = values[2] { shown.member.timeStampAdded = Timestamp.seconds(Int64(time)) }
        if case .object(let fields) = values[5] { shown.member.fields = fields }
        if case .string(let reason) = values[6] { shown.blocked = reason }
        if case .int(let time) = values[7] { shown.expiresAt = Int64(time) }
        if case .int(let left) = values[8] { shown.visitsLeft = left }
        if case .array = values[9] { shown.tags = try MemberRow.json(values[9]) }
        return shown
    }
}

extension Mending.Shown {
    init(_ row: MemberRow) {
        self.init(
            member: row.member,
            origin: row.origin,
            exists: row.exists,
            ended: row.ended,
            blocked: row.blocked,
            expiresAt: row.expiresAt,
            visitsLeft: row.visitsLeft,
            mergedInto: row.mergedInto,
            claim: row.claim
        )
    }
}
