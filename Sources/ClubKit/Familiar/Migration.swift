/// What a step of an application's migrations can do to the records: to their custom values, that is. The base values can
/// be read.
///
/// ```swift
/// club.addVersionMigration { migration in
///     migration.renameProperty(onType: CustomMembershipUser.className(), from: "mail", to: "emailAddress")
///     migration.enumerateObjects(ofType: CustomMembershipUser.className()) { old, new in
///         new?["level"] = old?["numVisits"] ?? 0
///     }
/// }
/// ```
///
/// It changes copies, which are stored when all steps are done. It is of no use after its block has returned.
public final class Migration {
    /// The last step that the records have seen before; 0 if there was none.
    public let oldSchemaVersion: UInt64

    /// The number of this step.
    public let newSchemaVersion: UInt64

    private let store: MemberStore
    /// The values that earlier steps and this one changed, by name, by member.
    private var edits: [String: [String: FieldValue]]
    private var failure: ClubError?

    init(
        _ store: MemberStore,
        _ edits: [String: [String: FieldValue]],
        from oldSchemaVersion: UInt64,
        to newSchemaVersion: UInt64
    ) {
        self.store = store
        self.edits = edits
        self.oldSchemaVersion = oldSchemaVersion
        self.newSchemaVersion = newSchemaVersion
    }

    /// Calls the block for each record, with the record as it was before this step and one to change.
    ///
    /// - Parameter className: the class of the records. There is one kind of record here, so that it does not matter.
    public func enumerateObjects(
        ofType className: String,
        _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void
    ) {
        var last = ""
        while failure == nil {
            do throws(ClubError) {
                let members = try store.membersNow(after: last, limit: 1000)
                guard let end = members.last else { return }
                for member in members { change(member, block) }
                last = end.userId
            } catch {
                failure = error
            }
        }
    }

    private func change(_ member: Member, _ block: (MigrationObject?, MigrationObject?) -> Void) {
        var record = member.record
        record.merge(edits[member.userId] ?? [:]) { $1 }
        let new = MigrationObject(record)
        block(MigrationObject(record), new)
        guard !new.changes.isEmpty else { return }
        edits[member.userId, default: [:]].merge(new.changes) { $1 }
    }

    /// Gives each record that has a value of the old name that value under the new one. Where it has one of the new name
    /// already, that stays.
    public func renameProperty(onType className: String, from oldName: String, to newName: String) {
        enumerateObjects(ofType: className) { old, new in
            guard let value = old?[oldName], value != .null else { return }
            if old?[newName] ?? .null == .null { new?[newName] = value }
            new?[oldName] = nil
        }
    }

    func finish() throws(ClubError) -> [String: [String: FieldValue]] {
        if let failure { throw failure }
        return edits
    }
}
