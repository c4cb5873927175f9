import Foundation
import GRDB
import ReaderKit
import Synchronization
import Testing
import TestSupport

@testable import ClubKit

@Suite("Receipts of a source of taps", .timeLimit(.minutes(10)))
struct ReceiptsTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A source that goes on when its task is cancelled, and calls something for each tap it is asked for.
    private struct Source: AsyncSequence, AsyncIteratorProtocol {
        typealias Failure = Never
        var taps: [ScanEvent]
        var asked: @Sendable (Int) -> Void = { _ in }
        var count = 0

        init(_ taps: [ScanEvent], asked: @escaping @Sendable (Int) -> Void = { _ in }) {
            self.taps = taps
            self.asked = asked
        }

        func makeAsyncIterator() -> Source { self }

        mutating func next() async -> ScanEvent? {
            count += 1
            asked(count)
            return count > taps.count ? nil : taps[count - 1]
        }
    }

    private func taps(_ count: Int) -> [ScanEvent] { (0..<count).map { tap("U\($0)", at: Double($0)) } }

    private func open() async throws -> Club {
        try await openClub(.test(.file(path: directory.file()), busyTimeout: .milliseconds(20)))
    }

    /// Closes the club, and gives the errors of taps that it told. What scenarios were charged with may be settled meanwhile.
    private func errors(_ club: Club, _ events: AsyncStream<ClubEvent>) async throws -> [ClubError.Kind] {
        try await club.close()
        return await events.reduce(into: []) {
            if case .error(let error, _) = $1, error.attempt == "record a tap" { $0.append(error.kind) }
        }
    }

    @Test("Each tap has its receipt, in order; one that comes again is said to")
    func inOrder() async throws {
        let club = try await open()
        let all = taps(3)
        var receipts: [Receipt] = []
        for await receipt in club.receipts(of: Source(all + [all[1]])) { receipts.append(receipt) }
        #expect(receipts.map(\.eventID) == (all + [all[1]]).map(\.id))
        #expect(receipts.map(\.isDuplicate) == [false, false, false, true])
        #expect(receipts[3] == receipts[1])
        let lines = try receipts.map {
            String(decoding: try JSONEncoder().encode(ClubEvent.received($0)), as: UTF8.self)
        }
        #expect(lines.map { $0.contains("\"duplicate\":true") } == [false, false, false, true])
        try await club.close()
    }

    @Test("While another program holds the database the same tap waits; that is told once, and nothing is lost")
    func busy() async throws {
        let club = try await open()
        // Asked at each try.
        let tries = Mutex(0)
        club.setDispatchQueue(DispatchQueue(label: "test"))
        club.setScenarios([
            Scenario("asked") {
                $0.customConditions = {
                    tries.withLock { $0 += 1 }
                    return true
                }
            }
        ])
        let events = club.events
        let locked = try LockedDatabase(directory.file())
        let all = taps(3)
        let receiving = Task {
            var receipts: [Receipt] = []
            for await receipt in club.receipts(of: Source(all)) { receipts.append(receipt) }
            return receipts
        }
        try await until("four tries") { tries.withLock(\.self) >= 4 }
        locked.release()
        let receipts = await receiving.value
        #expect(receipts.map(\.eventID) == all.map(\.id))
        #expect(receipts.map(\.outcome) == [.created, .created, .created])
        #expect(receipts.allSatisfy { !$0.isDuplicate })
        #expect(try await club.memberCount() == 3)
        #expect(try await errors(club, events) == [.busy])
    }

    @Test("While the disk is full the same tap waits, and goes on once there is room")
    func full() async throws {
        let club = try await open()
        let store = try club.openStore("fill the disk")
        @Sendable func limit(_ more: Int) async throws {
            try await store.database.writeWithoutTransaction { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                try db.execute(sql: "PRAGMA max_page_count = \(pages + more)")
            }
        }
        let events = club.events
        let all = taps(200)
        try await limit(1)
        let receiving = Task {
            var receipts: [Receipt] = []
            for await receipt in club.receipts(of: Source(all)) { receipts.append(receipt) }
            return receipts
        }
        for await event in events {
            guard case .error(let error, _) = event else { continue }
            #expect(error.kind == .diskFull)
            break
        }
        try await limit(10_000)
        let receipts = await receiving.value
        #expect(receipts.map(\.eventID) == all.map(\.id))
        #expect(receipts.allSatisfy { $0.outcome == .created })
        #expect(try await club.check() == [])
        try await club.close()
    }

    @Test("What waiting cannot mend is told, and the next tap is taken")
    func readOnly() async throws {
        let club = try await open()
        let store = try club.openStore("write nothing")
        try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
        let events = club.events
        let all = taps(2)
        let unrecorded = Mutex<[UUID]>([])
        let receipts = club.receipts(
            of: Source(all),
            unrecorded: { tap, error in
                #expect(error.kind == .readOnly)
                unrecorded.withLock { $0.append(tap.id) }
            }
        )
        for await _ in receipts { Issue.record("nothing can be recorded") }
        #expect(unrecorded.withLock(\.self) == all.map(\.id))
        #expect(try await errors(club, events) == [.readOnly, .readOnly])
    }

    @Test("Patience has an end, where one is given")
    func patience() async throws {
        let club = try await open()
        let events = club.events
        let locked = try LockedDatabase(directory.file())
        let kinds = Mutex<[ClubError.Kind]>([])
        let receipts = club.receipts(
            of: Source(taps(1)),
            patience: .milliseconds(300),
            unrecorded: { _, error in kinds.withLock { $0.append(error.kind) } }
        )
        for await _ in receipts { Issue.record("nothing can be recorded") }
        locked.release()
        #expect(kinds.withLock(\.self) == [.busy])
        #expect(try await errors(club, events) == [.busy])
    }

    @Test("A task that is cancelled while its tap waits ends, and says that it has no receipt")
    func cancelledWhileWaiting() async throws {
        let club = try await open()
        let events = club.events
        let locked = try LockedDatabase(directory.file())
        let kinds = Mutex<[ClubError.Kind]>([])
        let all = taps(2)
        let receipts = club.receipts(
            of: Source(all),
            unrecorded: { _, error in kinds.withLock { $0.append(error.kind) } }
        )
        let receiving = Task { for await _ in receipts { Issue.record("nothing can be recorded") } }
        _ = await events.first { if case .error = $0 { true } else { false } }
        receiving.cancel()
        await receiving.value
        locked.release()
        #expect(kinds.withLock(\.self) == [.cancelled])
        #expect(try await club.memberCount() == 0)
        try await club.close()
    }

    @Test(
        "A tap that waits when its task is cancelled, or its club is closed, is told as one without a receipt",
        arguments: [true, false]
    )
    func unrecordedAtTheEnd(isCancelled: Bool) async throws {
        let club = try await open()
        let events = club.events
        let recorder = FamiliarRecorder()
        _ = club.recorded(by: recorder)
        let locked = try LockedDatabase(directory.file())
        let tap = taps(1)[0]
        let running = Task { try await club.run(Source([tap])) }
        _ = await events.first { if case .error = $0 { true } else { false } }
        if isCancelled {
            running.cancel()
            try await running.value
            let told = await events.first { if case .scan = $0 { true } else { false } }
            #expect(told == .scan(tap))
        } else {
            try await club.close()
            await #expect { try await running.value } throws: { ($0 as? ClubError)?.kind == .notOpen }
            #expect(await recorder.lines(2) == ["error ClubError busy", "error ClubError notOpen"])
        }
        locked.release()
        try await club.close()
    }

    @Test("A club that is closed, or was not opened, ends it")
    func closed() async throws {
        let club = try await open()
        let all = taps(3)
        var count = 0
        for await _ in club.receipts(of: Source(all)) {
            count += 1
            try await club.close()
        }
        #expect(count == 1)
        for await _ in club.receipts(of: Source(all)) { Issue.record("the club is closed") }
    }

    @Test("What a source throws comes through")
    func throwing() async throws {
        let club = try await open()
        let failing = Source(taps(3)).map { tap in
            if tap.memberKey == "U1" { throw ClubError(.other, attempting: "read") }
            return tap
        }
        var count = 0
        await #expect(throws: ClubError.self) {
            for try await _ in club.receipts(of: failing) { count += 1 }
        }
        #expect(count == 1)
        try await club.close()
    }

    @Test("A cancelled task ends the run of a source, which is not drained")
    func cancelledRun() async throws {
        let club = try await open()
        let asked = Mutex(0)
        let source = Source(taps(1000)) { number in
            asked.withLock { $0 = number }
            if number == 3 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await Task { try await club.run(source) }.value
        #expect(asked.withLock(\.self) == 3)
        try await club.close()
    }
}
