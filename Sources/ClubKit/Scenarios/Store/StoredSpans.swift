import Foundation
import GRDB

extension Database {
    /// The windows in which scenarios that were used on this database count.
    func scenarioSpans() throws -> Set<ScenarioSpan> {
        let text = try String.fetchOne(
            self,
            sql: "SELECT value FROM meta WHERE key = ?",
            arguments: [ScenarioSpan.storedKey]
        )
        return Set((text ?? "").split(separator: "\n").compactMap { ScenarioSpan($0) })
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
        let former = try transaction.db.scenarioSpans()
        guard !spans.isSubset(of: former) else { return }
        try transaction.db.execute(
            sql: "REPLACE INTO meta (key, value) VALUES (?, ?)",
            arguments: [ScenarioSpan.storedKey, former.union(spans).map(\.text).sorted().joined(separator: "\n")]
        )
    }
}
