import Foundation
import GRDB

/// Where a member stands in a list: compares as SQLite does by ``MemberOrder``'s terms.
struct MemberKey: Sendable, Hashable {
    /// What is compared first: a time or a number, negative where the greatest comes first.
    var number: Int64
    /// What is compared next: a text in the case that `NOCASE` compares.
    var text: String
    /// What is compared then, where the order does not distinguish all members.
    var userID: String
    /// The row of the member.
    var id: Int64

    /// Where a member stands in a list of that order. `number` is what the order compares first, if that is a number;
    /// `nil` if it is missing.
    init(_ order: MemberOrder, id: Int64, userID: String = "", username: String? = nil, number: Int64? = nil) {
        self.id = id
        (self.number, text, self.userID) =
            switch order {
            case .creation: (id, "", "")
            case .userId: (0, "", userID)
            // SQLite has NULL before everything, and behind everything where the greatest comes first.
            case .username: (username == nil ? 0 : 1, username.map(Self.withoutCase) ?? "", userID)
            case .insertion: (number ?? 0, "", userID)
            case .visits, .lastVisit: (number.map { 0 &- $0 } ?? .max, "", userID)
            }
    }

    init(_ image: MemberImage, order: MemberOrder) {
        let number = image.number(order)
        self.init(order, id: image.id, userID: image.userID, username: image.username, number: number)
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

    /// A row that begins with ``columns``. Throws ``ClubError/Kind/corrupt`` for a value that the schema does not
    /// allow.
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

    /// A member where a list had it, with nothing but what places it there. Throws an error of the database.
    init(of member: Member, in db: Database) throws {
        id = try db.value("SELECT id FROM member WHERE user_id = ?", [member.userId]) ?? .max
        userID = member.userId
        username = member.username
        addedAt = Timestamp.microseconds(Date(timeIntervalSince1970: member.timeStampAdded)) ?? 0
        visits = Int64(member.numVisits)
        let latest = Date(timeIntervalSince1970: member.timeStampOfLastVisit)
        lastVisitAt = member.timeStampOfLastVisit == 0 ? nil : Timestamp.microseconds(latest)
        fields = "{}"
    }

    /// The number that an order compares first; `nil` if it is missing, or the order compares none.
    func number(_ order: MemberOrder) -> Int64? {
        switch order {
        case .creation, .userId, .username: nil
        case .insertion: addedAt
        case .visits: visits
        case .lastVisit: lastVisitAt
        }
    }

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
