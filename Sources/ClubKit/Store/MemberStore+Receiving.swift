import Foundation
import GRDB
import ReaderKit

/// What to do with an unknown card.
package enum UnknownCard: Sendable {
    case create
    case ignore
    /// Write nothing and say that the question has to be asked.
    case ask
}

extension MemberStore {
    /// How a tap was met.
    private enum Answer: Sendable {
        case new(Receipt)
        case seenBefore(Receipt)
        case unknownCard
    }

    /// Commits a tap and gives its receipt, or `nil` if the card is unknown and `unknown` is ``UnknownCard/ask``.
    ///
    /// - Parameters:
    ///   - event: the tap. If its id was seen before, the result is its first receipt and nothing changes.
    ///   - cooldown: in microseconds; see ``isRepeat(_:of:cooldown:in:)``.
    ///   - unknown: what to do with an unknown card.
    ///   - committed: called once for each receipt that is new, after the commit and in the order of the commits. It is
    ///     called on the writer's queue: it must not wait for anything.
    package func receive(
        _ event: ScanEvent,
        cooldown: Int64,
        unknown: UnknownCard,
        committed: @escaping @Sendable (Receipt) -> Void
    ) async throws(ClubError) -> Receipt? {
        let answer: Answer
        do {
            answer = try await database.writeWithoutTransaction { db in
                var answer = Answer.unknownCard
                try db.inTransaction(.immediate) {
                    answer = try self.take(event, cooldown: cooldown, unknown: unknown, in: db)
                    if case .new = answer { return .commit }
                    return .rollback
                }
                if case .new(let receipt) = answer { committed(receipt) }
                return answer
            }
        } catch {
            throw ClubError(error, attempting: "record a tap")
        }
        return switch answer {
        case .new(let receipt), .seenBefore(let receipt): receipt
        case .unknownCard: nil
        }
    }

    /// Whether there is a receipt for a tap.
    package func hasReceived(_ eventID: UUID) async throws(ClubError) -> Bool {
        try await read("look up a tap") { db in
            try Bool.fetchOne(
                db,
                sql: "SELECT EXISTS (SELECT 1 FROM receipt WHERE event_id = ?)",
                arguments: [eventID]
            ) ?? false
        }
    }

    private func take(_ event: ScanEvent, cooldown: Int64, unknown: UnknownCard, in db: Database) throws -> Answer {
        if let receipt = try Self.receipt(event.id, in: db) { return .seenBefore(receipt) }
        let time = Timestamp.microseconds(event.at)
        // The time is rounded to what the store keeps, so that the first receipt equals a later one.
        var receipt = Receipt(
            eventID: event.id,
            at: Timestamp.date(time ?? Timestamp.microseconds(clock()) ?? 0),
            reader: PlainText.line(event.reader),
            backend: event.backend,
            outcome: .repeat
        )
        if let reason = Rejection.reason(for: event, time: time) {
            receipt.outcome = .rejected(reason)
            try Self.insert(receipt, memberID: nil, in: db)
            return .new(receipt)
        }
        guard let time, let key = event.memberKey else { return .unknownCard }  // Both were looked at above.

        var memberID: Int64
        if let row = try Self.row(userID: key, in: db) {
            memberID = row.id
            let isRepeat = try Self.isRepeat(time, of: memberID, cooldown: cooldown, in: db)
            receipt.outcome = isRepeat ? .repeat : .visit
        } else {
            switch unknown {
            case .ask: return .unknownCard
            case .ignore:
                receipt.outcome = .ignored(Rejection.unknownCard)
                try Self.insert(receipt, memberID: nil, in: db)
                return .new(receipt)
            case .create:
                let name = PlainText.line(event.memberName ?? "")
                let statement = try db.cachedStatement(
                    sql: "INSERT INTO member (user_id, username, added_at) VALUES (?, ?, ?)"
                )
                try statement.execute(arguments: [key, name, time])
                memberID = db.lastInsertedRowID
                receipt.outcome = .created
            }
        }
        if receipt.outcome != .repeat {
            try insertVisit(receipt, at: time, memberID: memberID, in: db)
            try Self.refreshTotals(of: memberID, in: db)
        }
        receipt.member = try Self.row(userID: key, in: db)?.member
        try Self.insert(receipt, memberID: memberID, in: db)
        return .new(receipt)
    }

    /// Whether a tap is nearer than the cooldown to a visit of the member that was counted.
    ///
    /// The distance counts, not the order, so that a clock that was set back and a tap that arrives late cannot count
    /// one presence twice, and a clock that was wrong by more does not silence the member.
    private static func isRepeat(_ time: Int64, of memberID: Int64, cooldown: Int64, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM visit WHERE member_id = ? AND at > ? AND at < ?)"
        )
        // Neither sum overflows: both parts are between 0 and Timestamp.latest.
        return try Bool.fetchOne(statement, arguments: [memberID, time - cooldown, time + cooldown]) ?? false
    }

    private func insertVisit(_ receipt: Receipt, at time: Int64, memberID: Int64, in db: Database) throws {
        // Another process on this file may have gone on with the clock, so its state is in the ledger, not here.
        let latest = try Int64.fetchOne(
            try db.cachedStatement(sql: "SELECT max(hlc) FROM visit WHERE device_id = ?"),
            arguments: [deviceID]
        )
        var hybrid = HybridLogicalClock(last: HybridTimestamp(rawValue: latest ?? 0))
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO visit (event_id, device_id, hlc, member_id, at, reader, backend)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        )
        try statement.execute(arguments: [
            receipt.eventID, deviceID, hybrid.next(now: clock()).rawValue, memberID, time, receipt.reader,
            receipt.backend.rawValue,
        ])
    }

    private static func insert(_ receipt: Receipt, memberID: Int64?, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO receipt (event_id, at, reader, backend, outcome, reason_code, reason, member_id, num_visits,
                    last_visit_at)
                SELECT ?, ?, ?, ?, ?, ?, ?, ?, (SELECT num_visits FROM member WHERE id = ?8),
                    (SELECT last_visit_at FROM member WHERE id = ?8)
                """
        )
        try statement.execute(arguments: [
            receipt.eventID, Timestamp.microseconds(receipt.at) ?? 0, receipt.reader, receipt.backend.rawValue,
            receipt.outcome.name, receipt.outcome.reason?.code.rawValue, receipt.outcome.reason?.message, memberID,
        ])
    }

    /// The receipt of a tap that was seen before, with the member's totals as they were right after it.
    private static func receipt(_ eventID: UUID, in db: Database) throws -> Receipt? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT member.id, user_id, username, added_at, receipt.num_visits, receipt.last_visit_at, fields,
                    receipt.at, reader, backend, outcome, reason_code, reason
                FROM receipt LEFT JOIN member ON member.id = receipt.member_id
                WHERE event_id = ?
                """
        )
        guard let row = try Row.fetchOne(statement, arguments: [eventID]) else { return nil }
        let member = row.hasNull(atIndex: 0) ? nil : try MemberRow(row).member
        guard
            let backend = BackendKind(rawValue: try row.value(9)),
            let outcome = Receipt.Outcome(
                name: try row.value(10),
                code: try row.optional(11),
                message: try row.optional(12)
            )
        else {
            throw ClubError(.corrupt, attempting: "read the receipt of a tap", detail: "a value has no meaning")
        }
        return Receipt(
            eventID: eventID,
            at: Timestamp.date(try row.value(7)),
            reader: try row.value(8),
            backend: backend,
            outcome: outcome,
            member: member
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
