import Foundation
import Synchronization
import Testing
import TestSupport

@testable import CardCore

@Suite(.timeLimit(.minutes(10))) struct ThreadExecutorTests {
    /// An actor on a thread of its own.
    private actor Worker {
        nonisolated let executor: ThreadExecutor
        private var seen: [Int] = []
        private var threads: Set<UInt> = []

        init(_ executor: ThreadExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func add(_ value: Int) {
            seen.append(value)
            threads.insert(UInt(pthread_self()))
        }

        var all: [Int] { seen }
        var numberOfThreads: Int { threads.count }
        func isHere() -> Bool {
            executor.checkIsolated()
            return true
        }
    }

    @Test func actorRunsOnOneThread() async throws {
        let worker = Worker(ThreadExecutor(name: "worker"))
        await withTaskGroup(of: Void.self) { group in
            for value in 0..<500 { group.addTask { await worker.add(value) } }
        }
        #expect(await worker.all.sorted() == Array(0..<500))
        #expect(await worker.numberOfThreads == 1)
        #expect(await worker.isHere())
        worker.executor.stop()
    }

    @Test(
        "Calls run in order, also on a thread that looks for the next one before it sleeps",
        arguments: [0, 200, 100_000]
    )
    func callsRunInOrder(lingering: Int) async throws {
        let executor = ThreadExecutor(name: "order", lingering: .microseconds(lingering))
        let order = Order()
        for value in 0..<1000 { executor.submit { order.add(value) } }
        executor.stop()
        try await until("it is so") { order.all.count == 1000 }
        #expect(order.all == Array(0..<1000))
    }

    /// The thread holds its executor: when the executor is gone, so is the thread.
    @Test func threadEndsWithStop() async throws {
        weak let weakExecutor: ThreadExecutor?
        let order = Order()
        do {
            let executor = ThreadExecutor(name: "ends")
            weakExecutor = executor
            executor.submit { order.add(1) }
            executor.stop()
        }
        try await until("it is so") { weakExecutor == nil }
        // What was accepted before was done.
        #expect(order.all == [1])
    }

    @Test func workAfterStopIsDone() async throws {
        weak let weakExecutor: ThreadExecutor?
        let order = Order()
        do {
            let executor = ThreadExecutor(name: "late")
            weakExecutor = executor
            executor.stop()
            for value in 0..<200 {
                executor.submit { order.add(value) }
                executor.stop()
                // Now and then the thread has ended meanwhile and is started again.
                if value % 20 == 0 { try await until("it is so") { order.all.count == value + 1 } }
            }
        }
        try await until("it is so") { order.all.count == 200 }
        #expect(order.all == Array(0..<200))
        try await until("it is so") { weakExecutor == nil }
    }

    @Test func withoutWorkThereIsNoThread() {
        weak let weakExecutor: ThreadExecutor?
        do {
            let executor = ThreadExecutor(name: "idle")
            weakExecutor = executor
            executor.stop()
        }
        #expect(weakExecutor == nil)
    }

    /// Blocked threads take nothing from Swift's pool, however many there are.
    @Test func blockingWorkHoldsNobodyUp() async throws {
        let gate = DispatchSemaphore(value: 0)
        let blocked = Order()
        let executors = (0..<32).map { ThreadExecutor(name: "blocked \($0)") }
        for (index, executor) in executors.enumerated() {
            executor.submit {
                blocked.add(index)
                gate.wait()
            }
        }
        try await until("it is so") { blocked.all.count == 32 }
        let sum = await withTaskGroup(of: Int.self) { group in
            for value in 0..<100 { group.addTask { value } }
            return await group.reduce(0, +)
        }
        #expect(sum == 4950)
        for executor in executors {
            gate.signal()
            executor.stop()
        }
    }

    private final class Order: Sendable {
        private let values = Mutex<[Int]>([])
        var all: [Int] { values.withLock { $0 } }
        func add(_ value: Int) { values.withLock { $0.append(value) } }
    }
}
