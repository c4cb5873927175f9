import Dispatch
import Foundation
import ReaderKit
import Synchronization
import Testing

@testable import ClubKit

/// Notes what it is told. Sendable since everything is behind a lock.
private final class Recorder: ClubMiddlewareDelegate, Sendable {
    private let told = Mutex<[String]>([])
    private let running = Atomic<Int>(0)
    private let key: DispatchSpecificKey<Bool>?
    let signal = AsyncStream.makeStream(of: Void.self)

    /// Checks that callbacks come on the queue that has this key, if one is given.
    init(queueKey: DispatchSpecificKey<Bool>? = nil) { key = queueKey }

    var lines: [String] { told.withLock { $0 } }

    private func note(_ line: String) {
        // One at a time: nobody else is in here.
        #expect(running.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == 1)
        if let key { #expect(DispatchQueue.getSpecific(key: key) == true) }
        told.withLock { $0.append(line) }
        running.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        signal.continuation.yield()
    }

    func club(_ club: Club, didReceive error: any Error) {
        note("error \((error as? ClubError)?.kind.rawValue ?? "other")")
    }

    func club(_ club: Club, didCreateNewMembership user: MembershipUser) {
        // After the commit, and outside the transaction: the club can be called and knows it.
        let stored = try? club.getUser(with: user.userId ?? "")
        note("created \(user.userId ?? "") \(user.numVisits) stored \(stored != nil)")
    }

    func club(_ club: Club, didUpdateMembership user: MembershipUser) {
        note("updated \(user.userId ?? "") \(user.numVisits)")
    }

    func waitForCallbacks(_ count: Int) async {
        _ = await signal.stream.first(count)
    }
}

/// Declares no method at all.
private final class Indifferent: ClubMiddlewareDelegate {}

@MainActor
private final class Screen: @MainActor ClubMiddlewareDelegate {
    var shown: [String] = []
    var continuation: CheckedContinuation<Void, Never>?

    func club(_ club: Club, didCreateNewMembership user: MembershipUser) {
        MainActor.preconditionIsolated()
        shown.append(user.userId ?? "")
        continuation?.resume()
        continuation = nil
    }
}

@Suite("Callbacks and events", .timeLimit(.minutes(10)))
struct CallbackTests {
    @Test("Callbacks come after the commit, on the queue, one at a time and in order", arguments: [false, true])
    func order(concurrent: Bool) async throws {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "callbacks", attributes: concurrent ? .concurrent : [])
        queue.setSpecific(key: key, value: true)
        let recorder = Recorder(queueKey: key)
        let club = try await openClub().setDelegate(to: recorder).setDispatchQueue(queue)
        for (key, seconds) in [("A", 0), ("B", 1), ("A", 5), ("A", 30), (nil, 31), ("B", 60), ("A", 60)]
            as [(String?, Double)]
        {
            _ = try await club.receive(tap(key, at: seconds))
        }
        await recorder.waitForCallbacks(6)
        // Of the tap of which nothing was read the error is reported, as in the original.
        let expected = [
            "created A 1 stored true", "created B 1 stored true", "updated A 2", "error other", "updated B 2",
            "updated A 3",
        ]
        #expect(recorder.lines == expected)
    }

    @Test("Callbacks of taps at once come in the order of the commits")
    func parallelOrder() async throws {
        let recorder = Recorder()
        let queue = DispatchQueue(label: "callbacks", attributes: .concurrent)
        let club = try await openClub(.test(cooldown: .zero)).setDelegate(to: recorder).setDispatchQueue(queue)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 { group.addTask { _ = try? await club.receive(tap("A", at: Double(index))) } }
        }
        await recorder.waitForCallbacks(100)
        #expect(recorder.lines.dropFirst() == (2...100).map { "updated A \($0)" }[...])
    }

    @Test("A class on the main actor is called there")
    func mainActor() async throws {
        let club = try await openClub()
        await showTap(club)
    }

    @MainActor
    private func showTap(_ club: Club) async {
        let screen = Screen()
        club.setDelegate(to: screen)
        await withCheckedContinuation { continuation in
            screen.continuation = continuation
            Task { try await club.receive(tap("A")) }
        }
        #expect(screen.shown == ["A"])
    }

    @Test("The delegate is held weakly, and every method may be missing")
    func weak() async throws {
        let club = try await openClub()
        var delegate: Indifferent? = Indifferent()
        club.setDelegate(to: delegate)
        #expect(club.delegate === delegate)
        _ = try await club.receive(tap("A"))
        delegate = nil
        // The callback of the tap holds it while it runs.
        let deadline = ContinuousClock.now + .seconds(20)
        while club.delegate != nil, ContinuousClock.now < deadline { await Task.yield() }
        #expect(club.delegate == nil)
        #expect(try await club.receive(tap("A", at: 30)).outcome == .visit)
    }

    @Test("A record that the custom class does not accept is reported, and the visit is kept")
    func refusedRecord() async throws {
        let queue = DispatchQueue(label: "callbacks")
        let recorder = Recorder()
        let club = try await openClub().setDelegate(to: recorder).setDispatchQueue(queue)
            .setCustomMembershipUser(classType: RefusingUser.self)
        let events = club.events
        #expect(try await club.receive(tap("A")).outcome == .created)
        await recorder.waitForCallbacks(1)
        #expect(recorder.lines == ["error unreadableRecord"])
        #expect(await events.first(3).map(\.name) == ["scan", "created", "error"])
        #expect(try await club.member(withUserID: "A")?.numVisits == 1)
    }

    @Test("Every consumer gets every event in order, a slow one too, and the end when the club is closed")
    func events() async throws {
        let club = try await openClub()
        let consumers = (0..<3).map { _ in club.events }
        let id = UUID()
        let taps = [tap("A"), tap("A", at: 1), tap(nil, at: 2), tap("A", at: 30, id: id), tap("A", at: 30, id: id)]
        var receipts: [Receipt] = []
        for event in taps { receipts.append(try await club.receive(event)) }
        let late = club.events
        try await club.close()
        // The last tap was seen before and adds nothing.
        let expected = zip(taps, receipts).dropLast().flatMap { [ClubEvent.scan($0), .received($1)] }
        for consumer in consumers {
            var events: [ClubEvent] = []
            for await event in consumer { events.append(event) }
            #expect(events == expected)
        }
        for await event in late { Issue.record("unexpected \(event.name)") }
    }

    @Test("A consumer that stops does not disturb the others")
    func cancelledConsumer() async throws {
        let club = try await openClub()
        let steady = club.events
        let task = Task { [events = club.events] in await events.first(Int.max).count }
        task.cancel()
        #expect(await task.value == 0)
        _ = try await club.receive(tap("A"))
        #expect(await steady.first(2).map(\.name) == ["scan", "created"])
    }

    @Test("A tap that cannot be recorded is told, and thrown")
    func failure() async throws {
        let recorder = Recorder()
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
            .setDelegate(to: recorder).setDispatchQueue(DispatchQueue(label: "callbacks"))
        let events = club.events
        try await club.openStore("test").database.write { try $0.execute(sql: "DROP TABLE receipt") }
        await #expect(throws: ClubError.self) { try await club.receive(tap("A")) }
        await recorder.waitForCallbacks(1)
        #expect(recorder.lines == ["error other"])
        #expect(await events.first(2).map(\.name) == ["scan", "error"])
        // Nothing of it stays.
        #expect(try await club.memberCount() == 0)
        // A source goes on after it.
        let (source, continuation) = AsyncStream.makeStream(of: ScanEvent.self)
        continuation.yield(tap("B"))
        continuation.yield(tap("C"))
        continuation.finish()
        try await club.run(source)
        await recorder.waitForCallbacks(2)
        #expect(recorder.lines.count == 3)
        try await club.close()
    }
}

@Suite("Events as JSON")
struct ClubEventTests {
    private func json(_ event: ClubEvent) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(event), as: UTF8.self)
    }

    private func receipt(_ outcome: Receipt.Outcome, member: Member? = nil) -> Receipt {
        Receipt(
            eventID: UUIDSource.uuid(1),
            at: start.addingTimeInterval(0.25),
            reader: "Test reader",
            backend: .simulated,
            outcome: outcome,
            member: member
        )
    }

    private let rest = #""id":"00000000-0000-0000-0000-000000000001""#

    @Test("What became of a tap")
    func outcomes() throws {
        let member = Member(userId: "A", username: "Ada", timeStampAdded: 1, numVisits: 2, timeStampOfLastVisit: 3.5)
        let memberJSON = #"{"numVisits":2,"timeStampAdded":1,"timeStampOfLastVisit":3.5,"userId":"A","username":"Ada"}"#
        for (outcome, name) in [(Receipt.Outcome.created, "created"), (.visit, "visit"), (.repeat, "repeat")] {
            #expect(
                try json(.received(receipt(outcome, member: member)))
                    == #"{"at":"2026-09-01T10:00:00.250Z","backend":"simulated","event":"\#(name)",\#(rest),"#
                    + #""member":\#(memberJSON),"reader":"Test reader"}"#
            )
        }
    }

    @Test("What was not accepted, and why")
    func reasons() throws {
        let reason = Receipt.Reason(.card(.randomUID), "Use another card.")
        for (outcome, name) in [(Receipt.Outcome.ignored(reason), "ignored"), (.rejected(reason), "rejected")] {
            #expect(
                try json(.received(receipt(outcome)))
                    == #"{"at":"2026-09-01T10:00:00.250Z","backend":"simulated","event":"\#(name)",\#(rest),"#
                    + #""reader":"Test reader","reason":"Use another card.","reasonCode":"randomUID"}"#
            )
        }
    }

    @Test("A scan is the scan event's own object")
    func scan() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let event = tap("A", id: UUIDSource.uuid(1))
        #expect(try json(.scan(event)) == String(decoding: try encoder.encode(event), as: UTF8.self))
        #expect(try json(.scan(event)).contains(#""event":"scan""#))
    }

    @Test("An error has its kind and its words")
    func error() throws {
        let error = ClubError(.busy, attempting: "record a tap", code: .init(rawValue: 5, name: "SQLITE_BUSY"))
        #expect(
            try json(.error(error, at: start))
                == #"{"at":"2026-09-01T10:00:00.000Z","error":{"code":"busy","message":"could not record a tap: "#
                + "another program holds the database (SQLITE_BUSY 5). "
                + #"Close the other program that uses the database, or try again when it has finished."},"event":"error"}"#
        )
    }

    @Test("Names, members and reasons can be asked for")
    func parts() {
        let member = Member(userId: "A")
        let reason = Receipt.Reason(.unknownCard, "why")
        #expect(ClubEvent.received(receipt(.visit, member: member)).member == member)
        #expect(ClubEvent.received(receipt(.ignored(reason))).reason == "why")
        #expect(ClubEvent.scan(tap("A")).member == nil)
        #expect(ClubEvent.scan(tap("A", at: 5)).at == start.addingTimeInterval(5))
        #expect(ClubEvent.error(ClubError(.busy, attempting: "x"), at: start).reason == nil)
    }
}
