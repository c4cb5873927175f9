import Foundation
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

@Suite("Scenarios of a club", .timeLimit(.minutes(10)))
struct ClubScenarioTests {
    private static let day: Double = 86_400

    private static func coffee(every: Int = 3) -> Scenario {
        Scenario("coffee") {
            $0.title = "A free coffee"
            $0.message = "This coffee is on us."
            $0.rules = [.every(every, since: nil)]
        }
    }

    @Test("What is due is told by the receipt, the events and the delegate, after the visit")
    @MainActor
    func told() async throws {
        final class Delegate: ClubMiddlewareDelegate {
            var told: [String] = []
            func club(_ club: Club, didCreateNewMembership user: MembershipUser) { told.append("created") }
            func club(_ club: Club, didUpdateMembership user: MembershipUser) { told.append("visit") }
            func club(_ club: Club, didExecute result: ScenarioResult) { told.append(result.message ?? "?") }
        }
        let delegate = Delegate()
        let club = try await openClub(.test(cooldown: .zero))
        club.setDelegate(to: delegate).setScenarios([Self.coffee(every: 2)])
        let events = club.events
        let first = try await club.receive(tap("A"))
        #expect(first.executions.isEmpty)
        let second = try await club.receive(tap("A", at: 60))
        let execution = try #require(second.executions.first)
        #expect(execution.scenario == "coffee")
        #expect(execution.subject == .member("A"))
        #expect(execution.visit == second.eventID)
        #expect(execution.at == second.at)
        #expect(execution.number == 1)
        #expect(execution.state == .delivered)
        var told: [String] = []
        for event in await events.first(5) { told.append(event.name) }
        #expect(told == ["scan", "created", "scan", "visit", "scenario"])
        while delegate.told.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(delegate.told == ["created", "visit", "This coffee is on us."])
        // The same tap again changes nothing.
        let again = try await club.receive(tap("A", at: 60, id: second.eventID))
        #expect(again.executions == second.executions)
        #expect(try await club.executions().count == 1)
        #expect(try await club.check().isEmpty)
    }

    @Test("A repeat, a refusal and an unknown card charge nothing")
    func onlyVisits() async throws {
        let club = try await openClub()
        club.setScenarios([Scenario("always")])
        #expect(try await club.receive(tap("A")).executions.count == 1)
        #expect(try await club.receive(tap("A", at: 1)).executions.isEmpty)
        #expect(try await club.receive(tap(nil)).executions.isEmpty)
        _ = try await club.block("A", by: ActionContext(reason: "lost"))
        #expect(try await club.receive(tap("A", at: 100)).executions.isEmpty)
        #expect(try await club.executions().count == 1)
    }

    /// A scenario, the days of the taps, and at which of them it happens.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var taps: [Int]
        var due: [Int]
        var configure: @Sendable (inout Scenario) -> Void

        init(
            _ testDescription: String,
            _ taps: [Int],
            _ due: [Int],
            _ configure: @escaping @Sendable (inout Scenario) -> Void
        ) {
            (self.testDescription, self.taps, self.due, self.configure) = (testDescription, taps, due, configure)
        }
    }

    static let cases: [Case] = [
        Case("every third", [0, 1, 2, 3, 4, 5, 6], [2, 5]) { $0.rules = [.every(3, since: nil)] },
        Case("every second since then", [0, 1, 2, 3, 4], [4]) {
            $0.rules = [.every(2, since: start.addingTimeInterval(2.5 * day))]
        },
        Case("three at least", [0, 1, 2, 3], [2, 3]) { $0.minEventsRequired = 3 },
        Case("once", [0, 1, 2], [0]) { $0.maxExecutionsPermitted = 1 },
        Case("two days after the first", [0, 1, 2, 3], [3]) { $0.minSecondsSinceFirstEvent = 2 * day },
        Case("two days between", [0, 1, 2, 3, 4, 6, 7], [0, 3, 6]) { $0.minSecondsBetweenExecutions = 2 * day },
        Case("after an absence", [0, 5, 15, 26, 27], [26]) { $0.rules = [.absence(10 * day)] },
        Case("the third in a week", [0, 1, 2, 3, 20, 21, 22], [2, 22]) {
            $0.rules = [.reaches(3, within: .seconds(7 * day))]
        },
        Case("two in three days", [0, 5, 6, 20], [6]) {
            $0.rules = [.events(atLeast: 2, atMost: nil, within: .seconds(3 * day))]
        },
        Case("twice in ten days", [0, 1, 2, 9, 10, 11, 12], [0, 1, 10, 11]) {
            $0.rules = [.executions(atMost: 2, within: .seconds(10 * day))]
        },
        Case("from then on", [0, 1, 2], [1, 2]) { $0.validFrom = start.addingTimeInterval(day) },
        Case("until then", [0, 1, 2], [0]) { $0.validUntil = start.addingTimeInterval(day) },
        Case("the third, or a Saturday", [0, 1, 2, 3, 4], [2, 4]) {
            $0.rules = [.any([.every(3, since: nil), .weekdays([.saturday])])]
        },
    ]

    @Test("Rules at taps, and what a preview says of them", arguments: cases)
    func rules(example: Case) async throws {
        let club = try await openClub(.test(cooldown: .zero))
        // start is a Tuesday.
        let scenario = Scenario("test") {
            example.configure(&$0)
            $0.timeZone = .gmt
        }
        club.setScenarios([scenario])
        var happened: [Int] = []
        for day in example.taps {
            let date = start.addingTimeInterval(Double(day) * Self.day)
            let preview = try? await club.preview([scenario], visitOf: "A", at: date)
            let receipt = try await club.receive(tap("A", at: Double(day) * Self.day))
            if !receipt.executions.isEmpty { happened.append(day) }
            // Before the first tap there is no member.
            if let preview { #expect(preview.map(\.isDue) == [!receipt.executions.isEmpty], "day \(day)") }
        }
        #expect(happened == example.due)
        #expect(try await club.check().isEmpty)
    }

    @Test("Priority, and one of a group only")
    func exclusive() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        func scenario(_ id: String, _ priority: Int, _ group: String?, most: Int? = nil) -> Scenario {
            Scenario(id) {
                $0.priority = priority
                $0.exclusiveGroup = group
                $0.maxExecutionsPermitted = most
            }
        }
        club.setScenarios([
            scenario("c", 0, "offers"), scenario("a", 5, "offers", most: 1), scenario("b", 5, "offers", most: 1),
            scenario("other", -1, nil),
        ])
        var happened: [[String]] = []
        for number in 0..<4 {
            happened.append(try await club.receive(tap("A", at: Double(number) * 60)).executions.map(\.scenario))
        }
        #expect(happened == [["a", "other"], ["b", "other"], ["c", "other"], ["c", "other"]])
    }

    @Test("Groups and the kiosk count together")
    func groups() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        for name in ["A", "B", "C"] { _ = try await club.add(Member(userId: name)) }
        _ = try await club.setTags(["students"], of: "A")
        _ = try await club.setTags(["students", "staff"], of: "B")
        let group = Scenario("third of the students") {
            $0.audience = .group("students")
            $0.rules = [.every(3, since: nil)]
        }
        let kiosk = Scenario("fifth visit here") {
            $0.audience = .kiosk
            $0.rules = [.every(5, since: nil)]
        }
        let tagged = Scenario("staff") { $0.rules = [.tagged("staff")] }
        club.setScenarios([group, kiosk, tagged])
        var happened: [String] = []
        var visits: [UUID] = []
        for (number, name) in ["A", "C", "B", "A", "C", "A", "A", "B"].enumerated() {
            let receipt = try await club.receive(tap(name, at: Double(number) * 60))
            visits.append(receipt.eventID)
            happened += receipt.executions.map { "\(number) \($0.scenario)" }
        }
        #expect(
            happened == [
                "2 staff", "3 third of the students", "4 fifth visit here", "7 third of the students", "7 staff",
            ]
        )
        #expect(try await club.scenarioCounters(of: group, for: .group("students")).eventsCount == 6)
        #expect(try await club.scenarioCounters(of: kiosk, for: .kiosk).eventsCount == 8)
        // A visit that is undone counts no more.
        _ = try await club.undoVisit(visits[0], by: ActionContext())
        #expect(try await club.scenarioCounters(of: group, for: .group("students")).eventsCount == 5)
        #expect(try await club.scenarioCounters(of: kiosk, for: .kiosk).eventsCount == 7)
        #expect(try await club.check().isEmpty)
    }

    @Test("Members who were joined have one state")
    func joined() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        club.setScenarios([Self.coffee(every: 4)])
        for number in 0..<3 { _ = try await club.receive(tap("A", at: Double(number) * 60)) }
        for number in 3..<5 { _ = try await club.receive(tap("B", at: Double(number) * 60)) }
        _ = try await club.mergeMember("B", into: "A")
        let receipt = try await club.receive(tap("B", at: 600))
        #expect(receipt.executions.map(\.number) == [1])
        #expect(receipt.executions.map(\.subject) == [.member("A")])
        #expect(try await club.receive(tap("A", at: 660)).executions.isEmpty)
        #expect(try await club.receive(tap("A", at: 720)).executions.map(\.number) == [2])
        #expect(try await club.executions(for: .member("B")).count == 2)
        #expect(try await club.scenarioCounters(of: Self.coffee(), for: .member("B")).eventsCount == 8)
    }

    @Test("Who is deleted and comes again begins anew; who is erased leaves nothing")
    func deleted() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        let once = Scenario("once") { $0.maxExecutionsPermitted = 1 }
        club.setScenarios([once])
        #expect(try await club.receive(tap("A")).executions.count == 1)
        #expect(try await club.receive(tap("A", at: 60)).executions.isEmpty)
        try await club.delete("A")
        #expect(try await club.receive(tap("A", at: 120)).executions.map(\.number) == [1])
        try await club.trigger("purchase", for: .member("A"))
        try await club.erase("A")
        #expect(try await club.executions().isEmpty)
        #expect(try await club.receive(tap("A", at: 180)).executions.map(\.number) == [1])
        #expect(try await club.check().isEmpty)
    }

    @Test("An event with an identifier is recorded once")
    func triggerOnce() async throws {
        let club = try await openClub()
        let id = UUID()
        #expect(try await club.trigger("purchase", for: .kiosk, id: id))
        #expect(try await !club.trigger("purchase", for: .kiosk, id: id))
        let scenario = Scenario("s") {
            $0.audience = .kiosk
            $0.events = .named("purchase")
        }
        #expect(try await club.scenarioCounters(of: scenario, for: .kiosk).eventsCount == 1)
        for name in ["", "$visits", "a\u{7}", String(repeating: "x", count: 101)] {
            await #expect { try await club.trigger(name, for: .kiosk) } throws: {
                ($0 as? ClubError)?.kind == .invalidValue
            }
        }
        await #expect { try await club.trigger("purchase", for: .member("nobody")) } throws: {
            ($0 as? ClubError)?.kind == .noSuchMember
        }
    }

    @Test("Custom conditions are asked once for a tap, on the queue of the callbacks, and not for one that was seen")
    func customConditions() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        let queue = DispatchQueue(label: "test")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        club.setDispatchQueue(queue)
        let asked = Tally()
        let elsewhere = Tally()
        let answer = Mutex(false)
        club.setScenarios([
            Scenario("conditional") {
                $0.customConditions = {
                    asked.add()
                    if DispatchQueue.getSpecific(key: key) != true { elsewhere.add() }
                    return answer.withLock(\.self)
                }
            }
        ])
        let first = try await club.receive(tap("A"))
        #expect(first.executions.isEmpty)
        answer.withLock { $0 = true }
        #expect(try await club.receive(tap("A", at: 60)).executions.count == 1)
        #expect(asked.count == 2)
        _ = try await club.receive(tap("A", id: first.eventID))
        #expect(asked.count == 2)
        #expect(elsewhere.count == 0)
    }

    @Test("A condition that gives no answer counts as no: the tap is recorded, and the fault told")
    func unansweredConditions() async throws {
        var configuration = ClubConfiguration.test()
        configuration.conditionsLimit = .milliseconds(50)
        let club = try await openClub(configuration)
        let queue = DispatchQueue(label: "test")
        club.setDispatchQueue(queue)
        let isFree = DispatchSemaphore(value: 0)
        queue.async { isFree.wait() }
        defer { isFree.signal() }
        club.setScenarios([Scenario("conditional") { $0.customConditions = { true } }, Scenario("plain")])
        let events = club.events
        let receipt = try await club.receive(tap("A"))
        #expect(receipt.outcome == .created)
        #expect(receipt.executions.map(\.scenario) == ["plain"])
        let error = await events.first { if case .error = $0 { true } else { false } }
        guard case .error(let fault, _) = error else {
            Issue.record("no fault was told")
            return
        }
        #expect(fault.kind == .noAnswer)
        #expect(fault.description.contains("conditional"))
    }

    @Test("A visit by hand brings what a tap would have brought at that time, once, and is told")
    func byHand() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        club.setScenarios([
            Scenario("second") { $0.rules = [.reaches(2, within: .since(start))] },
            Scenario("group") {
                $0.audience = .group("staff")
                $0.minEventsRequired = 1
                $0.maxExecutionsPermitted = 1
            },
            Scenario("asked") { $0.customConditions = { false } },
        ])
        let events = club.events
        _ = try await club.receive(tap("A"))
        try await club.setTags(["staff"], of: "A")
        let visit = try await club.recordManualVisit(
            of: "A",
            at: start.addingTimeInterval(60),
            by: ActionContext(actor: "desk", reason: "forgot the card")
        )
        #expect(visit.executions.map(\.scenario) == ["second", "group"])
        #expect(visit.executions.map(\.state) == [.delivered, .delivered])
        #expect(visit.executions.map(\.at) == [start.addingTimeInterval(60), start.addingTimeInterval(60)])
        #expect(visit.member.numVisits == 2)
        #expect(try await club.receive(tap("A", at: 120)).executions.isEmpty)
        // An earlier one moves the others on, which brought what they brought.
        let earlier = try await club.recordManualVisit(of: "A", at: start.addingTimeInterval(30), by: ActionContext())
        #expect(earlier.executions.isEmpty)
        #expect(earlier.member.numVisits == 4)
        try await club.close()
        var told: [String] = []
        for await event in events {
            if case .scenario(let result) = event { told.append(result.execution.scenario) }
        }
        #expect(told == ["second", "group"])
    }

    @Test("What a clock dated years ahead or back closes nothing once it is right", arguments: [3000.0, -20_000])
    func wrongClock(days: Double) async throws {
        let club = try await openClub(.test(cooldown: .zero, clock: { start.addingTimeInterval(3 * Self.day) }))
        let two = 2 * Self.day
        func scenario(_ id: String, for audience: ScenarioAudience) -> Scenario {
            Scenario(id) {
                $0.audience = audience
                $0.minSecondsBetweenExecutions = two
            }
        }
        club.setScenarios([
            scenario("member", for: .members), scenario("group", for: .group("staff")), scenario("kiosk", for: .kiosk),
        ])
        try await club.add(Member(userId: "A"))
        try await club.setTags(["staff"], of: "A")
        func executed(_ seconds: Double) async throws -> [String] {
            try await club.receive(tap("A", at: seconds)).executions.map(\.scenario)
        }
        let all = ["member", "group", "kiosk"]
        #expect(try await executed(days * Self.day) == all)
        #expect(try await executed(0) == all)
        #expect(try await executed(60).isEmpty)
        #expect(try await executed(two) == [])
        #expect(try await executed(two + 1) == all)
        // A visit by hand is the latest, whatever lies years ahead.
        let last = start.addingTimeInterval(two + 120)
        club.setScenarios([Scenario("hand")])
        #expect(try await club.recordManualVisit(of: "A", at: last, by: ActionContext()).executions.count == 1)
        let earlier = start.addingTimeInterval(two + 90)
        #expect(try await club.recordManualVisit(of: "A", at: earlier, by: ActionContext()).executions.isEmpty)
        #expect(try await club.check().isEmpty)
    }

    @Test("An effect that fails is refunded, and what it stood for is due again")
    func refunded() async throws {
        struct NoCoffee: Error {}
        let club = try await openClub(.test(cooldown: .zero))
        let isEmpty = Mutex(true)
        let effects = Tally()
        club.setScenarios(
            [Self.coffee(every: 2)],
            delivery: .effect { _ in
                effects.add()
                if isEmpty.withLock(\.self) { throw NoCoffee() }
            }
        )
        _ = try await club.receive(tap("A"))
        #expect(try await club.receive(tap("A", at: 60)).executions.map(\.state) == [.charged])
        await club.deliverScenarios()
        #expect(try await club.executions().map(\.state) == [.refunded])
        #expect(try await club.executions().first?.reason?.contains("NoCoffee") == true)
        isEmpty.withLock { $0 = false }
        #expect(try await club.receive(tap("A", at: 120)).executions.count == 1)
        await club.deliverScenarios()
        #expect(try await club.executions().map(\.state) == [.refunded, .delivered])
        #expect(try await club.receive(tap("A", at: 180)).executions.map(\.number) == [2])
        await club.deliverScenarios()
        #expect(effects.count == 3)
        #expect(try await club.check().isEmpty)
    }

    @Test("What was charged and not delivered is delivered when the club is open again")
    func leftOver() async throws {
        let directory = try TemporaryDirectory()
        let configuration = ClubConfiguration.test(.file(path: directory.file()), cooldown: .zero)
        let club = try await openClub(configuration)
        club.setScenarios([Self.coffee(every: 1)], delivery: .application)
        let receipt = try await club.receive(tap("A"))
        #expect(receipt.executions.map(\.state) == [.charged])
        #expect(try await club.takeUndeliveredExecutions().map(\.execution) == receipt.executions)
        try await club.close()

        let delivered = Mutex<[ScenarioResult]>([])
        club.setScenarios(
            [Self.coffee(every: 1)],
            delivery: .effect { result in delivered.withLock { $0.append(result) } }
        )
        let events = club.events
        try await club.open()
        _ = await events.first(1)
        #expect(delivered.withLock { $0.map(\.execution.id) } == receipt.executions.map(\.id))
        #expect(delivered.withLock { $0.map(\.member?.userId) } == ["A"])
        #expect(try await club.executions().map(\.state) == [.delivered])
        #expect(try await club.takeUndeliveredExecutions().isEmpty)
    }

    @Test("A voucher is good for once")
    func redeemed() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        club.setScenarios([Self.coffee(every: 1)])
        let execution = try #require(try await club.receive(tap("A")).executions.first)
        let redeemed = try await club.redeem(execution.id, by: ActionContext(actor: "Ada"))
        #expect(redeemed.state == .redeemed)
        #expect(redeemed.actor == "Ada")
        for state in [ScenarioExecution.State.redeemed, .refunded] {
            await #expect { try await club.settle(execution.id, state) } throws: {
                guard let error = $0 as? ClubError else { return false }
                return error.kind == .alreadySettled && error.detail?.contains("by Ada") == true
            }
        }
        await #expect { try await club.redeem(UUID()) } throws: { ($0 as? ClubError)?.kind == .noSuchExecution }
        #expect(try await club.check().isEmpty)
    }

    @Test("Scenarios that cannot be used are refused, and the former ones stay")
    func refusedScenarios() async throws {
        let club = Club(configuration: .test())
        let events = club.events
        club.setScenarios([Self.coffee()])
        club.setScenarios([Self.coffee(), Self.coffee()])
        club.setScenarios([Scenario("")])
        club.setScenarios([Scenario("a") { $0.minEventsRequired = -1 }])
        for event in await events.first(3) {
            guard case .error(let error, _) = event else {
                Issue.record("\(event.name)")
                continue
            }
            #expect(error.kind == .invalidScenario)
        }
        #expect(club.scenarios.map(\.id) == ["coffee"])
    }

    @Test("A scenario of another audience is refused")
    func wrongSubject() async throws {
        let club = try await openClub()
        await #expect { try await club.tryToExecute(Self.coffee(), for: .kiosk) } throws: {
            ($0 as? ClubError)?.kind == .invalidValue
        }
    }

    @Test("The line of a scenario")
    func json() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        club.setScenarios([Self.coffee(every: 1)])
        let events = club.events
        let receipt = try await club.receive(tap("A", id: UUIDSource.uuid(7)))
        let event = try #require(await events.first(3).last)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let line = String(decoding: try encoder.encode(event), as: UTF8.self)
        let id = try #require(receipt.executions.first?.id.uuidString)
        #expect(
            line == #"{"at":"2026-09-01T10:00:00.000Z","event":"scenario","id":"\#(id)","member":{"numVisits":1,"#
                + #""timeStampAdded":1788256800,"timeStampOfLastVisit":1788256800,"userId":"A","username":""},"#
                + #""message":"This coffee is on us.","number":1,"scenario":"coffee","state":"delivered","#
                + #""title":"A free coffee","visit":"00000000-0000-0000-0000-000000000007"}"#
        )
    }

    @Test("Who was joined without a visit brings along what was charged and recorded")
    func joinedWithoutVisits() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        for name in ["A", "B"] { _ = try await club.add(Member(userId: name)) }
        let once = Scenario("once") {
            $0.events = .named("purchase")
            $0.maxExecutionsPermitted = 1
        }
        try await club.trigger("purchase", for: .member("B"))
        #expect(try await club.tryToExecute(once, for: .member("B")).hasHappened)
        _ = try await club.mergeMember("B", into: "A")
        #expect(try await !club.tryToExecute(once, for: .member("A")).hasHappened)
        #expect(try await club.scenarioCounters(of: once, for: .member("A")).eventsCount == 1)
    }

    @Test("A tap right after opening is delivered once")
    func deliveredOnce() async throws {
        let directory = try TemporaryDirectory()
        let delivered = Mutex<[UUID]>([])
        var configuration = ClubConfiguration.test(.file(path: directory.file()), cooldown: .zero)
        configuration.makeUUID = { UUID() }
        let club = Club(configuration: configuration)
        club.setScenarios(
            [Self.coffee(every: 1)],
            delivery: .effect { result in
                delivered.withLock { $0.append(result.execution.id) }
                await Task.yield()
            }
        )
        var charged: [UUID] = []
        for round in 0..<4 {
            try await club.open()
            for number in 0..<2 {
                let receipt = try await club.receive(tap("A", at: Double(round * 10 + number) * 60))
                charged += receipt.executions.map(\.id)
            }
            if round.isMultiple(of: 2) { await club.deliverScenarios() }
            try await club.close()
        }
        try await club.open()
        try await until("all are delivered") { delivered.withLock { Set($0).count } == charged.count }
        await club.deliverScenarios()
        try await until("all are settled") {
            try await club.executions().allSatisfy { $0.state == .delivered }
        }
        #expect(delivered.withLock { Set($0) } == Set(charged))
    }

    @Test("Whoever is cancelled in an effect gives it back")
    func cancelled() async throws {
        let club = try await openClub()
        _ = try await club.add(Member(userId: "A"))
        let once = Scenario("once") { $0.maxExecutionsPermitted = 1 }
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await club.tryToExecute(once, for: .member("A")) { _ in
                continuation.yield(())
                try await Task.sleep(for: .seconds(3600))
            }
        }
        for await _ in begun { break }
        task.cancel()
        let outcome = try await task.value
        #expect(outcome.execution?.state == .refunded)
        #expect(try await club.tryToExecute(once, for: .member("A")).hasHappened)
    }

    @Test("An effect may redeem what it hands out")
    func redeemedInEffect() async throws {
        let club = try await openClub()
        _ = try await club.add(Member(userId: "A"))
        let outcome = try await club.tryToExecute(Scenario("s"), for: .member("A")) { execution in
            try await club.redeem(execution.id)
        }
        #expect(outcome.execution?.state == .redeemed)
    }
}
