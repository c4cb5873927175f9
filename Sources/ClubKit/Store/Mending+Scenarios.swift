/// Puts the state of scenarios and the inbox right.
extension Mending {
    mutating func mendScenarios() throws {
        try note(
            "settlements of executions in no possible state were removed",
            isLoss: true,
            changing: "DELETE FROM scenario_settlement WHERE state NOT IN ('delivered', 'refunded', 'redeemed')"
        )
        try note(
            "settlements of executions that are not there were removed",
            isLoss: true,
            changing: "DELETE FROM scenario_settlement WHERE \(IntegrityQuestion.withoutExecution)"
        )
        try note(
            "executions that are not there are not to be delivered any more",
            changing: "DELETE FROM scenario_undelivered WHERE \(IntegrityQuestion.withoutExecution)"
        )
        try note(
            "executions of scenarios count, or do not, as what became of them says",
            changing: """
                UPDATE scenario_execution AS e SET counts = (\(IntegrityQuestion.executionCounts))
                WHERE counts IS NOT (\(IntegrityQuestion.executionCounts))
                """
        )
        // They are counted anew when they are needed.
        try db.execute(sql: "DELETE FROM scenario_count")
        try note(
            "messages that could not be read were removed",
            isLoss: true,
            changing: "DELETE FROM message WHERE NOT json_valid(content)"
        )
        try note(
            "messages wait to be replayed",
            changing: "UPDATE message SET state = 'dead' WHERE state NOT IN ('pending', 'done', 'dead')"
        )
    }
}
