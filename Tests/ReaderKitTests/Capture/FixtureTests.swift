import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures
@testable import ReaderKit

@Suite(.timeLimit(.minutes(10))) struct FixtureTests {
    @Test(arguments: Fixtures.captures(in: "cards") + Fixtures.captures(in: "day") + Fixtures.captures(in: "passes"))
    func givesWhatLiesBesideIt(capture: String) async throws {
        let site = capture.hasPrefix("passes/") ? try Self.site() : nil
        let expectation = CaptureExpectation(file: Fixtures.directory + "/" + capture, site: site)
        #expect(try await expectation.firstDifference() == nil)
        // Nothing is remembered of it: a recording is the same presentation each time.
        #expect(try await expectation.firstDifference() == nil)
    }

    /// The place of `passes/passes.json`. Its keys are everybody's; a checkout leaves them open to others, which no place
    /// accepts.
    static func site() throws -> PassSite {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let names = try FileManager.default.contentsOfDirectory(atPath: Fixtures.directory + "/passes")
        for name in names where !name.contains(".capture") && !name.contains(".expected") {
            let made = FileManager.default.createFile(
                atPath: folder + "/" + name,
                contents: try Data(contentsOf: URL(fileURLWithPath: Fixtures.directory + "/passes/" + name)),
                attributes: [.posixPermissions: 0o600]
            )
            #expect(made)
        }
        return try PassConfiguration(path: folder + "/passes.json").site(folder: folder)
    }

    /// Captures of wallets, signing tags and tokens name the member that whoever made them put there.
    @Test(arguments: [
        ("apple-vas", "MEMBER-000042", Pass.Kind.appleVAS), ("signing-tag", "04DE5F1EACC040", .sdm),
        ("signed-token", "M-000061", .ndef),
    ])
    func passesNameTheirMember(name: String, member: String, kind: Pass.Kind) async throws {
        let file = Fixtures.directory + "/passes/\(name).capture"
        let site = try Self.site()
        let tap = try #require(try await CaptureExpectation(file: file, site: site).taps().first)
        #expect(tap.memberKey == member && tap.passes.first?.kind == kind && tap.problems.isEmpty)
        #expect(tap.at == ISO8601.date("2025-06-16T07:32:16Z"))
        // Without the place's keys, or at another time, it is another tap.
        #expect(try await CaptureExpectation(file: file).taps().first?.memberKey != member || kind == .sdm)
        let later = CaptureExpectation(file: file, site: site, start: ISO8601.date("2026-06-16T07:32:16Z"))
        let expired = try #require(try await later.taps().first)
        #expect((expired.memberKey == nil) == (kind != .sdm))
        #expect(try await later.firstDifference() != nil)
    }

    /// Without this, a folder that was moved or emptied would leave the test above without anything to do.
    @Test func areEnough() {
        #expect(Fixtures.captures(in: "cards").count >= 12)
        #expect(Fixtures.captures(in: "day").count >= 2)
    }

    /// A sidecar without its capture would never be looked at.
    @Test(arguments: ["cards", "day", "passes"])
    func haveNoSidecarAlone(folder: String) throws {
        let sidecars = try FileManager.default.contentsOfDirectory(atPath: Fixtures.directory + "/" + folder)
            .filter { $0.hasSuffix(".expected.jsonl") }
            .map { folder + "/" + $0.replacing(".expected.jsonl", with: CaptureFiles.suffix) }
        #expect(sidecars.sorted() == Fixtures.captures(in: folder))
    }

    /// Counted on the sidecars, so that what a person reviewed is what is counted.
    @Test func theDayIsALivelyOne() throws {
        var taps = 0
        var problems: Set<ScanEvent.Problem.Code> = []
        var visits: [String: Int] = [:]
        var repeats = 0
        for capture in Fixtures.captures(in: "day") {
            var lastCounted: [String: Date] = [:]
            let sidecar = CaptureExpectation(file: Fixtures.directory + "/" + capture).sidecar
            for line in try String(contentsOfFile: sidecar, encoding: .utf8).split(separator: "\n") {
                let tap = try JSONDecoder().decode(ScanEvent.self, from: Data(line.utf8))
                taps += 1
                problems.formUnion(tap.problems.map(\.code))
                guard let key = tap.memberKey else { continue }
                if let last = lastCounted[key], tap.at.timeIntervalSince(last) < 30 {
                    repeats += 1
                } else {
                    lastCounted[key] = tap.at
                    visits[key, default: 0] += 1
                }
            }
        }
        #expect(taps >= 40)
        #expect(visits.count == 15)
        #expect(repeats >= 5)
        #expect(problems == [.randomUID, .cardRemoved])
    }

    @Test(arguments: ["cards", "day", "passes"])
    func areWholeAndSayWhereTheyComeFrom(name: String) throws {
        let captures = try CaptureFiles.load([Fixtures.directory + "/" + name])
        for capture in captures {
            let file = try #require(capture.file)
            #expect(capture.title?.isEmpty == false, "\(file)")
            #expect(capture.source == "synthetic", "\(file)")
            #expect(capture.license == "CC0-1.0", "\(file)")
            #expect(!capture.readers.isEmpty, "\(file)")
            #expect(capture.presentations.allSatisfy { !$0.exchanges.isEmpty && $0.removedAt != nil }, "\(file)")
            #expect(try Capture(parsing: capture.text()) == capture, "\(file)")
        }
        #expect(captures.count >= (name == "cards" ? 14 : 2))
    }

    @Test func theDayHasNoDateAndEnoughTaps() throws {
        let day = try CaptureFiles.load([Fixtures.directory + "/day"])
        #expect(day.allSatisfy { $0.started == nil })
        #expect(day.map(\.presentations.count).reduce(0, +) >= 40)
    }

    /// The scanner asks for nothing that is not recorded. This fails when the scanner's commands change: then the
    /// captures are to be recorded anew, or the change is not wanted.
    @Test(arguments: ["cards", "day"])
    func holdAllThatTheScannerAsks(name: String) async throws {
        let captures = try CaptureFiles.load([Fixtures.directory + "/" + name])
        for capture in captures where capture.title?.contains("own frames") == false {
            let backend = ReplayBackend([capture], mode: .strict)
            var scans = 0
            for await case .scan in CardScanner(backend).events() { scans += 1 }
            #expect(scans == capture.presentations.count + capture.lines.count, "\(capture.file ?? "")")
            #expect(backend.differences.isEmpty, "\(capture.file ?? ""): \(backend.differences)")
        }
    }

    @Test func theDayGivesItsMembers() async throws {
        let day = try CaptureFiles.load([Fixtures.directory + "/day"])
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
