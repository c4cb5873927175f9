import ClubRecords
import ClubMessages
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import Logging
import TestSupport
import Testing

@testable import ClubMessages

@Suite("The router and its inbox", .timeLimit(.minutes(10)))
struct RouterInboxTests {
    let inbox = RefusingInbox()
    let notes = Notes()

    /// A router as after a start of the program.
    private func startRouter(_ answer: ProcessingResult = .newData) -> MessageRouter {
        let router = MessageRouter(inbox: inbox, configuration: .test())
        let notes = notes
        router.register(type: "greeting") { (_: FieldValue, context) in
            notes.add("\(context.messageID) \(context.attempt)")
            return answer
        }
        return router
    }

    @Test("A message that cannot be stored is not accepted, and can be given again")
    func full() async throws {
        let router = startRouter()
        inbox.refuse(.add)
        for _ in 0..<2 {
            let error = await #expect(throws: ClubError.self) { try await router.accept(message("a")) }
            #expect(error?.kind == .diskFull)
            await #expect(throws: ClubError.self) { try await router.post(message("a")) }
        }
        #expect(notes.all == [])
        inbox.refuse()
        #expect(try await router.accept(message("a")).outcome == .newData)
        #expect(notes.all == ["a 1"])
    }

    @Test("A message whose beginning cannot be noted is not processed, and goes on when it is given again")
    func noBeginning() async throws {
        let router = startRouter()
        inbox.refuse(.begin)
        let error = await #expect(throws: ClubError.self) { try await router.accept(message("a")) }
        #expect(error?.kind == .diskFull)
        #expect(notes.all == [])
        inbox.refuse()
        // What was stored counts, not what is given now.
        #expect(try await router.accept(message("a", "other")).outcome == .newData)
        #expect(notes.all == ["a 1"])
        #expect(try await router.accept(message("a")).outcome == .duplicate)
    }

    @Test("A message whose result cannot be stored is not processed again by the same program")
    func noSettling() async throws {
        let router = startRouter()
        let results = router.results
        inbox.refuse(.settle)
        await #expect(throws: ClubError.self) { try await router.accept(message("a")) }
        await #expect(throws: ClubError.self) { try await router.accept(message("a")) }
        #expect(try await inbox.pending().map(\.id) == ["a"])
        inbox.refuse()
        #expect(try await router.accept(message("a")).outcome == .newData)
        #expect(notes.all == ["a 1"])
        #expect(try await inbox.pending() == [])
        // Told once, and not before it was stored.
        #expect(try await router.accept(message("a")).outcome == .duplicate)
        #expect(await results.first(2).map(\.outcome) == [.newData, .duplicate])
    }

    @Test("What waits for the inbox is taken up when the next message gets through")
    func catchingUp() async throws {
        let router = startRouter()
        inbox.refuse(.begin)
        for id in ["a", "b"] { await #expect(throws: ClubError.self) { try await router.accept(message(id)) } }
        inbox.refuse(.settle)
        await #expect(throws: ClubError.self) { try await router.accept(message("c")) }
        inbox.refuse()
        #expect(try await router.accept(message("d")).outcome == .newData)
        try await until("all are settled") { try await inbox.pending().isEmpty }
        #expect(notes.all.sorted() == ["a 1", "b 1", "c 1", "d 1"])
        #expect(try await inbox.entries(.done, limit: 10).count == 4)
    }

    @Test("So is it by resuming, once")
    func resumingWhatFailed() async throws {
        let router = startRouter()
        inbox.refuse(.settle)
        await #expect(throws: ClubError.self) { try await router.accept(message("a")) }
        await #expect(throws: ClubError.self) { try await router.resume() }
        inbox.refuse(.list)
        await #expect(throws: ClubError.self) { try await router.resume() }
        await #expect(throws: ClubError.self) { try await router.deadLetters() }
        await #expect(throws: ClubError.self) { try await router.replayAll() }
        inbox.refuse()
        #expect(try await router.resume().map(\.outcome) == [.newData])
        #expect(try await router.resume() == [])
        #expect(notes.all == ["a 1"])
    }

    /// What a crash leaves: messages that were stored, some of them begun.
    private func crash(_ id: String, attempts: Int, expiresAt: Date? = nil) async throws {
        #expect(try await inbox.add(message(id, expiresAt: expiresAt)))
        for _ in 0..<attempts { _ = try await inbox.beginAttempt(id) }
    }

    @Test("After a crash messages go on in order, before what comes then")
    func resuming() async throws {
        try await crash("a", attempts: 1)
        try await crash("b", attempts: 0)
        try await crash("c", attempts: 0, expiresAt: start)
        let router = startRouter()
        let results = router.results
        // Whoever sent it does not know that it was stored.
        #expect(try await router.accept(message("b")).outcome == .duplicate)
        #expect(try await router.resume().map(\.outcome) == [.newData, .newData, .expired])
        #expect(try await router.accept(message("d")).outcome == .newData)
        #expect(notes.all == ["a 2", "b 1", "d 1"])
        #expect(await results.first(5).map(\.messageID) == ["b", "a", "b", "c", "d"])
        #expect(try await router.resume() == [])
    }

    @Test("A message that ended the program three times becomes a dead letter", arguments: 0...4)
    func poison(attempts: Int) async throws {
        try await crash("poison", attempts: attempts)
        try await crash("good", attempts: 0)
        let router = startRouter()
        let results = try await router.resume()
        #expect(results.map(\.messageID) == ["poison", "good"])
        #expect(results.last?.outcome == .newData)
        if attempts < 3 {
            #expect(results.first?.outcome == .newData)
            #expect(notes.all == ["poison \(attempts + 1)", "good 1"])
        } else {
            let reason = "the program ended within each of \(attempts) attempts to process it"
            #expect(results.first?.outcome == .failed(reason))
            #expect(notes.all == ["good 1"])
            #expect(try await router.deadLetters().map(\.attempts) == [attempts])
            // By hand it may be tried again.
            #expect(try await router.replay("poison").outcome == .newData)
            #expect(notes.all == ["good 1", "poison 1"])
        }
    }

    @Test("Resuming several times at once, while messages come, processes each once")
    func resumingAtOnce() async throws {
        for number in 0..<50 { try await crash("old \(number)", attempts: 0) }
        let router = startRouter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { try await router.resume() }
                group.addTask { try await router.accept(message("new \(number)")) }
            }
            try await group.waitForAll()
        }
        let all = (0..<50).flatMap { ["old \($0) 1", "new \($0) 1"] }
        #expect(notes.all.sorted() == all.sorted())
        #expect(try await inbox.pending() == [])
    }

    @Test("A dead letter is replayed, and may die again")
    func replay() async throws {
        let router = MessageRouter(inbox: inbox, configuration: .test())
        for id in ["a", "b", "c"] { #expect(try await router.accept(message(id)).outcome.isDead) }
        #expect(try await router.deadLetters().map(\.id) == ["a", "b", "c"])
        #expect(try await router.deadLetters(limit: 2).map(\.id) == ["b", "c"])
        #expect(try await router.replay("b").outcome.name == "unhandled")
        let notes = notes
        let token = router.register(type: "greeting") { (_: FieldValue, context) in
            notes.add("\(context.messageID) \(context.attempt)")
            return context.messageID == "c" ? .failed("no") : .newData
        }
        #expect(try await router.replay("a").outcome == .newData)
        #expect(try await Set(router.replayAll().map(\.outcome)) == [.newData, .failed("no")])
        #expect(notes.all.sorted() == ["a 1", "b 1", "c 1"])
        #expect(try await router.deadLetters().map(\.id) == ["c"])
        for id in ["a", "unknown"] {
            let error = await #expect(throws: ClubError.self) { try await router.replay(id) }
            #expect(error?.kind == .noSuchMessage)
        }
        router.unregister(token)
        #expect(try await router.replayAll().map(\.outcome.name) == ["unhandled"])
        #expect(try await router.accept(message("c")).outcome == .duplicate)
    }

    @Test("A message without a type gets one when the rule has been set right")
    func retyped() async throws {
        let router = startRouter()
        router.messageTypeKey = "type"
        #expect(try await router.accept(message("a")).outcome == .unhandled("it has no message type"))
        router.messageTypeKey = "messageType"
        let result = try await router.replay("a")
        #expect(result.outcome == .newData)
        #expect(result.type == "greeting")
    }

    @Test("An expired message is replayed only if that is wanted")
    func replayExpired() async throws {
        let router = startRouter()
        #expect(try await router.accept(message("a", expiresAt: start)).outcome == .expired)
        #expect(try await router.replay("a").outcome == .expired)
        #expect(try await router.replayAll().map(\.outcome) == [.expired])
        #expect(try await router.replayAll(evenIfExpired: true).map(\.outcome) == [.newData])
    }

    @Test("Nothing of a payload is logged")
    func log() async throws {
        let store = LogStore()
        var configuration = RouterConfiguration.test()
        configuration.logger = Logger(label: "router") { _ in LogCollector(store: store) }
        let router = MessageRouter(inbox: inbox, configuration: configuration)
        router.register(type: "greeting") { (_: FieldValue, _) in .failed("secret") }
        try await router.accept(message("secret-identifier", fields: ["text": "secret"]))
        inbox.refuse(.settle)
        await #expect(throws: ClubError.self) { try await router.accept(message("other", fields: ["text": "secret"])) }
        #expect(store.lines.count == 2)
        #expect(store.lines.filter { $0.contains("secret") } == [])
    }
}
