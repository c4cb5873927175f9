/// Two members who may be one person.
///
/// The `Encodable` form has the keys `first`, `second` (members) and `reasons`.
public struct DuplicatePair: Sendable, Hashable, Encodable {
    /// The one who has been a member for longer: whom to keep if they are joined.
    public var first: Member

    /// The other.
    public var second: Member

    /// What they have in common, most telling first. Never empty.
    public var reasons: [Reason]

    /// What two members can have in common.
    public enum Reason: Sendable, Hashable {
        /// Identifiers or cards are the same number: read the other way round, in decimal, or in another spelling.
        case identifier
        /// The same value in a custom field of that name, apart from case and punctuation; of telephone numbers the
        /// last nine digits.
        case field(String)
        /// The same name, apart from case, accents and the order of its parts.
        case name
    }
}

extension DuplicatePair.Reason: Encodable {
    /// `identifier`, `name`, or `field:` and the field's name.
    public var text: String {
        switch self {
        case .identifier: "identifier"
        case .field(let name): "field:" + name
        case .name: "name"
        }
    }

    /// Writes ``text``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// How much it tells.
    var weight: Int {
        switch self {
        case .identifier: 4
        case .field: 2
        case .name: 1
        }
    }
}
