import Foundation

/// What an application changed in a member's record.
struct UserEdit: Sendable {
    /// The most visits that one change may add.
    static let mostVisits = 1000

    var userId: String
    /// The name, where it was changed.
    var username: String??
    var fields: [String: FieldValue] = [:]
    /// How many more visits there are; negative for fewer.
    var visits = 0
    /// When the visits that are more were; `nil` for now.
    var visitTime: Date?

    var changesRecord: Bool { username != nil || !fields.isEmpty }
    var isEmpty: Bool { !changesRecord && visits == 0 }

    /// - Throws: ``ClubError/Kind/invalidValue`` if something was changed that cannot be.
    init(from before: [String: FieldValue], to after: [String: FieldValue]) throws(ClubError) {
        userId = if case .string(let id)? = before[FieldKey.userId.stringValue] { id } else { "" }
        func isChanged(_ key: FieldKey) -> Bool { before[key.stringValue] != after[key.stringValue] }
        func refuse(_ detail: String) -> ClubError {
            ClubError(.invalidValue, attempting: "change a member", detail: detail)
        }
        if isChanged(.userId) { throw refuse("the 'userId' cannot be changed; a card can be replaced") }
        if isChanged(.timeStampAdded) { throw refuse("'timeStampAdded' tells when the record was made") }
        if isChanged(.username) {
            username = if case .string(let name)? = after[FieldKey.username.stringValue] { name } else { .some(nil) }
        }
        if isChanged(.numVisits) {
            guard case .int(let old)? = before[FieldKey.numVisits.stringValue],
                case .int(let new)? = after[FieldKey.numVisits.stringValue]
            else { throw refuse("'numVisits' is no whole number") }
            let (more, overflow) = new.subtractingReportingOverflow(old)
            guard new >= 0, !overflow, more <= Self.mostVisits else {
                throw refuse("'numVisits' is negative, or more than \(Self.mostVisits) higher than before")
            }
            visits = more
        }
        if isChanged(.timeStampOfLastVisit) {
            guard visits != 0 else { throw refuse("the time of the latest visit was changed, and no visit") }
            let time: Double? =
                switch after[FieldKey.timeStampOfLastVisit.stringValue] {
                case .int(let seconds): Double(seconds)
                case .double(let seconds): seconds
                default: nil
                }
            // Where visits are undone, the time follows from those that are left.
            if visits > 0 { visitTime = time.map { Date(timeIntervalSince1970: $0) } }
        }
        for name in Set(before.keys).union(after.keys) where FieldKey.isCustom(name) {
            let value = after[name] ?? .null
            if value != before[name] ?? .null { fields[name] = value }
        }
    }
}

/// What happens when an unknown card is presented.
public struct UserCreation: @unchecked Sendable {
    // The closure is not Sendable, so that it can be written where the application's state is. This is safe to send
    // since nobody outside this module can reach it and the club calls it in one place only: on the queue of
    // Club.setDispatchQueue, never two calls at a time.
    let condition: (() -> Bool)?

    /// Distinguishes one condition from another, since closures cannot be compared.
    private final class Identity: Sendable {}
    private let identity: Identity?

    private init(condition: (() -> Bool)?) {
        self.condition = condition
        identity = condition.map { _ in Identity() }
    }

    /// An unknown card creates a member.
    public static let automaticallyOnScan = UserCreation(condition: nil)

    /// An unknown card creates a member if the condition holds; else the tap is ignored, with the reason.
    ///
    /// The condition is called at the tap, on the queue of ``Club/setDispatchQueue(_:)``, outside any transaction. It
    /// may call the club's getters. If it does not return within ``ClubConfiguration/conditionsLimit``, it counts as
    /// `false` and ``ClubError/Kind/noAnswer`` is reported.
    public static func withSatisfied(condition: @escaping () -> Bool) -> UserCreation {
        UserCreation(condition: condition)
    }
}

extension UserCreation: Equatable {
    /// Returns whether both are the same style, and with a condition, copies of one. The conditions are not called.
    public static func == (one: UserCreation, other: UserCreation) -> Bool { one.identity === other.identity }
}
