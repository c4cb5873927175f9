import Foundation
import Testing

/// `readerctl pass explain`, run as a person or a script runs it.
@Suite struct PassExplainToolTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func explain(_ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.readerctl.start(["pass", "explain"] + arguments).finish()
    }

    /// The reference question and answer of Apple VAS.
    private func tap() throws -> String {
        try scratch.write(
            """
            capture 1
            title: A phone
            reader: SpringCard H518 [CCID] (000A1B2C) 00 00

            card at 0.000 atr 3B80800101
            > 00A404000A4F53452E5641532E303100
            < 6F1D50084170706C655061799F210201009F2404010203049F23040000003E9000 @ 0.010
            # asks for a pass
            > 80CA0101369F220201009F2520566FD1E2E5DC7696655E4E25FF47C08BD494F19F3BD2E1FF3A4C14A488104A889F26040080\
            00029F28040102030400
            < 704B9F2A009F27453D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D683D40C7556F\
            B65DB93408BCAC7A5FD304A23D390C2F7A2757A24B459D162F9D2E9000
            removed at 1.000

            """,
            to: "tap.capture"
        )
    }

    @Test func explainsLineByLine() async throws {
        let outcome = try await explain(try tap(), "--json")
        #expect(outcome.status == 0, "\(outcome.messages)")
        let lines = outcome.objects
        #expect(
            lines.map { $0["kind"] as? String } == [
                "card", "fact", "command", "answer", "command", "answer", "removal",
            ]
        )
        #expect(lines.map { $0["line"] as? Int } == [5, 5, 6, 7, 9, 10, 11])
        #expect(lines.allSatisfy { $0["presentation"] as? Int == 1 })
        #expect(lines.allSatisfy { $0["reader"] as? String == "SpringCard H518 [CCID] (000A1B2C) 00 00" })
        #expect(lines[3]["at"] as? Double == 0.01)
        #expect(lines[4]["title"] as? String == "GET VAS DATA: asks for the pass 566FD1E2…")
        #expect(lines[5]["title"] as? String == "status 9000: a pass, encrypted for the key 3D906C01")
        let fields = try #require(lines[4]["fields"] as? [[String: Any]])
        let merchant = try #require(fields.first { $0["name"] as? String == "9F25 merchant id" })
        #expect(merchant["offset"] as? Int == 10)
        #expect(merchant["length"] as? Int == 35)
        #expect((merchant["value"] as? String)?.count == 64)
        #expect(merchant["meaning"] as? String == "SHA-256 of the pass type identifier")
    }

    @Test func isReadByPeople() async throws {
        let outcome = try await explain(try tap())
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("    9  > 80 CA 01 01 36 9F 22"))
        #expect(outcome.output.contains("\n         GET VAS DATA: asks for the pass 566FD1E2…\n"))
        #expect(outcome.output.contains("\n           [5, 5] 9F22 version of VAS = 0100: 1.0\n"))
        #expect(outcome.output.contains("\n             [51, 1] mode = 02: passes only, the last question\n"))
        #expect(!outcome.output.contains("9D 2E 90 00"))
        let full = try await explain(try tap(), "--full")
        #expect(full.output.contains("9D 2E 90 00"))
        for name in ["phone-random-uid", "smart-reader-passes", "two-readers", "classic-1k-uid"] {
            let fixture = try await explain(Fixtures.path + "/cards/\(name).capture")
            #expect(fixture.status == 0 && !fixture.output.isEmpty, "\(name)")
        }
    }

    @Test func tellsItsErrors() async throws {
        let malformed = try scratch.write("capture 1\ncard at 0\n> 00 A4 0Z\n", to: "malformed.capture")
        let outcome = try await explain(malformed, "--json")
        #expect(outcome.status == 65)
        let error = try #require(outcome.objects.first?["error"] as? [String: Any])
        #expect(error["code"] as? String == "invalidHex")
        let text = try await explain(malformed)
        #expect(text.status == 65 && text.output.isEmpty)
        #expect(text.messages.contains("malformed.capture:3:10:"))
        let missing = try await explain(scratch.file("missing"), "--json")
        #expect(missing.status == 66)
        #expect((missing.objects.first?["error"] as? [String: Any])?["message"] != nil)
        #expect(try await explain().status == 64)
    }
}
