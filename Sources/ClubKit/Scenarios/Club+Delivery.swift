import Foundation
import Synchronization

extension Club {
    /// Called on the writer's queue, right after the commit of a visit.
    func deliver(_ executions: [ScenarioExecution], of member: Member?) {
        guard !executions.isEmpty else { return }
        let results = executions.map { result($0, member) }
        switch state.withLock({ $0.delivery }) {
        case .telling, .application, nil: for result in results { publish(.scenario(result)) }
        case .effect: for result in results { delivering.add(result, to: self) }
        }
    }

    /// Delivers what was charged when the program was ended, or the club closed, the last time. Does nothing while the
    /// club is not open or no delivery is set.
    func deliverLeftOver() {
        let (store, delivery) = state.withLock { ($0.store, $0.delivery) }
        guard let store, let delivery else { return }
        // An application asks by itself.
        if case .application = delivery { return }
        Task {
            do throws(ClubError) {
                let attempt = "deliver what scenarios were charged with"
                let time = try moment(nil, attempt)
                let left = try await store.write(attempt) { transaction in
                    try transaction.executions.takeUndelivered(withOwn: false, at: time)
                }
                for execution in left {
                    let result = await self.result(execution, in: store)
                    if case .effect = delivery {
                        delivering.add(result, to: self)
                    } else {
                        var told = result
                        told.execution = try await settle(execution, nil, in: store)
                        publish(.scenario(told))
                    }
                }
            } catch {
                if error.kind != .notOpen { report(error) }
            }
        }
    }

    /// Waits until all executions charged by taps so far with ``ScenarioDelivery/effect(_:)`` are settled.
    public func deliverScenarios() async {
        await delivering.waitUntilIdle()
    }

    /// Runs the application's code for one execution and settles it.
    fileprivate func perform(_ result: ScenarioResult) async {
        let (store, delivery) = state.withLock { ($0.store, $0.delivery) }
        guard let store, case .effect(let effect) = delivery else { return }
        var failure: String?
        do {
            try await effect(result)
        } catch {
            failure = Self.reason(of: error)
        }
        do throws(ClubError) {
            var settled = result
            // The club may have been closed and opened again meanwhile.
            let now = state.withLock { $0.store } ?? store
            settled.execution = try await settle(result.execution, failure, in: now)
            publish(.scenario(settled))
        } catch {
            // It stays to be delivered when the club is opened the next time.
            // What was reset, or belongs to somebody who was erased meanwhile, needs no settling.
            if error.kind != .notOpen, error.kind != .noSuchExecution { report(error) }
        }
    }
}

/// Executions that wait for the application's code, one after the other.
final class DeliveryQueue: Sendable {
    private struct State {
        var waiting: Set<UUID> = []
        /// What waits or is being delivered.
        var inHand: Set<UUID> = []
        var last: Task<Void, Never>?
    }

    private let state = Mutex(State())

    func add(_ result: ScenarioResult, to club: Club) {
        let id = result.execution.id
        state.withLock { state in
            guard state.inHand.insert(id).inserted else { return }
            state.waiting.insert(id)
            let before = state.last
            state.last = Task {
                await before?.value
                guard self.state.withLock({ $0.waiting.remove(id) }) != nil else { return }
                await club.perform(result)
                self.state.withLock { _ = $0.inHand.remove(id) }
            }
        }
    }

    /// Forgets what waits: it is on disk, and delivered when the club is open again.
    func forget() {
        state.withLock { state in
            state.inHand.subtract(state.waiting)
            state.waiting = []
        }
    }

    func waitUntilIdle() async {
        var awaited: Task<Void, Never>?
        while let last = state.withLock({ $0.last }), last != awaited {
            await last.value
            awaited = last
        }
    }
}
