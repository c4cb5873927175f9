import ClubKit
import Foundation
import Synchronization
import ToolSupport

/// Shows what scenarios were charged with, and reports that to the club once the line has really been written.
///
/// So whenever the kiosk is killed, what was charged and not shown is still to be delivered, and is when it runs again.
/// A line whose end the kiosk did not live to see is shown a second time, with the same identifier; none is lost.
final class Deliveries: Sendable {
    private let club: Club
    private let output: Output
    private let written: AsyncStream<UUID>.Continuation
    private let settling: Task<Void, Never>
    /// What was shown, or is about to be: the receipt of a tap that comes again may be older than its being settled.
    private let told = Mutex<Set<UUID>>([])

    init(club: Club, output: Output) {
        self.club = club
        self.output = output
        let (stream, continuation) = AsyncStream.makeStream(of: UUID.self)
        written = continuation
        settling = Task {
            for await id in stream { await Self.settle(id, club, output) }
        }
    }

    /// Shows what earlier runs left behind, and returns it.
    func tellLeftOver() async throws -> [ScenarioResult] {
        let leftOver = try await club.takeUndeliveredExecutions()
        for result in leftOver { try tell(result) }
        return leftOver
    }

    /// Shows what a visit was charged with and is yet to be delivered, in that order.
    func tell(_ executions: [ScenarioExecution], of member: Member?) throws {
        let due = executions.filter { $0.state == .charged }
        guard !due.isEmpty else { return }
        let scenarios = club.scenarios
        for execution in due {
            let scenario = scenarios.first { $0.id == execution.scenario }
            try tell(
                ScenarioResult(execution: execution, member: member, title: scenario?.title, message: scenario?.message)
            )
        }
    }

    /// Waits, not for long, until all lines were written, and until those are settled.
    func finish() async {
        await output.drain()
        written.finish()
        await settling.value
    }

    private func tell(_ result: ScenarioResult) throws {
        let id = result.execution.id
        guard told.withLock({ $0.insert(id).inserted }) else { return }
        let time = LocalTime.ofDay(result.execution.at)
        try output.result(
            ClubEvent.scenario(result),
            text: "\(time)  scenario  \(result.words)"
        ) { [weak self] isWritten in
            guard let self else { return }
            if isWritten {
                written.yield(id)
            } else {
                told.withLock { _ = $0.remove(id) }
            }
        }
    }

    private static func settle(_ id: UUID, _ club: Club, _ output: Output) async {
        do throws(ClubError) {
            try await ClubError.retrying(for: .seconds(4)) { () async throws(ClubError) in
                _ = try await club.settle(id, .delivered)
            }
        } catch {
            // Somebody was quicker: it was redeemed or refunded at the desk, or the member was erased.
            if error.kind == .alreadySettled || error.kind == .noSuchExecution { return }
            // It stays to be delivered, and is shown again at the next start.
            try? output.json(ClubEvent.error(error, at: Date()))
            output.message("\(error)")
        }
    }
}

extension ScenarioResult {
    var words: String {
        let what = message ?? title ?? execution.scenario
        let text =
            switch execution.subject {
            case .member(let userId): "\(member?.caption ?? userId): \(what)"
            case .group(let tag): "group \(tag): \(what)"
            case .kiosk: what
            }
        return text.onOneLine
    }
}
