import Foundation
import ReaderKit
import Testing
import TestSupport

@testable import ClubKit

/// Random visits, refunds, undoings, restarts, clocks going backward and taps at the same time, against a model that
/// says the same in the plainest way.
@Suite("Scenarios against a model")
struct ScenarioPropertyTests {
    private static let members = ["A", "B", "C"]

    private static let scenarios: [Scenario] = [
        Scenario("two after three") {
            $0.minEventsRequired = 3
            $0.maxExecutionsPermitted = 2
        },
        Scenario("between") { $0.minSecondsBetweenExecutions = 500 },
        Scenario("window") { $0.rules = [.executions(atMost: 2, within: .seconds(2000))] },
        Scenario("card") { $0.rules = [.every(4, since: nil)] },
        Scenario("late") {
            $0.minSecondsSinceFirstEvent = 1000
            $0.rules = [.events(atLeast: 2, atMost: nil, within: .seconds(300))]
        },
        Scenario("few") { $0.maxEventsPermitted = 5 },
        Scenario("kiosk") {
            $0.audience = .kiosk
            $0.maxExecutionsPermitted = 9
            $0.rules = [.every(5, since: nil)]
        },
    ]

    /// What happened to one subject.
    private struct Subject {
        /// Times of visits by their taps.
        var visits: [UUID: Int] = [:]
        /// Times of executions that count, by scenario.
        var executions: [String: [UUID: Int]] = [:]

        /// What is due at a visit that has just been added.
        func isDue(_ scenario: String, at now: Int) -> Bool {
            let times = executions[scenario].map { Array($0.values) } ?? []
            switch scenario {
            case "two after three": return visits.count >= 3 && times.count < 2
            case "between": return times.max().map { now - $0 > 500 } ?? true
            case "window": return times.filter { abs(now - $0) < 2000 }.count < 2
            case "card": return times.count < visits.count / 4
            case "late":
                guard let first = visits.values.min() else { return false }
                return now - first > 1000 && visits.values.filter { $0 > now - 300 && $0 <= now }.count >= 2
            case "few": return visits.count <= 5
            case "kiosk": return times.count < 9 && times.count < visits.count / 5
            default: return false
            }
        }

        /// Whether a limit was exceeded, whatever the order in which things happened.
        var excess: String? {
            func times(_ scenario: String) -> [Int] { (executions[scenario].map { Array($0.values) } ?? []).sorted() }
            if times("two after three").count > 2 { return "two after three" }
            if zip(times("between"), times("between").dropFirst()).contains(where: { $1 - $0 <= 500 }) {
                return "between"
            }
            let window = times("window")
            if zip(window, window.dropFirst(2)).contains(where: { $1 - $0 < 2000 }) { return "window" }
            if times("kiosk").count > 9 { return "kiosk" }
            return nil
        }
    }

    private struct Model {
        var subjects: [String: Subject] = [:]

        /// Takes note of a visit, and says what is due then.
        mutating func visit(_ member: String, _ id: UUID, at now: Int) -> [String] {
            subjects[member, default: Subject()].visits[id] = now
            subjects["kiosk", default: Subject()].visits[id] = now
            return ScenarioPropertyTests.scenarios.filter { scenario in
                subjects[scenario.id == "kiosk" ? "kiosk" : member]?.isDue(scenario.id, at: now) ?? false
            }.map(\.id)
        }

        mutating func charge(_ member: String, _ executions: [ScenarioExecution], at now: Int) {
            for one in executions {
                let subject = one.scenario == "kiosk" ? "kiosk" : member
                subjects[subject, default: Subject()].executions[one.scenario, default: [:]][one.id] = now
            }
        }

        mutating func refund(_ id: UUID) {
            for subject in subjects.keys {
                for scenario in subjects[subject]?.executions.keys.map(\.self) ?? [] {
                    subjects[subject]?.executions[scenario]?[id] = nil
                }
            }
        }

        mutating func undo(_ id: UUID) {
            for subject in subjects.keys { subjects[subject]?.visits[id] = nil }
        }
    }

    @Test("No limit is ever exceeded, and nothing that is due is missed", arguments: [UInt64](1...4).oneIn(2))
    func property(seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let directory = try TemporaryDirectory()
        func open() async throws -> Club {
            try await openClub(.test(.file(path: directory.file()), cooldown: .zero))
                .setScenarios(Self.scenarios, delivery: .application)
        }
        var club = try await open()
        var model = Model()
        var now = 10_000
        var settled: Set<UUID> = []
        for step in 0..<120 {
            let comment = Comment(rawValue: "seed \(seed), step \(step)")
            switch Int.random(in: 0..<100, using: &numbers) {
            case 0..<60:
                now +=
                    Int.random(in: 0..<10, using: &numbers) == 0
                    ? -Int.random(in: 0...3000, using: &numbers) : Int.random(in: 0...400, using: &numbers)
                now = max(0, now)
                let member = Self.members[Int.random(in: 0..<3, using: &numbers)]
                let event = tap(member, at: Double(now), id: UUID())
                let due = model.visit(member, event.id, at: now)
                let receipt = try await club.receive(event)
                #expect(receipt.executions.map(\.scenario) == due, comment)
                model.charge(member, receipt.executions, at: now)
                // Some receipts get lost, and the tap is given again.
                if Bool.random(using: &numbers) {
                    #expect(try await club.receive(event).executions == receipt.executions, comment)
                }
            case 60..<75:
                // Taps at the same time, in whatever order.
                now += Int.random(in: 0...600, using: &numbers)
                let events = (0..<6).map { _ in
                    tap(
                        Self.members[Int.random(in: 0..<3, using: &numbers)],
                        at: Double(now + Int.random(in: 0...50, using: &numbers))
                    )
                }
                let receipts = try await withThrowingTaskGroup(of: Receipt.self) { [club] group in
                    for event in events { group.addTask { try await club.receive(event) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                for receipt in receipts {
                    let member = try #require(receipt.member?.userId)
                    let time = Int(receipt.at.timeIntervalSince(start))
                    _ = model.visit(member, receipt.eventID, at: time)
                    model.charge(member, receipt.executions, at: time)
                }
            case 75..<85:
                let charged = try await club.executions().filter { $0.state == .charged }
                guard let one = charged.randomElement(using: &numbers) else { continue }
                let isRefunded = Bool.random(using: &numbers)
                try await club.settle(one.id, isRefunded ? .refunded : .delivered)
                if isRefunded { model.refund(one.id) }
                settled.insert(one.id)
            case 85..<90:
                let member = Self.members[Int.random(in: 0..<3, using: &numbers)]
                guard let visits = model.subjects[member]?.visits.keys.sorted(by: { $0.uuidString < $1.uuidString }),
                    let visit = visits.randomElement(using: &numbers)
                else { continue }
                _ = try await club.undoVisit(visit, by: ActionContext())
                model.undo(visit)
            default:
                try await club.close()
                club = try await open()
            }
            for (name, subject) in model.subjects { #expect(subject.excess == nil, "\(name), \(comment)") }
        }
        // What is on disk is what the model has.
        let executions = try await club.executions(limit: 10_000)
        let counting = Set(executions.filter { $0.state != .refunded }.map(\.id))
        #expect(counting == Set(model.subjects.values.flatMap { $0.executions.values.flatMap(\.keys) }))
        #expect(
            Set(try await club.takeUndeliveredExecutions().map(\.execution.id))
                == Set(executions.map(\.id)).subtracting(settled)
        )
        #expect(try await club.check().isEmpty)
    }
}
