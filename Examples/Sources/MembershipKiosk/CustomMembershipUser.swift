import ClubKit

/// A member with a value of the application's own.
class CustomMembershipUser: MembershipUser {
    dynamic var emailAddress: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case emailAddress
    }

    override class func variableNamesAsStrings() -> [String] {
        let superNames = super.variableNamesAsStrings()
        let ownNames = CodingKeys.allCases.map { $0.rawValue }
        return superNames + ownNames
    }

    required init(from decoder: any Decoder) throws {
        try super.init(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        emailAddress = try container.decode(String.self, forKey: .emailAddress)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(emailAddress, forKey: .emailAddress)
    }
}
