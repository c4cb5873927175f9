import ClubKit
import Foundation

/// The club's inbox as a kiosk uses it: it knows whether a message is being processed, and lets none begin once the
/// kiosk closes. What has not begun by then stays pending.
actor KioskInbox: MessageInbox {
    private let inbox: ClubInbox
    private var isClosed = false
    /// The message that is being processed, until what became of it has been reported.
    private var inHand: String?
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ inbox: ClubInbox) {
        self.inbox = inbox
    }

    var isIdle: Bool { inHand == nil }

    /// Lets no further message begin, and waits for the end of the one that has.
    func close() async {
        isClosed = true
        guard inHand != nil else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// What became of a message has been reported.
    func hasTold(_ id: String) {
        guard inHand == id else { return }
        inHand = nil
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    // MARK: MessageInbox

    func add(_ message: Message) async throws(ClubError) -> Bool { try await inbox.add(message) }

    func beginAttempt(_ id: String) async throws(ClubError) -> Int {
        // Until the process ends. An error would be reported for each message that is left.
        if isClosed { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
        inHand = id
        do throws(ClubError) {
            return try await inbox.beginAttempt(id)
        } catch {
            hasTold(id)
            throw error
        }
    }

    func settle(_ id: String, outcome: RoutingResult.Outcome, at date: Date) async throws(ClubError) {
        do throws(ClubError) {
            try await inbox.settle(id, outcome: outcome, at: date)
        } catch {
            hasTold(id)
            throw error
        }
    }

    func pending() async throws(ClubError) -> [InboxEntry] { try await inbox.pending() }

    func entries(_ state: InboxEntry.State?, limit: Int) async throws(ClubError) -> [InboxEntry] {
        try await inbox.entries(state, limit: limit)
    }

    func reopen(_ id: String) async throws(ClubError) -> Message? { try await inbox.reopen(id) }

    func prune(before date: Date) async throws(ClubError) -> Int { try await inbox.prune(before: date) }
}
