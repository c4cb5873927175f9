import Foundation
import ReaderKit
import Testing

/// `readerctl capture`, run as a person or a script runs it.
@Suite(.timeLimit(.minutes(10))) struct CaptureToolTests {
    private let scratch: ScratchFolder
    private let cards = Fixtures.path + "/cards"

    init() throws { scratch = try ScratchFolder() }

    private func capture(_ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.readerctl.start(["capture"] + arguments).finish()
    }

    private func write(_ name: String, _ body: String) throws -> String {
        try scratch.write("capture 1\nsource: recorded, 2026-11-21\nlicense: CC0-1.0\nreader: Desk\n" + body, to: name)
    }

    // MARK: check

    @Test func checkSaysWhatIsInTheFixtures() async throws {
        let outcome = try await capture("check", cards, "--json")
        #expect(outcome.status == 0)
        #expect(outcome.objects.count > 20)
        #expect(
            outcome.objects.allSatisfy { $0["valid"] as? Bool == true && ($0["warnings"] as? [Any])?.isEmpty == true }
        )
        let two = try #require(
            outcome.objects.first { ($0["file"] as? String)?.hasSuffix("two-readers.capture") == true }
        )
        #expect(two["presentations"] as? Int == 3)
        #expect(two["exchanges"] as? Int == 14)
        #expect((two["readers"] as? [String])?.count == 2)
        #expect(two["license"] as? String == "CC0-1.0")
        #expect(two["technologies"] as? [String] == ["iso14443a"])
        #expect(two["durationMs"] as? Double == 4905)
        for key in ["title", "source", "rawFrames", "controls", "faults", "lines", "readerLines"] {
            #expect(two[key] != nil, "\(key)")
        }
        let text = try await capture("check", cards + "/two-readers.capture")
        #expect(text.output.contains("3 presentations"))
    }

    @Test func checkWarnsAndRefuses() async throws {
        let warned = try write("warned.capture", "card at 0 iso14443a uid 04A1B2C3D4E580\n")
        let malformed = try write("malformed.capture", "card at 0\n> 00 A4 0Z\n")
        let missing = scratch.file("missing.capture")
        let outcome = try await capture("check", warned, "--json")
        #expect(outcome.status == 0)
        let warnings = try #require(outcome.objects.first?["warnings"] as? [[String: Any]])
        #expect(warnings.compactMap { $0["code"] as? String } == ["notRemoved", "identifier", "noExpectation"])
        #expect(warnings.first?["line"] as? Int == 5)
        #expect(warnings.first?["presentation"] as? Int == 1)
        let all = try await capture("check", missing, malformed, warned, "--json")
        #expect(all.status == 65)
        #expect(all.objects.map { $0["valid"] as? Bool } == [false, false, true])
        let error = try #require(all.objects[1]["error"] as? [String: Any])
        #expect(error["code"] as? String == "invalidHex")
        #expect(error["line"] as? Int == 6)
        #expect(error["column"] as? Int == 10)
        #expect((all.objects[0]["error"] as? [String: Any])?["code"] as? String == "notFound")
        #expect(try await capture("check", missing, warned).status == 66)
        let text = try await capture("check", malformed)
        #expect(text.status == 65)
        #expect(text.output.isEmpty)
        #expect(text.messages.hasPrefix("readerctl: "))
        #expect(text.messages.contains("malformed.capture:6:10:"))
        #expect(try await capture("check", warned, "--json").objects.first?["lines"] as? Int == 5)
        let folder = try ScratchFolder()
        let empty = try await capture("check", folder.path)
        #expect(empty.status == 66)
        #expect(empty.messages.contains("could not find captures in \(folder.path)"))
    }

    // MARK: redact

    @Test func redactHidesAndReplaysAlike() async throws {
        let original = cards + "/text-four-fields.capture"
        let redacted = scratch.file("redacted.capture")
        let outcome = try await capture("redact", original, "-o", redacted, "--seed", "5", "--json")
        #expect(outcome.status == 0)
        let line = try #require(outcome.objects.first)
        #expect(line["replaysAlike"] as? Bool == true)
        #expect(line["unexaminedLines"] as? [Int] == [])
        #expect(line["values"] as? Int == 1)
        for key in ["file", "output", "words", "secrets"] { #expect(line[key] != nil, "\(key)") }
        let (before, after) = (
            try await Tool.readerctl.run("replay", original, "--json"),
            try await Tool.readerctl.run("replay", redacted, "--json")
        )
        let (old, new) = (try #require(before.objects.first), try #require(after.objects.first))
        #expect(Set(old.keys) == Set(new.keys))
        for key in ["technology", "card", "uidKind", "atr", "reader"] {
            #expect(old[key] as? String == new[key] as? String)
        }
        for key in ["uid", "memberKey", "memberName"] { #expect(old[key] as? String != new[key] as? String) }
        // The same again is the same; there is a file now, which is not replaced unasked.
        #expect(
            try await capture("redact", original, "--seed", "5").output
                == String(contentsOfFile: redacted, encoding: .utf8)
        )
        #expect(try await capture("redact", original, "-o", redacted).status == 74)
        #expect(try await capture("redact", original, "-o", redacted, "--force").status == 0)
    }

    @Test func redactInPlaceAndItsErrors() async throws {
        let file = try write(
            "a.capture",
            "# Annabel\ncard at 0 iso14443a uid 04A1B2C3D4E580\n> 00 CB 3F FF 00\n< 01 02 90 00\nremoved at 1\n"
        )
        let outcome = try await capture("redact", "--in-place", file)
        #expect(outcome.status == 0)
        #expect(outcome.messages.contains("line 7"))
        #expect(outcome.output.contains("1 value and 0 words replaced"))
        #expect(outcome.output.contains("unexamined lines  7\n"))
        #expect(outcome.output.contains("replays alike     yes"))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains("Annabel") && !text.contains("A1B2C3") && text.contains("redacted"))
        #expect(try await capture("redact", "--in-place", "-o", file, file).status == 64)
        #expect(try await capture("redact", "--json", file).status == 64)
        #expect(try await capture("redact", "--json", "-o", "-", file).status == 64)
        #expect(try await capture("redact", "-o", "-", file).output.hasPrefix("capture 1\n"))
        let failed = try await capture("redact", "--json", "-o", scratch.file("c"), scratch.file("missing"))
        #expect(failed.objects.first?["error"] is [String: Any])
        #expect(try await capture("redact", scratch.file("missing")).status == 66)
        #expect(try await capture("redact", scratch.write("no capture", to: "b")).status == 65)
    }

    // MARK: diff

    @Test func diffTellsWhatDiffers() async throws {
        let one = try write("one.capture", "card at 0\n> 00 A4 04 00\n< 90 00 @ 0.1\n> 00 B0 00 00 02\n< 00 05 90 00\n")
        let two = try write(
            "two.capture",
            "card at 1\n# another\n> 00a40400\n< 9000\n> 00 B0 00 00 02\n< 00 06 90 00\n"
        )
        #expect(try await capture("diff", one, one).status == 0)
        #expect(try await capture("diff", one, one).output.isEmpty)
        let outcome = try await capture("diff", one, two, "--json")
        #expect(outcome.status == 1)
        #expect(outcome.objects.count == 1)
        let difference = try #require(outcome.objects.first)
        #expect(difference["kind"] as? String == "answer")
        #expect(difference["left"] as? String == "< 00 05 90 00")
        #expect(difference["right"] as? String == "< 00 06 90 00")
        #expect(difference["leftLine"] as? Int == 8)
        #expect(difference["rightLine"] as? Int == 9)
        #expect(difference["leftPresentation"] as? Int == 1)
        #expect(difference["name"] as? String == "> 00 B0 00 00 02")
        let text = try await capture("diff", one, two)
        #expect(text.output.contains("line 8") && text.output.contains("- < 00 05 90 00"))
        #expect(try await capture("diff", one, two, "--times", "--json").objects.count == 3)
        let missing = try await capture("diff", one, scratch.file("missing"), "--json")
        #expect(missing.status == 66)
        #expect((missing.objects.first?["error"] as? [String: Any])?["message"] != nil)
        #expect(try await capture("diff", one, scratch.write("no capture", to: "b")).status == 65)
    }

    // MARK: convert

    @Test func convertMakesACaptureThatPassesTheCheck() async throws {
        let log = try scratch.write(
            """
            00000000 eventhandler.c:423:EHStatusHandlerThread() Card inserted into Desk 00 00
            00000005 Card ATR: 3B 80 80 01 01
            00000001 winscard.c:258:SCardConnect() Attempting Connect to Desk 00 00 using protocol: 3
            00000001 something else
            00000003 APDU: FF CA 00 00 00
            00000100 SW: 04 44 71 2A 90 5F 80 90 00
            """,
            to: "pcscd.log"
        )
        let made = scratch.file("made.capture")
        let outcome = try await capture(
            "convert",
            log,
            "-o",
            made,
            "--title",
            "A card",
            "--license",
            "CC0-1.0",
            "--json"
        )
        #expect(outcome.status == 0)
        let line = try #require(outcome.objects.first)
        #expect(line["format"] as? String == "pcscd")
        #expect(line["presentations"] as? Int == 1)
        #expect(line["exchanges"] as? Int == 1)
        #expect(line["lines"] as? Int == 6)
        #expect(line["skippedLines"] as? Int == 1)
        let check = try await capture("check", made, "--json")
        #expect(check.status == 0)
        #expect(check.objects.first?["source"] as? String == "converted from a pcscd log")
        #expect(check.objects.first?["readers"] as? [String] == ["Desk 00 00"])
        #expect(
            try await Tool.readerctl.run("replay", made, "--json").objects.first?["uid"] as? String == "0444712A905F80"
        )
        let text = try await capture("convert", "--from", "pcscd", log)
        #expect(text.output.hasPrefix("capture 1\n"))
        #expect(text.messages.contains("1 of 6 lines skipped"))
        #expect(try await capture("convert", "-o", "-", log).output.hasPrefix("capture 1\n"))
        #expect(try await capture("convert", made).messages.contains("this is a capture already"))
        #expect(
            try await capture("convert", log, "-o", scratch.file("again")).output.contains("1 presentation, 1 exchange")
        )
    }

    @Test func convertRefuses() async throws {
        // A fault stands for an answer that cannot be read; of a log without any exchange there is nothing to keep.
        let damaged = try await capture("convert", scratch.write("> 00 A4 04 00\n< 9Z 00\n", to: "damaged.txt"))
        #expect(damaged.status == 0)
        #expect(damaged.output.contains("\n! comm-error"))
        #expect(damaged.messages.contains("line 2: 'Z' is not a hexadecimal digit"))
        let log = try scratch.write("> 1B 7 C3 00 00\n< 90 00\n", to: "a.txt")
        let outcome = try await capture("convert", log)
        #expect(outcome.status == 65)
        #expect(outcome.output.isEmpty)
        #expect(outcome.messages.contains("a.txt:1:6:"))
        #expect(try await capture("convert", scratch.file("missing")).status == 66)
        #expect(try await capture("convert", log, "--json").status == 64)
        #expect(try await capture("convert", log, "--atr", "XX").status == 64)
        #expect(try await capture("convert", log, "--from", "nothing").status == 64)
    }
}
