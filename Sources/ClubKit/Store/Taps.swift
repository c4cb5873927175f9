import Foundation
import GRDB
import ReaderKit

package enum UnknownCard: Sendable {
    case create
    case ignore
    /// Write nothing and state that the question has to be asked.
    case ask
}

/// By what a tap is judged. Times are in microseconds.
package struct TapRules: Sendable {
    /// How near a tap may be to a counted visit without being a repeat.
    package var cooldown: Int64
    /// How long in advance the end of a membership is announced.
    package var expiryWarning: Int64 = 14 * 86_400 * Timestamp.second
    /// The number of visits left up to which it is announced.
    package var visitsWarning = 2
    /// Whether taps are acknowledged and not counted.
    package var isMaintenance = false
    /// The scenarios that a counted visit may be charged with.
    package var scenarios: ScenarioPlan?
    /// Those of them whose own code refused, which was asked before.
    package var refusedScenarios: Set<String> = []

    package init(cooldown: Int64) {
        self.cooldown = cooldown
    }
}

extension MemberStore {
    /// Commits a tap and returns its receipt, or `nil` if the card is unknown and `unknown` is ``UnknownCard/ask``.
    ///
    /// A task that was cancelled before commits nothing; later its tap is committed all the same.
    ///
    /// - Parameters:
    ///   - event: the tap. If its id was seen before, the result is its first receipt and nothing changes.
    ///   - rules: by what it is judged.
    ///   - unknown: what to do with an unknown card.
    ///   - messages: kept in the inbox in the same transaction, if the tap is new.
    ///   - committed: called once for each receipt that is new, after the commit and in the order of the commits. It is
    ///     called on the writer's queue: it must not wait for anything.
    package func receive(
        _ event: ScanEvent,
        rules: TapRules,
        unknown: UnknownCard,
        keeping messages: [Message] = [],
        committed: @escaping @Sendable (Receipt) -> Void
    ) async throws(ClubError) -> Receipt? {
        guard !Task.isCancelled else { throw ClubError(CancellationError(), attempting: Self.tapAttempt) }
        var kept: [KeptMessage] = []
        for message in messages { kept.append(try KeptMessage(message, Self.tapAttempt)) }
        let tap = Tap(event: event, rules: rules, unknown: unknown, messages: kept, committed: committed)
        return try await taps.add(tap) { self.commit($0, answer: $1) }.get()
    }

    package static let tapAttempt = "record a tap"

    /// Goes the way of a tap, over its thread into a transaction that may write, and changes nothing.
    func pulse() async throws(ClubError) {
        let result = await withCheckedContinuation { answer in
            taps.thread.submit { [database] in
                answer.resume(
                    returning: Result {
                        try database.writeWithoutTransaction { db in try db.inTransaction(.immediate) { .rollback } }
                    }
                )
            }
        }
        try ClubError.wrapping("reach the member database") { try result.get() }
    }

    /// Commits taps together.
    ///
    /// - Parameter answer: called with the tap's place and its answer, once that is known.
    private func commit(_ taps: [Tap], answer: (Int, TapQueue.Committed) -> Void) {
        do {
            for (index, result) in try record(taps).enumerated() { answer(index, result) }
        } catch {
            let error = ClubError(error, attempting: Self.tapAttempt)
            for (index, tap) in taps.enumerated() {
                // Nothing of them is there. One of them may have been too much, or all of them at once; then each has an
                // answer of its own.
                if taps.count > 1, !Self.concernsAll.contains(error.kind) {
                    commit([tap]) { answer(index, $1) }
                } else {
                    answer(index, .failure(error))
                }
            }
        }
    }

    /// What each of the taps would have to wait for in vain once more.
    private static let concernsAll: Set<ClubError.Kind> = [.busy, .notOpen, .readOnly, .cannotOpen, .inputOutput]

    /// - Throws: if nothing was committed.
    private func record(_ taps: [Tap]) throws -> [TapQueue.Committed] {
        try database.writeWithoutTransaction { db in
            var answers: [Tap.Answer] = []
            let transaction = self.transaction(db)
            try db.inTapTransaction {
                answers = try taps.map { tap in
                    let answer = try TapTaking(transaction: transaction).take(tap)
                    if answer.isNew { for message in tap.messages { try transaction.messages.keep(message) } }
                    return answer
                }
                return answers.contains(where: \.isNew) ? .commit : .rollback
            }
            if answers.contains(where: { $0.receipt != nil }) {
                do throws(ClubError) {
                    try confirmPlace(Self.tapAttempt)
                } catch {
                    return answers.map { $0.receipt == nil ? .success(nil) : .failure(error) }
                }
            }
            for (tap, answer) in zip(taps, answers) {
                if answer.isNew, let receipt = answer.receipt { tap.committed(receipt) }
            }
            if answers.contains(where: \.isNew) { commits.yield(()) }
            return answers.map { .success($0.receipt) }
        }
    }

    /// Whether a tap was recorded, here or by a device whose visits are here.
    package func hasReceived(_ eventID: UUID) async throws(ClubError) -> Bool {
        try await read("look up a tap") { db in
            try db.has("receipt WHERE event_id = ?", [eventID]) || db.has("visit WHERE event_id = ?", [eventID])
        }
    }
}

private struct TapTaking {
    let transaction: StoreTransaction

    private var db: Database { transaction.db }

    func take(_ tap: Tap) throws -> Tap.Answer {
        let (event, rules) = (tap.event, tap.rules)
        if var receipt = try db.receipts.receipt(of: event.id) {
            receipt.isDuplicate = true
            return Tap.Answer(receipt: receipt)
        }
        let time = Timestamp.microseconds(event.at)
        // The time is rounded to what the store keeps, so that the first receipt equals a later one.
        var receipt = Receipt(
            eventID: event.id,
            at: Timestamp.date(time ?? transaction.device.now),
            reader: PlainText.line(event.reader),
            backend: event.backend,
            outcome: .repeat
        )
        let rejection = Rejection.reason(for: event, time: time)
        if rejection != nil || rules.isMaintenance {
            receipt.outcome = rejection.map { .rejected($0) } ?? .ignored(Rejection.maintenance)
            try transaction.ledger.insert(receipt, memberID: nil)
            return Tap.Answer(receipt: receipt, isNew: true)
        }
        // Both were looked at above.
        guard let time, let key = event.memberKey.map(transaction.device.identifier(read:)) else { return Tap.Answer() }

        let memberID: Int64
        var counted: MemberRow?
        switch try holder(of: key, read: event.memberKey) {
        case .member(let row, let cardIsBlocked):
            memberID = row.id
            receipt.outcome = try outcome(of: time, for: row, cardIsBlocked, rules)
            if receipt.outcome == .visit {
                try insertVisit(receipt, at: time, memberID: memberID, born: row.origin)
                counted = try transaction.ledger.count(row, at: time)
            }
        case .nobody(let former):
            switch tap.unknown {
            case .ask: return Tap.Answer()
            case .ignore:
                receipt.outcome = .ignored(Rejection.unknownCard)
                try transaction.ledger.insert(receipt, memberID: nil)
                return Tap.Answer(receipt: receipt, isNew: true)
            case .create:
                let stamp = try transaction.nextStamp()
                memberID = try create(key, former, name: event.memberName, at: time, stamp)
                receipt.outcome = try outcomeOfCreation(memberID, at: time, rules)
                if receipt.outcome.isCounted {
                    try insertVisit(receipt, at: time, memberID: memberID, born: stamp)
                    try transaction.members.refreshTotals(of: memberID)
                }
            }
        }
        let row = try counted ?? db.members.row(id: memberID).map { try db.members.shown(for: $0) }
        receipt.member = row?.member
        if let row, receipt.outcome.isCounted { receipt.notices = Self.notices(for: row, at: time, rules) }
        try transaction.ledger.insert(receipt, memberID: memberID)
        if let row, row.id != memberID { try transaction.ledger.tellTotals(of: row, in: receipt.eventID) }
        if let row, let plan = rules.scenarios, receipt.outcome.isCounted {
            receipt.executions = try transaction.executions.charge(
                ScenarioTap(plan: plan, refused: rules.refusedScenarios),
                for: row,
                owner: row.id == memberID ? row : db.members.row(id: memberID) ?? row,
                visit: receipt.eventID,
                at: time
            )
        }
        return Tap.Answer(receipt: receipt, isNew: true)
    }

    /// To whom a card belongs that was read. What is written on a pass may have been typed at the desk before, where it
    /// was taken for a UID; and a UID may have come with a file that spells it otherwise.
    private func holder(of key: String, read: String?) throws -> StoredMembers.Holder {
        let holder = try db.members.holder(of: key)
        guard case .nobody = holder, let read else { return holder }
        for other in CardKey.normalised(read).map({ [$0] }) ?? CardKey.spellings(read) {
            let known = try db.members.holder(of: transaction.device.identifier(read: other))
            if case .member = known { return known }
        }
        return holder
    }

    private func create(
        _ key: String,
        _ former: MemberRow?,
        name: String?,
        at time: Int64,
        _ stamp: Stamp
    ) throws -> Int64 {
        var facts = try former?.facts() ?? db.erasures.newFacts(of: key)
        facts.add(MemberFacts.Birth(stamp, at: time))
        let name = PlainText.line(name ?? "")
        if !name.isEmpty {
            // A card describes what was known when it was written; as of its tap it must not win over what people set.
            let seen = Stamp(time: Stamp.time(milliseconds: time / 1000, counter: 0), device: transaction.device.id)
            facts.set("username", .string(name), seen < stamp && facts.isAlive(seen) ? seen : stamp)
        }
        guard let former else { return try transaction.members.insert(key, facts) }
        try transaction.members.save(facts, of: former.id)
        return former.id
    }

    /// What a tap of a member comes to.
    private func outcome(
        of time: Int64,
        for row: MemberRow,
        _ cardIsBlocked: Bool,
        _ rules: TapRules
    ) throws -> Receipt.Outcome {
        if cardIsBlocked { return .rejected(Rejection.cardBlocked) }
        if let reason = row.blocked { return .rejected(Rejection.blocked(reason)) }
        if try isRepeat(time, of: row, cooldown: rules.cooldown) { return .repeat }
        if let end = row.expiresAt, end <= time { return .rejected(Rejection.expired) }
        if row.visitsLeft == 0 { return .rejected(Rejection.noVisitsLeft) }
        return .visit
    }

    /// The outcome of the tap that made a member: another kiosk may have recorded before that they are not let in, or
    /// whom they are one with.
    private func outcomeOfCreation(_ id: Int64, at time: Int64, _ rules: TapRules) throws -> Receipt.Outcome {
        guard let row = try db.members.row(id: id).map({ try db.members.shown(for: $0) }) else { return .created }
        let outcome = try self.outcome(of: time, for: row, false, rules)
        return outcome == .visit && row.id == id ? .created : outcome
    }

    private static func notices(for row: MemberRow, at time: Int64, _ rules: TapRules) -> [Receipt.Notice] {
        var notices: [Receipt.Notice] = []
        if let end = row.expiresAt, end - time <= rules.expiryWarning {
            notices.append(.expiresSoon(Timestamp.date(end)))
        }
        if let left = row.visitsLeft, left <= rules.visitsWarning { notices.append(.visitsLeft(left)) }
        return notices
    }

    /// Whether a tap is nearer than the cooldown to a visit of the member that was counted.
    ///
    /// The distance counts, not the order, so that a clock that was set back and a tap that arrives late cannot count
    /// one presence twice, and a clock that was wrong by more does not silence the member.
    private func isRepeat(_ time: Int64, of row: MemberRow, cooldown: Int64) throws -> Bool {
        func isRepeat(of row: MemberRow) throws -> Bool {
            // Neither sum overflows: both parts are between 0 and Timestamp.latest.
            try db.first(
                """
                SELECT EXISTS (SELECT 1 FROM visit WHERE member_id = ? AND at > ? AND at < ? AND born > ?
                    AND \(VisitRow.isCounted))
                """,
                [.integer(row.id), .integer(time - cooldown), .integer(time + cooldown), .integer(row.ended)]
            ) { try $0.value(0) } ?? false
        }
        if try isRepeat(of: row) { return true }
        // Only then are there visits of somebody who was joined to this member.
        guard row.member.numVisits != row.ownVisits else { return false }
        return try db.members.joined(to: row).contains { try $0.id != row.id && isRepeat(of: $0) }
    }

    private func insertVisit(_ receipt: Receipt, at time: Int64, memberID: Int64, born: Stamp) throws {
        try transaction.ledger.insertVisit(
            VisitRow(
                eventID: receipt.eventID,
                stamp: transaction.nextStamp(),
                at: time,
                reader: receipt.reader,
                backend: receipt.backend.rawValue,
                born: born.time
            ),
            of: memberID
        )
    }
}

/// What was presented before, by passes and tags of which a recording could be presented again.
extension MemberStore {
    /// Takes a pass that counts once; returns whether it is new.
    func takeOnce(_ digest: [UInt8], until end: Date, now: Date) throws -> Bool {
        try remember { db in
            try db.execute(sql: "DELETE FROM presented WHERE until < ?", arguments: [Timestamp.microseconds(now)])
            let sql = "INSERT OR IGNORE INTO presented (name, until) VALUES (?, ?)"
            try db.execute(sql: sql, arguments: [Hex.encode(digest), Timestamp.microseconds(end)])
            return db.changesCount == 1
        }
    }

    /// Takes the number of a tap that a tag counts; returns whether it is greater than all that were taken of that tag.
    func takeCounter(_ value: UInt32, of tag: [UInt8]) throws -> Bool {
        let name = device.identifier(read: Hex.encode(tag))
        return try remember { db in
            try db.execute(
                sql: """
                    INSERT INTO presented (name, counter) VALUES (?1, ?2)
                    ON CONFLICT (name) DO UPDATE SET counter = ?2 WHERE counter < ?2
                    """,
                arguments: [name, Int64(value)]
            )
            return db.changesCount == 1
        }
    }

    /// On the thread of the reader, which waits for the answer; committed when this returns.
    private func remember(_ body: (Database) throws -> Bool) throws -> Bool {
        let attempt = "remember a pass"
        return try ClubError.wrapping(attempt) {
            try database.writeWithoutTransaction { db in
                var isNew = false
                try db.inTransaction(.immediate) {
                    isNew = try body(db)
                    return .commit
                }
                try confirmPlace(attempt)
                return isNew
            }
        }
    }
}
