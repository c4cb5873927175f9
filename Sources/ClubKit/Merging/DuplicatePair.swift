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
        /// The identifier of one is a card of the other.
        case card
        /// The identifiers are the same number: read the other way round, in decimal, or in another case.
        case identifier
        /// The same value in a custom field of that name, apart from case and punctuation.
        case field(String)
        /// The same name, apart from case, accents and the order of its parts.
        case name
    }
}

extension DuplicatePair.Reason: Encodable {
    /// `card`, `identifier`, `name`, or `field:` and the field's name.
    public var text: String {
        switch self {
        case .card: "card"
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
}
