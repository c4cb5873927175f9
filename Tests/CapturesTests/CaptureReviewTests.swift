import CardCore
import CardPasses
import Foundation
import Testing
import TestSupport

@testable import Captures

@Suite struct CaptureReviewTests {
    private static let header = "capture 1\nreader: Desk\nlicense: CC0-1.0\n"
    private static let synthetic = header + "source: synthetic\n"
    private static let recorded = header + "source: recorded, 2026-11-21\n"

    private func codes(_ text: String) throws -> [CaptureWarning.Code] {
        CaptureReview(of: try Capture(parsing: text)).warnings.map(\.code)
    }

    @Test(arguments: [
        ("capture 1\ncard at 0\nremoved at 1\n", [CaptureWarning.Code.noSource, .noLicense, .noReader]),
        (synthetic, [.empty]), (synthetic + "line at 0 x\n", []), (synthetic + "card at 0\n", [.notRemoved]),
        (synthetic + "card at 0\n> 00 A4 04 00\n< 04 05\nremoved at 1\n", [.noStatusWord]),
        (synthetic + "card at 0\n> 90 60 00 00\n< 91 AF\nremoved at 1\n", []),
        // facts that contradict each other
        (synthetic + "card at 0 atr 3B8F8001804F0CA0000003060300030000000069\nremoved at 1\n", [.wrongTCK]),
        (synthetic + "card at 0 atr 3B8F80\nremoved at 1\n", [.malformedATR]),
        (
            synthetic + "card at 0 atr 3B8F8001804F0CA0000003060300030000000068 felica\nremoved at 1\n",
            [.differentTechnology]
        ),
        (synthetic + "card at 0 iso14443a atqa 0044 sak 00 uid 04A1B2C3\nremoved at 1\n", [.wrongUIDLength]),
        (synthetic + "card at 0 iso14443a atqa 0004 sak 08 uid 04A1B2C3\nremoved at 1\n", []),
        (
            synthetic + "card at 0 iso14443a uid 04135C7E902B80\n>> 30 00\n"
                + "<< 04 13 5C C4 7E 90 2B 80 45 48 00 00 E1 10 12 00\nremoved at 1\n", [.wrongBCC]
        ),
        (
            synthetic + "card at 0 iso14443a uid 04135C7E902B81\n>> 30 00\n"
                + "<< 04 13 5C C3 7E 90 2B 80 45 48 00 00 E1 10 12 00\nremoved at 1\n", [.differentUID]
        ),
        // what is personal
        (recorded + "card at 0 iso14443a uid 04A1B2C3D4E580\nremoved at 1\n", [.identifier]),
        (recorded + "card at 0 iso14443a uid 08A1B2C3\nremoved at 1\n", []),
        (synthetic + "card at 0 iso14443a uid 04A1B2C3D4E580\nremoved at 1\n", []),
        (header + "source: recorded, redacted\ncard at 0 iso14443a uid 04A1B2C3D4E580\nremoved at 1\n", []),
        (recorded + "card at 0\n> FF 82 00 00 06 11 22 33 44 55 66\n< 90 00\nremoved at 1\n", [.key]),
        (recorded + "card at 0\n> FF 82 00 00 06 FF FF FF FF FF FF\n< 90 00\nremoved at 1\n", []),
        (recorded + "card at 0 iso14443a\n>> 1B 11 22 33 44\n<< 55 66\nremoved at 1\n", [.key]),
        (
            recorded + "card at 0\n> 90 AA 00 00 01 00 00\n< 11 22 33 44 55 66 77 88 91 AF\nremoved at 1\n",
            [.authentication]
        ),
        (
            recorded + "card at 0\n> 00 A4 04 00 0A 4F 53 45 2E 56 41 53 2E 30 31 00\n< 50 00 90 00\n"
                + "> 80 CA 01 01 00\n< 70 08 9F 2A 00 9F 27 02 11 22 90 00\nremoved at 1\n", [.passPayload]
        ),
    ])
    func warns(text: String, codes: [CaptureWarning.Code]) throws {
        #expect(try self.codes(text) == codes)
    }

    @Test func tellsLineAndPresentation() throws {
        let text = Self.synthetic + "card at 0\nremoved at 1\ncard at 2\n> 00 A4 04 00\n< 00 00\nremoved at 3\n"
        let warning = try #require(CaptureReview(of: try Capture(parsing: text)).warnings.first)
        #expect(warning.line == 8)
        #expect(warning.presentation == 2)
        #expect(warning.description == "line 8: the answer does not end in a status word")
    }

    @Test func timesOfACaptureMadeInAProgramMayGoBack() {
        let capture = Capture(
            headers: [.init("source", "synthetic"), .init("license", "CC0-1.0"), .init("reader", "Desk")],
            presentations: [
                .init(at: .seconds(2), removedAt: .seconds(1)), .init(at: .seconds(1), removedAt: .seconds(3)),
            ]
        )
        #expect(CaptureReview(of: capture).warnings.map(\.code) == [.timeBackwards, .timeBackwards])
    }

    @Test func counts() throws {
        let text =
            Self.synthetic + """
                card at 0 iso14443a
                >> 30 00
                ! timeout
                > 00 A4 04 00
                < 90 00
                control 1 >
                <
                removed at 1
                card at 2 felica
                ! removed
                removed at 3

                """
        let review = CaptureReview(of: try Capture(parsing: text))
        #expect(review.exchangeCount == 3)
        #expect(review.rawCount == 1)
        #expect(review.controlCount == 1)
        #expect(review.faultCount == 2)
        #expect(review.technologies == [.felica, .iso14443a])
    }

    /// The fixtures are what a reviewer wants.
    @Test(arguments: Fixtures.captures(in: "cards") + Fixtures.captures(in: "day"))
    func hasNothingToSayAboutTheFixtures(capture: String) throws {
        let review = try CaptureReview(contentsOf: Fixtures.directory + "/" + capture)
        #expect(review.warnings == [])
    }

    @Test func looksAtTheSidecar() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/a.capture"
        try Data((Self.synthetic + "card at 0\nremoved at 1\n").utf8).write(to: URL(fileURLWithPath: file))
        func codes() throws -> [CaptureWarning.Code] { try CaptureReview(contentsOf: file).warnings.map(\.code) }
        #expect(try codes() == [.noExpectation])
        for (text, expected) in [
            ("{\"event\":\"scan\"}\n", []), ("\n{}\n{}\n", [CaptureWarning.Code.expectationCount]),
            ("{}\n[1]\n", [.malformedExpectation]), ("{", [.malformedExpectation]),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/a.expected.jsonl"))
            #expect(try codes() == expected, "\(text)")
        }
        #expect(throws: CaptureFileError.self) { try CaptureReview(contentsOf: folder + "/b.capture") }
    }

    /// 1500 mutations from seed 5 are reviewed or refused.
    @Test func survivesMutations() throws {
        var random = MutationRandom(seed: 5)
        let files = Fixtures.captures(in: "cards")
        for round in rounds(300) {
            let bytes = try CaptureFiles.bytes(of: Fixtures.directory + "/" + files[round % files.count])
            guard let capture = try? Capture(parsing: random.mutate(bytes)) else { continue }
            #expect(CaptureReview(of: capture).warnings.count < 100)
        }
    }
}
