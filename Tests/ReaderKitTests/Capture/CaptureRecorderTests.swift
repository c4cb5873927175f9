import CardCore
import CardPasses
import Foundation
import NDEFCodec
import ReaderKitTesting
import Synchronization
import Testing
import TestSupport

@testable import Captures
@testable import ReaderKit

@Suite(.timeLimit(.minutes(10))) struct CaptureRecorderTests {
    /// A clock of its own: every look at it takes 1.23456 ms.
    final class SteppingClock: Sendable {
        private let seconds = Mutex(1_800_000_000.000_7)
        func now() -> Date {
            seconds.withLock { seconds in
                seconds += 0.001_234_56
                return Date(timeIntervalSince1970: seconds)
            }
        }
        func advance(_ interval: TimeInterval) { seconds.withLock { $0 += interval } }
    }

    static func temporaryPath() -> String {
        NSTemporaryDirectory() + "recorder-\(UUID().uuidString).capture"
    }

    /// What a consumer sees of a card: enough to notice any difference between a session and its replay.
    struct Tap: Sendable, Hashable {
        var at: Date
        var reader: String
        var facts: CardFacts
        var answers: [String]
        var elapsed: Duration
    }

    static let commands: [[UInt8]] = [
        [0xFF, 0xCA, 0, 0, 0], [0xFF, 0xB0, 0, 3, 0x10], [0xFF, 0xB0, 0, 4, 0x10],
        [0, 0xA4, 4, 0, 7, 0xD2, 0x76, 0, 0, 0x85, 1, 1, 0], [0, 0xA4, 0, 0x0C, 2, 0xE1, 3], [0, 0xB0, 0, 0, 15],
    ]

    /// Talks to each card as it comes.
    static func tap(_ presence: CardPresence, _ backend: any ReaderBackend) async -> Tap {
        let tap = Tap(at: presence.at, reader: presence.reader.name, facts: presence.facts, answers: [], elapsed: .zero)
        do {
            return try await backend.withCard(presence) { channel in
                var tap = tap
                for command in commands {
                    do throws(ReaderError) {
                        tap.answers.append(try channel.transmit(command).hex)
                    } catch {
                        tap.answers.append(error.kind.rawValue)
                    }
                }
                do throws(ReaderError) {
                    _ = try channel.transceive(RawFrame([0x30, 0x02]))
                } catch {
                    tap.answers.append(error.kind.rawValue)
                }
                tap.elapsed = channel.elapsed
                return tap
            }
        } catch {
            var tap = tap
            tap.answers = [(error as? ReaderError)?.kind.rawValue ?? "other"]
            return tap
        }
    }

    @Test func aReplayGivesWhatTheSessionGave() async throws {
        let clock = SteppingClock()
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let simulated = SimulatedBackend(readers: ["A", "B"], now: clock.now)
        let recorder = CaptureRecorder(
            headers: [.init("title", "A session")],
            writer: try CaptureWriter(creating: path),
            now: clock.now
        )
        let backend = RecordingBackend(simulated, recorder: recorder)
        let cards: [(any SimulatedCard, String, [SimulatedFault])] = [
            (SimulatedIdentityCard.classic1K(), "A", []),
            (SimulatedType4Tag(message: [0xD0, 0, 0]), "B", []),
            (SimulatedIdentityCard.desFire(), "B", [.init(.communication, atExchange: 1)]),
            (SimulatedNTAG(.ntag213), "A", [.init(.removed, atExchange: 2)]),
            (SimulatedNTAG(.ntag215), "A", [.init(.timeout, atExchange: 0), .init(.reset, atExchange: 3)]),
        ]
        var live: [Tap] = []
        var events = backend.events().makeAsyncIterator()
        for (card, reader, faults) in cards {
            clock.advance(0.25)
            simulated.insert(card, into: reader, faults: faults)
            while let event = await events.next() {
                guard case .cardInserted(let presence) = event else { continue }
                live.append(await Self.tap(presence, backend))
                break
            }
        }
        simulated.remove(from: "A")
        simulated.finish()
        while await events.next() != nil {}
        #expect(live.count == cards.count)
        #expect(recorder.failure == nil)

        let capture = recorder.capture
        let read = try Capture(contentsOf: path)
        #expect(read == capture)
        #expect(capture.title == "A session")
        #expect(capture.started == recorder.started)
        #expect(capture.readers == [.init(number: 1, name: "A"), .init(number: 2, name: "B")])
        for mode in ReplayMode.allCases {
            let replay = ReplayBackend([read], mode: mode)
            var replayed: [Tap] = []
            for await event in replay.events() {
                guard case .cardInserted(let presence) = event else { continue }
                replayed.append(await Self.tap(presence, replay))
            }
            #expect(replayed == live, "\(mode)")
            #expect(replay.differences.isEmpty, "\(mode)")
        }
    }

    /// The same with the scanner in the place of a consumer that sends commands of its own.
    @Test func aReplayGivesTheSameScanEvents() async throws {
        let clock = SteppingClock()
        let simulated = SimulatedBackend(now: clock.now)
        let recorder = CaptureRecorder(now: clock.now)
        func plain(_ tap: ScanEvent) -> ScanEvent {
            var tap = tap
            tap.id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            tap.backend = .replay
            return tap
        }
        let text = try NDEFMessage([.text("4|U1|x|Ann")]).encoded()
        let cards: [(any SimulatedCard, [SimulatedFault])] = [
            (try #require(SimulatedNTAG.formatted(.ntag213, message: text)), []),
            (SimulatedType4Tag(message: text), []),
            (SimulatedType4Tag(message: text), [.init(.communication, atExchange: 3)]),
            (SimulatedIdentityCard.phone(), []),
            (SimulatedNTAG(.ntag213), [.tear(beforeExchange: 0)]),
            (SimulatedIdentityCard.classic1K(), [.init(.reset, atExchange: 0)]),
        ]
        var live: [ScanEvent] = []
        var events = CardScanner(RecordingBackend(simulated, recorder: recorder)).events().makeAsyncIterator()
        for (card, faults) in cards {
            clock.advance(2)
            simulated.insert(card, faults: faults)
            while let event = await events.next() {
                guard case .scan(let tap) = event else { continue }
                live.append(plain(tap))
                break
            }
        }
        var replayed: [ScanEvent] = []
        let capture = try Capture(parsing: recorder.capture.text())
        for await case .scan(let tap) in CardScanner(ReplayBackend([capture])).events() {
            replayed.append(plain(tap))
        }
        #expect(live.count == cards.count)
        #expect(replayed == live)
    }

    @Test func keepsWhatWasSaidWhenItIsKilled() async throws {
        let clock = SteppingClock()
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = CaptureRecorder(writer: try CaptureWriter(creating: path), now: clock.now)
        #expect(FileManager.default.contents(atPath: path) == Data())
        let simulated = SimulatedBackend(now: clock.now)
        let backend = RecordingBackend(simulated, recorder: recorder)
        var events = backend.events().makeAsyncIterator()
        simulated.insert(SimulatedNTAG(.ntag213))
        while let event = await events.next() {
            guard case .cardInserted(let presence) = event else { continue }
            try await backend.withCard(presence) { channel in
                for (index, command) in Self.commands.enumerated() {
                    _ = try channel.transmit(command)
                    // The file is whole after each exchange.
                    let written = try Capture(contentsOf: path)
                    #expect(written.presentations.first?.exchanges.count == index + 1)
                    #expect(written == recorder.capture)
                }
            }
            break
        }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// Two conversations at the same time stay apart in the file.
    @Test func recordsConversationsAtTheSameTime() throws {
        let clock = SteppingClock()
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = CaptureRecorder(writer: try CaptureWriter(creating: path), now: clock.now)
        func presence(_ reader: String, _ number: Int) -> CardPresence {
            let info = ReaderInfo(name: reader, backend: .simulated)
            return CardPresence(reader: info, number: number, facts: CardFacts(atr: [0x3B, 0]), at: clock.now())
        }
        let left = recorder.inserted(presence("A", 1))
        let right = recorder.inserted(presence("B", 1))
        let first = try #require(recorder.begin(left).index)
        let second = try #require(recorder.begin(right).index)
        func note(_ index: Int, _ number: UInt8) {
            _ = recorder.note(index, .apdu([0, 0xB0, 0, number]), .bytes([number, 0x90, 0]))
        }
        for number in 0..<4 as Range<UInt8> {
            note(first, number)
            note(second, number)
            note(second, number)
        }
        // The removal is noted when the conversation is over, and a late answer before it.
        _ = recorder.removed(left)
        note(first, 9)
        #expect(recorder.capture.presentations[0].removedAt == nil)
        recorder.end(first, nil)
        #expect(recorder.capture.presentations[0].removedAt != nil)
        let next = recorder.inserted(presence("A", 2))
        note(first, 10)
        note(second, 11)
        recorder.end(second, nil)
        let third = try #require(recorder.begin(next).index)
        recorder.end(third, ReaderError(.cardUnresponsive, attempting: "connect"))
        let capture = recorder.capture
        #expect(capture.presentations.map(\.exchanges.count) == [6, 9, 0])
        #expect(capture.presentations[2].connectFault == .commError)
        #expect(try Capture(contentsOf: path) == capture)
        #expect(try Capture(parsing: capture.text()) == capture)
    }

    @Test func goesOnWithoutItsFile() throws {
        let recorder = CaptureRecorder(writer: try CaptureWriter(creating: "/dev/full", overwrite: true))
        let info = ReaderInfo(name: "A", backend: .simulated)
        _ = recorder.inserted(CardPresence(reader: info, number: 1, facts: CardFacts(), at: recorder.started))
        #expect(recorder.failure?.kind == .notWritable)
        #expect(recorder.capture.presentations.count == 1)
    }

    /// Recording over a file costs nothing until there is something to put in its place.
    @Test func keepsTheOldFileUntilACardComes() throws {
        let path = Self.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let old = "capture 1\ntitle: old\n"
        try old.write(toFile: path, atomically: true, encoding: .utf8)
        var writer = try CaptureWriter(creating: path, overwrite: true)
        _ = CaptureRecorder(writer: writer)
        writer.discardIfEmpty()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == old)
        writer = try CaptureWriter(creating: path, overwrite: true)
        let recorder = CaptureRecorder(writer: writer)
        let info = ReaderInfo(name: "A", backend: .simulated)
        _ = recorder.inserted(CardPresence(reader: info, number: 1, facts: CardFacts(), at: recorder.started))
        #expect(try Capture(contentsOf: path).presentations.count == 1)
        #expect(try Capture(contentsOf: path).title == nil)
        let new = Self.temporaryPath()
        try CaptureWriter(creating: new).discardIfEmpty()
        #expect(!FileManager.default.fileExists(atPath: new))
    }
}
