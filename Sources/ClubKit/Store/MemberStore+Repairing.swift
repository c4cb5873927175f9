import Foundation
import GRDB

extension MemberStore {
    static let repairAttempt = "repair the member database"

    /// Puts right what contradicts itself, from what is known for certain. The database is copied before.
    ///
    /// - Returns: what was done, or `nil` if the file itself is damaged (see ``Salvage``); nothing is changed then.
    package func mend(_ context: ActionContext) async throws(ClubError) -> RepairReport? {
        let attempt = Self.repairAttempt
        var report = RepairReport()
        let damage = try await damage()
        if damage == .pages { return nil }
        if let path { WorkFolder.removeLeftovers(beside: path) }
        let findings = try await check()
        for file in path.map(DatabaseFiles.exposed) ?? [] where chmod(file, 0o600) == 0 {
            report.mended.append("'\((file as NSString).lastPathComponent)' is for its owner only again")
        }
        let isContradictory = findings.contains { $0.severity == .error && $0.code != .notDurable }
        if damage != nil || isContradictory {
            if let path {
                let kept = DatabaseFiles.free(path + DatabaseFiles.beforeRepair + DatabaseFiles.stamp(clock()))
                try await copy(to: kept, attempt, verifying: false)
                report.keptFile = kept
            }
            do {
                let (mended, lost) = try await write(attempt) { transaction in
                    try Mending.run(transaction, context, reindexing: damage != nil)
                }
                report.mended += mended
                report.lost += lost
            } catch {
                // An index that cannot be built again, or a page that cannot be read.
                guard error.kind == .corrupt || error.code?.name == "SQLITE_CONSTRAINT" else { throw error }
                return nil
            }
        }
        report.remaining = try await check()
        return report
    }

    /// How badly the file itself is damaged.
    private enum Damage {
        /// What is in the indexes, or single values: the tables can be read.
        case values
        /// The tables themselves.
        case pages
    }

    private func damage() async throws(ClubError) -> Damage? {
        do {
            return try await database.read { db in try Self.damage(in: db) }
        } catch {
            return try Self.damage(error)
        }
    }

    /// Looks at a file without writing to it.
    private static func damage(_ path: String) throws(ClubError) -> Damage? {
        do {
            return try openToRead(path).read { db in try damage(in: db) }
        } catch {
            return try damage(error)
        }
    }

    private static func damage(_ error: any Error) throws(ClubError) -> Damage {
        let error = ClubError(error, attempting: repairAttempt)
        guard error.kind == .corrupt || error.kind == .notADatabase else { throw error }
        return .pages
    }

    private static func damage(in db: Database) throws -> Damage? {
        let lines = try String.fetchAll(db, sql: "PRAGMA integrity_check")
        if try DatabaseSchema.missing(in: db).contains(where: { $0.type == "table" }) { return .pages }
        if lines == ["ok"] { return nil }
        // SQLite's words for what REINDEX puts right, and for values that a constraint does not allow.
        let values = [
            "missing from index", "wrong # of entries in index", "non-unique entry in index",
            "values differ from index", "rowid not at end-of-record", "CHECK constraint failed in",
            "NULL value in", "value in",
        ]
        return lines.allSatisfy { line in values.contains { line.contains($0) } } ? .values : .pages
    }

    /// Repairs a database that nobody has open: in place where its tables can be read, else by bringing what can be
    /// read into a new file, or a snapshot to its place. It blocks.
    static func repair(
        _ configuration: ClubConfiguration,
        _ context: ActionContext,
        from snapshots: SnapshotFolder?,
        choosing: RepairOffer.Chooser
    ) async throws(ClubError) -> RepairReport {
        guard case .file(let name) = configuration.database else { return RepairReport() }
        let path = DatabaseFiles.whole(name)
        try DatabaseFiles.requireFile(path, repairAttempt)
        // Of what a repair before this one has finished, the log may be gone from its place already.
        try DatabaseFiles.finishReplacing(path, repairAttempt)
        guard DatabaseFiles.hasContent(path) else {
            throw ClubError(.cannotOpen, attempting: repairAttempt, detail: "there is no such file, or it is empty")
        }
        if try damage(path) != .pages {
            try keepBeforeUpgrade(path, configuration)
            if let store = try openUnlessDamaged(configuration) {
                defer { try? store.close() }
                if let report = try await store.mend(context) { return report }
            }
        }
        return try await Salvage(path: path, configuration: configuration).run(context, snapshots, choosing)
    }

    private static func openUnlessDamaged(_ configuration: ClubConfiguration) throws(ClubError) -> MemberStore? {
        do throws(ClubError) {
            return try MemberStore(configuration)
        } catch {
            // Another program's file, one that cannot be reached, and one of a newer version are not damaged.
            guard error.kind == .corrupt || error.kind == .other || error.code?.name == "SQLITE_NOTADB" else {
                throw error
            }
            return nil
        }
    }

    convenience init(_ configuration: ClubConfiguration) throws(ClubError) {
        try self.init(
            configuration.database,
            busyTimeout: configuration.busyTimeout,
            identifierKey: configuration.identifierKey,
            clock: configuration.clock,
            makeUUID: configuration.makeUUID
        )
    }
}
