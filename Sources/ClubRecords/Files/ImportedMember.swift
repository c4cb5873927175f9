import CardPasses

/// What one row of a file without logical times says of a member. What is `nil`, or not in ``fields``, it does not say.
package struct ImportedMember: Sendable, Hashable {
    /// Where it stands; see ``ImportedRow/row``.
    package var row: Int

    /// Usable as an identifier (`MemberID.isUsable`).
    package var userId: String

    /// A string, or null if the file says that there is no name.
    package var username: FieldValue?

    /// When the member was created, in microseconds since 1970, from 0 to the year 9999.
    package var addedAt: Int64?

    /// The total of visits, not negative.
    package var numVisits: Int?

    /// When the latest visit was, in microseconds since 1970. 0 if the file says that there was none.
    package var lastVisitAt: Int64?

    /// The custom fields, none of which has the name of a base value or begins with `$`.
    package var fields: [String: FieldValue]

    package init(
        row: Int,
        userId: String,
        username: FieldValue? = nil,
        addedAt: Int64? = nil,
        numVisits: Int? = nil,
        lastVisitAt: Int64? = nil,
        fields: [String: FieldValue] = [:]
    ) {
        self.row = row
        self.userId = userId
        self.username = username
        self.addedAt = addedAt
        self.numVisits = numVisits
        self.lastVisitAt = lastVisitAt
        self.fields = fields
    }
}
