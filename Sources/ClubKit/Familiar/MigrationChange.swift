/// Changes records that an older version of the application wrote; see ``Club/addVersionMigration(changeBlock:)``.
public typealias VersionMigrationChangeBlock = (Migration) -> Void

/// One step of an application's migrations, with its number.
public struct MigrationChange: @unchecked Sendable {
    // The block is not Sendable, so that it can be written where the application's state is. This is safe to send since
    // nobody outside this module can reach it and the club calls it in one place only: on the queue of
    // Club.setDispatchQueue, never two calls at a time.
    let changeBlock: VersionMigrationChangeBlock

    /// The number of the step, from 1 on.
    public let version: UInt64

    init(version: UInt64, changeBlock: @escaping VersionMigrationChangeBlock) {
        self.version = version
        self.changeBlock = changeBlock
    }
}
