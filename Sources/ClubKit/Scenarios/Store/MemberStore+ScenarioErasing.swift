import GRDB

extension MemberStore {
    /// Removes the state of scenarios of a member who was erased, as of then.
    func forgetScenarios(of identifier: String, as stamp: Stamp, in db: Database) throws {
        let condition = "kind = 'member' AND subject = ?1 AND (born <= ?2 OR born & 65535 = 65535)"
        let arguments: StatementArguments = [identifier, stamp.time]
        let gone = "SELECT execution_id FROM scenario_execution WHERE \(condition)"
        for table in ["scenario_settlement", "scenario_undelivered"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE execution_id IN (\(gone))", arguments: arguments)
        }
        try db.execute(sql: "DELETE FROM scenario_execution WHERE \(condition)", arguments: arguments)
        try db.execute(sql: "DELETE FROM scenario_event WHERE \(condition)", arguments: arguments)
        try db.execute(
            sql: "DELETE FROM scenario_reset WHERE kind = 'member' AND subject = ? AND hlc <= ?",
            arguments: arguments
        )
    }
}
