import ClubRecords
import ClubMessages
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubMessages

@Suite("Routing messages", .timeLimit(.minutes(10)))
struct MessageRouterTests {
    let router = MessageRouter(configuration: .test())
    let notes = Notes()

    struct Greeting: MessageProcessor {
        struct Payload: Decodable, Sendable {
            var text: String
            var at: Date?
        }
        static let processorType = "greeting"

        func process(_ payload: Payload, context: MessageContext) async throws -> ProcessingResult {
            .failed("\(payload.text) \(context.messageID) \(context.attempt) \(context.state) \(context.source)")
        }
    }

    @Test("A message goes to the processor of its type, with its payload and its context")
    func typed() async throws {
        router.register(Greeting.self)
        router.state = .idle
        let result = try await router.accept(message("m1", fields: ["text": "hello"]))
        #expect(result.outcome == .failed("hello m1 1 idle application"))
        #expect(result.processor == "Greeting")
        #expect(result.type == "greeting")
        #expect(result.messageID == "m1")
        #expect(result.at == start)
        #expect(try await router.accept(message("m2", "Greeting")).outcome.name == "unhandled")
        #expect(router.unregister(Greeting.self))
        #expect(!router.unregister(Greeting.self))
        #expect(try await router.accept(message("m3", fields: ["text": "hello"])).outcome.name == "unhandled")
    }

    @Test(
        "A payload that cannot be read fails with the place, and without values",
        arguments: [
            ([:], "the field 'text' is missing"),
            (["text": 17_171], "the field 'text' is no text"),
            (["text": nil], "the field 'text'"),
            (["text": "a", "at": "secret"], "the field 'at' is not valid"),
            (["text": "a", "at": ["secret": 1]], "the field 'at' is not valid"),
        ] as [([String: FieldValue], String)]
    )
    func unreadable(fields: [String: FieldValue], reason: String) async throws {
        router.register(Greeting.self)
        let outcome = try await router.accept(message("m", fields: fields)).outcome
        #expect(outcome.name == "failed")
        #expect(outcome.reason?.contains(reason) == true, "\(outcome)")
        #expect(outcome.reason?.contains("secret") == false)
        #expect(outcome.reason?.contains("17171") == false)
        #expect(try await router.deadLetters().map(\.reason) == [outcome.reason])
    }

    @Test("Times in a payload are ISO 8601 or seconds since 1970")
    func times() async throws {
        struct Payload: Decodable, Sendable { var at: [Date] }
        router.register(type: "greeting") { [notes] (payload: Payload, _) in
            for date in payload.at { notes.add("\(date.timeIntervalSince1970)") }
            return .newData
        }
        let at: FieldValue = ["2026-09-01T10:00:00Z", 1_788_256_800, 1_788_256_800.5]
        #expect(try await router.accept(message("m", fields: ["at": at])).outcome == .newData)
        #expect(notes.all == ["1788256800.0", "1788256800.0", "1788256800.5"])
    }

    @Test("What a processor throws fails the message, without the error's words unless it is the club's")
    func thrown() async throws {
        struct Leak: Error, CustomStringConvertible { var description = "secret" }
        router.register(type: "leak") { (_: FieldValue, _) in throw Leak() }
        router.register(type: "full") { (_: FieldValue, _) in throw ClubError(.diskFull, attempting: "show it") }
        router.register(type: "lines") { (_: FieldValue, _) in .failed("two\nlines") }
        #expect(try await router.accept(message("1", "leak")).outcome == .failed("it threw Leak"))
        let full = try await router.accept(message("2", "full")).outcome.reason
        #expect(full?.hasPrefix("could not show it: the disk is full") == true)
        #expect(try await router.accept(message("3", "lines")).outcome == .failed("two lines"))
    }

    @Test("A processor is made for each message, by a factory if there is one")
    func fresh() async throws {
        struct Counting: MessageProcessor {
            static let processorType = "greeting"
            var number = 0
            var notes: Notes?

            func process(_ payload: FieldValue, context: MessageContext) async throws -> ProcessingResult {
                notes?.add("\(number)")
                return .noData
            }
        }
        struct Refused: Error {}
        let counter = Counter()
        let (router, notes) = (router, notes)
        let first = router.register(Counting.self)
        #expect(try await router.accept(message("0")).outcome == .noData)
        let second = router.register(Counting.self) { Counting(number: counter.next(), notes: notes) }
        #expect(first == second)
        for id in ["1", "2", "3"] { #expect(try await router.accept(message(id)).outcome == .noData) }
        #expect(notes.all == ["1", "2", "3"])
        router.register(Counting.self) { throw Refused() }
        #expect(try await router.accept(message("4")).outcome == .failed("it threw Refused"))
    }

    /// Three types in a row, each of which answers what it is told.
    private func registerThree(_ answers: [ProcessingResult]) -> [ProcessorRegistration] {
        answers.enumerated().map { index, answer in
            router.register(type: "greeting", name: "\(index)") { [notes] (_: FieldValue, _) in
                notes.add("\(index)")
                return answer
            }
        }
    }

    @Test("Processors of a type are tried in the order of registration, until one does not decline")
    func declined() async throws {
        _ = registerThree([.declined, .noData, .newData])
        let result = try await router.accept(message("m"))
        #expect(result.outcome == .noData)
        #expect(result.processor == "1")
        #expect(notes.all == ["0", "1"])
    }

    @Test("A failure is final: the next one is not tried")
    func failure() async throws {
        _ = registerThree([.failed("no"), .newData])
        #expect(try await router.accept(message("m")).outcome == .failed("no"))
        #expect(notes.all == ["0"])
    }

    @Test("The fallback gets what all declined, what nobody knows, and what has no type")
    func fallback() async throws {
        _ = registerThree([.declined, .declined])
        #expect(try await router.accept(message("1")).outcome == .unhandled("every processor of its type declined it"))
        let notes = notes
        let token = router.setFallback { (_: FieldValue, context) in
            notes.add("fallback \(context.type ?? "none")")
            return context.type == "no" ? .declined : .newData
        }
        let result = try await router.accept(message("2"))
        #expect(result.outcome == .newData)
        #expect(result.processor == "fallback")
        #expect(try await router.accept(message("3", "unknown")).outcome == .newData)
        #expect(try await router.accept(message("4", nil)).outcome == .newData)
        #expect(try await router.accept(message("5", "no")).outcome.name == "unhandled")
        #expect(
            notes.all == ["0", "1", "0", "1", "fallback greeting", "fallback unknown", "fallback none", "fallback no"]
        )
        #expect(router.unregister(token))
        #expect(try await router.accept(message("6", nil)).outcome == .unhandled("it has no message type"))
        router.setFallback(Greeting.self)
        #expect(try await router.accept(message("7", "x", fields: ["text": "a"])).outcome.name == "failed")
        #expect(router.unregister(Greeting.self))
        let last = try await router.accept(message("8", "x"))
        #expect(last.outcome == .unhandled("no processor is registered for its type"))
        #expect(last.processor == nil)
    }

    @Test("A processor is unregistered by its registration, once, and by no other router's")
    func tokens() async throws {
        let tokens = registerThree([.declined, .declined, .newData])
        #expect(router.unregister(tokens[1]))
        #expect(!router.unregister(tokens[1]))
        let other = MessageRouter(configuration: .test())
        let others = other.register(type: "greeting") { (_: FieldValue, _) in .newData }
        #expect(!router.unregister(others))
        #expect(!other.unregister(tokens[0]))
        #expect(try await router.accept(message("m")).processor == "2")
        #expect(notes.all == ["0", "2"])
    }

    @Test("Registering a type again keeps its place")
    func idempotent() async throws {
        struct First: MessageProcessor {
            static let processorType = "greeting"
            func process(_ payload: FieldValue, context: MessageContext) async throws -> ProcessingResult { .newData }
        }
        router.register(First.self)
        _ = registerThree([.noData])
        router.register(First.self)
        #expect(try await router.accept(message("1")).processor == "First")
        router.unregister(First.self)
        router.register(First.self)
        #expect(try await router.accept(message("2")).processor == "0")
    }

    @Test("Unregistering meanwhile: what runs is brought to its end, what has not begun is not")
    func unregisterMeanwhile() async throws {
        let (entered, leave) = (Gate(), Gate())
        let (router, notes) = (router, notes)
        let first = router.register(type: "greeting", name: "first") { (_: FieldValue, _) in
            entered.open()
            await leave.pass()
            return .declined
        }
        let second = router.register(type: "greeting", name: "second") { (_: FieldValue, _) in .newData }
        router.register(type: "greeting", name: "third") { (_: FieldValue, _) in
            notes.add("third")
            return .noData
        }
        async let result = router.accept(message("m"))
        await entered.pass()
        #expect(router.unregister(first))
        #expect(router.unregister(second))
        leave.open()
        #expect(try await result.processor == "third")
    }

    @Test("Messages from cards go only to processors that take them", arguments: MessageSource.Kind.allCases)
    func sources(kind: MessageSource.Kind) async throws {
        struct Everything: MessageProcessor {
            static let processorType = "all"
            static let acceptedSources = Set(MessageSource.Kind.allCases)
            func process(_ payload: FieldValue, context: MessageContext) async throws -> ProcessingResult { .newData }
        }
        struct Usual: MessageProcessor {
            static let processorType = "usual"
            func process(_ payload: FieldValue, context: MessageContext) async throws -> ProcessingResult { .newData }
        }
        router.register(Everything.self)
        router.register(Usual.self)
        router.register(type: "closure") { (_: FieldValue, _) in .newData }
        router.register(type: "hub", sources: [.hub]) { (_: FieldValue, _) in .newData }
        router.setFallback { (_: FieldValue, _) in .noData }
        let source = MessageSource(kind)
        let refused = RoutingResult.Outcome.unhandled("no processor of its type takes messages of the source 'card'")
        #expect(try await router.accept(message("1", "all", source: source)).outcome == .newData)
        for type in ["usual", "closure"] {
            let outcome = try await router.accept(message(type, type, source: source)).outcome
            #expect(outcome == (kind == .card ? refused : .newData))
        }
        let outcome = try await router.accept(message("2", "hub", source: source)).outcome
        #expect(outcome == (kind == .hub ? .newData : kind == .card ? refused : .noData))
    }

    @Test("The closure takes the key's place, and may find no type")
    func typeClosure() async throws {
        router.register(type: "warning") { (_: FieldValue, _) in .newData }
        router.messageTypeProcessor = { payload in
            guard case .object(let fields) = payload, case .string(let level)? = fields["level"] else { return nil }
            return level
        }
        #expect(try await router.accept(message("1", nil, fields: ["level": "warning"])).outcome == .newData)
        #expect(try await router.accept(message("2", "warning")).outcome == .unhandled("it has no message type"))
        router.messageTypeProcessor = nil
        #expect(try await router.accept(message("3", "warning")).outcome == .newData)
        router.messageTypeProcessor = { _ in "" }
        #expect(try await router.accept(message("4", "warning")).type == nil)
        let given = Message(id: "5", type: "warning", payload: [:])
        #expect(try await router.accept(given).outcome == .newData)
    }
}
