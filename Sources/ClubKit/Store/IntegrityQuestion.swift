/// Counts that are 0 when all is well.
enum IntegrityQuestion {
    /// A condition of `member AS m`, of a row that stands by itself and whose facts are what it shows.
    static let isSimple = """
        m.facts IS NULL AND m.merged_into IS NULL
        AND (m.claim_visits IS NULL OR NOT EXISTS (
            SELECT 1 FROM visit JOIN undo ON undo.event_id = visit.event_id WHERE visit.member_id = m.id))
        AND NOT EXISTS (SELECT 1 FROM member AS other WHERE other.merged_into = m.user_id)
        AND NOT EXISTS (SELECT 1 FROM card WHERE card_id = m.user_id AND member_key <> m.user_id)
        """

    /// How much earlier and later the latest visit of a claim may be: ``Moment/init(_:)``.
    private static let margin = """
        CASE WHEN owner.claim_at <= 0 THEN 0 WHEN owner.claim_at % 1000000 = 0 THEN 999999
            WHEN owner.claim_at % 100000 = 0 THEN 99999 WHEN owner.claim_at % 10000 = 0 THEN 9999
            WHEN owner.claim_at % 1000 = 0 THEN 999 WHEN owner.claim_at % 100 = 0 THEN 99
            WHEN owner.claim_at % 10 = 0 THEN 9 ELSE 0 END
        """

    /// The ids of simple rows whose totals do not follow from the ledger and the claim, as ``VisitTotal`` has it.
    static let differingSimpleRows = """
        SELECT m.id FROM member AS m LEFT JOIN (
            SELECT visit.member_id, count(*) AS visits, max(visit.at) AS latest,
                total(visit.at > owner.claim_at + \(margin)) AS later,
                max(owner.claim_at > 0 AND abs(visit.at - owner.claim_at) <= \(margin)) AS is_known
            FROM visit JOIN member AS owner ON owner.id = visit.member_id
            WHERE visit.born > owner.ended_hlc AND \(VisitRow.isCounted)
            GROUP BY visit.member_id
        ) AS ledger ON ledger.member_id = m.id
        WHERE \(isSimple) AND (
            m.num_visits IS NOT m.own_visits
            OR m.num_visits IS NOT max(coalesce(visits, 0),
                coalesce(min(m.claim_visits + CAST(coalesce(later, 0) AS INTEGER), 9223372036854775807), 0))
            OR m.last_visit_at IS NOT
                iif(is_known, latest, max(coalesce(latest, m.claim_at), coalesce(m.claim_at, latest)))
            OR m.status <> 0 OR m.ended_hlc <> -1 OR m.blocked IS NOT NULL OR m.expires_at IS NOT NULL
            OR m.visits_left IS NOT NULL OR m.tags IS NOT NULL
            OR (m.claim_visits IS NULL) <> (m.claim_at IS NULL))
        """

    /// Whether an execution, `e`, was charged after the latest removal of its scenario's state.
    static let isNotReset = """
        e.hlc > coalesce((SELECT r.hlc FROM scenario_reset AS r
            WHERE r.kind = e.kind AND r.subject = e.subject AND r.scenario = e.scenario), -1)
        """

    /// Whether an execution, `e`, counts: it was not refunded, or it was redeemed all the same.
    static let executionCounts = """
        (EXISTS (SELECT 1 FROM scenario_settlement AS s WHERE s.execution_id = e.execution_id AND s.state = 'redeemed')
            OR NOT EXISTS (SELECT 1 FROM scenario_settlement AS s
                WHERE s.execution_id = e.execution_id AND s.state = 'refunded'))
        AND \(isNotReset)
        """

    /// A condition of tables that name an execution.
    static let withoutExecution = "execution_id NOT IN (SELECT execution_id FROM scenario_execution)"

    /// By the code of the finding, what is found and the SQL that counts it, in which a parameter is this device.
    static let all: KeyValuePairs<IntegrityFinding.Code, KeyValuePairs<String, String>> = [
        .totalsDiffer: ["members whose totals differ from the ledger": "SELECT count(*) FROM (\(differingSimpleRows))"],
        .duplicateEvent: [
            "taps that were counted more than once":
                "SELECT count(*) FROM (SELECT 1 FROM visit GROUP BY event_id HAVING count(*) > 1)"
        ],
        .visitWithoutMember: [
            "visits of members who are not there":
                "SELECT count(*) FROM visit WHERE NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)"
        ],
        .receiptMismatch: [
            "taps that were acknowledged as counted and are not in the ledger as that": """
            SELECT count(*) FROM receipt LEFT JOIN visit USING (event_id)
            WHERE outcome IN ('created', 'visit') AND visit.member_id IS NOT receipt.member_id
                OR outcome IN ('repeat', 'ignored', 'rejected') AND visit.id IS NOT NULL
            """,
            "visits of cards on this device without the receipt of a tap": """
            SELECT count(*) FROM visit WHERE device_id = ? AND source = 'card'
                AND NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.event_id = visit.event_id)
            """,
        ],
        .clockOrder: [
            "records that are later than this device's logical clock, or no clock": """
            SELECT count(*) FROM (
                \(ownTimes) UNION ALL SELECT max(origin_hlc) FROM member WHERE origin_device = ?1 UNION ALL SELECT 0
            ) WHERE coalesce(latest, 0) > coalesce((SELECT hlc FROM clock), -1)
            """,
            "logical clocks that show no possible time": """
            SELECT count(*) FROM clock
            WHERE typeof(hlc) <> 'integer' OR hlc NOT BETWEEN 0 AND \(Stamp.latestTime)
            """,
            "records at no possible logical time":
                LogicalTimes.impossible,
        ],
        .malformedFields: [
            "members whose custom fields are no JSON object": """
            SELECT count(*) FROM member
            WHERE CASE WHEN json_valid(fields) THEN json_type(fields) <> 'object' ELSE 1 END
            """
        ],
        .unreadable: [
            "members who are neither present nor gone nor joined to another":
                "SELECT count(*) FROM member WHERE status NOT IN (0, 1, 2)",
            "visits of an unknown source":
                "SELECT count(*) FROM visit WHERE source NOT IN ('card', 'manual')",
            "entries of the audit log, or notices of taps, that are no JSON": """
            SELECT (SELECT count(*) FROM audit WHERE detail IS NOT NULL AND NOT json_valid(detail))
                + (SELECT count(*) FROM receipt WHERE notices IS NOT NULL AND NOT json_valid(notices))
            """,
        ],
        .journalMismatch: [
            "members whose latest change is not in the list of changes": """
            SELECT count(*) FROM member WHERE change_seq > coalesce((SELECT max(seq) FROM change), 0)
            """
        ],
        .scenarioMismatch: [
            "executions of scenarios that count although they were refunded, or the other way round":
                "SELECT count(*) FROM scenario_execution AS e WHERE counts IS NOT (\(executionCounts))",
            "settlements, or entries of what is to be delivered, of executions that are not there": """
            SELECT (SELECT count(*) FROM scenario_settlement WHERE \(withoutExecution))
                + (SELECT count(*) FROM scenario_undelivered WHERE \(withoutExecution))
            """,
            "executions of scenarios or messages in no possible state": """
            SELECT (SELECT count(*) FROM scenario_settlement WHERE state NOT IN ('delivered', 'refunded', 'redeemed'))
                + (SELECT count(*) FROM message WHERE state NOT IN ('pending', 'done', 'dead')
                    OR NOT json_valid(content))
            """,
            "numbers of events and executions that differ from these":
                "SELECT (\(wrongCounts(KeptCount.events))) + (\(wrongCounts(KeptCount.executions)))",
        ],
        .ledgerUnlocked: ["rows that leave changes to the ledger allowed": "SELECT count(*) FROM ledger_permit"],
    ]

    /// The latest times of this device, by table.
    private static let ownTimes = LogicalTimes.columns.filter { $0.column == "hlc" }.map {
        "SELECT max(hlc) AS latest FROM \($0.table) WHERE device_id = ?1"
    }.joined(separator: " UNION ALL ")

    /// How many kept numbers are not what counting yields.
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
