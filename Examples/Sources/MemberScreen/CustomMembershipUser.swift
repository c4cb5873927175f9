import ClubKit

// The custom user of the original library's documentation, with the two edits that it needs here: the word
// @objcMembers is gone, since there is no Objective-C on Linux, and the property has one name throughout.
class CustomMembershipUser: MembershipUser {
    // Step 1 of 3: the variable, and a coding key of the same name.
    dynamic var emailAddress: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case emailAddress
    }

    // Step 2 of 3: the names of all variables, in the order of the columns of an export.
    override class func variableNamesAsStrings() -> [String] {
        let superclassVariableNames: [String] = super.variableNamesAsStrings()
        let mySubclassVariableNames: [String] = CodingKeys.allCases.map { $0.rawValue }
        return superclassVariableNames + mySubclassVariableNames
    }

    // Step 3 of 3: the way into a record …
    public override func encode(to encoder: Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(emailAddress, forKey: .emailAddress)
    }

    /// … and out of it.
    public required init(from decoder: Decoder) throws {
        try super.init(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        emailAddress = try container.decode(String.self, forKey: .emailAddress)
    }
}
