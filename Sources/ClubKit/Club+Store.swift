import Diagnosis
import Foundation

/// Why the clock of this machine cannot be right.
public enum ClockFault: String, Sendable, Hashable {
    /// It shows a day before this version was released, as a clock does that was never set.
    case beforeRelease
    /// The visit that this kiosk recorded last is more than a day ahead of it. Once another visit is recorded, it is the
    /// former one that was dated wrong.
    case beforeLatestVisit
}

extension Club {
    /// Checks the store for damage and contradictions while taps go on; an empty list means that there are none.
    public func check() async throws(ClubError) -> [IntegrityFinding] {
        try await openStore("check the member database").check()
    }

    /// Copies the database into a new file, while taps go on.
    ///
    /// When this returns, the copy is complete and synced to disk; otherwise there is none. To restore it, close the
    /// club, move the database away together with its `-wal` and `-shm` files, and copy the backup to its place. Once
    /// opened, the copy counts as a device of its own, so it may also start another kiosk; merging both loses nothing
    /// and counts nothing twice.
    ///
    /// - Parameters:
    ///   - url: the new file, of mode 0600, in an existing directory. An existing file is not replaced.
    ///   - context: who makes the copy, for the audit log.
    ///   - progress: called with the progress, on a queue of the database.
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
    /// No tap waits for it: a thread of idle priority for processor and disk makes it in small steps. It is kept only
    /// once it was checked and synced to disk, and older ones are removed only then. It leaves 16 MiB of the file
    /// system free. ``repair(by:from:choosing:)`` offers it.
    ///
    /// - Parameters:
    ///   - folder: the folder of the snapshots.
    ///   - count: the number of snapshots to keep, including this one; at least 1.
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
    /// Derived data is computed again: totals and shown values of members, from their facts and the ledger; receipts
    /// and visits from one another; indexes; the journal of changes. A damaged file is read as far as possible into a
    /// new one, which replaces it; for that, no other program may have it open, and an open club is closed meanwhile,
    /// which ends the sequences of ``events``. Before anything is changed the database is copied or kept beside its
    /// place. The report lists what cannot be restored.
    ///
    /// - Parameters:
    ///   - context: who repairs it, for the audit log.
    ///   - snapshots: the folder of ``makeSnapshot(in:keeping:)``. The latest intact snapshot is offered if the file
    ///     itself is damaged. Members erased since are erased in it, as far as the damaged file records them.
    ///   - choosing: called with the offer; by default what can be read is used. With ``RepairOffer/Choice/neither``
    ///     the database stays as it is, and ``ClubError/Kind/cancelled`` is thrown.
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
        let configuration = configuration
        let report = await Result(of: { () async throws(ClubError) in
            try await MemberStore.repair(configuration, context, from: snapshots, choosing: choosing)
        })
        if wasOpen { try await open() }
        if wasOpen, wasServing { beginServing() }
        return try report.get()
    }

    /// Goes the way of a tap to the database, and changes nothing: what returns, also with an error, is not stuck.
    package func pulse() async throws(ClubError) {
        try await openStore("reach the member database").pulse()
    }

    /// What is wrong with the clock of this machine; `nil` if it can be right.
    public func clockFault() async throws(ClubError) -> ClockFault? {
        let now = configuration.clock()
        if now < MachineDiagnosis.released { return .beforeRelease }
        // A day, for clocks that differ.
        let last = try await openStore("compare the clock with the latest visit").latestRecordedVisit()
        return last.map { $0 > now.addingTimeInterval(86_400) } == true ? .beforeLatestVisit : nil
    }

    /// The day of records that a kiosk made while its clock was ahead; `nil` if there are none. Until then other kiosks
    /// refuse what is recorded here.
    package func recordsAhead() async throws(ClubError) -> Date? {
        try await openStore("compare the records with the clock").recordsAhead()
    }

    /// The time of the latest tap in the store, counted or not; `nil` if there is none.
    public func lastEventDate() async throws(ClubError) -> Date? {
        try await openStore("find the latest tap").lastEventDate()
    }

    /// Returns a start time for a replay that makes its visits count again: the later of the present and the store's
    /// latest tap plus the cooldown plus 1 s.
    public func replayStart(now: Date) async throws(ClubError) -> Date {
        guard let last = try await lastEventDate() else { return now }
        let wait = Timestamp.seconds(Timestamp.microseconds(cooldown)) + 1
        return max(now, last.addingTimeInterval(wait))
    }
}
