import Foundation
import GRDB
import ReaderKit

/// Members of whom something cannot be read, or whose row is gone.
extension Mending {
    /// What was said of a member and cannot be read becomes what is shown.
    mutating func mendFacts() throws {
        for id in try Int64.fetchAll(db, sql: "SELECT id FROM member WHERE facts IS NOT NULL") {
            guard let row = try db.members.row(id: id) else { continue }
            if let facts = try? row.facts(), facts.latestTime < Stamp.latestTime { continue }
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
            try transaction.members.save(facts, of: id)
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
    func rebuilt(
        _ member: Member,
        _ origin: Stamp,
        exists: Bool,
        ended: Int64,
        _ extras: Extras
    ) throws -> MemberFacts {
        var facts = MemberFacts()
        if ended >= 0 { facts.delete(Stamp(time: ended, device: transaction.device.id)) }
        guard exists else {
            if ended < 0 { facts.delete(try transaction.nextStamp()) }
            return facts
        }
        let added = Timestamp.microseconds(Date(timeIntervalSince1970: member.timeStampAdded)) ?? 0
        let origin = facts.isAlive(origin) ? origin : try transaction.nextStamp()
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
            for case .string(let tag) in tags { facts.setTag(tag, true, origin) }
        }
        if let left = extras.visitsLeft {
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

    mutating func mendMissingMember(_ id: Int64) throws {
        var member = Member(userId: "recovered-\(id)")
        var extras = Extras()
        if let image = try image(of: id), try db.members.row(userID: image.member.userId) == nil {
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
            let at = try Int64.fetchOne(
                db,
                sql: """
                    SELECT coalesce((SELECT min(at) FROM visit WHERE member_id = ?1),
                        (SELECT min(at) FROM receipt WHERE member_id = ?1))
                    """,
                arguments: [id]
            )
            member.timeStampAdded = Timestamp.seconds(at ?? 0)
        }
        let origin = try origin(id) ?? transaction.nextStamp()
        let facts = try rebuilt(member, origin, exists: true, ended: -1, extras)
        try db.execute(
            sql: "INSERT INTO member (id, user_id, added_at, status, facts) VALUES (?, ?, 0, 1, '{}')",
            arguments: [id, member.userId]
        )
        try transaction.members.save(facts, of: id)
    }

    /// The creation that a member's visits tell of, or the first tap of which only the receipt is left.
    private func origin(_ id: Int64) throws -> Stamp? {
        for sql in [Rescue.namedOrigin(of: "?"), Rescue.firstVisit(of: "?")] {
            guard let row = try Row.fetchOne(db, sql: sql, arguments: [id]) else { continue }
            return Stamp(time: try row.value(0), device: try row.optional(1) ?? Stamp.legacyDevice)
        }
        let at = try Int64.fetchOne(
            db,
            sql: "SELECT min(at) FROM receipt WHERE member_id = ? AND outcome IN ('created', 'visit')",
            arguments: [id]
        )
        guard let at else { return nil }
        return Stamp(
            time: try freeTime(near: at, of: transaction.device.id, in: "visit"),
            device: transaction.device.id
        )
    }

    /// The latest values that the journal of changes has of a member.
    private func image(of id: Int64) throws -> (member: Member, Extras)? {
        let text = try String.fetchOne(
            db,
            sql: "SELECT before FROM change WHERE member_id = ? AND before IS NOT NULL ORDER BY seq DESC LIMIT 1",
            arguments: [id]
        )
        return try text.flatMap { try image($0) }
    }

    /// The values that a row of the journal of changes has of a member.
    func image(_ text: String) throws -> (member: Member, Extras)? {
        guard let values = try? JSONDecoder().decode([FieldValue].self, from: Data(text.utf8)),
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
}
