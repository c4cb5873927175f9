import ClubKit
import Foundation

/// A custom class as an application writes it.
class CustomUser: MembershipUser {
    dynamic var emailAddress: String?
    dynamic var level: Int = 0
    dynamic var interests: [String] = []
    dynamic var birthday: Date?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case emailAddress, level, interests, birthday
    }

    override class func variableNamesAsStrings() -> [String] {
        super.variableNamesAsStrings() + CodingKeys.allCases.map(\.rawValue)
    }

    required init(from decoder: any Decoder) throws {
        try super.init(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        emailAddress = try container.decode(String.self, forKey: .emailAddress)
        level = try container.decode(Int.self, forKey: .level)
        interests = try container.decode([String].self, forKey: .interests)
        birthday = try container.decodeIfPresent(Date.self, forKey: .birthday)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(emailAddress, forKey: .emailAddress)
        try container.encode(level, forKey: .level)
        try container.encode(interests, forKey: .interests)
        try container.encode(birthday, forKey: .birthday)
    }
}

/// A class that accepts no record.
class RefusingUser: MembershipUser {
    required init(from decoder: any Decoder) throws {
        try super.init(from: decoder)
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "secret of \(userId ?? "")"))
    }
}
