/// A coding key of any name.
package struct FieldKey: CodingKey, Hashable {
    package static let userId = FieldKey("userId")
    package static let username = FieldKey("username")
    package static let timeStampAdded = FieldKey("timeStampAdded")
    package static let numVisits = FieldKey("numVisits")
    package static let timeStampOfLastVisit = FieldKey("timeStampOfLastVisit")
    /// What later versions of the original library have in place of ``userId``.
    package static let memberId = FieldKey("memberId")
    package static let passId = FieldKey("passId")

    /// The names of the five base values, in the order of the columns of an export; a custom field cannot have one of
    /// them.
    package static let baseNames = [userId, username, timeStampAdded, numVisits, timeStampOfLastVisit].map(
        \.stringValue
    )

    package let stringValue: String
    package let intValue: Int?

    package init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    package init(index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    package init?(stringValue: String) { self.init(stringValue) }

    package init?(intValue: Int) { self.init(index: intValue) }

    /// Whether a custom field may have that name: it is no base value, and none that the club keeps itself.
    package static func isCustom(_ name: String) -> Bool {
        !name.isEmpty && !baseNames.contains(name) && !name.hasPrefix("$")
    }

    package var isBaseValue: Bool { Self.baseNames.contains(stringValue) }
}
