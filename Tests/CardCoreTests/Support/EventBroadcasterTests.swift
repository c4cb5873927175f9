import CardCore
import Testing
import TestSupport

@Suite("Events for everybody", .timeLimit(.minutes(5)))
struct EventBroadcasterTests {
    @Test("Consumers that end while events are handed over hold up nobody")
    func endsMeanwhile() async {
        let broadcaster = EventBroadcaster<Int>()
        let yielding = Task.detached { for number in 0..<20_000 { broadcaster.yield(number) } }
        await consumersComeAndGo(2000) { broadcaster.stream(bufferingPolicy: .bufferingNewest(1)) }
        let later = broadcaster.stream()
        await yielding.value
        broadcaster.yield(-1)
        #expect(await later.first { $0 == -1 } == -1)
    }

    @Test("A stream begins with what is given, and tells its end once")
    func beginsAndEnds() async throws {
        let (broadcaster, ends) = (EventBroadcaster<Int>(), Shared(0))
        let stream = broadcaster.stream(beginningWith: [1, 2]) { ends.withLock { $0 += 1 } }
        let other = broadcaster.stream { ends.withLock { $0 += 10 } }
        let cancelled = Task { for await _ in other {} }
        broadcaster.yield(3)
        #expect(broadcaster.consumerCount == 2)
        cancelled.cancel()
        await cancelled.value
        #expect(broadcaster.consumerCount == 1)
        broadcaster.yield(4, 5)
        broadcaster.finish()
        #expect(broadcaster.consumerCount == 0)
        #expect(await stream.reduce(into: []) { $0.append($1) } == [1, 2, 3, 4, 5])
        #expect(ends.withLock(\.self) == 11)
    }

    @Test("All consumers get the events of concurrent callers in the same order")
    func order() async {
        let broadcaster = EventBroadcaster<Int>()
        let streams = (0..<3).map { _ in broadcaster.stream() }
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<4 {
                group.addTask { for number in 0..<500 { broadcaster.yield(caller * 1000 + number) } }
            }
        }
        broadcaster.finish()
        var received: [[Int]] = []
        for stream in streams { received.append(await stream.reduce(into: []) { $0.append($1) }) }
        #expect(received[0].count == 2000)
        #expect(received[1] == received[0] && received[2] == received[0])
    }
}
