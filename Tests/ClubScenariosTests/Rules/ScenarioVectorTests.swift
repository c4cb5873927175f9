import ClubRecords
import Foundation
import RecordsTestSupport
import Testing

@testable import ClubScenarios

/// The tests of the original library, and the examples of its README, on the value form.
@Suite struct ScenarioVectorTests {
    /// What is done to a scenario, at seconds after some moment.
    enum Step: Sendable {
        case event(Int64)
        case expect(Bool, Int64)
    }

    struct Vector: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var configure: @Sendable (inout Scenario) -> Void
        var steps: [Step]

        init(_ name: String, _ configure: @escaping @Sendable (inout Scenario) -> Void, _ steps: [Step]) {
            testDescription = name
            self.configure = configure
            self.steps = steps
        }
    }

    static let day: Int64 = 86_400

    /// What the original library's suite shows, and the examples of its README.
    static let vectors: [Vector] = [
        Vector(
            "two events at least",
            { $0.minEventsRequired = 2 },
            [.expect(false, 0), .event(0), .expect(false, 0), .event(0), .expect(true, 0)]
        ),
        Vector(
            "two events at most",
            { $0.maxEventsPermitted = 2 },
            [
                .expect(true, 0), .event(0), .expect(true, 0), .event(0), .expect(true, 0), .event(0),
                .expect(false, 0),
            ]
        ),
        // One of two tests that never ran there, since their names are misspelt, has this as false.
        Vector(
            "three events at most, which three are",
            { $0.maxEventsPermitted = 3 },
            [.event(0), .event(0), .event(0), .expect(true, 0), .event(0), .expect(false, 0)]
        ),
        Vector("one execution", { $0.maxExecutionsPermitted = 1 }, [.expect(true, 0), .expect(false, 0)]),
        Vector(
            "three executions",
            { $0.maxExecutionsPermitted = 3 },
            [.expect(true, 0), .expect(true, 0), .expect(true, 0), .expect(false, 0)]
        ),
        Vector(
            "seconds since the first event",
            { $0.minSecondsSinceFirstEvent = 1500 },
            [.event(-2000), .expect(false, -2000), .expect(false, -500), .expect(true, -499), .expect(true, 0)]
        ),
        Vector(
            "seconds since the first event, with a later one",
            { $0.minSecondsSinceFirstEvent = 1500 },
            [.event(-2000), .event(-1), .expect(true, 0)]
        ),
        Vector(
            "seconds since the last event",
            { $0.minSecondsSinceLastEvent = 500 },
            [
                .event(-2000), .expect(false, -2000), .expect(true, 0), .event(0), .expect(false, 500),
                .expect(true, 501),
            ]
        ),
        Vector(
            "seconds between executions",
            { $0.minSecondsBetweenExecutions = 1000 },
            [.expect(true, -2000), .expect(false, -1500), .expect(false, -1000), .expect(true, 1500)]
        ),
        Vector(
            "one execution, two events",
            {
                $0.maxExecutionsPermitted = 1
                $0.minEventsRequired = 2
            },
            [.expect(false, 0), .event(0), .event(0), .expect(true, 0), .expect(false, 0)]
        ),
        Vector(
            "a second between executions, no events",
            {
                $0.minSecondsBetweenExecutions = 1
                $0.maxEventsPermitted = 0
            },
            [.expect(true, 0), .expect(false, 0), .event(2), .expect(false, 2)]
        ),
        Vector(
            "show a tutorial once",
            {
                $0.minEventsRequired = 1
                $0.maxEventsPermitted = 1
                $0.maxExecutionsPermitted = 1
            },
            [.expect(false, 0), .event(0), .expect(true, 0), .expect(false, 1), .event(2), .expect(false, 2)]
        ),
        Vector(
            "ask to subscribe",
            {
                $0.minEventsRequired = 5
                $0.minSecondsSinceFirstEvent = 604_800
                $0.maxExecutionsPermitted = 4
                $0.minSecondsBetweenExecutions = 172_800
            },
            [
                .event(0), .event(day), .event(2 * day), .event(3 * day), .event(8 * day), .expect(true, 8 * day),
                .event(9 * day), .expect(false, 9 * day), .expect(false, 10 * day), .expect(true, 10 * day + 1),
                .expect(true, 13 * day), .expect(true, 16 * day), .expect(false, 30 * day),
            ]
        ),
    ]

    @Test("The original library's own tests", arguments: vectors)
    func original(vector: Vector) throws {
        var tried = TriedScenario { vector.configure(&$0) }
        let start = Int64.at("2026-11-22T12:00:00Z")
        for (number, step) in vector.steps.enumerated() {
            switch step {
            case .event(let at): tried.history.eventTimes.append(start + .seconds(at))
            case .expect(let expected, let at):
                let now = start + .seconds(at)
                #expect(try tried.decide(now).isDue == expected, "step \(number)")
                #expect(try tried.tryToExecute(now) == expected, "step \(number)")
            }
        }
    }
}
