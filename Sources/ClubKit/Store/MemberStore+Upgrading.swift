import Foundation
import GRDB

/// What ``MemberStore/upgrade(_:)`` did.
package struct UpgradeReport: Sendable, Encodable {
    /// The migrations that were applied; empty if there was nothing to do.
    package var steps: [String] = []
    /// The numbers of members and visits that the upgraded database has.
    package var members = 0
    package var visits = 0
    /// The database as it was before.
    package var keptFile: String?
}

/// What ``MemberStore/undoUpgrade(_:)`` did.
package struct UpgradeUndoing: Sendable, Encodable {
    /// The file that was put back.
    package var restoredFrom: String
    /// The database as it was before that.
    package var keptFile: String
    /// The numbers of members and visits that only the kept file has.
    package var membersSince: Int
    package var visitsSince: Int
}

extension MemberStore {
    private static let upgradeAttempt = "upgrade the member database"
    private static let undoAttempt = "put back the member database from before the upgrade"

    /// Brings a database that nobody uses to today's schema. A copy is migrated and checked, and takes its place only
    /// if the check finds no error: whatever fails, the database is as it was. The former one is kept beside it, those
    /// of this device from upgrades before that are removed.
    ///
    /// - Throws: ``ClubError/Kind/corrupt`` with what the check found, ``ClubError/Kind/busy`` if somebody uses it.
    package static func upgrade(_ configuration: ClubConfiguration) async throws(ClubError) -> UpgradeReport {
        let attempt = upgradeAttempt
        guard let path = try closedFile(configuration, attempt), DatabaseFiles.hasContent(path) else {
            return UpgradeReport()
        }
        var report = UpgradeReport()
        report.steps = try ClubError.wrapping("open the member database \(path)") { try pending(path, configuration) }
        guard !report.steps.isEmpty else {
            WorkFolder.removeLeftovers(beside: path)
            return report
        }

        let lock = try DatabaseFiles.lock(path, attempt)
        var isReplaced = false
        defer { DatabaseFiles.release(lock, spoiling: isReplaced) }
        try DatabaseFiles.requireNothingRepaired(path, attempt)
        let folder = try WorkFolder(beside: path, attempt)
        defer { folder.remove() }
        let copy = folder.path + "/copy.sqlite"
        try DatabaseFiles.copyWithLog(path, to: copy, attempt)
        // To migrate a copy that was never opened makes a device of its own of it.
        let device = device(of: copy)
        (report.members, report.visits) = try await migrate(copy, configuration)

        let former = former(path).filter { former in
            former.hasSuffix(".part") || device != nil && device == Self.device(of: former, in: folder)
        }
        let place = path + DatabaseFiles.beforeUpgrade + DatabaseFiles.stamp(configuration.clock())
        report.keptFile = try Replacement.replace(path, by: copy, keeping: place, attempt)
        isReplaced = true
        for file in former { for file in [file + "-wal", file] { unlink(file) } }
        return report
    }

    /// Puts back the database as it was before the latest upgrade. The present one is kept beside it.
    ///
    /// What came back counts as a device of its own from then on, since others may have heard of the visits that it
    /// lacks.
    ///
    /// - Throws: ``ClubError/Kind/cannotOpen`` if no former one is there that is whole.
    package static func undoUpgrade(_ configuration: ClubConfiguration) throws(ClubError) -> UpgradeUndoing {
        let attempt = undoAttempt
        guard let path = try closedFile(configuration, attempt) else { throw nothingKept }

        let lock = try DatabaseFiles.lock(path, attempt)
        var isReplaced = false
        defer { DatabaseFiles.release(lock, spoiling: isReplaced) }
        try DatabaseFiles.requireNothingRepaired(path, attempt)
        let folder = try WorkFolder(beside: path, attempt)
        defer { folder.remove() }
        let (old, new) = (folder.path + "/old.sqlite", folder.path + "/new.sqlite")
        try DatabaseFiles.copyWithLog(path, to: new, attempt)
        guard let former = copySoundFormer(of: path, device(of: new), to: old, configuration) else { throw nothingKept }
        let (members, visits) = try ClubError.wrapping(attempt) {
            let queue = try DatabaseQueue(path: old)
            let since = try queue.inDatabase { db in
                try db.execute(sql: "ATTACH ? AS present", arguments: [new])
                func since(_ column: String, in table: String) throws -> Int {
                    let sql = "SELECT \(column) FROM present.\(table) EXCEPT SELECT \(column) FROM main.\(table)"
                    return try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(sql))") ?? 0
                }
                let since = (try since("user_id", in: "member"), try since("event_id", in: "visit"))
                try db.execute(sql: "DETACH present")
                try db.markCopy()
                return since
            }
            try queue.close()
            return since
        }
        let place = path + DatabaseFiles.afterUpgrade + DatabaseFiles.stamp(configuration.clock())
        let kept = try Replacement.replace(path, by: old, keeping: place, attempt)
        isReplaced = true
        return UpgradeUndoing(restoredFrom: former, keptFile: kept, membersSince: members, visitsSince: visits)
    }

    private static var nothingKept: ClubError {
        ClubError(.cannotOpen, attempting: undoAttempt, detail: "no sound database from before an upgrade is kept")
    }

    /// Copies the latest database of an earlier version that an upgrade of this device kept and that is whole, and returns
    /// its path.
    private static func copySoundFormer(
        of path: String,
        _ device: String?,
        to copy: String,
        _ configuration: ClubConfiguration
    ) -> String? {
        former(path).last { former in
            for file in DatabaseFiles.files(copy) { unlink(file) }
            do {
                try DatabaseFiles.copyWithLog(former, to: copy, undoAttempt)
                guard let own = Self.device(of: copy), own == device || isUnopened(copy),
                    try !pending(copy, configuration).isEmpty
                else { return false }
                return try DatabaseQueue(path: copy).inDatabase { db in
                    // Another program's has no visits.
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM visit")
                    return try String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok"
                }
            } catch {
                return false
            }
        }
    }

    private static func pending(_ path: String, _ configuration: ClubConfiguration) throws -> [String] {
        let migrator = DatabaseSchema.migrator(deviceID: configuration.makeUUID())
        return try inspect(path, configuration: Configuration(), migrator: migrator)
    }

    /// Keeps a copy of a database of an earlier version that is about to be opened, and with that migrated.
    static func keepBeforeUpgrade(_ path: String, _ configuration: ClubConfiguration) throws(ClubError) {
        guard let steps = try? pending(path, configuration), !steps.isEmpty else { return }
        let lock = try DatabaseFiles.lock(path, upgradeAttempt)
        defer { DatabaseFiles.release(lock, spoiling: false) }
        let place = path + DatabaseFiles.beforeUpgrade + DatabaseFiles.stamp(configuration.clock())
        try DatabaseFiles.copyWithLog(path, to: DatabaseFiles.free(place), upgradeAttempt)
    }

    /// The path of a database, without symbolic links, with what a repair of before left to do done; `nil` in memory.
    private static func closedFile(
        _ configuration: ClubConfiguration,
        _ attempt: String
    ) throws(ClubError) -> String? {
        guard case .file(let name) = configuration.database else { return nil }
        let path = DatabaseFiles.whole(name)
        try DatabaseFiles.requireFile(path, attempt)
        try DatabaseFiles.finishReplacing(path, attempt)
        return path
    }

    /// Migrates a copy, and counts what is in it.
    private static func migrate(
        _ copy: String,
        _ configuration: ClubConfiguration
    ) async throws(ClubError) -> (members: Int, visits: Int) {
        var configuration = configuration
        configuration.database = .file(path: copy)
        let store = try MemberStore(configuration)
        defer { try? store.close() }
        let errors = try await store.check().filter { $0.severity == .error }
        guard errors.isEmpty else {
            var error = ClubError(
                .corrupt,
                attempting: upgradeAttempt,
                detail: "it is as it was, since the check found: " + errors.map(\.message).joined(separator: "; ")
            )
            error.advice = "'clubctl check --repair' mends it and keeps what it was; then it is upgraded."
            throw error
        }
        return try await store.read(upgradeAttempt) { db in
            (
                try Int.fetchOne(db, sql: "SELECT count(*) FROM member WHERE status = 0") ?? 0,
                try Int.fetchOne(db, sql: "SELECT count(*) FROM visit") ?? 0
            )
        }
    }

    /// The databases that upgrades kept, the latest last.
    private static func former(_ path: String) -> [String] {
        // What somebody else called so has no moment.
        let start = (path + DatabaseFiles.beforeUpgrade).utf8.count
        return DatabaseFiles.beside(path, named: [DatabaseFiles.beforeUpgrade]).filter { file in
            !file.hasSuffix("-wal") && DatabaseFiles.date(String(file.dropFirst(start).prefix(16))) != nil
        }
    }

    /// Whose a kept database is, looked at in a copy; `nil` if that cannot be read.
    private static func device(of former: String, in folder: WorkFolder) -> String? {
        let copy = folder.path + "/old.sqlite"
        for file in DatabaseFiles.files(copy) { unlink(file) }
        guard (try? DatabaseFiles.copyWithLog(former, to: copy, upgradeAttempt)) != nil else { return nil }
        return device(of: copy)
    }

    /// Whether it is a copy that was never opened since, which had become another device then.
    private static func isUnopened(_ copy: String) -> Bool {
        (try? openToRead(copy).read { try $0.setting(copyMark) != nil || $0.setting(Replacement.key) != nil }) == true
    }

    private static func device(of copy: String) -> String? {
        try? openToRead(copy).read { try $0.setting("deviceID") }
    }
}
