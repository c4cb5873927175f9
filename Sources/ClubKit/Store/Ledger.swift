import Foundation
import GRDB
import ReaderKit

struct VisitRow: Sendable, Hashable {
    var eventID: UUID
    var stamp: Stamp
    /// Microseconds since 1970.
    var at: Int64
    var reader = ""
    var backend = ""
    /// The time of the creation of the member under which it was made.
    var born: Int64
    var source = Visit.Source.card
    var reason: String?
    var actor: String?

    /// A condition of `visit`, which holds unless somebody undid it.
    static let isCounted = "NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id)"
}

extension VisitRow {
    /// A visit that a person recorded.
    init(_ eventID: UUID, _ stamp: Stamp, at: Int64, born: Int64, by context: ActionContext) {
        self.init(eventID: eventID, stamp: stamp, at: at, born: born, source: .manual)
        reason = context.reason.map(PlainText.line)
        actor = context.actor.map(PlainText.line)
    }
}

struct Ledger {
    let transaction: StoreTransaction

    private var db: Database { transaction.db }

    /// Writes a visit into the ledger. Nothing is counted yet.
    func insertVisit(_ visit: VisitRow, of memberID: Int64) throws {
        try db.run(
            """
            INSERT INTO visit (event_id, device_id, hlc, member_id, at, reader, backend, born, source, reason, actor)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .uuid(visit.eventID), .uuid(visit.stamp.device), .integer(visit.stamp.time), .integer(memberID),
                .integer(visit.at), .text(visit.reader), .text(visit.backend), .integer(visit.born),
                .text(visit.source.rawValue), .optional(visit.reason), .optional(visit.actor),
            ]
        )
    }

    /// Puts another record of a visit into the place of the one in the ledger. Nothing is counted yet.
    func replaceVisit(_ visit: VisitRow, of memberID: Int64) throws {
        try transaction.permittingChanges {
            let sql = """
                UPDATE visit SET device_id = ?2, hlc = ?3, member_id = ?4, at = ?5, reader = ?6, backend = ?7,
                    born = ?8, source = ?9, reason = ?10, actor = ?11
                WHERE event_id = ?1
                """
            try db.cachedStatement(sql: sql).execute(arguments: [
                visit.eventID, visit.stamp.device, visit.stamp.time, memberID, visit.at, visit.reader, visit.backend,
                visit.born, visit.source.rawValue, visit.reason, visit.actor,
            ])
        }
    }

    /// Counts a visit that was just written into the ledger; returns the member's row after it.
    @discardableResult
    func count(_ row: MemberRow, at time: Int64) throws -> MemberRow? {
        let sequence = try transaction.members.noteChange(of: row.id)
        // The same as counting the whole ledger, whatever its length, for whom nothing but the ledger counts.
        let values: [BoundValue] = [.integer(time), .integer(sequence), .integer(row.id)]
        if let counted = try db.first(Self.countVisit, values, { try MemberRow($0) }) { return counted }
        try db.execute(sql: "UPDATE member SET change_seq = ? WHERE id = ?", arguments: [sequence, row.id])
        try transaction.members.refreshTotals(of: row.id)
        return try db.members.row(id: row.id)
    }

    private static let countVisit = """
        UPDATE member SET own_visits = own_visits + 1, num_visits = num_visits + 1,
            last_visit_at = max(coalesce(last_visit_at, 0), ?), visits_left = max(0, visits_left - 1), change_seq = ?
        WHERE id = ? AND claim_visits IS NULL
            AND NOT EXISTS (SELECT 1 FROM member AS other WHERE other.merged_into = member.user_id)
        RETURNING \(MemberRow.columns)
        """

    /// Counts a visit that no card reported.
    func record(
        _ id: UUID,
        of row: MemberRow,
        at time: Int64,
        _ context: ActionContext,
        _ attempt: String
    ) throws -> MemberStore.Changed {
        let visit = VisitRow(id, try transaction.nextStamp(), at: time, born: row.origin.time, by: context)
        try insertVisit(visit, of: row.id)
        try count(row, at: time)
        let detail = ["visit": FieldValue.string(id.uuidString)]
        try transaction.audit(.recordedVisit, of: row.member.userId, context, detail: detail)
        return try transaction.changed(row.id, attempt)
    }

    func undo(_ id: UUID, _ context: ActionContext, _ attempt: String) throws -> MemberStore.Changed {
        // A visit that ended with a deletion counts nowhere already.
        let sql = """
            SELECT member_id FROM visit JOIN member ON member.id = member_id
            WHERE event_id = ? AND born > ended_hlc AND \(VisitRow.isCounted)
            """
        let found: Int64? = try db.value(sql, [id])
        guard let memberID = found, let row = try db.members.row(id: memberID), row.exists else {
            throw ClubError(.noSuchVisit, attempting: attempt)
        }
        let stamp = try transaction.nextStamp()
        try db.execute(
            sql: "INSERT INTO undo (event_id, device_id, hlc, at, reason, actor) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                id, stamp.device, stamp.time, transaction.device.now,
                context.reason.map(PlainText.line), context.actor.map(PlainText.line),
            ]
        )
        try transaction.events.undo(ofVisit: id)
        try transaction.members.markChanged(memberID)
        try transaction.members.refreshTotals(of: memberID)
        try transaction.audit(.undidVisit, of: row.member.userId, context, detail: ["visit": .string(id.uuidString)])
        return try transaction.changed(try db.members.representative(of: row).id, attempt)
    }

    // MARK: Receipts

    /// Keeps what became of a tap, with the member's totals as they are now.
    func insert(_ receipt: Receipt, memberID: Int64?) throws {
        try db.run(
            """
            INSERT INTO receipt (event_id, at, reader, backend, outcome, reason_code, reason, notices, member_id,
                num_visits, last_visit_at)
            SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT num_visits FROM member WHERE id = ?9),
                (SELECT last_visit_at FROM member WHERE id = ?9)
            """,
            [
                .uuid(receipt.eventID), .integer(Timestamp.microseconds(receipt.at) ?? 0), .text(receipt.reader),
                .text(receipt.backend.rawValue), .text(receipt.outcome.name),
                .optional(receipt.outcome.reason?.code.rawValue), .optional(receipt.outcome.reason?.message),
                try receipt.notices.isEmpty ? .null : .text(MemberRow.json(receipt.notices)), .optional(memberID),
            ]
        )
    }

    /// Sets the totals of a receipt to those of the member to whom the one who tapped was joined.
    func tellTotals(of row: MemberRow, in eventID: UUID) throws {
        try db.run(
            "UPDATE receipt SET num_visits = ?, last_visit_at = ? WHERE event_id = ?",
            [.integer(Int64(row.member.numVisits)), row.latest == 0 ? .null : .integer(row.latest), .uuid(eventID)]
        )
    }

    /// Makes the receipts of taps agree with the ledger after a merge: that each counts, and for whom.
    ///
    /// The rest of a receipt of the same member stays, so that the tap is answered as it was at first. A tap of a card
    /// that this device has lost, such as by restoring a backup, gets a receipt: submitted again, it must add nothing.
    func mergeReceipts(of taps: [UUID]) throws {
        var rest = taps[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.askedAtOnce)
            rest = rest.dropFirst(part.count)
            // Few of another device's taps were submitted here.
            let sql = """
                SELECT event_id, visit.member_id FROM visit LEFT JOIN receipt USING (event_id)
                WHERE event_id IN (\(databaseQuestionMarks(count: part.count))) AND CASE
                    WHEN receipt.event_id IS NULL THEN device_id = ? AND source = 'card'
                    ELSE receipt.member_id IS NOT visit.member_id OR outcome NOT IN ('created', 'visit') END
                """
            let arguments = StatementArguments(part) + [transaction.device.id]
            for row in try Row.fetchAll(db, sql: sql, arguments: arguments) {
                guard let owner = try db.members.row(id: try row.value("member_id")) else { continue }
                try mergeReceipt(of: try row.value("event_id"), totals: db.members.shown(for: owner))
            }
        }
    }

    /// So many taps are looked up by one question.
    private static let askedAtOnce = 500

    private func mergeReceipt(of eventID: UUID, totals: MemberRow) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO receipt (event_id, at, reader, backend, outcome, member_id, num_visits, last_visit_at)
                SELECT event_id, at, reader, backend, 'visit', member_id, ?2, ?3 FROM visit WHERE event_id = ?1
                ON CONFLICT (event_id) DO UPDATE SET outcome = 'visit', reason_code = NULL, reason = NULL,
                    notices = NULL, at = excluded.at, reader = excluded.reader, backend = excluded.backend,
                    member_id = excluded.member_id,
                    num_visits = CASE WHEN receipt.member_id IS excluded.member_id THEN receipt.num_visits
                        ELSE excluded.num_visits END,
                    last_visit_at = CASE WHEN receipt.member_id IS excluded.member_id THEN receipt.last_visit_at
                        ELSE excluded.last_visit_at END
                """
        ).execute(arguments: [eventID, totals.member.numVisits, totals.latest == 0 ? nil : totals.latest])
    }
}

extension Database {
    var receipts: StoredReceipts { StoredReceipts(db: self) }
}

struct StoredReceipts {
    let db: Database

    /// The receipt of a tap that was seen before, with the member's totals as they were right after it.
    func receipt(of eventID: UUID) throws -> Receipt? {
        let sql = """
            SELECT at, reader, backend, outcome, reason_code, reason, notices, member_id, num_visits, last_visit_at
            FROM receipt WHERE event_id = ?
            """
        return try db.first(sql, [.uuid(eventID)]) { try receipt(eventID, $0) }
            ?? receiptOfMergedVisit(eventID)
    }

    private func receipt(_ eventID: UUID, _ row: StatementRow) throws -> Receipt {
        guard
            let backend = BackendKind(rawValue: try row.value(2)),
            let outcome = try Receipt.Outcome(name: row.value(3), code: row.optional(4), message: row.optional(5))
        else { throw ClubError(.corrupt, attempting: "read the receipt of a tap", detail: "a value has no meaning") }
        let at = Timestamp.date(try row.value(0))
        var receipt = Receipt(eventID: eventID, at: at, reader: try row.value(1), backend: backend, outcome: outcome)
        if let notices: String = try row.optional(6) {
            receipt.notices = (try? JSONDecoder().decode([Receipt.Notice].self, from: Data(notices.utf8))) ?? []
        }
        if let memberID: Int64 = try row.optional(7), let owner = try db.members.row(id: memberID) {
            var member = try (owner.exists ? db.members.representative(of: owner) : owner).member
            member.numVisits = try row.optional(8) ?? 0
            let latest: Int64? = try row.optional(9)
            member.timeStampOfLastVisit = latest.map(Timestamp.seconds) ?? 0
            receipt.member = member
        }
        if receipt.outcome.isCounted { receipt.executions = try db.executions.all(where: "e.visit = ?", [eventID]) }
        return receipt
    }

    /// The answer to a tap that another device has recorded: it counts once, wherever it is submitted.
    private func receiptOfMergedVisit(_ eventID: UUID) throws -> Receipt? {
        let sql = "SELECT at, reader, backend, member_id FROM visit WHERE event_id = ?"
        let visit = try db.first(sql, [.uuid(eventID)]) {
            (
                at: try $0.value(0) as Int64, reader: try $0.value(1) as String, backend: try $0.value(2) as String,
                memberID: try $0.value(3) as Int64
            )
        }
        guard let visit, let owner = try db.members.row(id: visit.memberID) else { return nil }
        return Receipt(
            eventID: eventID,
            at: Timestamp.date(visit.at),
            reader: visit.reader,
            backend: BackendKind(rawValue: visit.backend) ?? .simulated,
            outcome: .visit,
            member: try db.members.representative(of: owner).member
        )
    }
}

extension Receipt.Outcome {
    /// The outcome as the store keeps it.
    fileprivate init?(name: String, code: String?, message: String?) {
        let reason = code.flatMap(Receipt.Reason.Code.init(rawValue:)).map { Receipt.Reason($0, message ?? "") }
        switch (name, reason) {
        case ("created", _): self = .created
        case ("visit", _): self = .visit
        case ("repeat", _): self = .repeat
        case ("ignored", let reason?): self = .ignored(reason)
        case ("rejected", let reason?): self = .rejected(reason)
        default: return nil
        }
    }
}

extension MemberStore {
    package struct ManualVisit: Sendable {
        var changed: Changed
        var executions: [ScenarioExecution]
    }

    /// Counts a visit that no card reported.
    ///
    /// - Parameter scenarios: what it may be charged with if it is the latest of the member: at an earlier one, what later
    ///   ones brought would come again.
    package func recordVisit(
        of key: String,
        at date: Date?,
        id: UUID,
        _ context: ActionContext,
        scenarios: ScenarioTap? = nil,
        committed: @escaping @Sendable (ManualVisit) -> Void
    ) async throws(ClubError) -> ManualVisit {
        let attempt = "record a visit"
        let key = device.identifiers(key)
        let time = try timeOfVisit(date, attempt)
        return try await write(attempt, committed: committed) { transaction in
            let row = try transaction.db.members.member(key, attempt)
            // What a clock that was wrong dated ahead is not the latest for years.
            let end = transaction.device.now + 86_400 * Timestamp.second
            let isLatest =
                try time >= row.latest
                || row.latest > end
                    && ScenarioState(row, in: transaction.db).countVisits(after: time, through: end) == 0
            let changed = try transaction.ledger.record(id, of: row, at: time, context, attempt)
            var executions: [ScenarioExecution] = []
            if let scenarios, isLatest, let counted = try transaction.db.members.row(id: row.id) {
                executions = try transaction.executions.charge(
                    scenarios,
                    for: counted,
                    owner: counted,
                    visit: id,
                    at: time
                )
            }
            return ManualVisit(changed: changed, executions: executions)
        }
    }

    /// When a visit by hand was: now unless specified.
    private func timeOfVisit(_ date: Date?, _ attempt: String) throws(ClubError) -> Int64 {
        guard let time = Timestamp.microseconds(date ?? clock()) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: "the time is outside the years 1970 to 9999")
        }
        // A day, for clocks that differ.
        guard time <= device.now + 86_400 * Timestamp.second else {
            let detail = "the time is in the future; a visit is recorded when it was made"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        return time
    }

    /// Does what an application changed in a record, in one transaction.
    ///
    /// - Parameters:
    ///   - ids: one for each visit that there are more.
    ///   - committed: called with each change after the commit, in their order.
    func apply(
        _ edit: UserEdit,
        ids: [UUID],
        _ context: ActionContext,
        committed: @escaping @Sendable (MembershipUpdateReason, Changed) -> Void
    ) async throws(ClubError) {
        let attempt = "change a member"
        let key = device.identifiers(edit.userId)
        let time = try timeOfVisit(edit.visitTime, attempt)
        let told: @Sendable ([(reason: MembershipUpdateReason, changed: Changed)]) -> Void = { changes in
            for change in changes { committed(change.reason, change.changed) }
        }
        _ = try await write(attempt, committed: told) {
            transaction -> [(reason: MembershipUpdateReason, changed: Changed)] in
            let row = try transaction.db.members.member(key, attempt)
            var changes: [(reason: MembershipUpdateReason, changed: Changed)] = []
            var member = row.member
            if let name = edit.username { member.username = name }
            member.fields.merge(edit.fields) { $1 }
            if let changed = try transaction.members.edit(row, to: member, context, attempt) {
                changes.append((.edit, changed))
            }
            for id in ids {
                let row = try transaction.db.members.member(key, attempt)
                changes.append((.manualVisit, try transaction.ledger.record(id, of: row, at: time, context, attempt)))
            }
            guard edit.visits < 0 else { return changes }
            let visits = try transaction.db.members.visits(of: key, limit: -edit.visits, counted: true, attempt)
            guard visits.count == -edit.visits else {
                let detail = "there are only \(visits.count) visits in the ledger to undo"
                throw ClubError(.invalidValue, attempting: attempt, detail: detail)
            }
            for visit in visits { changes.append((.undo, try transaction.ledger.undo(visit.id, context, attempt))) }
            return changes
        }
    }

    package func undoVisit(
        _ id: UUID,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "undo a visit"
        return try await write(attempt, committed: committed) { transaction in
            try transaction.ledger.undo(id, context, attempt)
        }.member
    }
}
