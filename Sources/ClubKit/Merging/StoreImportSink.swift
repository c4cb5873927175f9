import Foundation
import GRDB
import Synchronization

/// Merges what is read into a store, a batch in a transaction.
///
/// The methods block. A dry run works on a private copy of the database, which SQLite keeps in a temporary file without
/// a name, so that taps go on meanwhile and nothing is left behind.
package final class StoreImportSink: ImportSink {
    /// The store, or its copy.
    private let store: MemberStore
    private let isDry: Bool
    private let mode: MergeMode
    private let context: ActionContext
    private let detail: [String: FieldValue]
    private let changed: @Sendable ([MergedMember]) -> Void
    private let progress: Mutex<MergeProgress>

    /// - Parameters:
    ///   - mode: what becomes of members who are there.
    ///   - dryRun: whether to work on a copy that is thrown away.
    ///   - context: who merges, for the audit log.
    ///   - detail: particulars for the audit log, such as which file it is.
    ///   - changed: called after each commit, in the order of the commits, on the writer's queue, with the members who
    ///     were there and were changed or deleted: it must not wait for anything.
    package init(
        _ store: MemberStore,
        mode: MergeMode = .merge,
        dryRun: Bool = false,
        _ context: ActionContext = ActionContext(),
        detail: [String: FieldValue] = [:],
        changed: @escaping @Sendable ([MergedMember]) -> Void = { _ in }
    ) throws(ClubError) {
        self.mode = mode
        self.context = context
        self.detail = detail
        isDry = dryRun
        self.changed = { if !dryRun { changed($0) } }
        progress = Mutex(MergeProgress())
        do {
            if dryRun {
                // A database without a name is SQLite's for a temporary one on disk.
                let copy = try DatabaseQueue(path: "")
                try store.database.backup(to: copy)
                self.store = MemberStore(store, on: copy)
            } else {
                self.store = store
            }
        } catch {
            throw ClubError(error, attempting: Self.attempt)
        }
    }

    private static let attempt = "merge members"

    /// From so many rows in a batch on it is worthwhile to make indexes at the end.
    private static let many = 1000

    package func apply(_ batch: ImportBatch) throws(ClubError) -> [ImportVerdict] {
        try transaction(of: batch.count) { merge in try merge.apply(batch) }
    }

    package func apply(_ records: [TransferRecord]) throws(ClubError) -> [ImportVerdict] {
        try transaction(of: records.count) { merge in try merge.apply(records) }
    }

    func apply(_ members: [ImportedMember]) throws(ClubError) -> [ImportVerdict] {
        try transaction(of: members.count) { merge in try members.map { try merge.apply($0, isUntyped: false) } }
    }

    package func finish() throws(ClubError) {
        do {
            if isDry { return try store.database.close() }
            if progress.withLock({ $0.leavesOutIndexes }) == true {
                try store.database.writeWithoutTransaction(SortingIndexes.make)
                progress.withLock { $0.leavesOutIndexes = false }
            }
            guard let counts = progress.withLock({ $0.counts }) else { return }
            try store.database.write { db in
                let detail = detail.merging(counts) { detail, _ in detail }
                try store.transaction(db).audit(.merged, of: nil, context, detail: detail)
            }
        } catch {
            throw ClubError(error, attempting: Self.attempt)
        }
    }

    private func transaction(
        of count: Int,
        _ body: (inout MergeBatch) throws -> [ImportVerdict]
    ) throws(ClubError) -> [ImportVerdict] {
        do {
            return try store.database.writeWithoutTransaction { db in
                var verdicts: [ImportVerdict] = []
                var members: [MergedMember] = []
                var before = progress.withLock { $0 }
                if before.leavesOutIndexes == nil {
                    before.leavesOutIndexes = try count >= Self.many && SortingIndexes.leaveOut(in: db)
                    progress.withLock { [before] in $0 = before }
                }
                var after = before
                let changesBefore = db.totalChangesCount
                try db.inTransaction(.immediate) {
                    var merge = try MergeBatch(store.transaction(db), mode, before, context, detail: detail)
                    verdicts = try body(&merge)
                    members = try merge.finish()
                    after = merge.progress
                    return .commit
                }
                try store.confirmPlace(Self.attempt)
                progress.withLock { $0 = after }
                if db.totalChangesCount != changesBefore {
                    if !members.isEmpty { changed(members) }
                    store.commits.yield(())
                }
                return verdicts
            }
        } catch {
            throw ClubError(error, attempting: Self.attempt)
        }
    }
}

/// What is remembered between the batches of one import.
struct MergeProgress: Sendable {
    /// The rows that this import has created, in order and apart: no changes of them are reported.
    private var created: [ClosedRange<Int64>] = []
    private(set) var createdCount = 0
    var changedCount = 0
    /// Whether indexes were left out that have to be made at the end; `nil` before the first batch.
    var leavesOutIndexes: Bool?
    /// Records of the ledger, cards and erasures that are new.
    var recordCount = 0
    /// Those who are as many already as may be joined (see ``MergeBatch/mostJoined``).
    var crowded: Set<String> = []
    /// Whether groups and kiosks had no state of scenarios before this import, so that it is taken in where only what is
    /// new is.
    var newSubjects: [SubjectKey: Bool] = [:]
    /// The members who have their entry in the audit log already.
    var audited: Set<Int64> = []
    /// The members of whom a row was overwritten, or would have been (see ``MergeMode/overwrite``).
    var overwritten: Set<Int64> = []
    /// Whose rows were seen, of a file in which two rows may be of one member.
    let seen = SeenRows()
    /// Who is known by identifiers that files spell otherwise.
    let spellings = KnownSpellings()

    mutating func noteCreated(_ id: Int64) { noteCreated(id...id, count: 1) }

    /// Takes note of so many rows in that range, in which there are no others.
    mutating func noteCreated(_ ids: ClosedRange<Int64>, count: Int) {
        createdCount += count
        // Rows are created with rising ids, except for those who were there and gone, or the last one was.
        var place = created.count
        if let last = created.last, last.upperBound >= ids.lowerBound {
            place = created.partitioningIndex { $0.upperBound >= ids.lowerBound }
        }
        if place < created.count, created[place].overlaps(ids) {
            let former = created[place]
            created[place] = min(former.lowerBound, ids.lowerBound)...max(former.upperBound, ids.upperBound)
        } else if place > 0, created[place - 1].upperBound + 1 == ids.lowerBound {
            created[place - 1] = created[place - 1].lowerBound...ids.upperBound
        } else {
            created.insert(ids, at: place)
        }
    }

    func hasCreated(_ id: Int64) -> Bool {
        let place = created.partitioningIndex { $0.upperBound >= id }
        return place < created.count && created[place].contains(id)
    }

    /// For the audit log; `nil` if nothing was changed.
    var counts: [String: FieldValue]? {
        guard createdCount + changedCount + recordCount > 0 else { return nil }
        return ["created": .int(createdCount), "changed": .int(changedCount), "records": .int(recordCount)]
    }
}
