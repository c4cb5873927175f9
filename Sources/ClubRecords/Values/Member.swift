import CardCore

/// A member as a value: what the store knew of them at one moment.
///
/// The `Encodable` form is the JSON object that the tools print: the five base values under the names that
/// `MembershipUser` gives them, and each custom field at the same level.
public struct Member: Sendable, Hashable, Identifiable {
    /// What the member is looked up by: the identifier on the pass, or the card's UID in upper-case hexadecimal.
    public var userId: String

    /// The member's name; empty when the card did not tell one, `nil` when an import said that there is none.
    public var username: String?

    /// When the member was created, in seconds since 1970 (UTC).
    public var timeStampAdded: Double

    /// How many visits were counted.
    public var numVisits: Int

    /// When the latest counted visit was, in seconds since 1970 (UTC); 0 if there was none.
    public var timeStampOfLastVisit: Double

    /// The values of a custom class (see `Club.setCustomMembershipUser(classType:)`), by coding key.
    public var fields: [String: FieldValue]

    /// The same as ``userId``.
    public var id: String { userId }

    /// A member.
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
    /// Reads the object that ``encode(to:)`` writes; every key that is no base value is a custom field.
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

    /// Writes the base values, `null` for a missing name, and the custom fields beside them. A custom field with the
    /// name of a base value is left out.
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
    /// How often a member came. Who it is is left out, so that it does not end up in a log by accident.
    public var description: String { "member with \(numVisits) visit\(numVisits == 1 ? "" : "s")" }
}
