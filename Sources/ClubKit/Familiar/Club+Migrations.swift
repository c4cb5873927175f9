import Foundation

/// Changes to records that an older version of the application wrote, as in the original library.
extension Club {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// How unknown cards are treated by ``shared``, and what is migrated when it is opened. Set it before that.
    public static var Configuration: MembershipConfiguration {
        get { shared.membershipConfiguration }
        set { shared.setMembershipConfiguration(newValue) }
    }

    /// How unknown cards are treated, and what is migrated when the club is opened besides what
    /// ``addVersionMigration(changeBlock:)`` registered.
    public var membershipConfiguration: MembershipConfiguration {
        MembershipConfiguration(
            userCreationStyle: configuration.userCreationStyle,
            migrationChanges: familiar.withLock { $0.configuredMigrations }
        )
    }

    /// Sets how unknown cards are treated, and what is migrated when the club is opened.
    @discardableResult
    public func setMembershipConfiguration(_ configuration: MembershipConfiguration) -> Club {
        familiar.withLock { $0.configuredMigrations = configuration.migrationChanges }
        return setUserCreation(configuration.userCreationStyle)
    }

    /// Registers a step that changes the custom values of records which an older version of the application wrote. A custom
    /// class needs none for a value that is new: where a record has no value, the decoder answers with an empty one.
    ///
    /// The step's number is that of the call: 1, 2 and so on. ``open(withAppKey:appId:developerId:completion:)`` runs the
    /// steps that the records have not seen, in their order, on the queue of ``setDispatchQueue(_:)``. What they changed is
    /// stored in one transaction, together with the number of the last step; if that fails, all of them run at the next
    /// opening. Registering fewer steps than a former version of the application changes nothing.
    @discardableResult
    public func addVersionMigration(changeBlock: @escaping VersionMigrationChangeBlock) -> Club {
        familiar.withLock { state in
            let version = UInt64(state.registeredMigrations.count) + 1
            state.registeredMigrations.append(MigrationChange(version: version, changeBlock: changeBlock))
        }
        return self
    }

    /// The steps that ``addVersionMigration(changeBlock:)`` registered. They run whether or not this is called and
    /// ``MembershipConfiguration/migrationChanges`` set to them.
    public func build() -> [MigrationChange] {
        familiar.withLock { $0.registeredMigrations }
    }

    /// Runs the steps that the records have not seen.
    func migrate() async throws(ClubError) {
        let changes = familiar.withLock { state in
            // Those of build() come back by the configuration: each number counts once.
            let all = state.registeredMigrations + state.configuredMigrations
            let byVersion = Dictionary(all.map { ($0.version, $0) }) { first, _ in first }
            return byVersion.values.sorted { $0.version < $1.version }
        }
        guard let last = changes.last?.version else { return }
        let store = try openStore("migrate the members")
        let seen = try await store.recordVersion()
        guard seen < last else { return }
        let result: Result<[String: [String: FieldValue]], ClubError> = await withCheckedContinuation { continuation in
            callbacks.enqueue {
                continuation.resume(
                    returning: Result { () throws(ClubError) in
                        var edits: [String: [String: FieldValue]] = [:]
                        for change in changes where change.version > seen {
                            let migration = Migration(store, edits, from: seen, to: change.version)
                            change.changeBlock(migration)
                            edits = try migration.finish()
                        }
                        return edits
                    }
                )
            }
        }
        try await store.storeRecords(result.get(), version: last)
    }
}
