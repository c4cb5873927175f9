import CardCore

/// A member, as a value at one moment.
///
/// The `Encodable` form is the JSON object that the tools print: the five base values under the names of
/// `MembershipUser`, and each custom field at the same level.
public struct Member: Sendable, Hashable, Identifiable {
    /// The identifier of the member: that on the pass, or the card's UID in upper-case hexadecimal.
    public var userId: String

    /// The member's name; empty if the card has none, `nil` if an import has none.
    public var username: String?

    /// When the member was created, in seconds since 1970 (UTC).
    public var timeStampAdded: Double

    /// The number of counted visits.
    public var numVisits: Int

    /// The time of the latest counted visit, in seconds since 1970 (UTC); 0 if there was none.
    public var timeStampOfLastVisit: Double

    /// The values of a custom class (see `Club.setCustomMembershipUser(classType:)`), by coding key.
    public var fields: [String: FieldValue]

    /// The same as ``userId``.
    public var id: String { userId }

    /// Creates a member.
    public init(
        userId: String,
        username: String? = "",
        timeStampAdded: Double = 0,
        numVisits: Int = 0,
        timeStampOfLastVisit: Double = 0,
        fields: [String: FieldValue] = [:]
    ) {
        self.userId = userId
        self.username = username
        self.timeStampAdded = timeStampAdded
        self.numVisits = numVisits
        self.timeStampOfLastVisit = timeStampOfLastVisit
        self.fields = fields
    }
}

extension Member {
    /// All values by name, as ``RecordDecoder`` reads them.
    package var record: [String: FieldValue] {
        var record = fields
        record["userId"] = .string(userId)
        record["username"] = username.map { .string($0) } ?? .null
        record["timeStampAdded"] = .double(timeStampAdded)
        record["numVisits"] = .int(numVisits)
        record["timeStampOfLastVisit"] = .double(timeStampOfLastVisit)
        return record
    }
}

extension Member: Codable {
    /// Decodes the object of ``encode(to:)``; every key other than those of base values is a custom field.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        userId = try container.decode(String.self, forKey: .userId)
        username = try container.decodeIfPresent(String.self, forKey: .username)
        timeStampAdded = try container.decodeIfPresent(Double.self, forKey: .timeStampAdded) ?? 0
        numVisits = try container.decodeIfPresent(Int.self, forKey: .numVisits) ?? 0
        timeStampOfLastVisit = try container.decodeIfPresent(Double.self, forKey: .timeStampOfLastVisit) ?? 0
        fields = [:]
        for key in container.allKeys where !key.isBaseValue {
            fields[key.stringValue] = try container.decode(FieldValue.self, forKey: key)
        }
    }

    /// Encodes the base values, `null` for a missing name, and the custom fields beside them. A custom field with the
    /// name of a base value is omitted.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try container.encode(userId, forKey: .userId)
        try container.encode(username, forKey: .username)
        try container.encode(timeStampAdded, forKey: .timeStampAdded)
        try container.encode(numVisits, forKey: .numVisits)
        try container.encode(timeStampOfLastVisit, forKey: .timeStampOfLastVisit)
        for (name, value) in fields {
            let key = FieldKey(name)
            if !key.isBaseValue { try container.encode(value, forKey: key) }
        }
    }
}

extension Member: Redacted {
    /// The number of visits. The identity is omitted, to keep it out of logs.
    public var description: String { "member with \(numVisits) visit\(numVisits == 1 ? "" : "s")" }
}
