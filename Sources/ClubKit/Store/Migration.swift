import Foundation
import GRDB

/// A step of an application's migrations, with access to the records. Custom values can be changed; base values are
/// read-only.
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
/// It changes copies, which are stored after all steps. Do not use it after its block has returned.
public final class Migration {
    /// The last step that was applied to the records; 0 if there was none.
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

    /// Calls the block for each record, with the record before this step and a mutable one.
    ///
    /// - Parameter className: the class of the records. Ignored, since there is one kind of record.
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

    /// Renames a value in each record that has it. An existing value of the new name stays.
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

/// A block that changes records of an older application version; see ``Club/addVersionMigration(changeBlock:)``.
public typealias VersionMigrationChangeBlock = (Migration) -> Void

/// One step of an application's migrations, with its number.
public struct MigrationChange: @unchecked Sendable {
    /// The number of the step, from 1 on.
    public let version: UInt64

    // The block is not Sendable, so that it can be written where the application's state is. This is safe to send since
    // nobody outside this module can reach it and the club calls it in one place only: on the queue of
    // Club.setDispatchQueue, never two calls at a time.
    let changeBlock: VersionMigrationChangeBlock
}

/// A record in a ``Migration``.
public final class MigrationObject {
    private var values: [String: FieldValue]
    private(set) var changes: [String: FieldValue] = [:]

    init(_ values: [String: FieldValue]) {
        self.values = values
    }

    /// The value of that name; `nil` if absent. Setting a base value does nothing, setting `nil` removes the value.
    public subscript(_ name: String) -> FieldValue? {
        get { values[name] }
        set {
            guard FieldKey.isCustom(name), values[name] ?? .null != newValue ?? .null else { return }
            values[name] = newValue
            changes[name] = newValue ?? .null
        }
    }
}

extension MemberStore {
    private static let versionKey = "recordVersion"

    /// The last step of the application's migrations that the records have seen; 0 if there was none.
    func recordVersion() async throws(ClubError) -> UInt64 {
        try await read("read the version of the records") { db in
            try db.setting(Self.versionKey).flatMap { UInt64($0) } ?? 0
        }
    }

    /// Changes custom values of members, and notes the step of the application's migrations that they have seen now.
    func storeRecords(_ edits: [String: [String: FieldValue]], version: UInt64) async throws(ClubError) {
        let attempt = "migrate the members"
        for values in edits.values { try values.refuseNUL(attempting: attempt) }
        try await write(attempt) { transaction in
            for (userID, values) in edits.sorted(by: { $0.key < $1.key }) {
                guard let row = try transaction.db.members.row(userID: userID), row.status == .present else { continue }
                let stamp = try transaction.nextStamp()
                try transaction.members.change(row) { facts in
                    for (name, value) in values { facts.set(name, value, stamp) }
                }
            }
            try transaction.db.set(Self.versionKey, to: "\(version)")
        }
    }
}
