import Foundation

/// What a member's row shows of the facts, apart from what the ledger says.
struct MemberProjection: Equatable {
    var username: String?
    /// Microseconds since 1970.
    var addedAt: Int64
    var fields: [String: FieldValue]
    var exists: Bool
    var mergedInto: String?
    var blocked: String?
    var expiresAt: Int64?
    var tags: [String]
    /// The newest creation.
    var origin: Stamp
    var ended: Int64
    var claimVisits: Int?
    var claimAt: Int64?

    /// What follows from the facts.
    ///
    /// - Parameter holder: whose card the member's identifier is, if it is that of somebody else.
    init(_ facts: MemberFacts, holder: String?) {
        let values = SystemValues(facts)
        exists = facts.exists
        username = facts.exists ? facts.username : nil
        addedAt = facts.addedAt ?? 0
        fields = facts.fields
        // One that was removed is not there; facts say that it was. A plain row has to tell all that is in its facts.
        if fields.values.contains(.null), !facts.isPlain { fields = fields.filter { $0.value != .null } }
        mergedInto = values.mergedInto ?? holder
        blocked = values.blocked
        expiresAt = values.expiresAt
        tags = values.tags
        origin = facts.born ?? Stamp(time: 0, device: Stamp.legacyDevice)
        ended = facts.end?.time ?? -1
        claimVisits = facts.claims.first?.visits
        claimAt = facts.claims.first?.at
    }
}
