import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// `readerctl emulate`: cards for other programs.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct EmulateToolTests {
    private static let uri = "https://club.example/m/42"

    /// The tool with a card on a simulated PN532, once it is there.
    private func start(_ arguments: [String]) async throws -> (tool: RunningTool, environment: [String: String]) {
        let tool = try Tool.readerctl.start(["emulate", "--via", "pn532", "--json"] + arguments)
        let line = try #require(await tool.next("reachable"))
        #expect(line["via"] as? String == "pn532")
        let connection = try #require(line["connection"] as? String)
        #expect(connection.hasPrefix("pn532_uart:/"))
        #expect(await tool.next("inserted")?["at"] is String)
        // No other device is looked for.
        let environment = [
            "LIBNFC_DEFAULT_DEVICE": connection, "LIBNFC_AUTO_SCAN": "false", "LIBNFC_INTRUSIVE_SCAN": "false",
        ]
        return (tool, environment)
    }

    // MARK: libnfc

    @Test(
        "[real libnfc] nfc-list -v reads an emulated card",
        .enabled(if: WitnessProgram.libnfc("nfc-list").isInstalled),
        arguments: [
            (["--card", "ntag213", "--ndef-uri", uri], "UID (NFCID1): 04 a1 b2 c3 d4 e5 80", "* MIFARE Ultralight"),
            (["--card", "classic-4k", "--uid", "01 02 03 04"], "UID (NFCID1): 01 02 03 04", "* MIFARE Classic 4K"),
            (["--card", "felica"], "ID (NFCID2): 01 2e 4c e7 91 83 5a 06", "System Code (SC): 88 b4"),
            (["--card", "type4-b"], "PUPI: 04 46 3a 7b", "* Protocol types supported: ISO/IEC 14443-4"),
            (
                [Fixtures.path + "/cards/ntag213-raw-frames.capture"], "UID (NFCID1): 04 13 5c 7e 90 2b 80",
                "SAK (SEL_RES): 00"
            ),
            (
                ["--capture", Fixtures.path + "/cards/type4-uri.capture"], "SAK (SEL_RES): 20",
                "* Compliant with ISO/IEC 14443-4"
            ),
        ]
    )
    func libnfc(_ arguments: [String], _ identifier: String, _ product: String) async throws {
        let (tool, environment) = try await start(arguments)
        let outcome = try await WitnessProgram.libnfc("nfc-list").run(["-v"], environment: environment)
        #expect(outcome.lines.contains(identifier), "\(outcome.output)")
        #expect(outcome.lines.contains(product), "\(outcome.output)")
        #expect(await tool.next("talked")?["exchanges"] is Int)
        tool.kill(SIGINT)
        let end = await tool.finish()
        #expect(end.status == 130)
        #expect(end.objects.last?["event"] as? String == "ended")
        #expect(end.messages.contains("nfc-list -v"))
    }

    /// What other programs wrote is presented again, under a name that stays the same.
    @Test(
        "[real libnfc] a dump of nfc-mfultralight or nfc-mfclassic is a card again",
        .enabled(if: WitnessProgram.libnfc("nfc-mfultralight").isInstalled),
        arguments: [
            ("ntag213", "nfc-mfultralight", ["r"]), ("ultralight-ev1-128", "nfc-mfultralight", ["r"]),
            ("classic-1k", "nfc-mfclassic", ["r", "a", "u"]),
        ]
    )
    func dumps(_ kind: String, _ program: String, _ arguments: [String]) async throws {
        let folder = try ScratchFolder()
        let (dump, again) = (folder.file("card.mfd"), folder.file("again.mfd"))
        let (first, firstEnvironment) = try await start(["--card", kind, "--ndef-uri", Self.uri])
        let written = try await WitnessProgram.libnfc(program).run(arguments + [dump], environment: firstEnvironment)
        #expect(written.status == 0, "\(written.output)")
        first.kill(SIGINT)
        #expect(await first.finish().status == 130)

        let link = folder.file("ttyPN532")
        let (second, environment) = try await start(["--image", dump, "--link", link])
        #expect(environment["LIBNFC_DEFAULT_DEVICE"] == "pn532_uart:" + link)
        let read = try await WitnessProgram.libnfc(program).run(arguments + [again], environment: environment)
        #expect(read.status == 0, "\(read.output)")
        second.kill(SIGTERM)
        let end = await second.finish()
        #expect(end.status == 130)
        #expect(try #require(end.objects.last?["exchanges"] as? Int) > 0)
        #expect(!FileManager.default.fileExists(atPath: link))
        let (one, other) = (FileManager.default.contents(atPath: dump), FileManager.default.contents(atPath: again))
        #expect(one != nil && one == other)
    }

    // MARK: Taps

    @Test("It presents a card so often, and ends") func times() async throws {
        let outcome = try await Tool.readerctl.run(
            "emulate",
            "--card",
            "ntag213",
            "--via",
            "pn532",
            "--present",
            "0.05",
            "--absent",
            "0.05",
            "--times",
            "3",
            "--json"
        )
        #expect(outcome.status == 0)
        let events = outcome.objects.compactMap { $0["event"] as? String }
        let taps = Array(repeating: ["inserted", "removed"], count: 3).flatMap { $0 }
        #expect(events == ["reachable"] + taps + ["ended"])
        #expect(outcome.objects.first?["card"] as? String == "NTAG213")
        #expect(outcome.objects.first?["times"] as? Int == 3)
        #expect(outcome.objects.last?["exchanges"] as? Int == 0)
    }

    @Test("It ends in time", arguments: [[], ["--present", "0.05", "--absent", "600"], ["--present", "600"]])
    func timeout(_ arguments: [String]) async throws {
        let all = ["emulate", "--card", "felica", "--via", "pn532", "--timeout", "0.3", "--json"] + arguments
        let outcome = await (try Tool.readerctl.start(all)).finish()
        #expect(outcome.status == 0)
        #expect(outcome.objects.last?["event"] as? String == "ended")
    }

    @Test("A Smart Reader sends a line at each tap") func smartReader() async throws {
        let folder = try ScratchFolder()
        let link = folder.file("ttySmartReader")
        let tool = try Tool.readerctl.start([
            "emulate", "--card", "ntag213", "--ndef-uri", Self.uri, "--via", "smart-reader", "--link", link,
            "--present",
            "0.05", "--absent", "0.05", "--json",
        ])
        let line = try #require(await tool.next("reachable"))
        #expect(line["connection"] as? String == link)
        let file = open(link, O_RDONLY | O_NOCTTY | O_CLOEXEC)
        defer { close(file) }
        #expect(file >= 0)
        var text = ""
        try await until("a line that tells the card") {
            var buffer = [UInt8](repeating: 0, count: 4096)
            var state = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            guard poll(&state, 1, 100) > 0 else { return false }
            let count = read(file, &buffer, buffer.count)
            text += String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            return text.contains("04A1B2C3D4E580") && text.contains(Self.uri)
        }
        tool.kill(SIGINT)
        #expect(await tool.finish().status == 130)
    }

    // MARK: What is refused

    private static let capture = Fixtures.path + "/cards/ntag213-uri.capture"

    private static let refused: [(arguments: [String], status: Int32, message: String)] = [
        ([], 64, "Give one of: FILE, --card, --capture, --image"),
        ([capture, "--card", "ntag213"], 64, "is a capture"),
        ([capture, "--image", "x"], 64, "Give one of"),
        (["--card", "ntag999"], 64, "there is no simulated card of the kind 'ntag999'"),
        (["--card", "ntag213", "--uid", "0102"], 64, "has to be 7 bytes"),
        (["--card", "ntag213", "--uid", "xy"], 64, "--uid takes"),
        (["--card", "phone", "--ndef-text", "x"], 64, "such a card holds none"),
        (["--card", "ntag210", "--ndef-text", String(repeating: "x", count: 99)], 64, "it holds 46"),
        (["--card", "ntag213", "--ndef-hex", "D101", "--ndef-uri", "x"], 64, "leave out"),
        (["--card", "ntag213", "--ndef-hex", "D101"], 65, "--ndef-hex"),
        (["--card", "ntag213", "--ndef-hex", "XY"], 65, "--ndef-hex"),
        ([capture, "--uid", "04A1B2C3D4E580"], 64, "a file has its own"),
        (["--card", "ntag213", "--via", "carrier"], 64, "--via"),
        (["--card", "ntag213", "--slot", "3"], 64, "--slot is 1 or 2"),
        (["--card", "ntag213", "--slot", "1", "--via", "pn532"], 64, "--slot is one of pcscd's"),
        (["--card", "ntag213", "--link", "/tmp/x"], 64, "--link is for a terminal"),
        (["--card", "ntag213", "--present", "0.1"], 64, "0.5 seconds"),
        (["--card", "ntag213", "--times", "0"], 64, "--times"),
        (["--card", "icode", "--via", "pn532"], 64, "a PN532 cannot reach cards of ISO 15693"),
        ([capture, "--via", "pn532"], 64, "none of the card's own frames"),
        ([Fixtures.path + "/cards/nothing.capture"], 66, "No such file"),
        (["--image", capture], 65, "as a card's memory"),
        (["--image", capture, "--card", "type4"], 64, "There are no images"),
    ]

    @Test("It refuses before anything begins", arguments: refused)
    func refusals(_ arguments: [String], _ status: Int32, _ message: String) async throws {
        let outcome = await (try Tool.readerctl.start(["emulate"] + arguments)).finish()
        #expect(outcome.status == status)
        #expect(outcome.output.isEmpty)
        #expect(outcome.messages.contains(message), "\(outcome.messages)")
    }

    @Test("A file that is neither is refused, with what is known") func malformed() async throws {
        let folder = try ScratchFolder()
        let image = try folder.write("\u{1}\u{2}\u{3}", to: "card.mfd")
        let outcome = try await Tool.readerctl.run("emulate", image, "--json")
        #expect(outcome.status == 65)
        #expect(outcome.messages.contains("Known sizes: 64 (MIFARE Ultralight)"))
        #expect((outcome.objects.first?["error"] as? [String: Any])?["code"] as? String == "malformed")
        let capture = try folder.write("capture 1\ncard at x\n", to: "x.capture")
        #expect(try await Tool.readerctl.run("emulate", capture).status == 65)
        let empty = try folder.write("capture 1\n", to: "empty.capture")
        #expect(try await Tool.readerctl.run("emulate", empty).messages.contains("the capture has none"))
    }

    @Test("It lists its cards") func kinds() async throws {
        let outcome = try await Tool.readerctl.run("emulate", "--list-cards", "--json")
        #expect(outcome.status == 0)
        #expect(outcome.objects.compactMap { $0["name"] as? String } == SimulatedCardCatalog.kinds.map(\.name))
        let icode = try #require(outcome.objects.first { $0["name"] as? String == "icode" })
        #expect(icode["via"] as? [String] == ["pcscd", "smart-reader"])
    }
}

#if PCSC
extension ThroughPCSCD {
    /// `readerctl emulate` on the virtual reader of the real pcscd.
    @Suite struct EmulateThroughPCSCDTests {
        private let daemon: PCSCDaemon

        init() throws { daemon = try PCSCDaemon() }

        private static let cases: [(arguments: [String], reader: String, uid: String, key: String?)] = [
            (["--card", "ntag213", "--ndef-text", "4|U1|x|Ann"], "Virtual PCD 00 00", "04A1B2C3D4E580", "U1"),
            (
                ["--card", "classic-1k", "--ndef-text", "4|U2|x|Bo", "--slot", "2"], "Virtual PCD 00 01", "3A5B7C9D",
                "U2"
            ),
            ([Fixtures.path + "/cards/text-four-fields.capture"], "Virtual PCD 00 00", "", nil),
        ]

        @Test("[real pcscd] readerctl scan reads an emulated card", arguments: cases)
        func scan(_ arguments: [String], _ reader: String, _ uid: String, _ key: String?) async throws {
            let tool = try Tool.readerctl.start(["emulate", "--json"] + arguments)
            let line = try #require(await tool.next("reachable"))
            #expect(line["connection"] as? String == reader)
            let outcome = try await Tool.readerctl.run("scan", "--once", "--json", "--timeout", "60")
            #expect(outcome.status == 0, "\(outcome.messages)")
            let tap = try #require(outcome.objects.first)
            #expect(tap["reader"] as? String == reader)
            if !uid.isEmpty { #expect(tap["uid"] as? String == uid) }
            if let key { #expect(tap["memberKey"] as? String == key) } else { #expect(tap["memberKey"] is String) }
            let talked = try #require(await tool.next("talked"))
            #expect(try #require(talked["exchanges"] as? Int) > 0)
            tool.kill(SIGINT)
            let end = await tool.finish()
            #expect(end.status == 130)
            #expect(end.messages.contains("it has no place on a kiosk"))
            #expect(try #require(end.objects.last?["exchanges"] as? Int) > 0)
        }

        @Test("[real pcscd] it says how to get a virtual reader, and when pcscd has ended")
        func noService() async throws {
            let tool = try Tool.readerctl.start(["emulate", "--card", "ntag213", "--json"])
            _ = await tool.next("inserted")
            daemon.kill()
            let end = await tool.finish()
            #expect(end.status == 69)
            #expect(end.messages.contains("pcscd has ended"))
            let none = try await Tool.readerctl.run("emulate", "--card", "ntag213", "--json")
            #expect(none.status == 69)
            #expect(none.messages.contains("vsmartcard-vpcd"))
            #expect(none.objects.count == 1 && none.objects.first?["error"] != nil)
        }
    }
}
#endif
