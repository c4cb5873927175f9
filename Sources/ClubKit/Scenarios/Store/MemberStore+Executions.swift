import Foundation
import GRDB

/// What scenarios were charged with, and what became of it.
extension MemberStore {
    /// Says what became of an execution. What was said before stays.
    ///
    /// - Returns: whether it is news.
    @discardableResult
    func settle(
        _ id: UUID,
        _ state: ScenarioExecution.State,
        _ context: ActionContext,
        at time: Int64,
        in db: Database
    ) throws -> Bool {
        let stamp = try nextStamp(in: db)
        return try settle(
            SettlementRow(
                executionID: id,
                state: state,
                stamp: stamp,
                at: time,
                reason: context.reason.map(PlainText.line),
                actor: context.actor.map(PlainText.line)
            ),
            in: db
        )
    }

    /// Writes a settlement, or puts it in the place of one that does not stand against it.
    func settle(_ row: SettlementRow, in db: Database, replacing: Bool = false) throws -> Bool {
        try db.run(
            """
            INSERT OR \(replacing ? "REPLACE" : "IGNORE") INTO scenario_settlement
                (execution_id, state, device_id, hlc, at, reason, actor)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .uuid(row.executionID), .text(row.state.rawValue), .uuid(row.stamp.device), .integer(row.stamp.time),
                .integer(row.at), .optional(row.reason), .optional(row.actor),
            ]
        )
        guard db.changesCount == 1 else { return false }
        try db.run("DELETE FROM scenario_undelivered WHERE execution_id = ?", [.uuid(row.executionID)])
        if row.state != .delivered { try updateCounts(of: row.executionID, in: db) }
        return true
    }

    /// An execution counts unless it was given back and nobody had got it.
    func updateCounts(of id: UUID, in db: Database) throws {
        try db.run(
            """
            UPDATE scenario_execution AS e SET counts = (\(IntegrityQuestion.executionCounts)) WHERE execution_id = ?1
            """,
            [.uuid(id)]
        )
    }

    /// What was charged at a visit, as it is now.
    static func executions(at visit: UUID, in db: Database) throws -> [ScenarioExecution] {
        try executions(where: "e.visit = ?", [visit], in: db)
    }

    /// What was charged on this device at visits, is yet to be delivered, and was left behind by programs that are there no
    /// more, or by an opening that has ended; it is in this one's hand from now on. Oldest first.
    ///
    /// What was charged otherwise was to be done where it was charged, and is given back.
    ///
    /// - Parameter withOwn: also what this opening has in hand.
    func takeUndelivered(withOwn: Bool, at time: Int64, in db: Database) throws -> [ScenarioExecution] {
        var found: [ScenarioExecution] = []
        for execution in try leftBehind(withOwn: withOwn, in: db) where execution.visit != nil {
            try db.run(
                "UPDATE scenario_undelivered SET holder = ? WHERE execution_id = ?",
                [.text(holder.text), .uuid(execution.id)]
            )
            found.append(execution)
        }
        try giveBackLeft(at: time, in: db)
        return found.sorted { $0.at < $1.at }
    }

    /// Refunds what was charged otherwise than at a visit by programs that ended before it was done.
    func giveBackLeft(at time: Int64, in db: Database) throws {
        for execution in try leftBehind(withOwn: false, in: db) where execution.visit == nil {
            let reason = ActionContext(reason: "the program was ended before it was done")
            try settle(execution.id, .refunded, reason, at: time, in: db)
        }
    }

    private func leftBehind(withOwn: Bool, in db: Database) throws -> [ScenarioExecution] {
        let holders = try String.fetchAll(db, sql: "SELECT DISTINCT holder FROM scenario_undelivered")
        let own = holder.text
        return try holders.filter { $0 == own ? withOwn : !WorkHolder.isAlive($0) }.flatMap { holder in
            try Self.executions(
                where: """
                    e.device_id = ? AND e.execution_id IN
                        (SELECT execution_id FROM scenario_undelivered WHERE holder = ?)
                    """,
                [deviceID, holder],
                in: db
            )
        }
    }

    /// The state that counts of an execution, `e`: what was handed out was handed out, whatever else was said.
    private static let standingState = """
        (SELECT state FROM scenario_settlement AS t WHERE t.execution_id = e.execution_id
            ORDER BY CASE state WHEN 'redeemed' THEN 0 WHEN 'refunded' THEN 1 ELSE 2 END LIMIT 1)
        """

    /// How many executions each scenario has, by what became of them.
    static func executionCounts(in db: Database) throws -> [String: [ScenarioExecution.State: Int]] {
        var counts: [String: [ScenarioExecution.State: Int]] = [:]
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT scenario, \(standingState) AS now, count(*) FROM scenario_execution AS e
                WHERE \(IntegrityQuestion.isNotReset) GROUP BY scenario, now
                """
        )
        while let row = try rows.next() {
            let state: String? = try row.optional(1)
            let known = state.flatMap(ScenarioExecution.State.init(rawValue:)) ?? .charged
            counts[try row.value(0), default: [:]][known, default: 0] += try row.value(2)
        }
        return counts
    }

    /// Executions in the order in which they were charged.
    ///
    /// - Parameter condition: of the table of executions, as `e`.
    static func executions(
        where condition: String,
        _ arguments: StatementArguments,
        latest limit: Int? = nil,
        in db: Database
    ) throws -> [ScenarioExecution] {
        // Those that were rounded to one moment come by their numbers.
        let order =
            ["e.hlc", "e.number", "e.execution_id"].map { limit == nil ? $0 : $0 + " DESC" }
            .joined(separator: ", ") + (limit.map { " LIMIT \($0)" } ?? "")
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT e.execution_id, e.scenario, e.kind, e.subject, e.at, e.visit, e.number,
                        s.state, s.at, s.actor, s.reason
                    FROM scenario_execution AS e LEFT JOIN scenario_settlement AS s
                        ON s.execution_id = e.execution_id AND s.state = \(standingState)
                    WHERE (\(condition)) AND \(IntegrityQuestion.isNotReset)
                    ORDER BY \(order)
                    """
            ),
            arguments: arguments
        )
        var executions: [ScenarioExecution] = []
        while let row = try rows.next() { executions.append(try ScenarioExecution(row)) }
        return limit == nil ? executions : executions.reversed()
    }
}

/// What became of an execution, as the store keeps it.
struct SettlementRow: Sendable, Hashable {
    var executionID: UUID
    var state: ScenarioExecution.State
    var stamp: Stamp
    /// Microseconds since 1970.
    var at: Int64
    var reason: String?
    var actor: String?
}

extension ScenarioExecution {
    /// Reads the columns of ``MemberStore/executions(where:_:latest:in:)``.
    fileprivate init(_ row: Row) throws {
        guard let kind = SubjectKey.Kind(rawValue: try row.value(2)) else {
            throw ClubError(.corrupt, attempting: "read an execution", detail: "a value has no meaning")
        }
        let state: String? = try row.optional(7)
        self.init(
            id: try row.value(0),
            scenario: try row.value(1),
            subject: SubjectKey(kind, try row.value(3)).subject,
            at: Timestamp.date(try row.value(4)),
            visit: try row.optional(5),
            number: try row.value(6),
            state: state.flatMap(State.init(rawValue:)) ?? .charged
        )
        let settled: Int64? = try row.optional(8)
        settledAt = settled.map(Timestamp.date)
        actor = try row.optional(9)
        reason = try row.optional(10)
    }
}
