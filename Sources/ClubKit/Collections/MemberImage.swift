import Foundation
import GRDB

/// What is shown of a member, and what lists filter by, as the store has it: a row of `member` now, or what the journal
/// kept of it.
struct MemberImage: Sendable, Hashable {
    var id: Int64
    var userID: String
    var username: String?
    var addedAt: Int64
    var visits: Int64
    var lastVisitAt: Int64?
    /// JSON.
    var fields: String
    var blocked: String?
    var expiresAt: Int64?
    var visitsLeft: Int64?
    /// JSON.
    var tags: String?

    static let columns = """
        id, user_id, username, added_at, num_visits, last_visit_at, fields, blocked, expires_at, visits_left, tags
        """

    /// The columns from the array that the journal keeps, where it keeps one; see ``MemberStore/noteChange(of:in:)``.
    static let journalColumns = """
        member_id AS id, json_extract(before, '$[0]') AS user_id, json_extract(before, '$[1]') AS username,
        json_extract(before, '$[2]') AS added_at, json_extract(before, '$[3]') AS num_visits,
        json_extract(before, '$[4]') AS last_visit_at, json_extract(before, '$[5]') AS fields,
        json_extract(before, '$[6]') AS blocked, json_extract(before, '$[7]') AS expires_at,
        json_extract(before, '$[8]') AS visits_left, json_extract(before, '$[9]') AS tags
        """

    /// A row that begins with ``columns``.
    ///
    /// - Throws: ``ClubError/Kind/corrupt`` for a value that the schema does not allow.
    init(_ row: Row) throws(ClubError) {
        id = try row.value(0)
        userID = try row.value(1)
        username = try row.optional(2)
        addedAt = try row.value(3)
        visits = try row.value(4)
        lastVisitAt = try row.optional(5)
        fields = try row.value(6)
        blocked = try row.optional(7)
        expiresAt = try row.optional(8)
        visitsLeft = try row.optional(9)
        tags = try row.optional(10)
    }

    /// The member as a value.
    var member: Member {
        Member(
            userId: userID,
            username: username,
            timeStampAdded: Timestamp.seconds(addedAt),
            numVisits: Int(visits),
            timeStampOfLastVisit: lastVisitAt.map(Timestamp.seconds) ?? 0,
            fields: MemberRow.shownFields(fields)
        )
    }
}
