import CardCore
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import ReaderKit

@Suite(.timeLimit(.minutes(10))) struct CallWatchTests {
    private final class Told: Sendable {
        private let errors = Mutex<[ReaderError]>([])
        var count: Int { errors.withLock { $0.count } }
        var kinds: [ReaderError.Kind] { errors.withLock { $0.map(\.kind) } }
        func tell(_ error: ReaderError) { errors.withLock { $0.append(error) } }
    }

    @Test func callInTime() throws {
        let told = Told()
        let watch = CallWatch(deadline: .seconds(60), abandoned: AbandonedThreads()) { told.tell($0) }
        let id = try #require(watch.addWaiter { told.tell($0) })
        #expect(try watch.call("do it") { 7 } == 7)
        watch.removeWaiter(id)
        #expect(told.count == 0)
        #expect(!watch.isAbandoned)
    }

    @Test func expiry() async throws {
        let (expired, failed) = (Told(), Told())
        let abandoned = AbandonedThreads()
        let watch = CallWatch(deadline: .milliseconds(20), abandoned: abandoned) { expired.tell($0) }
        for _ in 0..<3 { _ = try #require(watch.addWaiter { failed.tell($0) }) }
        try watch.begin("read the card")
        try await until("it is so") { failed.count == 3 }
        #expect(expired.kinds == [.stuck])
        #expect(failed.kinds == [.stuck, .stuck, .stuck])
        #expect(watch.isAbandoned)
        #expect(abandoned.count == 1)
        // The call returns after all: that is told to it, and so is every later attempt, without a call.
        #expect(throws: ReaderError.self) { try watch.end() }
        let called = Told()
        #expect(throws: ReaderError.self) {
            try watch.call("again") { called.tell(ReaderError(.other, attempting: "")) }
        }
        #expect(called.count == 0)
        // Somebody who comes later is told at once, and it is not given up a second time.
        let late = Told()
        #expect(watch.addWaiter { late.tell($0) } == nil)
        #expect(late.kinds == [.stuck])
        #expect(expired.count == 1 && abandoned.count == 1)
        watch.comeBack()
        #expect(abandoned.count == 0)
    }

    /// What a call gave that came too late is cleaned up, what came in time is not.
    @Test func lateResult() async throws {
        let told = Told()
        let watch = CallWatch(deadline: .milliseconds(20), abandoned: AbandonedThreads()) { _ in }
        let late = Mutex<[Int]>([])
        #expect(try watch.call("first", late: { value in late.withLock { $0.append(value) } }, { 1 }) == 1)
        _ = try #require(watch.addWaiter { told.tell($0) })
        let gate = DispatchSemaphore(value: 0)
        let done = Told()
        let results = Results()
        DetachedThread.start(name: "late") {
            do {
                _ = try watch.call("second", late: { results.add($0) }) {
                    gate.wait()
                    return 2
                }
            } catch {
                done.tell(error as? ReaderError ?? ReaderError(.other, attempting: ""))
            }
        }
        try await until("it is so") { told.count == 1 }
        #expect(results.all == [])
        gate.signal()
        try await until("it is so") { done.count == 1 }
        #expect(results.all == [2])
        #expect(late.withLock { $0 } == [])
        #expect(done.kinds == [.stuck])
    }

    private final class Results: Sendable {
        private let values = Mutex<[Int]>([])
        var all: [Int] { values.withLock { $0 } }
        func add(_ value: Int) { values.withLock { $0.append(value) } }
    }

    /// Nobody waits: nothing is watched, and the next who waits is.
    @Test func watchesOnlyWhileSomebodyWaits() async throws {
        let told = Told()
        let watch = CallWatch(deadline: .milliseconds(500), abandoned: AbandonedThreads()) { told.tell($0) }
        for _ in 0..<50 {
            let id = try #require(watch.addWaiter { told.tell($0) })
            _ = try watch.call("quick") { 0 }
            watch.removeWaiter(id)
        }
        #expect(told.count == 0)
        _ = try #require(watch.addWaiter { told.tell($0) })
        try watch.begin("slow")
        try await until("it is so") { told.count == 2 }
    }

    @Test func abandonedThreadsAreCapped() {
        let abandoned = AbandonedThreads(limit: 2)
        #expect(!abandoned.isFull)
        abandoned.add()
        #expect(!abandoned.isFull)
        abandoned.add()
        #expect(abandoned.isFull)
        abandoned.remove()
        #expect(!abandoned.isFull && abandoned.count == 1)
        #expect(AbandonedThreads.ofProcess.limit == 16)
    }

    @Test func resultIsGivenOnce() async throws {
        let value = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
            let pending = PendingResult(continuation)
            pending.resume(with: .success(1))
            pending.resume(with: .failure(ReaderError(.other, attempting: "do it")))
            pending.resume(with: .success(2))
        }
        #expect(value == 1)
    }

    @Test func cancellation() {
        let cancellation = Cancellation()
        #expect(!cancellation.isCancelled)
        let start = ContinuousClock.now
        cancellation.wait(atMost: 0.01)
        #expect(start.duration(to: .now) >= .milliseconds(10))
        DetachedThread.start(name: "cancel") { #expect(cancellation.cancel() && !cancellation.cancel()) }
        cancellation.wait(atMost: 1000)
        #expect(cancellation.isCancelled)
    }
}
