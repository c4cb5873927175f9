/// How a club treats unknown cards, and what an application changes in the records of its older versions.
public struct MembershipConfiguration: Sendable {
    /// The name that the original library gives ``ClubKit/UserCreation``.
    public typealias UserCreation = ClubKit.UserCreation

    /// What happens when an unknown card is presented.
    public var userCreationStyle: UserCreation

    /// What is done once to the records that are there when the club is opened; see
    /// ``Club/addVersionMigration(changeBlock:)``.
    public var migrationChanges: [MigrationChange]

    /// Members are created at the tap, and nothing is migrated.
    public static var `default`: MembershipConfiguration { MembershipConfiguration() }

    /// A configuration.
    public init(
        userCreationStyle: UserCreation = .automaticallyOnScan,
        migrationChanges: [MigrationChange] = []
    ) {
        self.userCreationStyle = userCreationStyle
        self.migrationChanges = migrationChanges
    }
}
