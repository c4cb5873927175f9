import ClubKit
import Foundation
import ReaderKit

// A quarter of visits, once with the scenario in Swift and once with that of a file, which come to the same.
//
//   FreeCoffee free-coffee.yaml

/// How often somebody comes: every so many hours, from an hour of the quarter on.
struct Habit {
    var name: String
    var every: Int
    var from: Int
}

let habits = [
    Habit(name: "every day", every: 24, from: 8),
    Habit(name: "every other day", every: 48, from: 32),
    Habit(name: "every Thursday", every: 168, from: 17),
    Habit(name: "every three hours", every: 3, from: 0),
]

/// Who gets how many coffees at which visits.
func coffees(_ scenarios: [Scenario]) async throws -> [String: [Int]] {
    var configuration = ClubConfiguration(database: .memory)
    configuration.logger.logLevel = .error
    let club = Club(configuration: configuration).setScenarios(scenarios)
    try await club.open()
    // 1 October 2026, midnight in Berlin, and 92 days.
    let start = Date(timeIntervalSince1970: 1_790_805_600)
    var coffees: [String: [Int]] = [:]
    for hour in 0..<92 * 24 {
        for habit in habits where hour >= habit.from && (hour - habit.from).isMultiple(of: habit.every) {
            let tap = ScanEvent(
                id: UUID(),
                at: start.addingTimeInterval(Double(hour) * 3600),
                reader: "Bar",
                backend: .simulated,
                memberKey: habit.name,
                memberName: nil,
                problems: []
            )
            let receipt = try await club.receive(tap)
            for execution in receipt.executions where execution.scenario == "free-coffee" {
                coffees[habit.name, default: []].append(receipt.member?.numVisits ?? 0)
            }
        }
    }
    try await club.close()
    return coffees
}

guard let path = CommandLine.arguments.dropFirst().first else {
    print("usage: FreeCoffee free-coffee.yaml")
    exit(64)
}
let inSwift = try await coffees(coffee)
let inFile = try await coffees(ScenarioConfiguration(path: path).scenarios)
for habit in habits {
    let visits = (inSwift[habit.name] ?? []).map(String.init).joined(separator: ", ")
    print("Who comes \(habit.name) gets a coffee at visits \(visits.isEmpty ? "—" : visits).")
}
guard inSwift == inFile else {
    print("The file and the code differ.")
    exit(1)
}
