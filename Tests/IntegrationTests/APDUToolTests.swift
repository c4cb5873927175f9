import Foundation
import ReaderKit
import ReaderKitTesting
import Testing

/// `readerctl apdu` with a recorded card.
@Suite(.timeLimit(.minutes(10))) struct APDUToolTests {
    private let tag = Fixtures.path + "/cards/ntag213-uri.capture"
    private let inParts = Fixtures.path + "/cards/type4-in-parts.capture"
    private let frames = Fixtures.path + "/cards/ntag213-raw-frames.capture"
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
    }

    @Test func showsCommandAndAnswer() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--replay", tag, "FFCA0000/00", "00B0")
        #expect(outcome.status == 0)
        #expect(
            outcome.output == """
                > FF CA 00 00 00
                < 04 5A 1B 72 C3 64 80 9000 (success)
                > 00 B0 00 00
                < 6D00 (instruction not supported)

                """
        )
        #expect(outcome.messages.contains("a capture knows only what was recorded"))
    }

    @Test func oneObjectForEachCommand() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--json", "--replay", tag, "FFCA0000/00=", "00B0=6D00")
        #expect(outcome.status == 0)
        #expect(outcome.objects.count == 2)
        let first = try #require(outcome.objects.first)
        #expect(Set(first.keys) == ["command", "data", "statusWord", "statusName", "durationMs"])
        #expect(first["command"] as? String == "FFCA000000")
        #expect(first["data"] as? String == "045A1B72C36480")
        #expect(first["statusWord"] as? String == "9000")
        #expect(first["durationMs"] as? Double == 3.9)
    }

    @Test func wrongStatusWordNamesBoth() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--replay", tag, "FFCA0000/00=6A82", "00B0")
        #expect(outcome.status == 1)
        #expect(outcome.messages.contains("9000") && outcome.messages.contains("6A82"))
        #expect(!outcome.output.contains("00 B0"), "nothing is sent after it")
    }

    @Test func bytesApartAreNoCommands() async throws {
        let apart = try await Tool.readerctl.run("apdu", "--replay", tag, "FF", "CA", "00", "00", "00")
        #expect(apart.status == 64)
        #expect(apart.messages.contains("quote it") && apart.messages.contains("\"FF CA 00 00 00\""))
        #expect(apart.output.isEmpty)
        #expect(try await Tool.readerctl.run("apdu", "--replay", tag, "FF CA 00 00 00").status == 0)
    }

    @Test func anUnmetExpectationOfAScriptHasItsPlace() async throws {
        let script = try scratch.write("# who\nFFCA0000/00=\nFFCA0000/00=6A82\n", to: "place.apdu")
        let outcome = try await Tool.readerctl.run("apdu", "--replay", tag, "--script", script)
        #expect(outcome.status == 1)
        #expect(outcome.messages.contains("\(script), line 3: "), "\(outcome.messages)")
        #expect(outcome.messages.contains("FFCA000000"))
    }

    @Test func aReaderThatIsNotInTheCaptureIsSaid() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--replay", tag, "--reader", "no such", "00B0")
        #expect(outcome.status == 69)
        #expect(outcome.messages.contains("'no such'") && outcome.messages.contains("the capture has no reader"))
    }

    @Test func aQuestionForASecretEndsWithControlC() async throws {
        let waiting = try TerminalTool(.readerctl, ["ndef", "write", "--text", "x", "--key", "-"])
        try #require(await waiting.expect("in hexadecimal: ") != nil)
        waiting.type("\u{3}")
        #expect(await waiting.finish() == 130, "\(waiting.screen)")
    }

    @Test func plainLinesWhereStandardErrorIsRedirected() async throws {
        let tool = try TerminalTool(.readerctl, ["apdu", "--replay", tag], redirection: "2>/dev/null")
        tool.type("FFCA0000/00\r")
        #expect(await tool.expect("9000 (success)") != nil)
        tool.type("\u{4}")
        #expect(await tool.finish() == 0)
    }

    @Test func malformedCommandsAreRefusedBeforeTheCard() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--json", "--replay", "no such file", "FFCA0000/00", "00A4:")
        #expect(outcome.status == 65)
        #expect(outcome.messages.contains("column 6"))
        #expect((outcome.objects.first?["error"] as? [String: Any])?["code"] as? String == "malformedCommand")
        #expect(try await Tool.readerctl.run("apdu", "--replay", tag, "--raw", "30/9").status == 65)
        #expect(try await Tool.readerctl.run("apdu", "--aid", "D276", "--replay", tag, "00").status == 65)
        #expect(try await Tool.readerctl.run("apdu", "--replay", "no such file", "00B0").status == 66)
        #expect(try await Tool.readerctl.run("apdu", "--script", "-", "00B0").status == 64)
    }

    @Test func partsAreFetchedUnlessTheyAreWantedAsTheyCame() async throws {
        let select = ["00A4040C:D2760000850101", "00A4000C:E104", "00B00002/4F"]
        let whole = try await Tool.readerctl.start(
            ["apdu", "--json", "--app", "ndef", "--replay", inParts] + select.dropFirst()
        ).finish()
        #expect(whole.objects.count == 3)
        #expect((whole.objects.last?["data"] as? String)?.count == 2 * 79)
        #expect(whole.objects.last?["statusWord"] as? String == "9000")
        let plain = try await Tool.readerctl.start(
            ["apdu", "--json", "--app", "ndef", "--no-follow-up", "--replay", inParts] + select.dropFirst()
        ).finish()
        #expect(plain.objects.last?["statusWord"] as? String == "614F")
        #expect(plain.objects.last?["data"] as? String == "")
    }

    @Test func applicationThatIsNotThereEndsIt() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--app", "vas", "--replay", inParts, "00B0")
        #expect(outcome.status == 1)
        #expect(outcome.messages.contains("9000 success was expected"))
    }

    @Test func rawFrames() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--raw", "--json", "--replay", frames, "3000")
        #expect(outcome.status == 0)
        #expect(outcome.objects.first?["command"] as? String == "3000")
        #expect((outcome.objects.first?["data"] as? String)?.count == 32)
        #expect(outcome.objects.first?["statusWord"] == nil)
    }

    @Test func hexdump() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--hexdump", "--replay", tag, "FFB00004/10")
        #expect(
            outcome.output == """
                > FF B0 00 04 10
                < 9000 (success), 16 bytes
                  0000  03 16 D1 01 12 55 04 63 6C 75 62 2E 65 78 61 6D  |.....U.club.exam|

                """
        )
    }

    @Test func scriptHasCommentsAndIsReadBeforeAnythingIsSent() async throws {
        let good = try scratch.write("# who\n\n  FFCA0000/00=   # the UID\r\n00 B0 00 00\n", to: "good.apdu")
        let outcome = try await Tool.readerctl.run("apdu", "--json", "--replay", tag, "--script", good)
        #expect(outcome.status == 0)
        #expect(outcome.objects.count == 2)
        let input = Array(try String(contentsOfFile: good, encoding: .utf8).utf8)
        let piped = try await Tool.readerctl.run(["apdu", "--json", "--replay", tag, "--script", "-"], input: input)
        #expect(piped.objects.count == 2)
        // Without commands and without a terminal, lines are taken as they come.
        let lines = try await Tool.readerctl.run(["apdu", "--json", "--replay", tag], input: input)
        #expect(lines.objects.count == 2)
        #expect(lines.status == 0)

        let bad = try scratch.write("FFCA0000/00\n\n00B0/\n", to: "bad.apdu")
        let refused = try await Tool.readerctl.run("apdu", "--replay", tag, "--script", bad)
        #expect(refused.status == 65)
        #expect(refused.output.isEmpty)
        #expect(refused.messages.contains("line 3") && refused.messages.contains("column 6"))
        #expect(try await Tool.readerctl.run("apdu", "--replay", tag, "--script", "/no/such").status == 66)
    }

    @Test func hostileInputCannotSteerTheTerminal() async throws {
        let outcome = try await Tool.readerctl.run("apdu", "--replay", tag, "00\u{1B}]0;x\u{7}")
        #expect(outcome.status == 65)
        #expect(!outcome.messages.contains("\u{1B}"))
    }

    // MARK: The shell

    private func shell() throws -> TerminalTool {
        try TerminalTool(.readerctl, ["apdu", "--replay", tag], environment: ["XDG_STATE_HOME": scratch.path])
    }

    private var history: String {
        (try? String(contentsOfFile: scratch.file("clubkit/apdu-history"), encoding: .utf8)) ?? ""
    }

    @Test func shellSendsCommandsAndEndsWithControlD() async throws {
        let shell = try shell()
        try #require(await shell.expect("apdu> ") != nil)
        shell.type("FFCA0000/00\r")
        #expect(await shell.expect("< 04 5A 1B 72 C3 64 80 9000 (success)") != nil)
        #expect(await shell.expect("apdu> ") != nil)
        shell.type("nonsense\r")
        #expect(await shell.expect("column 1") != nil)
        #expect(await shell.expect("apdu> ") != nil)
        shell.type("FFCA0000/00=6A82\r")
        #expect(await shell.expect("6A82 file or application not found was expected") != nil)
        #expect(await shell.expect("apdu> ") != nil)
        shell.type("help\r")
        #expect(await shell.expect("Ctrl-C drops the line") != nil)
        #expect(await shell.expect("apdu> ") != nil)
        shell.type("\u{4}")
        #expect(await shell.finish() == 0, "\(shell.screen)")
    }

    @Test func shellRemembersWhatHoldsNoSecret() async throws {
        let first = try shell()
        try #require(await first.expect("apdu> ") != nil)
        for line in [
            "FFCA0000/00", "FF820000:A0A1A2A3A4A5", "FF82000006A0A1A2A3A4A5", "raw 1B31323334", "00200001:31323334",
            "FFD6002B:31323334", "raw A22B31323334", "FFFE010000:1B31323334",
        ] {
            first.type(line + "\r")
            _ = await first.expect("apdu> ")
        }
        first.type("quit\r")
        #expect(await first.finish() == 0)
        #expect(history == "FFCA0000/00\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file("clubkit/apdu-history"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        let second = try shell()
        try #require(await second.expect("apdu> ") != nil)
        // The arrow key brings the command of the first session back.
        second.type("\u{1B}[A")
        #expect(await second.expect("FFCA0000/00") != nil)
        second.type("\r")
        #expect(await second.expect("9000 (success)") != nil)
        second.type("exit\r")
        #expect(await second.finish() == 0)
        #expect(history == "FFCA0000/00\n", "the same line twice is kept once")
    }

    @Test func controlCDropsTheLineAndThenEnds() async throws {
        let shell = try shell()
        try #require(await shell.expect("apdu> ") != nil)
        shell.type("00B0")
        #expect(await shell.expect("00B0") != nil)
        shell.type("\u{3}")
        #expect(await shell.expect("^C") != nil)
        #expect(await shell.expect("apdu> ") != nil)
        shell.type("FFCA0000/00\r")
        #expect(await shell.expect("> FF CA 00 00 00") != nil, "nothing is left of the dropped line")
        #expect(await shell.expect("apdu> ") != nil)
        shell.type("\u{3}")
        #expect(await shell.finish() == 130, "\(shell.screen)")
        #expect(!history.contains("00B0"))
    }
}

#if PCSC
extension ThroughPCSCD {
    /// `readerctl apdu` with a card behind the virtual reader of the real pcscd.
    @Suite struct APDUThroughPCSCDTests {
        private let daemon: PCSCDaemon
        private let slot = VirtualCardReader()

        init() throws {
            daemon = try PCSCDaemon()
        }

        @Test("[real pcscd] readerctl apdu waits for a card, selects and reads")
        func selectsAndReads() async throws {
            let tool = try Tool.readerctl.start([
                "apdu", "--json", "--timeout", "60", "--app", "ndef", "00A4000C:E103=", "00B00000/0F=",
            ])
            #expect(await tool.message(containing: "Waiting for a card on Virtual PCD") != nil)
            try slot.present(SimulatedType4Tag(message: [0xD0, 0, 0]))
            let outcome = await tool.finish()
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.objects.count == 3)
            #expect((outcome.objects.last?["data"] as? String)?.hasPrefix("000F20") == true)
        }

        @Test("[real pcscd] no card in time, no such reader, no service, interrupted: each has its code")
        func states() async throws {
            let late = try await Tool.readerctl.run("apdu", "--json", "--timeout", "0.5", "00B0")
            #expect(late.status == 1)
            #expect(late.output == "{\"event\":\"timeout\"}\n")
            let absent = try await Tool.readerctl.run("apdu", "--json", "--reader", "no such reader", "00B0")
            #expect(absent.status == 69)
            #expect((absent.objects.first?["error"] as? [String: Any])?["code"] as? String == "readerUnavailable")
            let waiting = try Tool.readerctl.start(["info", "--timeout", "60"])
            _ = await waiting.message(containing: "Waiting for a card")
            waiting.kill(SIGINT)
            let interrupted = await waiting.finish()
            #expect(interrupted.status == 130, "\(interrupted)")
            daemon.terminate()
            let without = try await Tool.readerctl.run("apdu", "--timeout", "5", "00B0")
            #expect(without.status == 69)
            #expect(without.messages.contains("SCARD_E_NO_SERVICE"))
        }

        @Test("[real pcscd] a card that leaves ends the shell")
        func cardLeavesTheShell() async throws {
            try slot.present(SimulatedType4Tag(message: [0xD0, 0, 0]))
            let scratch = try ScratchFolder()
            let shell = try TerminalTool(
                .readerctl,
                ["apdu", "--timeout", "20"],
                environment: ["XDG_STATE_HOME": scratch.path]
            )
            try #require(await shell.expect("apdu> ") != nil)
            shell.type("select ndef\r")
            #expect(await shell.expect("9000 (success)") != nil)
            #expect(await shell.expect("apdu> ") != nil)
            slot.remove()
            shell.type("00A4000C:E103\r")
            #expect(await shell.expect("could not") != nil)
            let status = await shell.finish()
            #expect(status == 1 || status == 74, "\(shell.screen)")
        }
    }
}
#endif
