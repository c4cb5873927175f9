import Foundation
import ReaderKit
import TestSupport
import Testing

@testable import ClubKit

/// The configuration of `Examples`, over a quarter.
@Suite("A free coffee")
struct FreeCoffeeTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples/free-coffee.yaml")

    /// 1 October 2026, midnight in Berlin; the clocks go back on the 25th.
    private static let opening = 1_790_805_600

    @Test("The tenth visit, at most once a week, not on the first day")
    func quarter() async throws {
        var numbers = SeededNumbers(seed: 1)
        let configuration = try ScenarioConfiguration(contentsOf: Self.file)
        #expect(configuration.warnings.isEmpty)
        let club = try await openClub(.test(cooldown: .seconds(3600)))
        club.setScenarios(configuration.scenarios)
        // Each has a habit of their own: how many of a hundred hours they come.
        let habits = [3, 10, 60, 100]
        var visits = [[Int]](repeating: [], count: habits.count)
        var coffees = [[Int]](repeating: [], count: habits.count)
        for hour in 0..<92 * 24 {
            for (member, habit) in habits.enumerated() where Int.random(in: 0..<100, using: &numbers) < habit {
                let time = Self.opening + hour * 3600
                visits[member].append(time)
                // The rule, in the plainest way.
                let owed = visits[member].count / 10 - coffees[member].count
                let isFirstDay = time - visits[member][0] <= 86_400
                let isTooSoon = coffees[member].last.map { time - $0 < 7 * 86_400 } ?? false
                let expected = owed > 0 && !isFirstDay && !isTooSoon
                let event = ScanEvent(
                    id: UUID(),
                    at: Date(timeIntervalSince1970: Double(time)),
                    reader: "Bar",
                    backend: .simulated,
                    memberKey: "member \(member)",
                    memberName: nil,
                    problems: []
                )
                let receipt = try await club.receive(event)
                #expect(receipt.outcome.isCounted)
                #expect(receipt.executions.map(\.scenario) == (expected ? ["free-coffee"] : []), "hour \(hour)")
                if !receipt.executions.isEmpty { coffees[member].append(time) }
            }
        }
        // Who comes every hour gets one a week: the first after a day.
        #expect(coffees[3].count == 13)
        #expect(coffees[3].first == Self.opening + 25 * 3600)
        #expect(coffees[0].count <= visits[0].count / 10)
        for times in coffees {
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 7 * 86_400 })
        }
    }
}
