import CardCore
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import Captures
@testable import ReaderKit

@Suite(.timeLimit(.minutes(10))) struct ReplayBackendTests {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    static func capture(_ text: String, file: String? = nil) throws -> Capture {
        try Capture(parsing: "capture 1\n" + text, file: file)
    }

    static func describe(_ event: ReaderEvent) -> String {
        func text(_ presence: CardPresence) -> String {
            let time = Int((presence.at.timeIntervalSince(start) * 1000).rounded())
            return "\(presence.number) \(presence.reader.name) \(time)"
        }
        switch event {
        case .readerAdded(let reader): return "+\(reader.name)"
        case .readerRemoved(let reader): return "-\(reader.name)"
        case .cardInserted(let presence): return "in \(text(presence))"
        case .cardRemoved(let presence): return "out \(text(presence))"
        default: return "other"
        }
    }

    @Test func tellsWhatHappenedInItsOrder() async throws {
        let first = try Self.capture(
            """
            reader 1: A
            reader 2: B
            card 1 at 1
            card 2 at 1.5
            card 1 at 2
            removed 1 at 2.5
            removed 2 at 2.2
            card 2 at 2.5
            """
        )
        let second = try Self.capture("card at 0\nremoved at 1\n")
        let backend = ReplayBackend([first, second, try Self.capture("")]) { _ in Self.start }
        #expect(backend.kind == .replay && backend.isRecording)
        var events: [String] = []
        for await event in backend.events() { events.append(Self.describe(event)) }
        let expected = [
            "+A", "+B", "in 1 A 1000", "in 2 B 1500", "out 1 A 1000", "in 3 A 2000", "out 2 B 1500", "out 3 A 2000",
            "in 4 B 2500", "out 4 B 2500", "-A", "-B",
            "+replay", "in 5 replay 0", "out 5 replay 0", "-replay",
        ]
        #expect(events == expected)
        // Another watch begins again, with numbers of its own.
        var again: [String] = []
        for await event in backend.events() { again.append(Self.describe(event)) }
        #expect(again.count == expected.count)
        #expect(again[2] == "in 6 A 1000")
    }

    @Test func datesTheDefaultByTheHeader() async throws {
        let capture = try Self.capture("started: 2027-01-15T08:00:00Z\ncard at 0.5\n")
        for await event in ReplayBackend([capture]).events() {
            guard case .cardInserted(let presence) = event else { continue }
            #expect(presence.at == Self.start + 0.5)
        }
    }

    /// The start of the second file is asked for when all events of the first were taken, not before.
    @Test func asksForTheStartWhenAFileBegins() async throws {
        let log = Log()
        let captures = [try Self.capture("card at 0\n", file: "1"), try Self.capture("card at 0\n", file: "2")]
        let backend = ReplayBackend(captures) { capture in
            await log.append("start \(capture.file ?? "")")
            return Self.start
        }
        for await event in backend.events() {
            // However long the consumer takes.
            for _ in 0..<100 { await Task.yield() }
            await log.append(Self.describe(event))
        }
        let entries = await log.entries
        #expect(
            entries == [
                "start 1", "+replay", "in 1 replay 0", "out 1 replay 0", "-replay",
                "start 2", "+replay", "in 2 replay 0", "out 2 replay 0", "-replay",
            ]
        )
    }

    actor Log {
        var entries: [String] = []
        func append(_ entry: String) { entries.append(entry) }
    }

    @Test func answersForCardsThatHaveLeft() async throws {
        let capture = try Self.capture("card at 0\n> 00B00000\n< 019000\ncard at 1\n> 00B00000\n< 029000\n")
        let backend = ReplayBackend([capture])
        var presences: [CardPresence] = []
        for await event in backend.events() {
            if case .cardInserted(let presence) = event { presences.append(presence) }
        }
        for (presence, answer) in zip(presences, [1, 2] as [UInt8]) {
            let data = try await backend.withCard(presence) { try $0.transmit([0, 0xB0, 0, 0]) }
            #expect(data == [answer, 0x90, 0])
        }
        #expect(presences.count == 2)
    }

    @Test func refusesACardThatItDidNotAnnounce() async throws {
        let backend = ReplayBackend([try Self.capture("card at 0\n")])
        let reader = ReaderInfo(name: "replay", backend: .replay)
        for number in [Int.min + 1, 0, 1, 2] {
            let presence = CardPresence(reader: reader, number: number, facts: CardFacts(), at: Self.start)
            await #expect(throws: ReaderError(.cardRemoved, attempting: "connect to the card")) {
                try await backend.withCard(presence) { _ in 0 }
            }
        }
    }

    @Test func givesAConnectFault() async throws {
        let backend = ReplayBackend([try Self.capture("card at 0\n! comm-error\n")])
        for await event in backend.events() {
            guard case .cardInserted(let presence) = event else { continue }
            for _ in 0..<2 {
                await #expect(throws: ReaderError(.communication, attempting: "connect to the card")) {
                    try await backend.withCard(presence) { _ in 0 }
                }
            }
        }
    }

    @Test func goesOnWhereAConversationEnded() async throws {
        let capture = try Self.capture("card at 0\n> 00B00000\n< 019000\n> 00B00001\n< 029000\n", file: "x")
        let backend = ReplayBackend([capture], mode: .strict)
        for await event in backend.events() {
            guard case .cardInserted(let presence) = event else { continue }
            for page in [0, 1] as [UInt8] {
                _ = try await backend.withCard(presence) { try $0.transmit([0, 0xB0, 0, page]) }
            }
        }
        #expect(backend.differences.isEmpty)
    }

    @Test func collectsDifferencesWhenStrict() async throws {
        let capture = try Self.capture("card at 0\n> 00B00000\n< 9000\ncard at 1\n> 00B00000\n< 9000\n", file: "x")
        let backend = ReplayBackend([capture], mode: .strict)
        for await event in backend.events() {
            guard case .cardInserted(let presence) = event, presence.number == 1 else { continue }
            // The conversation itself hides its error.
            _ = try await backend.withCard(presence) { _ = try? $0.transmit([0, 0xB0, 0, 1]) }
        }
        #expect(
            backend.differences.map(\.detail) == [
                "x:3: '> 00 B0 00 01' was sent and '> 00 B0 00 00' is recorded", "x:3: '> 00 B0 00 00' was not sent",
            ]
        )
    }

    @Test func keepsTheRecordedPace() async throws {
        let clock = ManualClock()
        let capture = try Self.capture("card at 1\nremoved at 3\n")
        let backend = ReplayBackend([capture, capture], speed: .recorded, clock: clock) { _ in Self.start }
        var events: [String] = []
        for await event in backend.events() {
            events.append(Self.describe(event) + " at \(clock.now.offset / .seconds(1))")
        }
        #expect(
            events == [
                "+replay at 0.0", "in 1 replay 1000 at 1.0", "out 1 replay 1000 at 3.0", "-replay at 3.0",
                "+replay at 3.0", "in 2 replay 1000 at 4.0", "out 2 replay 1000 at 6.0", "-replay at 6.0",
            ]
        )
    }

    @Test func endsWhenItsConsumerIsCancelled() async throws {
        let backend = ReplayBackend([try Self.capture("card at 1000000\n")], speed: .recorded)
        let (waiting, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            var count = 0
            for await _ in backend.events() {
                count += 1
                signal.finish()
            }
            return count
        }
        for await _ in waiting {}
        task.cancel()
        #expect(await task.value == 1)
    }

    /// A clock that is at each moment as soon as somebody waits for it.
    final class ManualClock: Clock {
        struct Instant: InstantProtocol {
            var offset: Duration
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
        }
        private let time = Mutex(Duration.zero)
        var now: Instant { Instant(offset: time.withLock { $0 }) }
        var minimumResolution: Duration { .zero }
        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            time.withLock { $0 = max($0, deadline.offset) }
        }
    }
}
