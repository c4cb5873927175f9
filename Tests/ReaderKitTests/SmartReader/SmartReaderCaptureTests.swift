import Captures
import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// What a reader reports is recorded, and gives the same taps again.
@Suite(.timeLimit(.minutes(10))) struct SmartReaderCaptureTests {
    private static func replay(_ capture: Capture) async -> [ScanEvent] {
        var taps: [ScanEvent] = []
        for await tap in Scanning.scanner(ReplayBackend([capture])).taps() { taps.append(tap) }
        return taps
    }

    /// Without what is another in each run.
    private static func same(_ tap: ScanEvent) -> ScanEvent {
        var tap = tap
        tap.backend = .replay
        tap.duration = .zero
        return tap
    }

    private static let tags = [
        SmartReaderTag(radioProtocol: "01", template: 1, id: "04A1B2C3D4E580"),
        SmartReaderTag(radioProtocol: "01", template: 0xD1, id: "08112233", data: "M-1042"),
        SmartReaderTag(radioProtocol: "02", template: 2, id: "262BA1B0", move: .insert),
        SmartReaderTag(radioProtocol: "01", template: 0x4E, id: "04A1B2C3D4E581", data: "https://club.example/m/42"),
    ]

    @Test(arguments: SmartReaderFormat.allCases) func sameTapsAgain(_ format: SmartReaderFormat) async throws {
        let reader = try SmartReaderTerminal(format: format)
        var configuration = SmartReaders.configuration([try #require(reader.path)])
        configuration.format = format
        let clock = CaptureRecorderTests.SteppingClock()
        let recorder = CaptureRecorder(now: clock.now)
        let backend = RecordingBackend(
            SmartReaderBackend(configuration: configuration, now: clock.now),
            recorder: recorder
        )
        let taps = Taps(Scanning.scanner(backend))
        try await taps.untilRead("added")
        for tag in Self.tags { try reader.report(tag) }
        var damaged = try reader.bytes(of: Self.tags[0])
        damaged[0..<1] = format == .scrdr ? [0x24] : damaged[0..<1]
        if format == .scrdr { damaged[8] ^= 1 }
        reader.send(noise: format == .scrdr ? damaged : Array("+\u{7}\r\n".utf8))
        try reader.report(SmartReaderTag(radioProtocol: "01", template: 1, id: "04FFFFFFFFFF80"))
        try await taps.until("the last") { $0.last?.uid?.hex == "04FFFFFFFFFF80" }
        let capture = try Capture(parsing: recorder.capture.text())
        #expect(capture == recorder.capture)
        #expect(capture.lines.count == taps.all.count)
        #expect(await Self.replay(capture).map(Self.same) == taps.all.map(Self.same))
    }

    /// Cards and reports of several readers, in the order of their times.
    @Test func amongPresentations() async throws {
        let text = """
            capture 1
            reader 1: A
            reader 2: B
            started: 2026-01-31T09:00:00Z

            line 2 at 0.500 +04A1B2C3
            card 1 at 1.000 iso14443a uid 10203040
            line 2 at 1.000 +04A1B2C4
            line 1 at 1.500 $SCRDR*54
            removed 1 at 2.000
            line 2 at 2.000 +04A1B2C5
            line 2 at 4.000 +04A1B2C6
            """
        let capture = try Capture(parsing: text)
        var events: [String] = []
        for await event in ReplayBackend([capture]).events() {
            switch event {
            case .cardReported(let report): events.append("\(report.reader.name) \(report.line) \(report.number)")
            case .cardInserted: events.append("inserted")
            case .cardRemoved: events.append("removed")
            default: break
            }
        }
        #expect(
            events == [
                "B +04A1B2C3 1", "B +04A1B2C4 2", "inserted", "A $SCRDR*54 3", "removed", "B +04A1B2C5 4",
                "B +04A1B2C6 5",
            ]
        )
        let taps = await Self.replay(capture)
        #expect(taps.map(\.memberKey) == ["04A1B2C3", "04A1B2C4", "10203040", "04A1B2C5", "04A1B2C6"])
        #expect(taps.map { $0.at.timeIntervalSince1970 - 1_769_850_000 } == [0.5, 1, 1, 2, 4])
        #expect(taps.map(\.reader) == ["B", "B", "A", "B", "B"])
    }

    @Test func recordedWithCardsAndWritten() async throws {
        let path = CaptureRecorderTests.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let clock = CaptureRecorderTests.SteppingClock()
        let recorder = CaptureRecorder(writer: try CaptureWriter(creating: path), now: clock.now)
        let base = SimulatedBackend(readers: ["A"], now: clock.now)
        let backend = RecordingBackend(base, recorder: recorder)
        let taps = Taps(Scanning.scanner(backend))
        try await until("the watch") { base.watchers == 1 }
        let line = ReaderInfo(name: "/dev/ttyACM0", backend: .smartReader)
        for index in 0..<3 {
            base.publish(
                .cardReported(ReaderReport(reader: line, number: index, at: clock.now(), line: "+04A1B2C\(index)"))
            )
            base.insert(SimulatedMIFAREClassic(uid: [0x10, 0x20, 0x30, UInt8(index)]))
            try await taps.until("both") { $0.count == 2 * index + 2 }
            base.remove()
            try await taps.until("its end") { _ in
                taps.readers.count { if case .cardRemoved = $0 { true } else { false } } == index + 1
            }
            clock.advance(1)
        }
        // Told twice, as by two watches.
        let again = ReaderReport(reader: line, number: 2, at: clock.now(), line: "+04A1B2C2")
        #expect(recorder.reported(again).at != again.at)
        let written = try Capture(parsing: try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(written == recorder.capture)
        #expect(written.lines.map(\.text) == ["+04A1B2C0", "+04A1B2C1", "+04A1B2C2"])
        #expect(written.readers.map(\.name).sorted() == ["/dev/ttyACM0", "A"])
        let replayed = await Self.replay(written)
        #expect(replayed.map(\.memberKey) == taps.all.map(\.memberKey))
        #expect(replayed.map(\.at) == taps.all.map(\.at))
    }

    @Test func full() {
        let recorder = CaptureRecorder(limit: 400)
        let line = ReaderInfo(name: "A", backend: .smartReader)
        for index in 0..<20 {
            _ = recorder.reported(ReaderReport(reader: line, number: index, at: Date(), line: "+04A1B2C3"))
        }
        #expect(recorder.failure?.code == EFBIG)
        #expect(recorder.capture.text().utf8.count <= 400)
        #expect(!recorder.capture.lines.isEmpty)
    }
}
