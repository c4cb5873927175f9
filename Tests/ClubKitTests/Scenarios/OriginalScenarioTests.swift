import Foundation
import Synchronization
import Testing

@testable import ClubKit

/// What the original library does, in both forms.
@Suite("Scenarios of the original library", .serialized)
struct OriginalScenarioTests {
    enum Step: Sendable {
        /// An event so many seconds after ``start``.
        case event(Double)
        /// An attempt then, and what it comes to.
        case attempt(Double, Bool)
    }

    struct Vector: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var type: any (ScenarioProtocol & SendableMetatype).Type
        var configure: @Sendable (inout Scenario) -> Void
        var steps: [Step]
    }

    static let day: Double = 86_400

    static let vectors: [Vector] = [
        Vector(
            testDescription: "two events at least",
            type: TwoEvents.self,
            configure: { $0.minEventsRequired = 2 },
            steps: [.attempt(0, false), .event(0), .attempt(0, false), .event(0), .attempt(0, true)]
        ),
        Vector(
            testDescription: "two events at most",
            type: TwoEventsAtMost.self,
            configure: { $0.maxEventsPermitted = 2 },
            steps: [
                .attempt(0, true), .event(0), .attempt(0, true), .event(0), .attempt(0, true), .event(0),
                .attempt(0, false),
            ]
        ),
        Vector(
            testDescription: "once",
            type: Once.self,
            configure: { $0.maxExecutionsPermitted = 1 },
            steps: [.attempt(0, true), .attempt(0, false)]
        ),
        Vector(
            testDescription: "three times",
            type: ThreeTimes.self,
            configure: { $0.maxExecutionsPermitted = 3 },
            steps: [.attempt(0, true), .attempt(0, true), .attempt(0, true), .attempt(0, false)]
        ),
        Vector(
            testDescription: "1500 s after the first event",
            type: SinceFirst.self,
            configure: { $0.minSecondsSinceFirstEvent = 1500 },
            // The original passes while there is no event.
            steps: [
                .attempt(-3000, false), .event(-2000), .attempt(-2000, false), .attempt(-500, false),
                .attempt(-499.999_999, true), .attempt(0, true), .event(0), .attempt(0, true),
            ]
        ),
        Vector(
            testDescription: "500 s after the last event",
            type: SinceLast.self,
            configure: { $0.minSecondsSinceLastEvent = 500 },
            steps: [
                .attempt(-3000, false), .event(-2000), .attempt(-2000, false), .attempt(0, true), .event(0),
                .attempt(0, false), .attempt(500, false), .attempt(501, true),
            ]
        ),
        Vector(
            testDescription: "no event, compatible with WaitForIt",
            type: Compatible.self,
            configure: {
                $0.minSecondsSinceFirstEvent = 1500
                $0.minSecondsSinceLastEvent = 500
                $0.compatibleWithWaitForIt = true
            },
            steps: [.attempt(0, true), .event(0), .attempt(0, false), .attempt(1501, true)]
        ),
        Vector(
            testDescription: "1000 s between executions",
            type: Between.self,
            configure: { $0.minSecondsBetweenExecutions = 1000 },
            steps: [.attempt(-2000, true), .attempt(-1500, false), .attempt(1500, true)]
        ),
        Vector(
            testDescription: "once, after two events",
            type: OnceAfterTwo.self,
            configure: {
                $0.maxExecutionsPermitted = 1
                $0.minEventsRequired = 2
            },
            steps: [.attempt(0, false), .event(0), .event(0), .attempt(0, true), .attempt(0, false)]
        ),
        Vector(
            testDescription: "1 s between, while there is no event",
            type: BetweenWithoutEvents.self,
            configure: {
                $0.minSecondsBetweenExecutions = 1
                $0.maxEventsPermitted = 0
            },
            steps: [.attempt(0, true), .attempt(0, false), .event(0), .attempt(10, false)]
        ),
        Vector(
            testDescription: "README: the tutorial, once",
            type: ShowTutorial.self,
            configure: {
                $0.minEventsRequired = 1
                $0.maxEventsPermitted = 1
            },
            steps: [
                .attempt(0, false), .event(0), .attempt(0, true), .event(day), .attempt(day, false), .event(2 * day),
                .attempt(2 * day, false),
            ]
        ),
        Vector(
            testDescription: "README: ask to subscribe after a week and five starts, every two days, four times",
            type: AskToSubscribe.self,
            configure: {
                $0.minEventsRequired = 5
                $0.minSecondsSinceFirstEvent = 604_800
                $0.minSecondsBetweenExecutions = 172_800
                $0.maxExecutionsPermitted = 4
            },
            steps: [
                .event(0), .event(day), .event(2 * day), .event(3 * day), .attempt(8 * day, false), .event(4 * day),
                .attempt(6 * day, false), .attempt(7 * day, false), .attempt(7 * day + 1, true),
                .attempt(8 * day, false), .attempt(9 * day + 1, false), .attempt(9 * day + 2, true),
                .attempt(12 * day, true), .attempt(15 * day, true), .attempt(400 * day, false),
            ]
        ),
    ]

    @Test("Vectors, with the types", arguments: vectors)
    func types(vector: Vector) throws {
        try withFamiliarClub { _ in
            for (number, step) in vector.steps.enumerated() {
                switch step {
                case .event(let seconds): vector.type.triggerEvent(timeNow: start.addingTimeInterval(seconds))
                case .attempt(let seconds, let expected):
                    var answers: [Bool] = []
                    vector.type.tryToExecute(timeNow: start.addingTimeInterval(seconds)) { answers.append($0) }
                    #expect(answers == [expected], "step \(number)")
                }
            }
            vector.type.reset()
            let decision = try vector.type.decision(timeNow: start)
            #expect(decision.counters.eventsCount == 0)
            #expect(decision.counters.executionsCount == 0)
            #expect(decision.counters.firstEventDate == nil)
            #expect(decision.counters.lastExecutionDate == nil)
        }
    }

    @Test("Vectors, with values", arguments: vectors, [ScenarioSubject.kiosk, .group("staff"), .member("A")])
    func values(vector: Vector, subject: ScenarioSubject) async throws {
        let club = try await openClub()
        _ = try await club.add(Member(userId: "A"))
        let scenario = Scenario("vector") {
            vector.configure(&$0)
            $0.events = .named("event")
            switch subject {
            case .kiosk: $0.audience = .kiosk
            case .group(let tag): $0.audience = .group(tag)
            case .member: $0.audience = .members
            }
        }
        for (number, step) in vector.steps.enumerated() {
            switch step {
            case .event(let seconds):
                try await club.trigger("event", for: subject, at: start.addingTimeInterval(seconds))
            case .attempt(let seconds, let expected):
                let date = start.addingTimeInterval(seconds)
                let isDue = try await club.decide(scenario, for: subject, at: date).isDue
                let outcome = try await club.tryToExecute(scenario, for: subject, at: date)
                #expect(outcome.hasHappened == expected, "step \(number)")
                #expect(isDue == expected, "step \(number)")
                #expect(outcome.decision.isDue == outcome.decision.failures.isEmpty)
            }
        }
        try await club.resetScenario(scenario, for: subject)
        let counters = try await club.scenarioCounters(of: scenario, for: subject)
        #expect(counters.eventsCount == 0)
        #expect(counters.executionsCount == 0)
        #expect(try await club.check().isEmpty)
    }

    @Test("Each run of config() begins with nothing set")
    func notSticky() throws {
        try withFamiliarClub { _ in
            Sometimes.isLimited.store(true, ordering: .relaxed)
            let limited = try Sometimes.scenario()
            #expect(limited.maxExecutionsPermitted == 0)
            #expect(Sometimes.maxExecutionsPermitted == 0)
            Sometimes.isLimited.store(false, ordering: .relaxed)
            let unlimited = try Sometimes.scenario()
            #expect(unlimited.maxExecutionsPermitted == nil)
            #expect(Sometimes.maxExecutionsPermitted == nil)
        }
    }

    @Test("Custom conditions are asked once for each attempt, and may use scenarios themselves")
    func customConditions() throws {
        try withFamiliarClub { _ in
            Conditional.asked.store(0, ordering: .relaxed)
            Conditional.answer.store(false, ordering: .relaxed)
            var answers: [Bool] = []
            Conditional.triggerEvent()
            Conditional.tryToExecute { answers.append($0) }
            #expect(Conditional.asked.load(ordering: .relaxed) == 1)
            Conditional.answer.store(true, ordering: .relaxed)
            Conditional.tryToExecute { answers.append($0) }
            #expect(Conditional.asked.load(ordering: .relaxed) == 2)
            #expect(answers == [false, true])
        }
    }

    @Test("Types of one name in different places share nothing")
    func qualified() throws {
        try withFamiliarClub { _ in
            #expect(PlaceA.Promo.identifier != PlaceB.Promo.identifier)
            #expect(PlaceA.Promo.identifier.hasSuffix(".PlaceA.Promo"))
            var answers: [Bool] = []
            PlaceA.Promo.tryToExecute { answers.append($0) }
            PlaceA.Promo.tryToExecute { answers.append($0) }
            PlaceB.Promo.tryToExecute { answers.append($0) }
            #expect(answers == [true, false, true])
        }
    }

    @Test("A type without a lasting name is refused, one that gives itself a name is not")
    func nameless() throws {
        struct Local: ScenarioProtocol {
            static func config() {}
        }
        struct Named: ScenarioProtocol {
            static let identifier = "named"
            static func config() { maxExecutionsPermitted = 1 }
        }
        try withFamiliarClub { club in
            let recorder = FamiliarRecorder()
            club.setDelegate(to: recorder).setDispatchQueue(recorder.queue)
            defer { withExtendedLifetime(recorder) {} }
            for type: any ScenarioProtocol.Type in [Local.self, Hidden.self] {
                var answers: [Bool] = []
                type.triggerEvent()
                type.tryToExecute { answers.append($0) }
                #expect(answers == [false])
                #expect { try type.decision() } throws: { ($0 as? ClubError)?.kind == .invalidScenario }
            }
            var answers: [Bool] = []
            Named.tryToExecute { answers.append($0) }
            Named.tryToExecute { answers.append($0) }
            #expect(answers == [true, false])
            // Each use of the two was reported.
            recorder.queue.sync {}
            #expect(recorder.lines == Array(repeating: "error ClubError invalidScenario", count: 4))
        }
    }

    @Test("What a type declares in place of setting it counts, however the number is written", arguments: declaring)
    func declared(type: AnyType, expected: [Bool]) throws {
        try withFamiliarClub { _ in
            var answers: [Bool] = []
            for seconds in [0.0, 10, 20, 30] {
                type.tryToExecute(timeNow: start.addingTimeInterval(seconds)) { answers.append($0) }
            }
            #expect(answers == expected)
        }
    }

    typealias AnyType = any (ScenarioProtocol & SendableMetatype).Type

    static let declaring: [(AnyType, [Bool])] = [
        (DeclaredOptional.self, [true, false, false, false]), (DeclaredCount.self, [true, true, false, false]),
        (DeclaredLiteral.self, [true, true, true, false]), (DeclaredSeconds.self, [true, false, true, false]),
        (DeclaredWhole.self, [true, false, false, true]), (DeclaredCondition.self, [false, false, false, false]),
        (DeclaredEvents.self, [false, false, false, false]),
    ]

    @Test("What a type declares in a type that cannot be used is refused, not passed over")
    func declaredWrongly() throws {
        try withFamiliarClub { _ in
            for type: any ScenarioProtocol.Type in [DeclaredText.self, DeclaredUnsendable.self] {
                var answers: [Bool] = []
                type.tryToExecute { answers.append($0) }
                #expect(answers == [false])
                let error = #expect(throws: ClubError.self) { try type.decision() }
                #expect(error?.kind == .invalidScenario)
                #expect(error?.detail?.contains("declare it as") == true)
            }
        }
    }

    @Test("A program with a club of its own chooses which one keeps the state, and gets no second database before")
    func keeper() async throws {
        let directory = try TemporaryDirectory()
        let club = Club(configuration: .test(.file(path: directory.file())))
        // As a program that has chosen nothing.
        FamiliarScenarios.use(nil)
        defer { FamiliarScenarios.use(Club.shared) }
        try await club.open()
        let error = #expect(throws: ClubError.self) { try Once.decision() }
        #expect(error?.kind == .invalidScenario)
        #expect(error?.detail?.contains("keepScenarioTypes()") == true)
        club.keepScenarioTypes()
        var answers: [Bool] = []
        Once.tryToExecute { answers.append($0) }
        #expect(answers == [true])
        let kept = try await club.scenarioCounters(of: Once.scenario(), for: .kiosk)
        #expect(kept.executionsCount == 1)
        try await club.close()
    }

    @Test("A club that keeps the state of types already is not configured: there would be a second database")
    func configuredLate() throws {
        let directory = try TemporaryDirectory()
        let club = Club(configuration: .test(.file(path: directory.file())))
        defer { FamiliarScenarios.use(Club.shared) }
        club.keepScenarioTypes().configure { $0.cooldown = .seconds(1) }
        #expect(club.configuration.cooldown == .seconds(1))
        Once.tryToExecute { _ in }
        club.configure { $0.database = .memory }
        #expect(club.configuration.database == .file(path: directory.file()))
        club.keepScenarioTypes().configure { $0.cooldown = .seconds(2) }
        #expect(club.configuration.cooldown == .seconds(2))
    }

    @Test("An effect that throws does not count")
    func refunded() throws {
        struct Failure: Error {}
        try withFamiliarClub { _ in
            #expect(throws: Failure.self) { try Once.tryToExecute { _ in throw Failure() } }
            var answers: [Bool] = []
            Once.tryToExecute { answers.append($0) }
            Once.tryToExecute { answers.append($0) }
            #expect(answers == [true, false])
        }
    }

    @Test("The state is on disk, and the same whether or not the club is open")
    func durable() async throws {
        let directory = try TemporaryDirectory()
        var configuration = ClubConfiguration.test(.file(path: directory.file()))
        configuration.makeUUID = { UUID() }
        FamiliarScenarios.use(Club(configuration: configuration))
        TwoEvents.triggerEvent(timeNow: start)
        FamiliarScenarios.use(Club.shared)
        let open = try await openClub(configuration)
        FamiliarScenarios.use(open)
        TwoEvents.triggerEvent(timeNow: start)
        var answers: [Bool] = []
        TwoEvents.tryToExecute(timeNow: start) { answers.append($0) }
        #expect(answers == [true])
        try await open.close()
        FamiliarScenarios.use(Club(configuration: configuration))
        #expect(try TwoEvents.decision(timeNow: start).counters.executionsCount == 1)
        FamiliarScenarios.use(Club.shared)
    }

    @Test("A database that cannot be opened means no, and is told")
    func unusable() async throws {
        let club = Club(configuration: .test(.file(path: "/proc/no/club.sqlite")))
        let events = club.events
        FamiliarScenarios.use(club)
        var answers: [Bool] = []
        Once.tryToExecute { answers.append($0) }
        #expect(answers == [false])
        guard case .error(let error, _)? = await events.first(1).first else {
            Issue.record("nothing was told")
            return
        }
        #expect(error.kind == .cannotCreate)
        FamiliarScenarios.use(Club.shared)
    }

    @Test("Threads that try at the same time never exceed a limit")
    func concurrent() async throws {
        let directory = try TemporaryDirectory()
        FamiliarScenarios.use(Club(configuration: .test(.file(path: directory.file()))))
        let yes = Tally()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5 {
                        ThreeTimes.tryToExecute { if $0 { yes.add() } }
                    }
                }
            }
        }
        #expect(yes.count == 3)
        FamiliarScenarios.use(Club.shared)
    }

    private func withFamiliarClub(_ body: (Club) throws -> Void) throws {
        let club = Club(configuration: .test())
        FamiliarScenarios.use(club)
        defer { FamiliarScenarios.use(Club.shared) }
        try body(club)
    }
}

/// Counts, from any thread.
final class Tally: Sendable {
    private let stored = Atomic(0)

    var count: Int { stored.load(ordering: .relaxed) }

    func add() { stored.add(1, ordering: .relaxed) }
}

struct DeclaredOptional: ScenarioProtocol {
    static var maxExecutionsPermitted: Int? { 1 }
    static func config() {}
}

struct DeclaredCount: ScenarioProtocol {
    static var maxExecutionsPermitted: Int { 2 }
    static func config() {}
}

struct DeclaredLiteral: ScenarioProtocol {
    static let maxExecutionsPermitted = 3
    static func config() {}
}

struct DeclaredSeconds: ScenarioProtocol {
    static var minSecondsBetweenExecutions: TimeInterval? { 15 }
    static func config() {}
}

struct DeclaredWhole: ScenarioProtocol {
    static let minSecondsBetweenExecutions = 25
    static func config() {}
}

struct DeclaredCondition: ScenarioProtocol {
    static var customConditions: (@Sendable () -> Bool)? { { false } }
    static func config() {}
}

struct DeclaredEvents: ScenarioProtocol {
    static var minEventsRequired: Int { 1 }
    static func config() { maxExecutionsPermitted = 9 }
}

struct DeclaredText: ScenarioProtocol {
    static let maxExecutionsPermitted = "1"
    static func config() {}
}

struct DeclaredUnsendable: ScenarioProtocol {
    static var customConditions: () -> Bool { { false } }
    static func config() {}
}

enum PlaceA {
    struct Promo: ScenarioProtocol {
        static func config() { maxExecutionsPermitted = 1 }
    }
}

enum PlaceB {
    struct Promo: ScenarioProtocol {
        static func config() { maxExecutionsPermitted = 1 }
    }
}

private struct Hidden: ScenarioProtocol {
    static func config() {}
}

struct Sometimes: ScenarioProtocol {
    static let isLimited = Atomic(false)

    static func config() {
        if isLimited.load(ordering: .relaxed) { maxExecutionsPermitted = 0 }
    }
}

struct Conditional: ScenarioProtocol {
    static let asked = Atomic(0)
    static let answer = Atomic(false)

    static func config() {
        customConditions = {
            asked.add(1, ordering: .relaxed)
            // Outside of the transaction, so this waits for nothing.
            Once.triggerEvent()
            return answer.load(ordering: .relaxed)
        }
    }
}

struct TwoEvents: ScenarioProtocol {
    static func config() { minEventsRequired = 2 }
}

struct TwoEventsAtMost: ScenarioProtocol {
    static func config() { maxEventsPermitted = 2 }
}

struct Once: ScenarioProtocol {
    static func config() { maxExecutionsPermitted = 1 }
}

struct ThreeTimes: ScenarioProtocol {
    static func config() { maxExecutionsPermitted = 3 }
}

struct SinceFirst: ScenarioProtocol {
    static func config() { minSecondsSinceFirstEvent = 1500 }
}

struct SinceLast: ScenarioProtocol {
    static func config() { minSecondsSinceLastEvent = 500 }
}

struct Compatible: ScenarioProtocol {
    static func config() {
        minSecondsSinceFirstEvent = 1500
        minSecondsSinceLastEvent = 500
        compatibleWithWaitForIt = true
    }
}

struct Between: ScenarioProtocol {
    static func config() { minSecondsBetweenExecutions = 1000 }
}

struct OnceAfterTwo: ScenarioProtocol {
    static func config() {
        maxExecutionsPermitted = 1
        minEventsRequired = 2
    }
}

struct BetweenWithoutEvents: ScenarioProtocol {
    static func config() {
        minSecondsBetweenExecutions = 1
        maxEventsPermitted = 0
    }
}

struct ShowTutorial: ScenarioProtocol {
    static func config() {
        minEventsRequired = 1
        maxEventsPermitted = 1
    }
}

struct AskToSubscribe: ScenarioProtocol {
    static func config() {
        minEventsRequired = 5
        minSecondsSinceFirstEvent = 604_800
        minSecondsBetweenExecutions = 172_800
        maxExecutionsPermitted = 4
    }
}
