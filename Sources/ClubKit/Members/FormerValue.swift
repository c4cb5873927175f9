import Foundation

/// What a member's name, a custom field or the notes were, before somebody said something else. Of each value the last
/// few are kept, also those of another kiosk that was overruled in a merge.
public struct FormerValue: Sendable, Hashable {
    /// The ``Member/userId`` of the member of whom it was said.
    public var userId: String

    /// Which value it is: `username`, the name of a custom field, or `$notes`.
    public var name: String

    /// What it was; ``FieldValue/null`` if it had been taken away.
    public var value: FieldValue

    /// When that was said; `nil` if a file did not tell.
    public var saidAt: Date?

    /// Until when it was the value: when something newer was said. `nil` if a file did not tell.
    public var until: Date?

    /// The device on which it was said; `nil` if a file said it that does not tell.
    public var device: UUID?
}

extension MemberFacts {
    /// What was said of the name, the custom fields and the notes and is overruled. The audit log tells of what else the
    /// club keeps.
    func formerValues(of userID: String) -> [FormerValue] {
        func date(_ stamp: Stamp) -> Date? {
            // What a file says without a time counts as said at the beginning.
            stamp.time >> 16 == 0 ? nil : stamp.date
        }
        var former: [FormerValue] = []
        for (name, versions) in values where !name.hasPrefix("$") || name == SystemValues.Name.notes {
            // What a file left empty was never shown beside anything else.
            let said = versions.filter { $0.kind != .emptyInFile }
            for (newer, older) in zip(said, said.dropFirst()) where newer.value != older.value {
                former.append(
                    FormerValue(
                        userId: userID,
                        name: name,
                        value: older.value,
                        saidAt: date(older.stamp),
                        until: date(newer.stamp),
                        device: older.stamp.isLegacy ? nil : older.stamp.device
                    )
                )
            }
        }
        return former
    }
}
