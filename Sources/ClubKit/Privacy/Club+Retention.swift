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
                    let count = try await store.removeVisits(before: limit, ActionContext(reason: "retention period"))
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
}
