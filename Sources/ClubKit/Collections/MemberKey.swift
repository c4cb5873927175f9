import Foundation
import GRDB

/// Where a member stands in a list: compares as SQLite does by ``MemberOrder``'s terms.
struct MemberKey: Sendable, Hashable {
    /// What is compared first: a time or a number, negative where the greatest comes first.
    var number: Int64
    /// What is compared next: a text in the case that `NOCASE` compares.
    var text: String
    /// What is compared then, where the order does not tell all members apart.
    var userID: String
    /// The row of the member.
    var id: Int64

    /// In the order of creation.
    init(id: Int64) {
        self.init(number: id, text: "", userID: "", id: id)
    }

    /// In the order of identifiers.
    init(id: Int64, userID: String) {
        self.init(number: 0, text: "", userID: userID, id: id)
    }

    /// In the order of names. SQLite has NULL before everything.
    init(id: Int64, username: String?, userID: String) {
        let text = username.map(Self.withoutCase) ?? ""
        self.init(number: username == nil ? 0 : 1, text: text, userID: userID, id: id)
    }

    /// The oldest membership first.
    init(id: Int64, addedAt: Int64, userID: String) {
        self.init(number: addedAt, text: "", userID: userID, id: id)
    }

    /// The most visits first.
    init(id: Int64, visits: Int64, userID: String) {
        self.init(number: 0 &- visits, text: "", userID: userID, id: id)
    }

    /// The latest visitor first. The other way round, NULL is last.
    init(id: Int64, lastVisitAt: Int64?, userID: String) {
        self.init(number: lastVisitAt.map { 0 &- $0 } ?? .max, text: "", userID: userID, id: id)
    }

    private init(number: Int64, text: String, userID: String, id: Int64) {
        self.number = number
        self.text = text
        self.userID = userID
        self.id = id
    }

    /// Where a member stands in a list of that order.
    init(_ image: MemberImage, order: MemberOrder) {
        let (id, userID) = (image.id, image.userID)
        switch order {
        case .creation: self.init(id: id)
        case .userId: self.init(id: id, userID: userID)
        case .username: self.init(id: id, username: image.username, userID: userID)
        case .insertion: self.init(id: id, addedAt: image.addedAt, userID: userID)
        case .visits: self.init(id: id, visits: image.visits, userID: userID)
        case .lastVisit: self.init(id: id, lastVisitAt: image.lastVisitAt, userID: userID)
        }
    }

    /// `NOCASE` of SQLite knows the 26 letters of ASCII.
    private static func withoutCase(_ text: String) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return text }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Compares bytes, as SQLite does. Swift's own comparison takes different spellings of one character as equal.
    private static func compare(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                let length = min(left.count, right.count)
                if length > 0, let start = left.baseAddress, let other = right.baseAddress {
                    let result = memcmp(start, other, length)
                    if result != 0 { return Int(result) }
                }
                return left.count - right.count
            }
        }
    }
}

extension MemberKey: Comparable {
    static func == (left: MemberKey, right: MemberKey) -> Bool {
        left.number == right.number && left.id == right.id && compare(left.text, right.text) == 0
            && compare(left.userID, right.userID) == 0
    }

    static func < (left: MemberKey, right: MemberKey) -> Bool {
        if left.number != right.number { return left.number < right.number }
        let text = compare(left.text, right.text)
        if text != 0 { return text < 0 }
        let userID = compare(left.userID, right.userID)
        return userID == 0 ? left.id < right.id : userID < 0
    }
}

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

    /// A member where a list had it, with nothing but what places it there.
    ///
    /// - Throws: an error of the database.
    init(of member: Member, in db: Database) throws {
        let row = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM member WHERE user_id = ?"),
            arguments: [member.userId]
        )
        id = row ?? .max
        userID = member.userId
        username = member.username
        addedAt = Timestamp.microseconds(Date(timeIntervalSince1970: member.timeStampAdded)) ?? 0
        visits = Int64(member.numVisits)
        let latest = Date(timeIntervalSince1970: member.timeStampOfLastVisit)
        lastVisitAt = member.timeStampOfLastVisit == 0 ? nil : Timestamp.microseconds(latest)
        fields = "{}"
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
