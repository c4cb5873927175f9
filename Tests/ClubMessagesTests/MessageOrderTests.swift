import ClubRecords
import ClubMessages
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubMessages

@Suite("The order and the time of messages", .timeLimit(.minutes(10)))
struct MessageOrderTests {
    let router = MessageRouter(configuration: .test())
    let notes = Notes()

    private func registerGreeting() {
        router.register(type: "greeting") { [notes] (_: FieldValue, _) in
            notes.add("0")
            return .newData
        }
    }

    @Test("An identifier is taken once, whatever became of it")
    func duplicates() async throws {
        registerGreeting()
        #expect(try await router.accept(message("a")).outcome == .newData)
        #expect(try await router.accept(message("a", fields: ["other": 1])).outcome == .duplicate)
        #expect(try await router.accept(message("b", "unknown")).outcome.name == "unhandled")
        #expect(try await router.accept(message("b")).outcome == .duplicate)
        #expect(try await !router.post(message("a")))
        #expect(notes.all == ["0"])
        #expect(try await router.deadLetters().map(\.id) == ["b"])
    }

    @Test("Of one message given many times at once, one is processed")
    func duplicatesAtOnce() async throws {
        registerGreeting()
        let router = router
        let outcomes = try await withThrowingTaskGroup(of: RoutingResult.Outcome.self) { group in
            for _ in 0..<50 { group.addTask { try await router.accept(message("a")).outcome } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == .newData }.count == 1)
        #expect(outcomes.filter { $0 == .duplicate }.count == 49)
        #expect(notes.all == ["0"])
    }

    @Test(
        "An identifier that is none is refused before anything is stored",
        arguments: ["", " a", "a\u{0}", String(repeating: "x", count: 201)]
    )
    func badIdentifier(id: String) async throws {
        let error = await #expect(throws: ClubError.self) { try await router.accept(message(id)) }
        #expect(error?.kind == .invalidValue)
        #expect(try await router.inbox.entries(nil, limit: 10).isEmpty)
    }

    @Test("What is too old when its turn comes is not processed")
    func expired() async throws {
        let now = Shared(start)
        let router = MessageRouter(configuration: .test { now.withLock { $0 } })
        let (entered, leave) = (Gate(), Gate())
        router.register(type: "slow") { (_: FieldValue, _) in
            entered.open()
            await leave.pass()
            return .newData
        }
        router.register(type: "greeting") { (_: FieldValue, _) in .newData }
        #expect(try await router.accept(message("past", expiresAt: start)).outcome == .expired)
        #expect(try await router.accept(message("future", expiresAt: start + 1)).outcome == .newData)
        async let slow = router.accept(message("slow", "slow"))
        await entered.pass()
        async let late = router.accept(message("late", expiresAt: start + 1))
        try await until("it is stored") { try await router.inbox.pending().count == 2 }
        now.withLock { $0 += 1 }
        leave.open()
        #expect(try await slow.outcome == .newData)
        #expect(try await late.outcome == .expired)
        #expect(try await router.deadLetters().map(\.id) == ["past", "late"])
    }

    @Test("A processor that is not done in time is cancelled, its result is ignored, and the next has its turn")
    func timeout() async throws {
        let router = MessageRouter(configuration: .test(timeout: .milliseconds(20)))
        let (leave, notes) = (Gate(), notes)
        router.register(type: "slow", name: "sloth") { (_: FieldValue, _) in
            await leave.pass()
            notes.add(Task.isCancelled ? "cancelled" : "not cancelled")
            return .newData
        }
        router.register(type: "next") { (_: FieldValue, _) in
            notes.add("next")
            return .newData
        }
        let result = try await router.accept(message("m", "slow"))
        #expect(result.outcome == .timedOut)
        #expect(result.processor == "sloth")
        #expect(try await router.deadLetters().map(\.reason) == ["its processor was not done in time"])
        // It may be too slow for so short a time itself, but it has its turn while the other one is still there.
        try await router.accept(message("2", "next"))
        try await until("the next one has begun") { notes.all == ["next"] }
        leave.open()
        try await until("the first one has ended") { notes.all.count == 2 }
        #expect(notes.all == ["next", "cancelled"])
        #expect(try await router.inbox.entries(nil, limit: 1).first?.id == "2")
        #expect(try await router.deadLetters().first?.id == "m")
    }

    @Test("A processor that blocks its thread is left alone too")
    func blocking() async throws {
        let router = MessageRouter(configuration: .test(timeout: .milliseconds(20)))
        let leave = DispatchSemaphore(value: 0)
        // More than there are threads in Swift's pool.
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        router.register(type: "slow") { (_: FieldValue, _) in
            Self.block(leave)
            return .newData
        }
        for number in 0..<count {
            #expect(try await router.accept(message("\(number)", "slow")).outcome == .timedOut)
        }
        for _ in 0..<count { leave.signal() }
    }

    /// Waiting is not allowed in an async function, and is what this is about.
    private static func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test("A processor cannot wait for its own router, and can leave it a message")
    func inside() async throws {
        let (router, notes) = (router, notes)
        router.register(type: "outer") { (_: FieldValue, _) in
            do throws(ClubError) {
                try await router.accept(message("inner"))
            } catch {
                notes.add(error.kind.rawValue)
            }
            do throws(ClubError) {
                try await router.replay("x")
            } catch {
                notes.add(error.kind.rawValue)
            }
            return try await router.post(message("inner")) ? .newData : .noData
        }
        router.register(type: "greeting") { (_: FieldValue, _) in
            notes.add("inner")
            return .newData
        }
        #expect(try await router.accept(message("outer", "outer")).outcome == .newData)
        try await until("the inner message is processed") { notes.all.contains("inner") }
        #expect(notes.all == ["invalidValue", "invalidValue", "inner"])
    }

    @Test("Messages are processed one at a time, in the order in which they are in the inbox, and told so")
    func order() async throws {
        let (router, notes) = (router, notes)
        let running = Shared(0)
        router.register(type: "greeting") { (_: FieldValue, context) in
            let others = running.withLock { running in
                running += 1
                return running - 1
            }
            notes.add(others == 0 ? context.messageID : "two at a time")
            await Task.yield()
            running.withLock { $0 -= 1 }
            return .newData
        }
        let results = router.results
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { try await router.accept(message("\(number)")) } }
            try await group.waitForAll()
        }
        let stored = try await router.inbox.entries(nil, limit: 1000).map(\.id)
        #expect(stored.count == 200)
        #expect(notes.all == stored)
        #expect(await results.first(200).map(\.messageID) == stored)
    }

    @Test("Cancelling the caller does not reach a message that is stored")
    func cancelled() async throws {
        let (entered, leave) = (Gate(), Gate())
        let (router, notes) = (router, notes)
        router.register(type: "greeting") { (_: FieldValue, _) in
            entered.open()
            await leave.pass()
            notes.add("\(Task.isCancelled)")
            return .newData
        }
        let task = Task { try await router.accept(message("m")) }
        await entered.pass()
        task.cancel()
        leave.open()
        #expect(try await task.value.outcome == .newData)
        #expect(notes.all == ["false"])
    }
}
