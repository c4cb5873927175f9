import TestSupport

/// Waits until a condition holds that is looked at on the main actor, where screens are, and gives up after a time that no
/// sound run needs, also where tests that compute have all threads.
@MainActor func until(_ condition: @MainActor () async -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(300)
    while await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(description: "not in time") }
        try await Task.sleep(for: .milliseconds(1))
    }
}
