/// What became of two members who were joined.
public struct JoinReport: Sendable, Hashable {
    /// The member who remains, as they are now.
    public var member: Member

    /// What was taken over from the one who joined.
    public var carried: [Part]

    /// What the one who joined had and the one who remains does not have from them.
    public var notCarried: [Part]

    /// The custom fields that the same is true of.
    public var fieldsNotCarried: [String]

    /// What is kept of a member besides visits and cards. The names are those of JSON and of the audit log.
    public enum Part: String, Sendable, Hashable, Codable, CaseIterable {
        /// That the member is not let in, and why. Of two reasons that of the member who remains stays.
        case blocked
        /// The end of the membership.
        case expires
        /// The visits that were bought and not made yet.
        case visitsLeft
        /// The tags.
        case tags
        /// The notes.
        case notes
        /// The name.
        case username
    }
}
