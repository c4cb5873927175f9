import Diagnosis
import Foundation
import GRDB
import ReaderKit

/// The merging of one batch, in one transaction.
struct MergeBatch {
    let transaction: StoreTransaction
    var db: Database { transaction.db }
    let mode: MergeMode
    /// Who merges what, for the audit log.
    let context: ActionContext
    let detail: [String: FieldValue]
    var progress: MergeProgress

    /// How members whom this batch changes were shown before.
    private var before: [Int64: Member] = [:]
    /// The members who are there and were not shown when this batch came to them, since they were joined to somebody.
    private var hidden: Set<Int64> = []
    /// The members whose totals have to be computed again.
    private var dirty: Set<Int64> = []
    /// The rows for ``MemberSaving/refreshJoined(_:willChange:)``: once, since a batch may join thousands.
    var joined: Set<Int64> = []
    /// What was decoded last, since a member's visits mostly come one after another.
    private var decoded: (row: MemberRow, facts: MemberFacts)?
    /// The number of the latest change before this batch.
    private let journal: Int64
    /// The salts of erasures that are known.
    private var salts: Set<Data>?
    /// The latest moment of what was taken in.
    private var latest: Int64 = 0
    private var creations: Int64?
    /// The moment at which this merge records values that overwrite others.
    private var now: Stamp?
    /// Those who were erased by records of this batch and may be here, by salt.
    var erasures: [Data: [Data: Stamp]] = [:]

    /// The taps of which something was written into the ledger. This device may have receipts of them.
    var taps: [UUID] = []

    /// The names of the values of members who were there that this batch has changed, by row, for the audit log.
    var news: [Int64: Set<String>] = [:]

    /// What a person has to know of the row that was merged last.
    var notes: [String] = []
    /// The identifier under which that row counts.
    var subject = ""

    /// Whether nothing can be learnt of a member from their identifier alone.
    var hasCards: Bool
    var hasErasures: Bool
    /// Whether somebody may wait for a member whom they were joined to.
    let hasJoined: Bool
    /// The latest moment that is believed. Taking it in keeps this device's own moments within what others believe.
    let limit: Int64
    /// The latest moment at which visits of a file can have been, in microseconds: a day ahead, for clocks and time zones
    /// that differ; any where this device's clock is wrong.
    let present: Int64

    init(
        _ transaction: StoreTransaction,
        _ mode: MergeMode,
        _ progress: MergeProgress,
        _ context: ActionContext,
        detail: [String: FieldValue]
    ) throws {
        let db = transaction.db
        self.transaction = transaction
        self.context = context
        self.detail = detail
        self.mode = mode
        self.progress = progress
        hasCards = try db.has("card")
        hasErasures = try db.has("erased")
        hasJoined = try db.has("member WHERE merged_into IS NOT NULL")
        // What this device's clock has been at already does not move it, such as its own records in a backup.
        let reached = try Int64.fetchOne(db, sql: "SELECT hlc FROM clock") ?? 0
        journal = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM change") ?? 0
        let now = transaction.device.now
        let ahead = Stamp.time(milliseconds: now / 1000 + Stamp.tolerance, counter: .max)
        limit = min(max(reached, ahead), Stamp.latestTime - 1)
        let isSet = Timestamp.date(now) >= MachineDiagnosis.released
        present = isSet ? (limit >> 16) * 1000 + 999 : .max
    }

    // MARK: What has to be done at the end

    /// Computes totals, moves the clock, and reports who was changed.
    mutating func finish() throws -> [MergedMember] {
        try eraseNew()
        for id in dirty.sorted() { try transaction.members.refreshTotals(of: id, joined: &joined) }
        try transaction.members.refreshJoined(joined) { row in noteShown(row) }
        try transaction.ledger.mergeReceipts(of: taps)
        if latest > 0 { try transaction.observe(latest) }
        var changed: [MergedMember] = []
        let at = transaction.device.clock()
        for row in try shownAgain() {
            noteNews(of: row, [SystemValues.Name.mergedInto])
            changed.append(MergedMember(member: row.member, isDeleted: false, at: at))
        }
        try auditNews()
        for (id, member) in before.sorted(by: { $0.key < $1.key }) {
            guard let row = try db.members.row(id: id), row.exists, row.member.userId == member.userId else {
                changed.append(MergedMember(member: member, isDeleted: true, at: at))
                continue
            }
            // Who was joined to somebody is described as a part of them.
            guard row.status == .present, row.member != member else { continue }
            changed.append(MergedMember(member: row.member, isDeleted: false, at: at))
        }
        progress.changedCount += changed.count
        return changed
    }

    /// Those who were a part of somebody before and stand for themselves now, such as after that one was deleted
    /// elsewhere.
    private func shownAgain() throws -> [MemberRow] {
        let sql = """
            SELECT member_id FROM (
                SELECT member_id, before, min(seq) FROM change WHERE seq > ? AND member_id <> 0 GROUP BY member_id
            ) JOIN member ON member.id = member_id WHERE before IS NULL AND status = 0 ORDER BY member_id
            """
        let ids: [Int64] = try db.values(sql, [journal])
        return try ids.filter { before[$0] == nil && !progress.hasCreated($0) }.compactMap(db.members.row(id:))
    }

    /// The identifier as this device has it. Throws an ``ImportVerdict`` if it cannot be taken.
    func identifier(_ imported: String) throws -> String {
        guard MemberID.isUsable(imported) else { throw ImportVerdict.skipped(Self.unusableReason) }
        guard let identifier = transaction.device.identifier(imported: imported) else {
            throw ImportVerdict.skipped(Self.otherKeyReason)
        }
        return identifier
    }

    /// Takes note of a moment, so that what is recorded here afterwards is later.
    mutating func note(_ time: Int64) { latest = max(latest, min(time, limit)) }

    /// Takes note that a member's row is about to change. Whoever has the visits of a row that was joined to them changes
    /// at the end.
    mutating func touch(_ row: MemberRow) {
        guard row.exists else { return }
        if row.status == .present { noteShown(row) } else { hidden.insert(row.id) }
    }

    private mutating func noteShown(_ row: MemberRow) {
        guard row.status == .present, before[row.id] == nil else { return }
        if !hidden.contains(row.id), !progress.hasCreated(row.id) { before[row.id] = row.member }
    }

    mutating func touchVisits(of row: MemberRow) throws {
        guard dirty.insert(row.id).inserted else { return }
        touch(row)
        try transaction.members.markChanged(row.id)
    }

    /// A row that is there no more needs no totals.
    mutating func forget(_ id: Int64) {
        dirty.remove(id)
        joined.remove(id)
    }

    mutating func facts(of row: MemberRow) throws -> MemberFacts {
        if let decoded, decoded.row.hasSameFacts(as: row) { return decoded.facts }
        let facts = try row.facts()
        decoded = (row, facts)
        return facts
    }

    /// Whether erasures with that salt are taken in.
    mutating func knows(_ salt: Data) throws -> Bool {
        let known = try knownSalts()
        if known.contains(salt) { return true }
        guard known.count < ClubFile.mostSalts else { return false }
        salts = known.union([salt])
        return true
    }

    /// The salts of erasures, looked up once for a batch.
    private mutating func knownSalts() throws -> Set<Data> {
        let known = try salts ?? Set(db.erasures.salts())
        salts = known
        return known
    }

    // MARK: Who is joined to whom

    /// How many members one may be made of. A file that joins thousands would make each tap of theirs slow.
    static let mostJoined = 1000

    /// Whether more than ``mostJoined`` would be connected if a member were joined to another, or had that one's card.
    mutating func isTooMany(_ userID: String, joinedTo target: String?) throws -> Bool {
        guard let target, target != userID else { return false }
        if progress.crowded.contains(target) { return true }
        let most = Self.mostJoined
        guard try db.members.connected(userID, target, atMost: most + 1).count > most else { return false }
        // Asked once for those to whom nobody can be joined any more.
        let there = try db.members.connected(target, target, atMost: most + 1)
        if there.count >= most { progress.crowded.formUnion(there) }
        return true
    }

    func cardHolder(of userID: String) throws -> String? {
        guard hasCards else { return nil }
        return try db.value("SELECT member_key FROM card WHERE card_id = ?", [userID])
    }

    /// The number of the change under which this batch creates members.
    mutating func creationSequence() throws -> Int64 {
        if let creations { return creations }
        let sequence = try transaction.members.noteCreations()
        creations = sequence
        return sequence
    }

    mutating func overwriteStamp() throws -> Stamp {
        // What was taken in so far is older.
        if let now, now.time > latest { return now }
        try transaction.observe(latest)
        let stamp = try transaction.nextStamp()
        now = stamp
        return stamp
    }

    // MARK: Whose a row is

    /// The row of the member to whom an identifier leads in what merges: the holder of the card, or the one of that
    /// identifier, also one who is gone.
    func target(of userID: String) throws -> MemberRow? {
        if hasCards {
            let card = try db.row("SELECT member_key, hlc FROM card WHERE card_id = ?", [userID])
            if let card, let row = try db.members.row(userID: try card.value(0)), row.exists,
                row.ended < (try card.value(1) as Int64)
            {
                return row
            }
        }
        return try db.members.row(userID: userID)
    }

    mutating func erasure(of identifier: String) throws -> Stamp? {
        guard hasErasures else { return nil }
        // A batch may erase somebody itself, by this device's own salt.
        let (known, own) = (try knownSalts(), transaction.device.erasureSalt)
        return try db.erasures.latest(of: identifier, salts: known.contains(own) ? known : known.union([own]))
    }

    // MARK: Verdicts

    static func changes(from before: Member, to after: Member) -> [FieldDifference] {
        func values(of member: Member) -> [String: FieldValue] {
            var values = member.record
            values[FieldKey.username.stringValue] = member.username.map { .string($0) }
            return values
        }
        let names = FieldKey.baseNames + Set(before.fields.keys).union(after.fields.keys).sorted()
        let (old, new) = (values(of: before), values(of: after))
        return names.compactMap { FieldDifference($0, from: old[$0], to: new[$0]) }
    }

    /// The names and custom fields for which others state something else than what is shown.
    static func conflicts(
        of said: (username: FieldValue?, fields: [String: FieldValue]),
        with shown: Member,
        isUntyped: Bool
    ) -> [FieldDifference] {
        var conflicts: [FieldDifference] = []
        func compare(_ name: String, _ stored: FieldValue?, _ imported: FieldValue?) {
            guard let imported, !imported.isNothing, !Self.isSame(stored, imported, isUntyped) else { return }
            conflicts.append(FieldDifference(name, stored: stored, imported: imported))
        }
        compare(FieldKey.username.stringValue, shown.username.map { .string($0) }, said.username)
        for (name, value) in said.fields.sorted(by: { $0.key < $1.key }) { compare(name, shown.fields[name], value) }
        return conflicts
    }

    /// Whether two values are the same. What comes from CSV knows no types.
    static func isSame(_ stored: FieldValue?, _ imported: FieldValue, _ isUntyped: Bool) -> Bool {
        guard let stored else { return imported.isNothing }
        return stored.normalized == imported.normalized || (isUntyped && stored.cellText == imported.cellText)
    }

    static let erasedReason = """
        Whoever had this identifier was erased here, and does not come back by way of a file. If it is somebody else's \
        now, add them with 'members add'; then the same file is taken.
        """
    static let formerReason = """
        It tells of a time before whoever had this identifier was erased, and so of that person. What is true of the \
        member who has it now can be entered with 'members edit'.
        """
    static func spellingNote(_ other: String) -> String {
        """
        \(PlainText.line(other)) is known, of whom an identifier differs in capital letters, separators or leading zeros \
        alone, as where a spreadsheet took them away; if they are one person, 'members merge' makes one of them
        """
    }

    static let aheadNote = """
        the last visit lies ahead of this machine's clock and does not count; a total is as of now, so that visits add to it
        """
    static let shortenedNote = """
        a spreadsheet has shortened what is known, which stays; give the column the format 'Text' where it is whole
        """
    static let formerTotalNote =
        "the total is of a time before this member was deleted here, and does not count any more"
    static let erasedRecordReason = "This person was erased here, and does not come back by way of a file."
    static let deletedReason = """
        This member was deleted later than the row tells of. If that was a mistake, 'members add' brings them back; \
        then the same file is taken.
        """
    static let otherKeyReason =
        "The identifier was hidden under another key. Give the key with which the file was made."
    static let addOnlyReason =
        "It tells of somebody who was erased. Where members are only added, nobody is erased; merge it."
    static let overfullReason = "It would make more than \(ClubFile.mostParts) totals, sales or values of one member."
    static let joinedReason = "It would make one member of more than \(mostJoined)."
    static let saltReason = "More than \(ClubFile.mostSalts) devices have erased somebody."
    static let unusableReason = "The identifier is empty, too long or not plain."
    static let newerReason = "It tells of something that only a newer version of this program knows. Update it."
    static let erasedBeforeReason =
        "It is a visit of somebody who was erased and came again, of whom nothing is known here. Merge who they are first."
    static let timeReason = "It has a time that no clock can have."
    static let aheadReason = """
        It is dated more than a day ahead of this device's clock. Set the clocks of both devices, and merge again; what a \
        device records after its clock was ahead is taken in from the day on that 'clubctl check' names there.
        """
}

/// Thrown where a record or row is not taken in.
extension ImportVerdict: Error {
    /// What merging made of a member who was there.
    static func of(_ changes: [FieldDifference] = [], conflicts: [FieldDifference]) -> ImportVerdict {
        changes.isEmpty && conflicts.isEmpty ? .kept : .merged(changes: changes, conflicts: conflicts)
    }
}

extension FieldValue {
    /// Whether it states nothing.
    var isNothing: Bool { self == .null || self == .string("") }
}

/// What a merge changes of a member besides the values that lists show.
extension MergeBatch {
    /// What has changed in whether somebody is a member, is let in, and in what the desk keeps of them. The names are
    /// those under which no custom field can be.
    static func standing(from before: MemberFacts, to after: MemberFacts) -> [FieldDifference] {
        zip(kept(of: before), kept(of: after)).compactMap { FieldDifference($0.name, from: $0.value, to: $1.value) }
    }

    /// What the club keeps of a member for which others state something else than what counts after all. What they omit
    /// is no conflict, nor that they have no notes.
    static func conflicts(of said: MemberFacts, with facts: MemberFacts) -> [FieldDifference] {
        zip(kept(of: facts), kept(of: said)).compactMap { stored, imported in
            switch stored.name {
            case SystemValues.Name.notes where imported.value == nil: nil
            case SystemValues.Name.blocked, SystemValues.Name.expires, SystemValues.Name.notes:
                said.value(stored.name).flatMap { _ in
                    FieldDifference(stored.name, from: stored.value, to: imported.value)
                }
            default: nil
            }
        }
    }

    private static func kept(of facts: MemberFacts) -> [(name: String, value: FieldValue?)] {
        let values = SystemValues(facts)
        let expires = values.expiresAt.map { ISO8601.text(Timestamp.date($0)) }
        let bought = values.packs.reduce(0) { $0 &+ $1.visits }
        return [
            ("$state", .string(facts.exists ? "member" : facts.erasure != nil ? "erased" : "deleted")),
            (SystemValues.Name.blocked, values.blocked.map { .string($0) }),
            (SystemValues.Name.expires, expires.map { .string($0) }),
            ("$visitsBought", values.packs.isEmpty ? nil : .int(bought)),
            (SystemValues.Name.notes, values.notes.map { .string($0) }),
            ("$tags", values.tags.isEmpty ? nil : .array(values.tags.map { .string($0) })),
            (SystemValues.Name.mergedInto, values.mergedInto.map { .string($0) }),
        ]
    }
}

extension FieldDifference {
    fileprivate init?(_ field: String, from stored: FieldValue?, to imported: FieldValue?) {
        guard stored != imported else { return nil }
        self.init(field, stored: stored, imported: imported)
    }
}

/// The audit log of a merge: an entry for each member who was there and of whom something else is recorded now, and one
/// for all (see ``StoreImportSink/finish()``).
///
/// Visits and undoings have none of their own, since the ledger records where and by whom each was made: otherwise
/// every visit would stand in the log of every other device.
extension MergeBatch {
    /// Takes note that values of a member are others now, unless this merge has created them.
    mutating func noteNews(of row: MemberRow, _ names: some Sequence<String>) {
        guard !progress.hasCreated(row.id) else { return }
        let names = Set(names)
        if !names.isEmpty { news[row.id, default: []].formUnion(names) }
    }

    /// Writes down whom this batch has changed, each of them once in a merge.
    mutating func auditNews() throws {
        for (id, names) in news.sorted(by: { $0.key < $1.key }) where progress.audited.insert(id).inserted {
            // The log must not name somebody again who was erased.
            guard let row = try db.members.row(id: id), try erasure(of: row.member.userId) == nil else { continue }
            var detail = detail
            detail["fields"] = .array(names.sorted().map { .string($0) })
            try transaction.audit(.merged, of: row.member.userId, context, detail: detail)
        }
    }
}
