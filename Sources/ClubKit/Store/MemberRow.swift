import Foundation
import GRDB

package struct MemberRow: FetchableRecord {
    static let columns = """
        id, user_id, username, added_at, num_visits, last_visit_at, fields, status, merged_into, blocked, expires_at, \
        visits_left, own_visits, origin_hlc, origin_device, ended_hlc, claim_visits, claim_at, facts
        """

    /// The columns of a ``Member`` alone, for ``Member/init(_:)``.
    static let shownColumns = "id, user_id, username, added_at, num_visits, last_visit_at, fields"

    /// What becomes of a row in the club.
    enum Status: Int {
        case present = 0
        /// Deleted, or known only from records of others.
        case gone = 1
        /// Joined to another member by a person, so that both are one.
        case merged = 2
    }

    var id: Int64
    var member: Member
    var status: Status
    var mergedInto: String?
    /// Why the member is not let in.
    var blocked: String?
    /// When the membership ends, in microseconds since 1970.
    var expiresAt: Int64?
    /// How many visits may still be made; `nil` without a limit.
    var visitsLeft: Int?
    /// The total of this row alone, without those who were joined to it.
    var ownVisits: Int
    /// The latest visit in microseconds since 1970, 0 without one: exact, whatever the file has.
    var latest: Int64
    /// The newest creation that was not ended; what a visit names. Without a meaning for somebody who is gone.
    var origin: Stamp
    /// The time of the latest deletion, -1 without one.
    var ended: Int64
    /// One of the bare totals, if there are any.
    var claim: (visits: Int, at: Int64)?
    /// When the member was created, in microseconds since 1970; 0 if it is not known.
    private(set) var addedAt: Int64
    /// All that a plain row contains, including removed values.
    private var storedFields: String
    private var factsText: String?

    /// Whether the row stands for a member, or for one who was joined to another.
    var exists: Bool { status != .gone }

    /// A row of ``columns``; throws ``ClubError/Kind/corrupt`` for a value that the schema does not allow.
    init(_ row: some StoredRow) throws(ClubError) {
        id = try row.value(0)
        addedAt = try row.value(3)
        storedFields = try row.value(6)
        member = try Member(row)
        latest = try row.optional(5) ?? 0
        guard let status = Status(rawValue: try row.value(7)) else {
            throw ClubError(.corrupt, attempting: "read the member database", detail: "'status' holds no usable value")
        }
        self.status = status
        mergedInto = try row.optional(8)
        blocked = try row.optional(9)
        expiresAt = try row.optional(10)
        visitsLeft = try row.optional(11)
        ownVisits = try row.value(12)
        let device: UUID? = try row.optional(14)
        origin = Stamp(time: try row.value(13), device: device ?? Stamp.legacyDevice)
        ended = try row.value(15)
        // One without the other, in a damaged file, states nothing.
        if let visits: Int = try row.optional(16), let at: Int64 = try row.optional(17) { claim = (visits, at) }
        factsText = try row.optional(18)
    }

    package init(row: Row) throws {
        try self.init(row)
    }

    static func all(where condition: String, _ arguments: StatementArguments, in db: Database) throws -> [MemberRow] {
        try fetchAll(db.cachedStatement(sql: "SELECT \(columns) FROM member WHERE \(condition)"), arguments: arguments)
    }

    /// All facts of the member. They are read when they are needed, since a tap can do without them.
    ///
    /// - Throws: ``ClubError/Kind/corrupt``.
    func facts() throws(ClubError) -> MemberFacts {
        guard let factsText else {
            let fields = Self.fields(storedFields)
            return .plain(origin: origin, addedAt: addedAt, username: member.username, fields: fields, claim: claim)
        }
        guard let facts = try? JSONDecoder().decode(MemberFacts.self, from: Data(factsText.utf8)) else {
            throw ClubError(.corrupt, attempting: "read the member database", detail: "'facts' cannot be read")
        }
        return facts
    }

    /// Whether more is kept of the member than the row shows.
    var hasFacts: Bool { factsText != nil }

    /// Whether it is the same member of whom the same is kept, in a form that has to be decoded.
    func hasSameFacts(as other: MemberRow) -> Bool {
        id == other.id && factsText != nil && factsText == other.factsText
    }

    /// The custom fields. The schema lets only JSON objects in; what is damaged nevertheless must not keep a member's
    /// visits from being counted, and is found by ``MemberStore/check()``.
    static func fields(_ json: String) -> [String: FieldValue] {
        guard json != "{}" else { return [:] }
        var json = json
        if case .object(let fields) = json.withUTF8({ try? JSONReader.value(in: $0) }) { return fields }
        // They may be nested deeper than those of a file.
        return (try? JSONDecoder().decode([String: FieldValue].self, from: Data(json.utf8))) ?? [:]
    }

    /// The custom fields as shown: what was removed or never set is not there, whether or not the row is plain.
    static func shownFields(_ json: String) -> [String: FieldValue] { fields(json).filter { $0.value != .null } }

    /// JSON with sorted keys, so that equal values are equal bytes.
    static func json(_ value: some Encodable) throws -> String {
        String(decoding: try ClubFile.line(value), as: UTF8.self)
    }
}

extension Member {
    /// A row of ``MemberRow/shownColumns``, or of one that begins with them.
    ///
    /// - Throws: ``ClubError/Kind/corrupt`` for a value that the schema does not allow.
    init(_ row: some StoredRow) throws(ClubError) {
        let lastVisit: Int64? = try row.optional(5)
        self.init(
            userId: try row.value(1),
            username: try row.optional(2),
            timeStampAdded: Timestamp.seconds(try row.value(3)),
            numVisits: try row.value(4),
            timeStampOfLastVisit: lastVisit.map(Timestamp.seconds) ?? 0,
            fields: MemberRow.shownFields(try row.value(6))
        )
    }
}
