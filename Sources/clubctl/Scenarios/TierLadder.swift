import ClubKit
import Foundation
import ReaderKit

/// The tiers of one reward of a file, which is a scenario `ID/NAME` for each.
struct TierLadder: Sendable {
    /// A tier, and a scenario that is due while somebody has the visits for it.
    private struct Step: Sendable {
        var name: String
        var visits: Int
        var probe: Scenario
    }

    /// The reward's identifier.
    private(set) var id: String

    private var window: ScenarioWindow

    /// By visits, the fewest first.
    private var steps: [Step]

    /// The rewards with tiers, in the order of the file.
    static func all(in scenarios: [Scenario]) -> [TierLadder] {
        var ladders: [TierLadder] = []
        for scenario in scenarios {
            // The rules of a reward come first.
            guard case .reaches(let visits, let window) = scenario.rules.first,
                let slash = scenario.id.firstIndex(of: "/")
            else { continue }
            let id = String(scenario.id[..<slash])
            var probe = Scenario(scenario.id)
            probe.audience = scenario.audience
            probe.events = scenario.events
            probe.timeZone = scenario.timeZone
            probe.rules = [.events(atLeast: visits, atMost: nil, within: window)]
            let name = String(scenario.id[scenario.id.index(after: slash)...])
            let step = Step(name: name, visits: visits, probe: probe)
            if let index = ladders.firstIndex(where: { $0.id == id && $0.window == window }) {
                ladders[index].steps.append(step)
                ladders[index].steps.sort { $0.visits < $1.visits }
            } else {
                ladders.append(TierLadder(id: id, window: window, steps: [step]))
            }
        }
        return ladders
    }

    /// Whose tier it is when that member comes.
    func subject(for details: MemberDetails) -> ScenarioSubject? { steps.first?.probe.subject(for: details) }

    /// Which tier somebody has reached at a moment.
    func standing(of subject: ScenarioSubject, at time: Date, in club: Club) async throws -> TierStanding {
        var standing = TierStanding(tiers: id, subject: subject, at: ISO8601.text(time))
        for step in steps {
            let decision = try await club.decide(step.probe, for: subject, at: time)
            guard decision.isDue else {
                standing.next = step.name
                standing.missing = decision.failures.first?.message
                break
            }
            standing.tier = step.name
        }
        return standing
    }
}

/// Which tier somebody has reached, and what is next.
struct TierStanding: Encodable, Sendable {
    var tiers: String
    var subject: ScenarioSubject
    var at: String
    var tier: String?
    var next: String?
    var missing: String?

    /// On one line, for people.
    var text: String {
        var text = "\(tiers)  (\(ExecutionText.subject(subject)))  present tier: \(tier ?? "none")"
        if let next { text += "; next: \(next)" + (missing.map { ", \($0)" } ?? "") }
        return text.onOneLine
    }
}
