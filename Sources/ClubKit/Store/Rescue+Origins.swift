import GRDB

/// The creations of members, and under which of them visits were made, where the rows that contained them are gone.
///
/// To a merge a creation at no time is one of a file without logical times, or one that every deletion is later than;
/// so it is taken from the visits.
extension Rescue {
    /// What stands in `born` of a visit until ``settleOrigins()``, if nobody knows yet.
    static let unknownBirth = -1

    /// The newest creation that the visits of a member name, with its device: that of the visit that was the creation,
    /// else of the first one under it; none of those from files.
    ///
    /// - Parameter member: an expression.
    static func namedOrigin(of member: String) -> String {
        """
        SELECT born, CASE WHEN born & 65535 <> 65535 THEN device_id END FROM visit
        WHERE member_id = \(member) AND born \(LogicalTimes.isPossible) AND born > 0
        ORDER BY born DESC, hlc = born DESC, hlc, device_id LIMIT 1
        """
    }

    /// The moment before one; the largest counter is that of files.
    private static func before(_ time: String) -> String { "max(\(time) - 1 - ((\(time) - 1) & 65535 = 65535), 1)" }

    /// The moment before the first visit of a member: the tap that makes a member creates them first.
    ///
    /// - Parameter member: an expression.
    static func firstVisit(of member: String) -> String {
        """
        SELECT \(before("hlc")), device_id FROM visit WHERE member_id = \(member) ORDER BY hlc, device_id LIMIT 1
        """
    }

    /// Sets the creation of members of whom only names are left to the one that their visits name, and that of visits
    /// of which only the indexes are left to their member's.
    func settleOrigins() throws {
        if try isFirstSchema || lacksCreations() {
            // Its members were made by their first visits; all of those that can be had are there by now.
            let sql = """
                INSERT INTO ledger_permit (purpose) VALUES ('migration');
                \(DatabaseSchema.originsOfMembers);
                UPDATE visit SET born = \(Self.unknownBirth);
                DELETE FROM ledger_permit
                """
            try target.execute(sql: sql)
        }
        try target.execute(sql: "CREATE TEMP TABLE named (id INTEGER PRIMARY KEY)")
        for id in named { try target.execute(sql: "INSERT OR IGNORE INTO named (id) VALUES (?)", arguments: [id]) }
        try target.execute(
            sql: """
                -- Only theirs: that nobody knows when a member came is what many files say.
                UPDATE member SET added_at = coalesce((SELECT min(at) FROM visit WHERE member_id = member.id), 0)
                WHERE id IN (SELECT id FROM temp.named) AND added_at = 0;
                UPDATE member SET (origin_hlc, origin_device) = (\(Self.firstVisit(of: "member.id")))
                WHERE id IN (SELECT id FROM temp.named) AND EXISTS (SELECT 1 FROM visit WHERE member_id = member.id);
                UPDATE member SET (origin_hlc, origin_device) = (\(Self.namedOrigin(of: "member.id")))
                WHERE id IN (SELECT id FROM temp.named) AND EXISTS (\(Self.namedOrigin(of: "member.id")));
                DROP TABLE temp.named;
                -- The earliest that each device can have known of a member.
                CREATE TEMP TABLE first AS SELECT member_id, device_id, min(hlc) AS hlc FROM visit
                    WHERE member_id IN (SELECT member_id FROM visit WHERE born = \(Self.unknownBirth))
                    GROUP BY member_id, device_id;
                CREATE INDEX temp.first_by_member ON first (member_id, device_id);
                INSERT INTO ledger_permit (purpose) VALUES ('repair');
                UPDATE visit SET born = coalesce(
                    (SELECT CASE
                        -- What was before the member was deleted does not count again.
                        WHEN visit.hlc <= ended_hlc THEN visit.hlc
                        -- Nobody names a creation that is yet to be, but that of a file.
                        WHEN facts IS NULL AND (origin_hlc <= visit.hlc OR origin_device IS NULL) THEN origin_hlc
                        ELSE (SELECT max(value ->> '$[0][0]')
                            FROM json_each(CASE WHEN json_valid(facts) THEN facts END, '$.births')
                            WHERE value ->> '$[0][0]' <= visit.hlc)
                        END FROM member WHERE member.id = visit.member_id),
                    (SELECT \(Self.before("first.hlc")) FROM temp.first
                        WHERE first.member_id = visit.member_id AND first.device_id = visit.device_id))
                WHERE born = \(Self.unknownBirth);
                DELETE FROM ledger_permit;
                DROP TABLE temp.first
                """
        )
    }

    /// Where the list of tables is gone, the rows themselves show that they are of the first schema.
    private func lacksCreations() throws -> Bool {
        let sql = """
            SELECT EXISTS (SELECT 1 FROM visit WHERE born = 0) AND NOT EXISTS (SELECT 1 FROM visit WHERE born > 0)
                AND NOT EXISTS (SELECT 1 FROM member WHERE origin_hlc > 0)
            """
        return try target.value(sql) ?? false
    }
}
