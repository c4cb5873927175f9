/// A count that is 0 when all is well.
struct IntegrityQuestion: Sendable {
    var code: IntegrityFinding.Code
    var meaning: String
    var needsDevice = false
    var sql: String

    /// A condition of `member AS m`, of a row that stands by itself and whose facts are what it shows.
    static let isSimple = """
        m.facts IS NULL AND m.merged_into IS NULL
        AND NOT EXISTS (SELECT 1 FROM member AS other WHERE other.merged_into = m.user_id)
        AND NOT EXISTS (SELECT 1 FROM card WHERE card_id = m.user_id AND member_key <> m.user_id)
        """

    /// The ids of simple rows whose totals do not follow from the ledger and the claim.
    static let differingSimpleRows = """
        SELECT m.id FROM member AS m LEFT JOIN (
            SELECT visit.member_id, count(*) AS visits, max(visit.at) AS latest, total(visit.at > owner.claim_at) AS later
            FROM visit JOIN member AS owner ON owner.id = visit.member_id
            WHERE visit.born > owner.ended_hlc
                AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id)
            GROUP BY visit.member_id
        ) AS ledger ON ledger.member_id = m.id
        WHERE \(isSimple) AND (
            m.num_visits IS NOT m.own_visits
            OR m.num_visits IS NOT max(coalesce(visits, 0),
                coalesce(min(m.claim_visits + CAST(coalesce(later, 0) AS INTEGER), 9223372036854775807), 0))
            OR m.last_visit_at IS NOT max(coalesce(latest, m.claim_at), coalesce(m.claim_at, latest))
            OR m.status <> 0 OR m.ended_hlc <> -1 OR m.blocked IS NOT NULL OR m.expires_at IS NOT NULL
            OR m.visits_left IS NOT NULL OR m.tags IS NOT NULL
            OR (m.claim_visits IS NULL) <> (m.claim_at IS NULL))
        """

    /// Whether an execution, `e`, was charged after the latest removal of its scenario's state.
    static let isNotReset = """
        e.hlc > coalesce((SELECT r.hlc FROM scenario_reset AS r
            WHERE r.kind = e.kind AND r.subject = e.subject AND r.scenario = e.scenario), -1)
        """

    /// Whether an execution, `e`, counts: it was not given back, or somebody had got it all the same.
    static let executionCounts = """
        (EXISTS (SELECT 1 FROM scenario_settlement AS s WHERE s.execution_id = e.execution_id AND s.state = 'redeemed')
            OR NOT EXISTS (SELECT 1 FROM scenario_settlement AS s
                WHERE s.execution_id = e.execution_id AND s.state = 'refunded'))
        AND \(isNotReset)
        """

    /// A condition of tables that name an execution.
    static let withoutExecution = "execution_id NOT IN (SELECT execution_id FROM scenario_execution)"

    static let all: [IntegrityQuestion] = [
        IntegrityQuestion(
            code: .totalsDiffer,
            meaning: "members whose totals differ from the ledger",
            sql: "SELECT count(*) FROM (\(differingSimpleRows))"
        ),
        IntegrityQuestion(
            code: .duplicateEvent,
            meaning: "taps that were counted more than once",
            sql: "SELECT count(*) FROM (SELECT 1 FROM visit GROUP BY event_id HAVING count(*) > 1)"
        ),
        IntegrityQuestion(
            code: .visitWithoutMember,
            meaning: "visits of members who are not there",
            sql: "SELECT count(*) FROM visit WHERE NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)"
        ),
        IntegrityQuestion(
            code: .receiptMismatch,
            meaning: "taps that were acknowledged as counted and are not in the ledger as that",
            sql: """
                SELECT count(*) FROM receipt LEFT JOIN visit USING (event_id)
                WHERE outcome IN ('created', 'visit') AND visit.member_id IS NOT receipt.member_id
                    OR outcome IN ('repeat', 'ignored', 'rejected') AND visit.id IS NOT NULL
                """
        ),
        IntegrityQuestion(
            code: .receiptMismatch,
            meaning: "visits of cards on this device without the receipt of a tap",
            needsDevice: true,
            sql: """
                SELECT count(*) FROM visit WHERE device_id = ? AND source = 'card'
                    AND NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.event_id = visit.event_id)
                """
        ),
        IntegrityQuestion(
            code: .clockOrder,
            meaning: "records that are later than this device's logical clock, or no clock",
            needsDevice: true,
            sql: """
                SELECT count(*) FROM (
                    SELECT max(hlc) AS latest FROM visit WHERE device_id = ?1
                    UNION ALL SELECT max(hlc) FROM undo WHERE device_id = ?1
                    UNION ALL SELECT max(hlc) FROM audit WHERE device_id = ?1
                    UNION ALL SELECT max(hlc) FROM card WHERE device_id = ?1
                    UNION ALL SELECT max(hlc) FROM erased WHERE device_id = ?1
                    UNION ALL SELECT max(origin_hlc) FROM member WHERE origin_device = ?1
                    UNION ALL SELECT max(hlc) FROM scenario_event WHERE device_id = ?1
                    UNION ALL SELECT max(hlc) FROM scenario_execution WHERE device_id = ?1
                    UNION ALL SELECT max(hlc) FROM scenario_settlement WHERE device_id = ?1
                    UNION ALL SELECT max(hlc) FROM scenario_reset WHERE device_id = ?1
                    UNION ALL SELECT 0
                ) WHERE coalesce(latest, 0) > coalesce((SELECT hlc FROM clock), -1)
                """
        ),
        IntegrityQuestion(
            code: .clockOrder,
            meaning: "logical clocks that show no possible time",
            sql: """
                SELECT count(*) FROM clock
                WHERE typeof(hlc) <> 'integer' OR hlc NOT BETWEEN 0 AND \(Stamp.latestTime)
                """
        ),
        IntegrityQuestion(
            code: .clockOrder,
            meaning: "records at no possible logical time",
            sql: LogicalTimes.impossible
        ),
        IntegrityQuestion(
            code: .malformedFields,
            meaning: "members whose custom fields are no JSON object",
            sql: """
                SELECT count(*) FROM member
                WHERE CASE WHEN json_valid(fields) THEN json_type(fields) <> 'object' ELSE 1 END
                """
        ),
        IntegrityQuestion(
            code: .unreadable,
            meaning: "members who are neither present nor gone nor joined to another",
            sql: "SELECT count(*) FROM member WHERE status NOT IN (0, 1, 2)"
        ),
        IntegrityQuestion(
            code: .unreadable,
            meaning: "visits of an unknown source",
            sql: "SELECT count(*) FROM visit WHERE source NOT IN ('card', 'manual')"
        ),
        IntegrityQuestion(
            code: .unreadable,
            meaning: "entries of the audit log, or notices of taps, that are no JSON",
            sql: """
                SELECT (SELECT count(*) FROM audit WHERE detail IS NOT NULL AND NOT json_valid(detail))
                    + (SELECT count(*) FROM receipt WHERE notices IS NOT NULL AND NOT json_valid(notices))
                """
        ),
        IntegrityQuestion(
            code: .journalMismatch,
            meaning: "members whose latest change is not in the list of changes",
            sql: """
                SELECT count(*) FROM member WHERE change_seq > coalesce((SELECT max(seq) FROM change), 0)
                """
        ),
        IntegrityQuestion(
            code: .scenarioMismatch,
            meaning: "executions of scenarios that count although they were refunded, or the other way round",
            sql: "SELECT count(*) FROM scenario_execution AS e WHERE counts IS NOT (\(executionCounts))"
        ),
        IntegrityQuestion(
            code: .scenarioMismatch,
            meaning: "settlements, or entries of what is to be delivered, of executions that are not there",
            sql: """
                SELECT (SELECT count(*) FROM scenario_settlement WHERE \(withoutExecution))
                    + (SELECT count(*) FROM scenario_undelivered WHERE \(withoutExecution))
                """
        ),
        IntegrityQuestion(
            code: .scenarioMismatch,
            meaning: "executions of scenarios or messages in no possible state",
            sql: """
                SELECT (SELECT count(*) FROM scenario_settlement WHERE state NOT IN ('delivered', 'refunded', 'redeemed'))
                    + (SELECT count(*) FROM message WHERE state NOT IN ('pending', 'done', 'dead')
                        OR NOT json_valid(content))
                """
        ),
        IntegrityQuestion(
            code: .scenarioMismatch,
            meaning: "numbers of events and executions that differ from these",
            sql: "SELECT (\(wrongCounts(KeptCount.events))) + (\(wrongCounts(KeptCount.executions)))"
        ),
        IntegrityQuestion(
            code: .ledgerUnlocked,
            meaning: "rows that leave changes to the ledger allowed",
            sql: "SELECT count(*) FROM ledger_permit"
        ),
    ]

    /// How many kept numbers are not what counting gives.
    private static func wrongCounts(_ source: KeptCount.Source) -> String {
        let rows = """
            \(source.table) AS e WHERE e.kind = c.kind AND e.subject = c.subject
                AND \(source.prefix) || e.\(source.column) = c.name AND e.at > c.after AND \(source.counts("e"))
            """
        let isOther = source.table == KeptCount.events.table ? "<>" : "="
        return """
            SELECT count(*) FROM scenario_count AS c WHERE substr(c.name, 1, 12) \(isOther) char(1) || 'executions:'
                AND (number <> (SELECT count(*) FROM \(rows)) OR after = \(Int64.min)
                    AND (first_at, last_at) IS NOT (SELECT min(at), max(at) FROM \(rows)))
            """
    }
}
