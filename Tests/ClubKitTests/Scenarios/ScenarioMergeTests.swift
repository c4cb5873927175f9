import Foundation
import ReaderKit
import Testing

@testable import ClubKit

@Suite("Scenarios of several kiosks")
struct ScenarioMergeTests {
    private let coffee = Scenario("coffee") { $0.rules = [.every(2, since: nil)] }

    /// Kiosks with devices of their own.
    private func kiosk(_ number: UInt8) async throws -> Club {
        var configuration = ClubConfiguration.test(cooldown: .zero)
        configuration.makeUUID = {
            var bytes = UUID().uuid
            bytes.0 = number
            return UUID(uuid: bytes)
        }
        let club = try await openClub(configuration)
        return club.setScenarios([coffee], delivery: .application)
    }

    private func merge(_ from: Club, into club: Club, _ directory: TemporaryDirectory) async throws {
        let path = directory.file(UUID().uuidString + ".clubkit")
        _ = try await from.exportMembers(to: path, options: ExportOptions(format: .clubkit))
        let report = try await club.importMembers(from: path)
        #expect(report.malformed == 0)
    }

    private func state(of club: Club) async throws -> [String] {
        try await club.executions().map { "\($0.id) \($0.scenario) \($0.at) \($0.state)" }.sorted()
    }

    @Test("Executions and what became of them travel, whatever the order and however often")
    func travels() async throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (try await kiosk(1), try await kiosk(2))
        _ = try await a.receive(tap("A"))
        let atA = try #require(try await a.receive(tap("A", at: 60)).executions.first)
        _ = try await a.settle(atA.id, .delivered)
        _ = try await b.receive(tap("A", at: 3600))
        let atB = try #require(try await b.receive(tap("A", at: 3660)).executions.first)
        _ = try await b.settle(atB.id, .refunded)
        try await b.trigger("purchase", for: .member("A"))
        try await b.trigger("purchase", for: .group("staff"))
        try await merge(a, into: b, directory)
        try await merge(b, into: a, directory)
        try await merge(a, into: b, directory)
        #expect(try await state(of: a) == state(of: b))
        let purchases = Scenario("p") { $0.events = .named("purchase") }
        for club in [a, b] {
            // Four visits, of which two are used up: one more coffee is due.
            let counters = try await club.scenarioCounters(of: coffee, for: .member("A"))
            #expect(counters.eventsCount == 4)
            #expect(counters.executionsCount == 1)
            #expect(try await club.scenarioCounters(of: purchases, for: .member("A")).eventsCount == 1)
            #expect(try await club.check().isEmpty)
        }
        #expect(try await a.receive(tap("A", at: 7200)).executions.count == 1)
        // What another device charged is not delivered here.
        #expect(try await a.takeUndeliveredExecutions().count == 1)
    }

    @Test("One tap at two kiosks charges once")
    func oneTap() async throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (try await kiosk(1), try await kiosk(2))
        let taps = [tap("A"), tap("A", at: 60)]
        for club in [a, b] { for tap in taps { _ = try await club.receive(tap) } }
        let former = try await (a.executions().map(\.id), b.executions().map(\.id))
        #expect(former.0 == former.1)
        try await merge(a, into: b, directory)
        try await merge(b, into: a, directory)
        #expect(try await state(of: a) == state(of: b))
        #expect(try await a.executions().count == 1)
    }

    @Test("What was reset stays so")
    func reset() async throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (try await kiosk(1), try await kiosk(2))
        for club in [a] { for tap in [tap("A"), tap("A", at: 60)] { _ = try await club.receive(tap) } }
        try await merge(a, into: b, directory)
        try await a.resetScenario(coffee, for: .member("A"))
        #expect(try await a.executions().isEmpty)
        try await merge(b, into: a, directory)
        #expect(try await a.executions().isEmpty)
        try await merge(a, into: b, directory)
        #expect(try await b.executions().isEmpty)
    }

    @Test("Who was erased takes nothing along")
    func erased() async throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (try await kiosk(1), try await kiosk(2))
        for tap in [tap("A"), tap("A", at: 60)] { _ = try await a.receive(tap) }
        try await a.trigger("purchase", for: .member("A"))
        try await merge(a, into: b, directory)
        try await b.erase("A")
        try await merge(a, into: b, directory)
        #expect(try await b.executions().isEmpty)
        try await merge(b, into: a, directory)
        #expect(try await a.executions().isEmpty)
        for club in [a, b] { #expect(try await club.check().isEmpty) }
    }

    @Test("A new kiosk takes in what groups and kiosks have, also where only what is new is added")
    func added() async throws {
        let directory = try TemporaryDirectory()
        let a = try await kiosk(1)
        for tap in [tap("A"), tap("A", at: 60)] { _ = try await a.receive(tap) }
        try await a.trigger("purchase", for: .group("staff"))
        let path = directory.file("a.clubkit")
        _ = try await a.exportMembers(to: path, options: ExportOptions(format: .clubkit))
        let b = try await kiosk(2)
        for _ in 0..<2 { try await b.importMembers(from: path, options: ImportOptions(mode: .addOnly)) }
        #expect(try await state(of: a) == state(of: b))
        let purchases = Scenario("p") {
            $0.audience = .group("staff")
            $0.events = .named("purchase")
        }
        #expect(try await b.scenarioCounters(of: purchases, for: .group("staff")).eventsCount == 1)
        #expect(try await b.check().isEmpty)
    }

    @Test("An undone visit counts nowhere, also where only its being undone is heard of")
    func undone() async throws {
        let directory = try TemporaryDirectory()
        let (a, b) = (try await kiosk(1), try await kiosk(2))
        let group = Scenario("group") { $0.audience = .group("staff") }
        for club in [a, b] {
            club.setScenarios([group], delivery: .application)
            _ = try await club.add(Member(userId: "A"))
            _ = try await club.setTags(["staff"], of: "A")
        }
        let visit = try await a.receive(tap("A", at: 60)).eventID
        try await merge(a, into: b, directory)
        _ = try await b.receive(tap("A", at: 3600))
        #expect(try await b.scenarioCounters(of: group, for: .group("staff")).eventsCount == 2)
        _ = try await a.undoVisit(visit, by: ActionContext())
        try await merge(a, into: b, directory)
        #expect(try await b.scenarioCounters(of: group, for: .group("staff")).eventsCount == 1)
        #expect(try await b.check().isEmpty)
    }
}
