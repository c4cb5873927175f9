import CardCore
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures
@testable import ReaderKit

@Suite struct CaptureRecorderLimitTests {
    private func presence(_ number: Int, on reader: String = "A") -> CardPresence {
        CardPresence(
            reader: ReaderInfo(name: reader, backend: .pcsc),
            number: number,
            facts: CardFacts(atr: [0x3B, 0x80, 0x80, 0x01, 0x01]),
            at: Date(timeIntervalSince1970: 1_800_000_000 + Double(number))
        )
    }

    /// The file ends whole, below the limit, and says the same as what is kept in memory.
    @Test(arguments: [600, 1000, 1777, 4000])
    func aRecordingEndsAtTheLimit(limit: Int) throws {
        let path = NSTemporaryDirectory() + "limit-\(UUID().uuidString).capture"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = CaptureRecorder(
            headers: [.init("title", "A long session")],
            writer: try CaptureWriter(creating: path),
            limit: limit,
            now: { Date(timeIntervalSince1970: 1_800_000_000) }
        )
        var kept = 0
        for number in 1...60 {
            let card = presence(number, on: number.isMultiple(of: 3) ? "B" : "A")
            _ = recorder.inserted(card)
            if let index = recorder.begin(card).index {
                recorder.connected(index)
                for byte: UInt8 in 0..<4 { _ = recorder.note(index, .apdu([0, 0xA4, 4, byte]), .bytes([0x90, 0])) }
                recorder.noteReset(index)
                recorder.end(index, nil)
                kept += 1
            }
            _ = recorder.removed(card)
        }
        let failure = try #require(recorder.failure)
        #expect(failure.kind == .notWritable)
        #expect(failure.code == EFBIG)
        #expect("\(failure)".contains("16 MiB"))
        let bytes = try CaptureFiles.bytes(of: path)
        #expect(bytes.count <= limit)
        #expect(bytes.count > limit / 3)
        #expect(try Capture(parsing: bytes) == recorder.capture)
        #expect(kept < 60 && kept == recorder.capture.presentations.count)
        #expect(recorder.capture.presentations.allSatisfy { $0.removedAt != nil })
        #expect(recorder.capture.text().utf8.count <= limit)
    }

    /// The format has no line for a reset, so it is a comment.
    @Test func aResetIsAComment() throws {
        let path = NSTemporaryDirectory() + "reset-\(UUID().uuidString).capture"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let recorder = CaptureRecorder(writer: try CaptureWriter(creating: path))
        let card = presence(1)
        _ = recorder.inserted(card)
        let index = try #require(recorder.begin(card).index)
        recorder.connected(index)
        _ = recorder.note(index, .apdu([0, 0xA4, 4, 0]), .bytes([0x90, 0]))
        recorder.noteReset(index)
        recorder.end(index, nil)
        _ = recorder.removed(card)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("\n# reset\n"))
        #expect(try Capture(parsing: text) == recorder.capture)
        #expect(recorder.failure == nil)
    }
}
