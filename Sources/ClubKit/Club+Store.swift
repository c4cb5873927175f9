import Foundation

/// The store as a whole.
extension Club {
    /// Looks for damage and contradictions in the store; an empty list means that all is well. Taps go on meanwhile.
    public func check() async throws(ClubError) -> [IntegrityFinding] {
        try await openStore("check the member database").check()
    }

    /// Copies the database as it is now into a new file, while taps go on.
    ///
    /// The copy is there whole and written through to the disk when this returns, or not at all. To restore it, close
    /// the club, move the database away together with its `-wal` and `-shm` files, and copy the backup to its place.
    /// The copy counts as a device of its own from the moment it is opened, so that it may also be the beginning of
    /// another kiosk; merging both loses nothing and counts nothing twice.
    ///
    /// - Parameters:
    ///   - url: the new file, of mode 0600, in a directory that exists. Nothing is replaced.
    ///   - context: who makes the copy, for the audit log.
    ///   - progress: told how far it is, on a queue of the database.
    /// - Throws: ``ClubError/Kind/fileExists``, ``ClubError/Kind/diskFull``, ``ClubError/Kind/corrupt`` if the copy is
    ///   damaged since the database is, ``ClubError/Kind/cancelled``.
    public func backup(
        to url: URL,
        by context: ActionContext = ActionContext(),
        progress: (@Sendable (BackupProgress) -> Void)? = nil
    ) async throws(ClubError) {
        try await openStore("back up the member database").backup(to: url.path, context, progress: progress)
    }

    /// Makes a snapshot of the database while taps go on, and removes the oldest ones.
    ///
    /// No tap waits for it: it is made in small steps by a thread that the system serves when nobody else wants the
    /// processor or the disk. It is there once it was checked and written through to the disk, else not at all; older
    /// ones are removed only then. It leaves 16 MiB of the file system free. ``repair(by:from:choosing:)`` offers it.
    ///
    /// - Parameters:
    ///   - folder: where it is kept.
    ///   - count: how many are kept, this one included; at least 1.
    /// - Throws: ``ClubError/Kind/diskFull``, ``ClubError/Kind/corrupt`` if the copy is damaged since the database is,
    ///   ``ClubError/Kind/cancelled``.
    @discardableResult
    public func makeSnapshot(
        in folder: SnapshotFolder,
        keeping count: Int
    ) async throws(ClubError) -> SnapshotFolder.Snapshot {
        try await openStore("make a snapshot of the member database").makeSnapshot(in: folder, keeping: count)
    }

    /// Repairs the store, whether the club is open or not.
    ///
    /// What follows from something else is computed again: totals and what is shown of members, from what was said of
    /// them and from the ledger; receipts and visits from one another; indexes; the journal of changes. A file that is
    /// itself damaged is read as far as possible into a new one, which takes its place; for that, nobody else may have
    /// it open, and an open club is closed meanwhile, which ends the sequences of ``events``. Before anything is
    /// changed the database is copied or kept beside its place. What cannot be brought back is named.
    ///
    /// - Parameters:
    ///   - context: who repairs it, for the audit log.
    ///   - snapshots: where ``makeSnapshot(in:keeping:)`` kept copies. The latest good one is offered if the file itself
    ///     is damaged. Whoever was erased since is erased in it, as far as the damaged file says so.
    ///   - choosing: called with the offer; by default what can be read is taken. With ``RepairOffer/Choice/neither`` the
    ///     database stays as it is, and ``ClubError/Kind/cancelled`` is thrown.
    /// - Throws: ``ClubError/Kind/busy`` if a damaged file is in use, ``ClubError/Kind/corrupt`` if nothing in it could
    ///   be read, ``ClubError/Kind/diskFull``.
    public func repair(
        by context: ActionContext = ActionContext(),
        from snapshots: SnapshotFolder? = nil,
        choosing: RepairOffer.Chooser = { _ in .rescue }
    ) async throws(ClubError) -> RepairReport {
        let (wasOpen, wasServing) = (isOpen, isServing)
        if wasOpen {
            if let report = try await openStore(MemberStore.repairAttempt).mend(context) { return report }
            try await close()
        }
        let report: Result<RepairReport, ClubError>
        do throws(ClubError) {
            report = .success(
                try await MemberStore.repair(
                    configuration.database,
                    context,
                    from: snapshots,
                    choosing: choosing,
                    busyTimeout: configuration.busyTimeout,
                    identifierKey: configuration.identifierKey,
                    clock: configuration.clock,
                    makeUUID: configuration.makeUUID
                )
            )
        } catch {
            report = .failure(error)
        }
        if wasOpen { try await open() }
        if wasOpen, wasServing { beginServing() }
        return try report.get()
    }

    /// The time of the latest tap that the store knows, counted or not; `nil` before the first one.
    public func lastEventDate() async throws(ClubError) -> Date? {
        try await openStore("find the latest tap").lastEventDate()
    }

    /// When a replay begins, so that running it again adds its visits: the later of the present and the store's latest
    /// tap plus the cooldown plus 1 s.
    public func replayStart(now: Date) async throws(ClubError) -> Date {
        guard let last = try await lastEventDate() else { return now }
        let wait = Timestamp.seconds(Timestamp.microseconds(cooldown)) + 1
        return max(now, last.addingTimeInterval(wait))
    }
}
