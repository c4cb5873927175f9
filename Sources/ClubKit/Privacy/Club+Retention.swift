import Foundation
import GRDB

extension Club {
    /// Removes visits that are older than ``ClubConfiguration/visitRetention`` now, and once a day from now on; none in
    /// the first week after the clock leapt by more than a year.
    func keepRetention(in store: MemberStore) {
        guard let period = configuration.visitRetention else { return }
        let seconds = Timestamp.seconds(Timestamp.microseconds(period))
        let (clock, logger) = (configuration.clock, configuration.logger)
        let task = Task.detached(priority: .utility) { [weak self] in
            while !Task.isCancelled {
                let now = clock()
                // A limit before 1970 removes nothing.
                let limit = max(now.addingTimeInterval(-seconds), Date(timeIntervalSince1970: 0))
                do throws(ClubError) {
                    if try await store.hasClockLeapt(to: now) {
                        logger.warning(
                            """
                            Old visits are not removed this week: before it there was none for a year. Correct \
                            the clock if it is wrong.
                            """
                        )
                    } else {
                        let context = ActionContext(reason: "retention period")
                        guard let count = try await self?.pruneVisits(before: limit, context, in: store) else { return }
                        if count > 0 { logger.info("Old visits were removed.", metadata: ["visits": "\(count)"]) }
                    }
                } catch {
                    if error.kind == .notOpen || error.kind == .cancelled { return }
                    self?.report(error)
                }
                try? await Task.sleep(for: .seconds(86_400))
            }
        }
        retention.withLock { former in
            former?.cancel()
            former = task
        }
    }

    /// What the removal of old visits concerns: how many visits were made before that time, and how many days scenarios
    /// look back whose windows slide along with the present, where that is beyond it.
    package func oldVisits(before limit: Date) async throws(ClubError) -> (count: Int, scenarioDays: Int?) {
        let store = try openStore("count old visits")
        try await opening.run { self.keepSpans(in: store) }
        let time = Timestamp.microseconds(limit)
        let (count, reach) = try await store.read("count old visits") { db in
            (
                try Int.fetchOne(db, sql: "SELECT count(*) FROM visit WHERE at < ?", arguments: [time]) ?? 0,
                try db.scenarioSpans().map(\.slidingLength).max() ?? 0
            )
        }
        let isBeyond = configuration.clock().addingTimeInterval(-Timestamp.seconds(reach)) < limit
        return (count, isBeyond ? Int(Timestamp.seconds(reach) / 86_400) : nil)
    }

    /// Removes old visits, with the numbers kept that the scenarios need. `warns` is whether the log reports that
    /// scenarios look at days of which visits are removed, and that old visits stay.
    package func pruneVisits(
        before limit: Date,
        _ context: ActionContext,
        in store: MemberStore? = nil,
        warns: Bool = true
    ) async throws(ClubError) -> Int {
        let store = if let store { store } else { try openStore("remove old visits") }
        if let days = try await oldVisits(before: limit).scenarioDays, warns {
            configuration.logger.warning(
                "Scenarios count what happened in the last days, also in some of which visits are removed now.",
                metadata: ["days": "\(days)"]
            )
        }
        let removed = try await store.pruneVisits(before: limit, context)
        if warns, case let left = try await oldVisits(before: limit).count, left > 0 {
            configuration.logger.warning(
                "Old visits stay: the clock was ahead when the first that is kept of the member was recorded.",
                metadata: ["visits": "\(left)"]
            )
        }
        return removed
    }

    /// Lets the database know in which windows the scenarios count, so that whoever removes old visits keeps the numbers
    /// that they need. It blocks, and writes only what is new.
    func keepSpans(in store: MemberStore) {
        guard let spans = state.withLock({ $0.scenarios?.spans }), !spans.isEmpty else { return }
        let attempt = "keep the windows of scenarios"
        do throws(ClubError) {
            if try store.readNow(attempt, { try $0.scenarioSpans() }).isSuperset(of: spans) { return }
            try store.writeNow(attempt) { transaction in try transaction.events.keep(spans) }
        } catch {
            if error.kind != .notOpen { report(error) }
        }
    }
}
