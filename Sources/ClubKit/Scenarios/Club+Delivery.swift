import Foundation
import Synchronization

/// Delivering what scenarios were charged with at taps.
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

    /// Delivers what was charged when the program was ended, or the club closed, the last time. Nothing while the club is
    /// not open, or nobody has said how to deliver.
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
        var waiting: [ScenarioResult] = []
        /// What waits or is being delivered.
        var inHand: Set<UUID> = []
        var isRunning = false
        var idle: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func add(_ result: ScenarioResult, to club: Club) {
        let begins = state.withLock { state in
            guard state.inHand.insert(result.execution.id).inserted else { return false }
            state.waiting.append(result)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { Task { await run(club) } }
    }

    private func run(_ club: Club) async {
        while true {
            let next: ScenarioResult? = state.withLock { state in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.isRunning = false
                return nil
            }
            guard let next else { break }
            await club.perform(next)
            state.withLock { _ = $0.inHand.remove(next.execution.id) }
        }
        let idle = state.withLock { state in
            // Something may have come in between, whose run tells them.
            guard !state.isRunning else { return [CheckedContinuation<Void, Never>]() }
            defer { state.idle = [] }
            return state.idle
        }
        for waiter in idle { waiter.resume() }
    }

    /// Forgets what waits: it is on disk, and delivered when the club is open again.
    func forget() {
        state.withLock { state in
            state.inHand.subtract(state.waiting.map(\.execution.id))
            state.waiting = []
        }
    }

    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard state.isRunning else { return true }
                state.idle.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}
