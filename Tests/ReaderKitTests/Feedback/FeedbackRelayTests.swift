import ReaderKit
import TestSupport
import Testing

/// Records what it is asked to give, and then does what a test wants.
struct RecordingFeedback: ReaderFeedback {
    let given = Shared<[String]>([])
    var then: @Sendable (FeedbackSignal) async -> Void = { _ in }

    func give(_ signal: FeedbackSignal, at reader: ReaderInfo) async {
        given.withLock { $0.append("\(reader.name) \(signal)") }
        await then(signal)
    }

    var all: [String] { given.withLock(\.self) }
}

@Suite(.timeLimit(.minutes(10))) struct FeedbackRelayTests {
    private let front = ReaderInfo(name: "front", backend: .simulated)
    private let back = ReaderInfo(name: "back", backend: .simulated)

    @Test("One signal at a time at each reader, of those that wait the newest; another reader waits for none")
    func newest() async throws {
        let door = Door()
        let relay = FeedbackRelay(deadline: .seconds(300))
        let feedback = RecordingFeedback { if $0 == .accepted { await door.pass() } }
        relay.give(.accepted, at: front, by: feedback)
        relay.give(.rejected, at: front, by: feedback)
        relay.give(.repeated, at: front, by: feedback)
        relay.give(.holdLonger, at: back, by: feedback)
        try await until("both readers") { feedback.all.count == 2 }
        #expect(Set(feedback.all) == ["front accepted", "back holdLonger"])
        door.open()
        await relay.finish()
        #expect(feedback.all.filter { $0.hasPrefix("front") } == ["front accepted", "front repeated"])
        relay.give(.rejected, at: front, by: feedback)
        await relay.finish()
        #expect(feedback.all.last == "front rejected")
    }

    @Test("After the deadline a signal is cancelled, one that waited so long is dropped, and the next one is given")
    func deadline() async throws {
        let (door, cancelled) = (Door(), Shared(false))
        let relay = FeedbackRelay(deadline: .milliseconds(20))
        let feedback = RecordingFeedback { signal in
            guard signal == .accepted else { return }
            await withTaskCancellationHandler {
                await door.pass()
            } onCancel: {
                cancelled.withLock { $0 = true }
            }
        }
        relay.give(.accepted, at: front, by: feedback)
        relay.give(.rejected, at: front, by: feedback)
        let waiting = ContinuousClock.now
        try await until("cancelled") { cancelled.withLock(\.self) }
        try await until("too late") { .now - waiting > relay.deadline }
        // It heeds no cancellation, and nobody waits for it without end.
        await relay.finish()
        door.open()
        // On a busy machine the first one ends so late that the next one is dropped too.
        try await until("the next signal") {
            relay.give(.repeated, at: front, by: feedback)
            await relay.finish()
            return feedback.all.contains("front repeated")
        }
        #expect(Set(feedback.all) == ["front accepted", "front repeated"])
    }
}
