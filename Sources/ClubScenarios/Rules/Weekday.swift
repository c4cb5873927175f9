/// A day of the week, numbered as by ISO 8601.
public enum Weekday: Int, Sendable, Hashable, CaseIterable, Codable {
    /// The first day of the week, 1.
    case monday = 1
    /// 2.
    case tuesday
    /// 3.
    case wednesday
    /// 4.
    case thursday
    /// 5.
    case friday
    /// 6.
    case saturday
    /// The last day of the week, 7.
    case sunday
}

extension Weekday {
    /// The English name, such as `Monday`.
    var name: String {
        switch self {
        case .monday: "Monday"
        case .tuesday: "Tuesday"
        case .wednesday: "Wednesday"
        case .thursday: "Thursday"
        case .friday: "Friday"
        case .saturday: "Saturday"
        case .sunday: "Sunday"
        }
    }

    /// Such as `Monday, Tuesday and Sunday`, in the order of the week.
    static func list(_ weekdays: Set<Weekday>) -> String {
        let names = allCases.filter(weekdays.contains).map(\.name)
        guard let last = names.last else { return "no day" }
        guard names.count > 1 else { return last }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
