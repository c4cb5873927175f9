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

    /// Takes in hand what was charged on this device and is yet to be delivered, oldest first: what this process was not
    /// told of, and what processes left behind that are there no more.
    ///
    /// - Parameters:
    ///   - scenario: only those of this scenario.
    ///   - withOwn: also what this process has in hand.
    func takeUndelivered(
        of scenario: String? = nil,
        withOwn: Bool = false,
        in db: Database
    ) throws -> [ScenarioExecution] {
        let holders = try String.fetchAll(db, sql: "SELECT DISTINCT holder FROM scenario_undelivered")
        var found: [ScenarioExecution] = []
        for holder in holders {
            let isOwn = holder == ProcessIdentity.own.text
            guard isOwn ? withOwn : !(ProcessIdentity(holder)?.isAlive ?? false) else { continue }
            found += try Self.executions(
                where: """
                    e.device_id = ?1 AND (?2 IS NULL OR e.scenario = ?2)
                        AND e.execution_id IN (SELECT execution_id FROM scenario_undelivered WHERE holder = ?3)
                    """,
                [deviceID, scenario, holder],
                in: db
            )
        }
        for execution in found {
            try db.run(
                "UPDATE scenario_undelivered SET holder = ? WHERE execution_id = ?",
                [.text(ProcessIdentity.own.text), .uuid(execution.id)]
            )
        }
        return found
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
                SELECT scenario, \(standingState) AS now, count(*) FROM scenario_execution AS e GROUP BY scenario, now
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
        let order =
            limit.map { "ORDER BY e.hlc DESC, e.execution_id DESC LIMIT \($0)" } ?? "ORDER BY e.hlc, e.execution_id"
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT e.execution_id, e.scenario, e.kind, e.subject, e.at, e.visit, e.number,
                        s.state, s.at, s.actor, s.reason
                    FROM scenario_execution AS e LEFT JOIN scenario_settlement AS s
                        ON s.execution_id = e.execution_id AND s.state = \(standingState)
                    WHERE \(condition)
                    \(order)
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
