import Foundation
import GRDB

extension Database {
    /// The windows in which scenarios that were used on this database count.
    func scenarioSpans() throws -> Set<ScenarioSpan> {
        Set(try scenarioSpanLines().compactMap { ScenarioSpan($0) })
    }

    /// The same as they are stored, with those that a newer version wrote.
    fileprivate func scenarioSpanLines() throws -> Set<Substring> {
        let sql = "SELECT value FROM meta WHERE key = ?"
        let text = try String.fetchOne(self, sql: sql, arguments: [ScenarioSpan.storedKey])
        return Set((text ?? "").split(separator: "\n"))
    }

    /// The moments from which scenarios count now, each with the end of the time in which they do.
    func scenarioAnchors(at now: Int64) throws -> [(from: Int64, until: Int64)] {
        let calendars = ScenarioCalendars()
        return try scenarioSpans().compactMap { $0.anchor(at: now, calendars) }
    }
}

extension SubjectEvents {
    /// Keeps the windows of scenarios, on top of those that are kept: two programs may have scenarios of their own.
    func keep(_ spans: Set<ScenarioSpan>) throws {
        guard !spans.isEmpty else { return }
        let lines = Set(spans.map { $0.text[...] })
        let former = try transaction.db.scenarioSpanLines()
        guard !lines.isSubset(of: former) else { return }
        try transaction.db.execute(
            sql: "REPLACE INTO meta (key, value) VALUES (?, ?)",
            arguments: [ScenarioSpan.storedKey, former.union(lines).sorted().joined(separator: "\n")]
        )
    }
}
