import Testing

@testable import ClubMessages

@Suite("Events for everybody", .timeLimit(.minutes(5)))
struct EventBroadcasterTests {
    /// Whoever cancels a task holds what handing over to it waits for, so that one lock for both would be held for ever.
    @Test("Consumers that end while events are handed over hold up nobody")
    func endsMeanwhile() async {
        let broadcaster = EventBroadcaster<Int>()
        let yielding = Task.detached { for number in 0..<20_000 { broadcaster.yield(number) } }
        for _ in 0..<2000 {
            let stream = broadcaster.stream(bufferingPolicy: .bufferingNewest(1))
            let consumer = Task.detached { for await _ in stream {} }
            await Task.yield()
            consumer.cancel()
        }
        let later = broadcaster.stream()
        await yielding.value
        broadcaster.yield(-1)
        #expect(await later.first { $0 == -1 } == -1)
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
