import Foundation

/// Members, looked up and changed as in the original library.
///
/// The methods that change something return when that is on disk; what fails is reported to ``ClubMiddlewareDelegate``,
/// and to ``Club/events``. They wait for the disk on the calling thread: in async code, the async methods of the club
/// are the better choice.
extension Club {
    /// The class of the records: ``MembershipUser``, or a subclass of it.
    public typealias userType = MembershipUser  // swift-format-ignore: TypeNamesShouldBeCapitalized

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The class of the objects that callbacks and getters return; see ``setCustomMembershipUser(classType:)``.
    public var OverridableMembershipUserClassType: MembershipUser.Type { userClass }

    // MARK: Looking up

    /// Returns a member by the identifier on any of their passes, as a copy in the class of
    /// ``setCustomMembershipUser(classType:)``; `nil` if absent. It reads the database on the calling thread.
    ///
    /// - Throws: ``ClubError``, ``ClubError/Kind/unreadableRecord`` if the custom class does not accept the record.
    public func getUser(withPassId passId: String) throws(ClubError) -> MembershipUser? { try getUser(with: passId) }

    /// Returns a member by ``MembershipUser/memberId``: the identifier in a file of the original library, or else
    /// ``MembershipUser/userId``; `nil` if absent. It reads the database on the calling thread, all of it for an
    /// identifier of such a file.
    ///
    /// - Throws: ``ClubError``, ``ClubError/Kind/unreadableRecord`` if the custom class does not accept the record.
    public func getUser(withMemberId memberId: String) throws(ClubError) -> MembershipUser? {
        guard let member = try openStore("look up a member").memberNow(withMemberID: memberId) else { return nil }
        return try user(from: member)
    }

    // MARK: Creating

    /// Creates a member at the first visit: `numVisits` is 1, both times are now.
    ///
    /// ``ClubMiddlewareDelegate/club(_:didCreateNewMembership:)`` is called, or, for an existing member,
    /// ``ClubMiddlewareDelegate/club(_:didReceive:)`` with ``CKError/userExistsAlready(_:)``.
    public func createUser(with captureDataInformation: CaptureDataInformation) {
        create(Member(userId: captureDataInformation.passId, username: captureDataInformation.username))
    }

    /// Creates a member at the first visit from the `userId`, `username` and custom values of a record. `numVisits`
    /// becomes 1, both times are now.
    ///
    /// ``ClubMiddlewareDelegate/club(_:didCreateNewMembership:)`` is called, or, for an existing member,
    /// ``ClubMiddlewareDelegate/club(_:didReceive:)`` with ``CKError/userExistsAlready(_:)``.
    public func createUser(with user: MembershipUser) {
        attempt { () throws(ClubError) in
            var member = Member(userId: user.userId ?? "", username: user.username)
            member.fields = try user.record(attempting: "add a member").filter { FieldKey.isCustom($0.key) }
            create(member)
        }
    }

    private func create(_ member: Member) {
        let visit = configuration.makeUUID()
        attempt { () throws(ClubError) in
            let store = try openStore("add a member")
            try BlockingWork.run { () async throws(ClubError) in
                _ = try await store.add(member, firstVisit: visit, ActionContext()) { changed in
                    self.publish(.added(changed.member, at: changed.at))
                }
            }
        }
    }

    // MARK: Changing

    /// Changes a member: the closure changes the object, and its changes are stored.
    ///
    /// They are stored in one transaction, or not at all. Only the values that the closure changed are stored;
    /// concurrent changes of others stay. A larger number of visits records visits by hand, at the new
    /// ``MembershipUser/timeStampOfLastVisit`` if that was changed too, else now; a smaller one undoes the latest
    /// visits. ``ClubMiddlewareDelegate/club(_:didUpdateMembership:)`` is called for the record, and for each visit.
    ///
    /// Nothing is stored if an immutable value was changed: `userId` (use ``replaceCard(_:with:by:)``),
    /// `timeStampAdded`, or the time of the latest visit alone. Then, and if the member is absent
    /// (``CKError/nonexistentUser(_:)``), ``ClubMiddlewareDelegate/club(_:didReceive:)`` is called.
    ///
    /// - Parameters:
    ///   - user: a copy that the club returned.
    ///   - changes: called once, on the calling thread, outside any transaction. It may call the club.
    public func update(user: MembershipUser, withChanges changes: () -> Void) {
        attempt { () throws(ClubError) in
            let attempt = "change a member"
            let before = try user.record(attempting: attempt)
            changes()
            let edit = try UserEdit(from: before, to: try user.record(attempting: attempt))
            guard !edit.isEmpty else { return }
            let store = try openStore(attempt)
            let ids = (0..<max(0, edit.visits)).map { _ in configuration.makeUUID() }
            try BlockingWork.run { () async throws(ClubError) in
                let context = ActionContext(reason: "changed by the application")
                // A number that is corrected brings nothing, and the queue of the conditions may wait for this.
                try await store.apply(edit, ids: ids, context) { self.updated($0)($1) }
            }
        }
    }

    // MARK: Deleting

    /// Deletes a member by ``MembershipUser/memberId``. ``ClubMiddlewareDelegate/club(_:didDeleteMembership:)`` is
    /// called with a valid copy, or ``ClubMiddlewareDelegate/club(_:didReceive:)`` with
    /// ``CKError/nonexistentUser(_:)``.
    public func deleteUser(withMemberId memberId: String) {
        attempt { () throws(ClubError) in
            guard let member = try openStore("delete a member").memberNow(withMemberID: memberId) else {
                throw ClubError(.noSuchMember, attempting: "delete a member")
            }
            deleteUser(with: member.userId)
        }
    }

    /// Deletes a member by the identifier on any of their passes.
    /// ``ClubMiddlewareDelegate/club(_:didDeleteMembership:)`` is called with a valid copy, or
    /// ``ClubMiddlewareDelegate/club(_:didReceive:)`` with ``CKError/nonexistentUser(_:)``.
    public func deleteUser(withPassId passId: String) {
        deleteUser(with: passId)
    }

    /// Deletes a member by ``MembershipUser/userId``. ``ClubMiddlewareDelegate/club(_:didDeleteMembership:)`` is called
    /// with a valid copy, or ``ClubMiddlewareDelegate/club(_:didReceive:)`` with ``CKError/nonexistentUser(_:)``.
    public func deleteUser(with userId: String) {
        attempt { () throws(ClubError) in
            try BlockingWork.run { () async throws(ClubError) in _ = try await self.delete(userId) }
        }
    }

    /// Deletes a member. ``ClubMiddlewareDelegate/club(_:didDeleteMembership:)`` is called with a valid copy, or
    /// ``ClubMiddlewareDelegate/club(_:didReceive:)`` with ``CKError/nonexistentUser(_:)``.
    public func deleteUser(_ user: MembershipUser) {
        deleteUser(with: user.userId ?? "")
    }

    // MARK: -

    private func attempt(_ work: () throws(ClubError) -> Void) {
        do throws(ClubError) {
            try work()
        } catch {
            report(error, as: CKError(error))
        }
    }
}

extension CKError {
    /// What the original library calls that error, or `nil` where it has no name for it.
    init?(_ error: ClubError) {
        switch error.kind {
        case .memberExists: self = .userExistsAlready(error.description)
        case .noSuchMember: self = .nonexistentUser(error.description)
        default: return nil
        }
    }
}

/// Changes to records that an older version of the application wrote, as in the original library.
extension Club {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The membership configuration of ``shared``. Set it before the club is opened.
    public static var Configuration: MembershipConfiguration {
        get { shared.membershipConfiguration }
        set { shared.setMembershipConfiguration(newValue) }
    }

    /// How unknown cards are treated, and the migrations that run when the club is opened, in addition to those of
    /// ``addVersionMigration(changeBlock:)``.
    public var membershipConfiguration: MembershipConfiguration {
        MembershipConfiguration(
            userCreationStyle: configuration.userCreationStyle,
            migrationChanges: familiar.withLock { $0.configuredMigrations }
        )
    }

    /// Sets how unknown cards are treated, and the migrations that run when the club is opened.
    @discardableResult
    public func setMembershipConfiguration(_ configuration: MembershipConfiguration) -> Club {
        familiar.withLock { $0.configuredMigrations = configuration.migrationChanges }
        return setUserCreation(configuration.userCreationStyle)
    }

    /// Registers a migration step that changes the custom values of records of an older application version. A new
    /// value needs no step: where a record has none, the decoder returns an empty one.
    ///
    /// The steps are numbered 1, 2 and so on in the order of the calls.
    /// ``open(withAppKey:appId:developerId:completion:)`` runs those new to the records, in order, on the queue of
    /// ``setDispatchQueue(_:)``. Their changes are stored in one transaction, together with the number of the last
    /// step; if that fails, all of them run at the next opening. Registering fewer steps than a former version of the
    /// application changes nothing.
    @discardableResult
    public func addVersionMigration(changeBlock: @escaping VersionMigrationChangeBlock) -> Club {
        familiar.withLock { state in
            let version = UInt64(state.registeredMigrations.count) + 1
            state.registeredMigrations.append(MigrationChange(version: version, changeBlock: changeBlock))
        }
        return self
    }

    /// Returns the steps that ``addVersionMigration(changeBlock:)`` registered. They run whether or not this is called
    /// and ``MembershipConfiguration/migrationChanges`` set to them.
    public func build() -> [MigrationChange] { familiar.withLock { $0.registeredMigrations } }

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

/// How a club treats unknown cards and migrates records of older application versions.
public struct MembershipConfiguration: Sendable {
    /// The name of ``ClubKit/UserCreation`` in the original library.
    public typealias UserCreation = ClubKit.UserCreation

    /// What happens when an unknown card is presented.
    public var userCreationStyle: UserCreation

    /// The migrations that run once on existing records when the club is opened; see
    /// ``Club/addVersionMigration(changeBlock:)``.
    public var migrationChanges: [MigrationChange]

    /// The default configuration: members are created at the tap, and nothing is migrated.
    public static var `default`: MembershipConfiguration { MembershipConfiguration() }

    /// Creates a configuration.
    public init(userCreationStyle: UserCreation = .automaticallyOnScan, migrationChanges: [MigrationChange] = []) {
        self.userCreationStyle = userCreationStyle
        self.migrationChanges = migrationChanges
    }
}
