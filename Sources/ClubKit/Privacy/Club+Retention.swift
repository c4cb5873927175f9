import Foundation

extension Club {
    /// Removes visits that are older than ``ClubConfiguration/visitRetention`` now, and once a day from now on.
    func keepRetention(in store: MemberStore) {
        guard let period = configuration.visitRetention else { return }
        let seconds = Timestamp.seconds(Timestamp.microseconds(period))
        let (clock, logger) = (configuration.clock, configuration.logger)
        let task = Task.detached(priority: .utility) { [weak self] in
            while !Task.isCancelled {
                // A limit before 1970 removes nothing.
                let limit = max(clock().addingTimeInterval(-seconds), Date(timeIntervalSince1970: 0))
                do throws(ClubError) {
                    let context = ActionContext(reason: "retention period")
                    guard let count = try await self?.removeVisits(before: limit, context, in: store) else { return }
                    if count > 0 { logger.info("Old visits were removed.", metadata: ["visits": "\(count)"]) }
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

    /// Removes old visits, with the numbers kept that the scenarios need.
    func removeVisits(
        before limit: Date,
        _ context: ActionContext,
        in store: MemberStore
    ) async throws(ClubError) -> Int {
        try await onOpeningQueue { self.keepSpans(in: store) }
        let reach = try await store.read("remove old visits") { db in
            try db.scenarioSpans().map(\.slidingLength).max() ?? 0
        }
        if configuration.clock().addingTimeInterval(-Timestamp.seconds(reach)) < limit {
            let days = Int(Timestamp.seconds(reach) / 86_400)
            configuration.logger.warning(
                "Scenarios count what happened in the last days, also in some of which visits are removed now.",
                metadata: ["days": "\(days)"]
            )
        }
        return try await store.removeVisits(before: limit, context)
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
