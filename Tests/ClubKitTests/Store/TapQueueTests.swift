import Foundation
import GRDB
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit
@testable import CardCore
@testable import CardPasses
@testable import CardTags
@testable import Captures
@testable import NDEFCodec
@testable import ReaderKit

@Suite("Taps that come together", .timeLimit(.minutes(10)))
struct TapQueueTests {
    private let bench: StoreBench

    init() throws {
        bench = try StoreBench()
    }

    /// Gives taps while another one is under way, so that they come together.
    ///
    /// - Parameters:
    ///   - meanwhile: what is done when they wait; the first one goes on then.
    ///   - failed: told of each one that cannot be recorded, as soon as it knows.
    private func together(
        _ keys: [String],
        to store: MemberStore,
        at seconds: Double = 0,
        meanwhile: () async throws -> Void = {},
        failed: @escaping @Sendable () -> Void = {}
    ) async throws -> [Result<Receipt?, any Error>] {
        let gate = DispatchSemaphore(value: 0)
        let isHeld = Mutex(false)
        let first = Task {
            try await store.receive(tap("first"), rules: TapRules(cooldown: 0), unknown: .create) { _ in
                isHeld.withLock { $0 = true }
                gate.wait()
            }
        }
        try await until("the first is under way") { isHeld.withLock(\.self) }
        let tasks = keys.map { key in
            Task {
                do {
                    return try await bench.receive(tap(key, at: seconds), in: store) as Receipt?
                } catch {
                    failed()
                    throw error
                }
            }
        }
        try await until("they wait") { store.taps.numberOfWaiting == keys.count }
        try await meanwhile()
        gate.signal()
        #expect(try await first.value?.outcome == .created)
        var results: [Result<Receipt?, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return results
    }

    @Test("Taps that come while a commit is under way share the next one, and each has its receipt")
    func shared() async throws {
        let store = try bench.openStore()
        let commits = Mutex(0)
        let stream = store.commits.stream()
        let counting = Task { for await _ in stream { commits.withLock { $0 += 1 } } }
        let keys = (0..<20).map { "member \($0 % 10)" }
        let outcomes = try await together(keys, to: store).map { try $0.get()?.outcome }
        #expect(outcomes.count { $0 == .created } == 10)
        #expect(outcomes.count { $0 == .repeat } == 10)
        store.commits.finish()
        await counting.value
        // One for the tap that was first, one for all the others.
        #expect(commits.withLock(\.self) == 2)
        #expect(try await store.memberCount() == 11)
        #expect(try await store.check() == [])
    }

    @Test("A tap that cannot be recorded keeps none of the others back")
    func alone() async throws {
        let store = try bench.openStore()
        for key in ["A", "B", "C"] { _ = try await bench.receive(tap(key), in: store) }
        try await store.database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
            try db.execute(sql: "UPDATE member SET status = 77 WHERE user_id = 'B'")
            try db.execute(sql: "PRAGMA ignore_check_constraints = OFF")
        }
        let results = try await together(["A", "B", "C", "D"], to: store, at: 60)
        #expect(try results[0].get()?.outcome == .visit)
        let error = #expect(throws: ClubError.self) { try results[1].get() }
        #expect(error?.kind == .corrupt)
        #expect(try results[2].get()?.outcome == .visit)
        #expect(try results[3].get()?.outcome == .created)
    }

    @Test("A reader that always has another tap keeps no other tap back")
    func fair() async throws {
        let club = try await openClub()
        let source = EndlessTaps()
        let serving = Task { try await club.run(source) }
        try await until("it serves") { source.count.withLock { $0 > 10 } }
        for index in 0..<5 { #expect(try await club.receive(tap("guest \(index)")).outcome == .created) }
        source.isEnded.withLock { $0 = true }
        try await serving.value
        #expect(try await club.memberCount() == 6)
        #expect(try await club.check() == [])
    }

    private final class EndlessTaps: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let count = Mutex(0)
        let isEnded = Mutex(false)

        func makeAsyncIterator() -> EndlessTaps { self }

        func next() async -> ScanEvent? {
            guard !isEnded.withLock(\.self) else { return nil }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return tap("A", at: Double(number))
        }
    }

    @Test("A reader that always has another tap lets a tap go first that came before it had its thread")
    func fairInOneRound() async throws {
        let club = try await openClub()
        let store = try club.openStore("test")
        let gate = DispatchSemaphore(value: 0)
        store.taps.thread.submit { gate.wait() }
        let source = EndlessTaps()
        // Its job is on the thread's list before the guest comes.
        let serving = Task(executorPreference: store.taps) { try await club.run(source) }
        let guest = Task { try await club.receive(tap("guest")).outcome }
        try await until("the guest waits") { store.taps.numberOfWaiting == 1 }
        gate.signal()
        #expect(try await guest.value == .created)
        source.isEnded.withLock { $0 = true }
        try await serving.value
    }

    @Test("Taps that wait have their answers before the store is closed", arguments: [false, true])
    func closing(isInMemory: Bool) async throws {
        let store =
            isInMemory
            ? try MemberStore(.memory, clock: { start }, makeUUID: { UUIDSource.uuid(77) }) : try bench.openStore()
        let closed = Mutex<Result<Void, any Error>?>(nil)
        let results = try await together((0..<150).map { "member \($0)" }, to: store) {
            let hasBegun = Mutex(false)
            Thread {
                hasBegun.withLock { $0 = true }
                let result = Result { try store.close() }
                closed.withLock { $0 = result }
            }.start()
            try await until("the store is being closed") { hasBegun.withLock(\.self) }
        }
        // They waited before the closing began, so each is recorded.
        for result in results { #expect(try result.get()?.outcome == .created) }
        try await until("it is closed") { closed.withLock { $0 != nil } }
        try closed.withLock(\.self)?.get()
    }

    @Test("Taps that wait for another program wait once, not one after the other")
    func busy() async throws {
        let store = try bench.openStore(busyTimeout: .milliseconds(500))
        let other = Mutex<LockedDatabase?>(nil)
        let results = try await together((0..<20).map { "member \($0)" }, to: store) {
            // It has the database when the first one has committed.
            let locked = try LockedDatabase(bench.directory.file())
            other.withLock { $0 = locked }
        } failed: {
            // From here on a tap that waited for itself would be recorded.
            other.withLock { $0.take() }?.release()
        }
        for result in results {
            let error = #expect(throws: ClubError.self) { try result.get() }
            #expect(error?.kind == .busy)
        }
        #expect(try await bench.receive(tap("A"), in: store).outcome == .created)
    }

    @Test("A store that is gone leaves no thread behind")
    func thread() async throws {
        weak let thread: ThreadExecutor?
        do {
            let opened = try bench.openStore()
            _ = try await bench.receive(tap("A"), in: opened)
            thread = opened.taps.thread
        }
        try await until("it has ended") { thread == nil }
    }
}
