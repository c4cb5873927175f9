import Foundation
import Testing

@testable import ReaderKit

@Suite struct FixtureTests {
    static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures").path

    @Test(arguments: ["cards", "day"])
    func areWholeAndSayWhereTheyComeFrom(name: String) throws {
        let captures = try CaptureFiles.load([Self.directory + "/" + name])
        for capture in captures {
            let file = try #require(capture.file)
            #expect(capture.title?.isEmpty == false, "\(file)")
            #expect(capture.source == "synthetic", "\(file)")
            #expect(capture.license == "CC0-1.0", "\(file)")
            #expect(!capture.readers.isEmpty, "\(file)")
            #expect(capture.presentations.allSatisfy { !$0.exchanges.isEmpty && $0.removedAt != nil }, "\(file)")
            #expect(try Capture(parsing: capture.text()) == capture, "\(file)")
        }
        #expect(captures.count >= (name == "day" ? 2 : 14))
    }

    @Test func theDayHasNoDateAndEnoughTaps() throws {
        let day = try CaptureFiles.load([Self.directory + "/day"])
        #expect(day.allSatisfy { $0.started == nil })
        #expect(day.map(\.presentations.count).reduce(0, +) >= 40)
    }

    /// The scanner asks for nothing that is not recorded. This fails when the scanner's commands change: then the
    /// captures are to be recorded anew, or the change is not wanted.
    @Test(arguments: ["cards", "day"])
    func holdAllThatTheScannerAsks(name: String) async throws {
        let captures = try CaptureFiles.load([Self.directory + "/" + name])
        for capture in captures where capture.title?.contains("own frames") == false {
            let backend = ReplayBackend([capture], mode: .strict)
            var scans = 0
            for await case .scan in CardScanner(backend).events() { scans += 1 }
            #expect(scans == capture.presentations.count, "\(capture.file ?? "")")
            #expect(backend.differences.isEmpty, "\(capture.file ?? ""): \(backend.differences)")
        }
    }

    @Test func theDayGivesItsMembers() async throws {
        let day = try CaptureFiles.load([Self.directory + "/day"])
        var members: Set<String> = []
        var nobody = 0
        for await case .scan(let tap) in CardScanner(ReplayBackend(day)).events() {
            if let key = tap.memberKey { members.insert(key) } else { nobody += 1 }
        }
        #expect(members.count == 15)
        // Three phones and a card that was taken away too early.
        #expect(nobody == 4)
    }
}
