import ClubMessages
import ClubRecords
import Foundation
import Logging
import RecordsTestSupport
import TestSupport

extension RouterConfiguration {
    package static func test(
        timeout: Duration = .seconds(600),
        clock: @escaping @Sendable () -> Date = { start }
    ) -> RouterConfiguration {
        let uuids = UUIDSource()
        var logger = Logger(label: "router.test")
        logger.logLevel = .critical
        return RouterConfiguration(
            timeout: timeout,
            application: KioskApplication(),
            clock: clock,
            makeUUID: { uuids() },
            logger: logger
        )
    }
}

/// A message with a type in its payload.
package func message(
    _ id: String,
    _ type: String? = "greeting",
    fields: [String: FieldValue] = [:],
    source: MessageSource = MessageSource(.application),
    expiresAt: Date? = nil
) -> Message {
    var fields = fields
    if let type { fields["messageType"] = .string(type) }
    return Message(id: id, payload: .object(fields), source: source, receivedAt: start, expiresAt: expiresAt)
}

/// A payload of which one value is looked at.
package struct TextPayload: Decodable, Sendable {
    package var text: String
}

/// What processors noted.
package final class Notes: Sendable {
    private let stored = Shared<[String]>([])

    package init() {}

    package var all: [String] { stored.withLock { $0 } }

    package func add(_ note: String) { stored.withLock { $0.append(note) } }
}

/// Shut until it is opened.
package final class Gate: Sendable {
    private let isOpen = Shared(false)

    package init() {}

    package func open() { isOpen.withLock { $0 = true } }

    /// Waits, also in a cancelled task.
    package func pass() async {
        while !isOpen.withLock({ $0 }) {
            await Task.detached { try? await Task.sleep(for: .milliseconds(1)) }.value
        }
    }
}

/// An inbox whose disk can refuse.
package final class RefusingInbox: MessageInbox {
    package enum Step: Sendable { case add, begin, settle, list }

    package let memory: MemoryInbox
    private let refused = Shared<[Step]>([])

    package init(_ memory: MemoryInbox = MemoryInbox()) {
        self.memory = memory
    }

    package func refuse(_ steps: Step...) { refused.withLock { $0 = steps } }

    private func check(_ step: Step) throws(ClubError) {
        if refused.withLock({ $0.contains(step) }) { throw ClubError(.diskFull, attempting: "keep a message") }
    }

    package func add(_ message: Message) async throws(ClubError) -> Bool {
        try check(.add)
        return await memory.add(message)
    }

    package func beginAttempt(_ id: String) async throws(ClubError) -> Int {
        try check(.begin)
        return try await memory.beginAttempt(id)
    }

    package func settle(_ id: String, outcome: RoutingResult.Outcome, at date: Date) async throws(ClubError) {
        try check(.settle)
        try await memory.settle(id, outcome: outcome, at: date)
    }

    package func pending() async throws(ClubError) -> [InboxEntry] {
        try check(.list)
        return await memory.pending()
    }

    package func entries(_ state: InboxEntry.State?, limit: Int) async throws(ClubError) -> [InboxEntry] {
        try check(.list)
        return await memory.entries(state, limit: limit)
    }

    package func reopen(_ id: String) async throws(ClubError) -> Message? {
        try check(.add)
        return await memory.reopen(id)
    }

    package func prune(before date: Date) async throws(ClubError) -> Int {
        try check(.settle)
        return await memory.prune(before: date)
    }
}
