import Captures
import CardCore
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

@Suite struct CaptureExpectationTests {
    private static let fixture = Fixtures.directory + "/cards/text-four-fields"

    /// A folder with a capture and, unless it is `nil`, its sidecar; removed after the test.
    private func withCapture<Result>(
        sidecar: String?,
        capture: String = "\(fixture).capture",
        _ body: (CaptureExpectation) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("expectation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("card.capture").path
        try FileManager.default.copyItem(atPath: capture, toPath: file)
        let expectation = CaptureExpectation(file: file)
        #expect(expectation.sidecar == folder.appendingPathComponent("card.expected.jsonl").path)
        if let sidecar { try sidecar.write(toFile: expectation.sidecar, atomically: true, encoding: .utf8) }
        return try await body(expectation)
    }

    private static func expected() throws -> String {
        try String(contentsOfFile: fixture + ".expected.jsonl", encoding: .utf8)
    }

    private static func line(_ keys: String) -> String { "{\(keys)}\n" }

    @Test func same() async throws {
        let text = try Self.expected()
        #expect(try await withCapture(sidecar: text) { try await $0.firstDifference() } == nil)
        // Blank lines do not count, and a missing end of line is none.
        let spaced = "\n  \n" + text.replacing("\n", with: "") + "\n\n"
        #expect(try await withCapture(sidecar: spaced) { try await $0.firstDifference() } == nil)
        #expect(try await withCapture(sidecar: text) { try await $0.taps().count } == 1)
    }

    /// A key that is left out is not compared, unless its absence says something.
    @Test func keysLeftOut() async throws {
        let meaningful = [
            "technology": #""iso14443a""#, "uid": #""04014A6E6E2180""#, "uidKind": #""fixed""#,
            "atr": #""3B8F8001804F0CA0000003060300030000000068""#, "ndef": #"[{"text":"4|U1|x|Ann"}]"#,
            "memberKey": #""U1""#,
        ]
        let all = meaningful.map { #""\#($0.key)":\#($0.value)"# }.sorted().joined(separator: ",")
        #expect(try await withCapture(sidecar: Self.line(all)) { try await $0.firstDifference() } == nil)
        for key in meaningful.keys {
            let some = meaningful.filter { $0.key != key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
            let difference = try await withCapture(sidecar: Self.line(some)) { try await $0.firstDifference() }
            #expect(difference?.path == key)
            #expect(difference?.line == 1)
            #expect(difference?.expected == nil)
            #expect(difference?.found != nil)
        }
    }

    @Test(
        arguments: [
            (#""memberKey":"U1""#, #""memberKey":"U2""#, "memberKey", "\"U2\"", "\"U1\""),
            (#""text":"4|U1|x|Ann""#, #""text":"4|U1|x|Bob""#, "ndef[0].text", "\"4|U1|x|Bob\"", "\"4|U1|x|Ann\""),
            (#""kind":"uid""#, #""kind":"sdm""#, "passes[1].kind", "\"sdm\"", "\"uid\""),
            (#","uidKind":"fixed""#, #","uidKind":"fixed","later":1"#, "later", "1", nil),
            (#""durationMs":17.3"#, #""durationMs":17.4"#, "durationMs", "17.4", "17.3"),
        ] as [(String, String, String, String?, String?)]
    )
    func differs(_ part: String, _ replacement: String, path: String, expected: String?, found: String?) async throws {
        let text = try Self.expected()
        #expect(text.contains(part))
        let sidecar = "\n" + text.replacing(part, with: replacement)
        let difference = try #require(try await withCapture(sidecar: sidecar) { try await $0.firstDifference() })
        #expect(difference.line == 2)
        #expect(difference.path == path)
        #expect(difference.expected == expected)
        #expect(difference.found == found)
        #expect(
            difference.description == "line 2, \(path): expected \(expected ?? "nothing"), found \(found ?? "nothing")"
        )
    }

    @Test func lengthsOfArrays() async throws {
        let text = try Self.expected()
        let pass = #",{"assurance":"identifier","id":"04014A6E6E2180","kind":"uid"}"#
        #expect(text.contains(pass))
        let fewer = try await withCapture(sidecar: text.replacing(pass, with: "")) { try await $0.firstDifference() }
        #expect(fewer?.path == "passes[1]")
        #expect(fewer?.expected == nil)
        #expect(fewer?.found == #"{"assurance":"identifier","id":"04014A6E6E2180","kind":"uid"}"#)
        let more = try await withCapture(sidecar: text.replacing(pass, with: pass + pass)) {
            try await $0.firstDifference()
        }
        #expect(more?.path == "passes[2]")
        #expect(more?.found == nil)
    }

    @Test func extraAndMissingTaps() async throws {
        let text = try Self.expected()
        let extra = try #require(try await withCapture(sidecar: "\n") { try await $0.firstDifference() })
        #expect(extra.line == 1 && extra.path == "" && extra.expected == nil)
        #expect(extra.found?.contains(#""memberKey":"U1""#) == true)
        let missing = try #require(try await withCapture(sidecar: text + text) { try await $0.firstDifference() })
        #expect(missing.line == 2 && missing.path == "" && missing.found == nil)
        #expect(missing.expected?.contains(#""memberKey":"U1""#) == true)
        #expect(missing.description.hasPrefix("line 2: expected {"))
        // The second of two taps is the one that is too many.
        let two = Fixtures.directory + "/cards/two-readers"
        let lines = try String(contentsOfFile: two + ".expected.jsonl", encoding: .utf8).split(separator: "\n")
        let difference = try await withCapture(sidecar: "\(lines[0])\n", capture: two + ".capture") {
            try await $0.firstDifference()
        }
        #expect(difference?.line == 2)
        #expect(difference?.expected == nil)
    }

    @Test func missingSidecar() async throws {
        let path = try await withCapture(sidecar: nil) { expectation in
            let error = await #expect(throws: CaptureFileError.self) { try await expectation.firstDifference() }
            #expect(error?.kind == .notFound)
            #expect(error?.path == expectation.sidecar)
            return expectation.sidecar
        }
        #expect(path.hasSuffix(".expected.jsonl"))
    }

    @Test(arguments: ["not JSON", "{", #"{"event":}"#, "{} {}", "42", "[]", "null"]) func malformedSidecar(
        _ line: String
    ) async throws {
        let text = try Self.expected()
        try await withCapture(sidecar: text + "\n" + line + "\n") { expectation in
            let error = await #expect(throws: CaptureError.self) { try await expectation.firstDifference() }
            #expect(error?.code == .malformedExpectation)
            #expect(error?.line == 3)
            #expect(error?.file == expectation.sidecar)
        }
    }

    @Test func malformedAndMissingCapture() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("expectation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("card.capture").path
        await #expect(throws: CaptureFileError.self) { try await CaptureExpectation(file: file).firstDifference() }
        try "capture 1\nnonsense\n".write(toFile: file, atomically: true, encoding: .utf8)
        await #expect(throws: CaptureError.self) { try await CaptureExpectation(file: file).firstDifference() }
    }

    @Test func strictMode() async throws {
        var expectation = CaptureExpectation(file: Self.fixture + ".capture", mode: .strict)
        #expect(try await expectation.firstDifference() == nil)
        // Recorded in other strides: by command it is read all the same, strictly it is a mismatch that is thrown.
        let text = try String(contentsOfFile: Self.fixture + ".capture", encoding: .utf8)
        let changed = text.replacing("> FF CA 00 00 00", with: "> FF CA 00 00 04")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("expectation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        expectation.file = folder.appendingPathComponent("card.capture").path
        try changed.write(toFile: expectation.file, atomically: true, encoding: .utf8)
        let error = await #expect(throws: ReaderError.self) { try await expectation.firstDifference() }
        #expect(error?.kind == .replayMismatch)
    }
}
