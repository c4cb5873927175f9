/// A coding key of any name.
struct FieldKey: CodingKey, Hashable {
    static let userId = FieldKey("userId")
    static let username = FieldKey("username")
    static let timeStampAdded = FieldKey("timeStampAdded")
    static let numVisits = FieldKey("numVisits")
    static let timeStampOfLastVisit = FieldKey("timeStampOfLastVisit")
    /// What later versions of the original library have in place of ``userId``.
    static let memberId = FieldKey("memberId")
    static let passId = FieldKey("passId")

    /// The names of the five base values; a custom field cannot have one of them.
    static let baseNames: Set<String> = Set(MembershipUser.CodingKeys.allCases.map(\.rawValue))

    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) { self.init(index: intValue) }

    /// Whether a custom field may have that name: it is no base value, and none that the club keeps itself.
    static func isCustom(_ name: String) -> Bool {
        !name.isEmpty && !baseNames.contains(name) && !name.hasPrefix("$")
    }

    var isBaseValue: Bool { Self.baseNames.contains(stringValue) }
}
