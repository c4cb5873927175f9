import Foundation
import ReaderKit
import ReaderKitTesting
import Testing

/// `readerctl ndef` with recorded cards, and what it refuses without one.
@Suite(.timeLimit(.minutes(10))) struct NDEFToolTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
    }

    private func capture(_ name: String) -> String { Fixtures.path + "/cards/\(name).capture" }

    @Test func readsTheMessageOfACapture() async throws {
        let outcome = try await Tool.readerctl.run("ndef", "read", "--json", "--replay", capture("ntag213-uri"))
        #expect(outcome.status == 0)
        let line = try #require(outcome.objects.first)
        #expect(line["event"] as? String == "read")
        #expect(line["type"] as? String == "type2")
        #expect(line["uid"] as? String == "045A1B72C36480")
        #expect(line["used"] as? Int == 22)
        #expect(line["interrupted"] as? Bool == false)
        #expect((line["records"] as? [[String: Any]])?.first?["uri"] as? String == "https://club.example/m/42")
        let text = try await Tool.readerctl.run("ndef", "read", "--replay", capture("ntag213-uri"))
        #expect(text.output.contains("22 of "))
        #expect(text.output.contains("\"https://club.example/m/42\""))
    }

    /// A Smart Poster whose inner records all begin and end a message; a message and bytes behind it.
    @Test(
        arguments: [
            "D1022C5370D1010B540564652D4445546974656CD101125501636C75622E6578616D706C652F6D2F3831D1030161637400",
            "D101045501612E62FE", "9101045501612E62",
        ]
    ) func whoDecodesLenientlyIsNotToldTo(_ hex: String) async throws {
        let outcome = try await Tool.readerctl.run("ndef", "decode", "--lenient", hex)
        #expect(!outcome.messages.isEmpty)
        #expect(!outcome.messages.contains("lenient"))
    }

    @Test func rawIsHexadecimalAndNothingElse() async throws {
        let outcome = try await Tool.readerctl.run("ndef", "read", "--raw", "--replay", capture("ntag213-uri"))
        #expect(outcome.output == "D101125504636C75622E6578616D706C652F6D2F3432\n")
    }

    @Test func outputIsANewFileForItsOwnerAlone() async throws {
        let file = scratch.file("card.ndef")
        let arguments = ["ndef", "read", "--replay", capture("ntag213-uri"), "-o", file]
        #expect(try await Tool.readerctl.start(arguments).finish().status == 0)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        #expect(bytes.hex == "D101125504636C75622E6578616D706C652F6D2F3432")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let again = try await Tool.readerctl.start(arguments).finish()
        #expect(again.status == 74)
        #expect(again.messages.contains("--force"))
        #expect(try await Tool.readerctl.start(arguments + ["--force"]).finish().status == 0)
    }

    @Test func aTagWithoutAMessageIsAStateUnlessItsBytesAreWanted() async throws {
        let unformatted = capture("ntag213-unformatted")
        let outcome = try await Tool.readerctl.run("ndef", "read", "--json", "--replay", unformatted)
        #expect(outcome.status == 0)
        #expect(outcome.objects.first?["state"] as? String == "absent")
        #expect(try await Tool.readerctl.run("ndef", "read", "--raw", "--replay", unformatted).status == 1)
        let empty = try await Tool.readerctl.run("ndef", "read", "--json", "--replay", capture("ultralight-empty"))
        #expect(empty.status == 0)
        #expect(empty.objects.first?["state"] as? String == "empty")
        #expect((empty.objects.first?["records"] as? [Any])?.isEmpty == true)
    }

    @Test func aMalformedMessageIs65() async throws {
        let file = capture("ndef-malformed")
        let outcome = try await Tool.readerctl.run("ndef", "read", "--json", "--replay", file)
        #expect(outcome.status == 65)
        let error = try #require(outcome.objects.first?["error"] as? [String: Any])
        #expect(error["code"] is String && error["offset"] is Int && error["message"] is String)
        #expect(try await Tool.readerctl.run("ndef", "read", "--lenient", "--replay", file).status == 0)
    }

    @Test func aTornTagIsAFailureWithItsText() async throws {
        let file = capture("torn-length-over-capacity")
        let outcome = try await Tool.readerctl.run("ndef", "read", "--json", "--replay", file)
        #expect(outcome.status == 1)
        #expect((outcome.objects.first?["error"] as? [String: Any])?["code"] as? String == "corrupt")
        #expect(outcome.messages.contains("could not read the message of the tag"))
    }

    @Test(arguments: [
        (["ndef", "lock"], 64), (["ndef", "write"], 64), (["ndef", "write", "D00000", "--uri", "x"], 64),
        (["ndef", "write", "--file", "x", "D00000"], 64), (["ndef", "write", "D1"], 65),
        (["ndef", "write", "xyz"], 65), (["ndef", "write", "--file", "/no/such"], 66),
        (["ndef", "write", "--unchecked", "--uri", "x"], 64),
        (["ndef", "write", ""], 65), (["ndef", "write", "--file", "/dev/null"], 65),
        (["ndef", "write", "--unchecked", "--file", "/dev/null"], 65), (["ndef", "write", "--uri", ""], 65),
        (["ndef", "write", "--empty", "--text", "x"], 65), (["ndef", "encode", "--uri", ""], 65),
        (["ndef", "encode"], 64), (["ndef", "lock", "--confirm", "zz"], 65), (["ndef", "format", "--key", "12"], 65),
        (["ndef", "format", "--key-b"], 64), (["ndef", "read", "--raw", "--json"], 64),
        (["ndef", "read", "--password", "1234567"], 65), (["ndef", "read", "--timeout", "0"], 64),
    ])
    func refusedWithoutACard(arguments: [String], status: Int) async throws {
        let outcome = try await Tool.readerctl.start(arguments).finish()
        #expect(outcome.status == Int32(status), "\(outcome.messages)")
        #expect(!outcome.messages.contains("1234567"), "passwords are never shown")
    }

    @Test(arguments: [
        (["ndef", "lock", "--confrim", "04A1B2C3D4E580"], "--confrim"), (["ndef", "write", "--txet", "x"], "--txet"),
        (["ndef", "encode", "--txet", "x"], "--txet"),
    ])
    func aSlipInAnOptionIsNamed(arguments: [String], option: String) async throws {
        let outcome = try await Tool.readerctl.start(arguments).finish()
        #expect(outcome.status == 64)
        #expect(outcome.messages.contains("nknown option '\(option)'"), "\(outcome.messages)")
    }

    @Test func malformedInputIsNamed() async throws {
        let file = scratch.file("bad.ndef")
        try Data([0xD1]).write(to: URL(fileURLWithPath: file))
        let ofFile = try await Tool.readerctl.run("ndef", "write", "--json", "--file", file)
        #expect(ofFile.status == 65)
        #expect(ofFile.messages.contains(file) && !ofFile.messages.contains("tag again"), "\(ofFile.messages)")
        #expect((ofFile.objects.first?["error"] as? [String: Any])?["code"] as? String != "other")
        for command in ["write", "encode"] {
            let ofHex = try await Tool.readerctl.run("ndef", command, "D1")
            #expect(ofHex.messages.contains("HEX") && !ofHex.messages.contains("tag again"), "\(ofHex.messages)")
        }
    }

    @Test func aDumpOfACaptureSaysWhatWasNotRecorded() async throws {
        let outcome = try await Tool.readerctl.run("ndef", "dump", "--replay", capture("ntag213-raw-frames"))
        #expect(outcome.status == 0, "\(outcome.messages)")
        #expect(outcome.output.contains("not recorded, or protected"))
        let nothing = try await Tool.readerctl.run("ndef", "dump", "--replay", capture("desfire-uid"))
        #expect(nothing.output.isEmpty && nothing.messages.contains("nothing to show"))
        let info = try await Tool.readerctl.run("info", "--replay", capture("ntag213-uri"))
        #expect(!info.output.contains("does not know GET VERSION"))
    }

    @Test(arguments: ["read", "write", "format", "lock", "repair", "dump", "decode", "encode"])
    func helpExplains(command: String) async throws {
        let outcome = try await Tool.readerctl.run("help", "ndef", command)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("OVERVIEW"))
        if ["read", "write", "format", "lock", "dump"].contains(command) {
            #expect(outcome.output.contains("EXAMPLES"))
        }
    }
}

#if PCSC
extension ThroughPCSCD {
    /// `readerctl ndef` with tags behind the virtual reader of the real pcscd.
    @Suite struct NDEFThroughPCSCDTests {
        private let daemon: PCSCDaemon
        private let slot = VirtualCardReader()
        private let scratch: ScratchFolder

        init() throws {
            daemon = try PCSCDaemon()
            scratch = try ScratchFolder()
        }

        private func ndef(_ arguments: String...) async throws -> Tool.Outcome {
            try await Tool.readerctl.start(["ndef"] + arguments + ["--timeout", "20"]).finish()
        }

        private func object(_ arguments: String...) async throws -> [String: Any] {
            try await object(arguments: arguments)
        }

        private func object(arguments: [String]) async throws -> [String: Any] {
            let outcome = try await Tool.readerctl.start(["ndef"] + arguments + ["--json", "--timeout", "20"]).finish()
            #expect(outcome.status == 0, "\(outcome.messages)")
            return try #require(outcome.objects.first)
        }

        enum Kind: CaseIterable { case ntag213, ntag216, classic, type4, desfire, feliCa, icode }

        private func tag(_ kind: Kind) -> any SimulatedCard {
            switch kind {
            case .ntag213: return SimulatedNTAG(.ntag213)
            case .ntag216: return SimulatedNTAG(.ntag216)
            case .classic: return SimulatedMIFAREClassic.formatted() ?? SimulatedMIFAREClassic()
            case .feliCa: return SimulatedFeliCa.formatted(message: []) ?? SimulatedFeliCa()
            case .icode: return SimulatedVicinityTag.formatted(message: []) ?? SimulatedVicinityTag()
            case .desfire:
                var configuration = SimulatedDESFire.Configuration()
                configuration.applications = [.ndef()]
                return SimulatedDESFire(configuration)
            case .type4:
                var configuration = SimulatedType4Tag.Configuration()
                configuration.fileSize = 1024
                return SimulatedType4Tag(configuration: configuration)
            }
        }

        @Test("[real pcscd] what is written is read back, from one byte to the full capacity", arguments: Kind.allCases)
        func writeAndRead(kind: Kind) async throws {
            let card = tag(kind)
            try slot.present(card)
            let capacity = try #require(try await object("read")["capacity"] as? Int)
            for count in [1, capacity, 0] {
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) }
                let file = scratch.file("\(count).bin")
                try Data(bytes).write(to: URL(fileURLWithPath: file))
                let empty = count == 0 ? ["--empty"] : []
                let written = try await object(arguments: ["write", "--unchecked", "--file", file] + empty)
                #expect(written["event"] as? String == "written")
                #expect(written["used"] as? Int == count)
                #expect(written["capacity"] as? Int == capacity)
                let read = try await ndef("read", "--raw")
                #expect(read.output == bytes.hex + "\n")
            }
            #expect(try await ndef("write", "--text", "Ann").status == 0)
            let before = (try await ndef("dump").output, (card as? SimulatedNTAG)?.memory)
            let over = scratch.file("over.bin")
            try Data(repeating: 0xAA, count: capacity + 1).write(to: URL(fileURLWithPath: over))
            let refused = try await ndef("write", "--unchecked", "--file", over)
            #expect(refused.status == 1)
            #expect(refused.messages.contains("\(capacity + 1)") && refused.messages.contains("\(capacity)"))
            #expect(try await ndef("dump").output == before.0)
            #expect((card as? SimulatedNTAG)?.memory == before.1)
        }

        @Test("[real pcscd] records are written, from arguments and from standard input")
        func writeRecords() async throws {
            try slot.present(SimulatedNTAG(.ntag213))
            let outcome = try await ndef("write", "--uri", "https://club.example", "--text", "Ann", "--language", "de")
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("Written and compared"))
            let records = try #require(try await object("read")["records"] as? [[String: Any]])
            #expect(records.first?["uri"] as? String == "https://club.example")
            #expect(records.last?["language"] as? String == "de")
            let message = try NDEFMessage([.text("4|U1|x|Ann")]).encoded()
            let piped = try await Tool.readerctl.run(["ndef", "write", "-", "--timeout", "20"], input: message)
            #expect(piped.status == 0, "\(piped.messages)")
            #expect(try await ndef("read", "--raw").output == message.hex + "\n")
        }

        @Test("[real pcscd] lock wants the card's own identifier, and then is for ever")
        func lock() async throws {
            let card = try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0, 0]))
            try slot.present(card)
            let before = card.memory
            #expect(try await ndef("lock").status == 64)
            let wrong = try await ndef("lock", "--confirm", "04A1B2C3D4E581")
            #expect(wrong.status == 1)
            #expect(wrong.messages.contains("Nothing was changed"))
            #expect(card.memory == before)

            let asked = try TerminalTool(.readerctl, ["ndef", "lock", "--timeout", "20"])
            #expect(await asked.expect("04A1B2C3D4E580") != nil)
            #expect(await asked.expect("for ever") != nil)
            #expect(await asked.expect("as it is:") != nil)
            asked.type("yes\r")
            #expect(await asked.finish() == 1)
            #expect(card.memory == before)

            #expect(try await object("lock", "--confirm", "04:a1:b2:c3:d4:e5:80")["event"] as? String == "locked")
            #expect(card.memory != before)
            let refused = try await ndef("write", "--text", "x")
            #expect(refused.status == 1)
            #expect(try await ndef("read", "--raw").output == "D00000\n")
        }

        @Test("[real pcscd] the typed identifier locks")
        func lockAsked() async throws {
            let card = try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0, 0]))
            try slot.present(card)
            let asked = try TerminalTool(.readerctl, ["ndef", "lock", "--timeout", "20"])
            #expect(await asked.expect("as it is:") != nil)
            asked.type("04A1B2C3D4E580\r")
            #expect(await asked.expect("Locked for ever") != nil)
            #expect(await asked.finish() == 0)
        }

        @Test("[real pcscd] format, repair and dump")
        func formatRepairDump() async throws {
            try slot.present(SimulatedNTAG.unformatted(.ntag213))
            let refused = try await ndef("write", "--text", "x")
            #expect(refused.status == 1)
            #expect(refused.messages.contains("readerctl ndef format"))
            #expect(try await object("format")["event"] as? String == "formatted")
            #expect(try await object("format")["event"] as? String == "unchanged")
            #expect(try await object("write", "--text", "x")["event"] as? String == "written")
            #expect(try await object("repair")["event"] as? String == "unchanged")
            let dump = try await object("dump")
            #expect(dump["type"] as? String == "type2")
            let parts = try #require(dump["parts"] as? [[String: Any]])
            #expect(parts.count == 45)
            let text = try await ndef("dump")
            #expect(text.output.split(separator: "\n").count == 45)
            #expect(text.output.contains("|"))
        }

        @Test("[real pcscd] a password opens a protected tag, and is never shown")
        func password() async throws {
            let card = try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0, 0]))
            card.protect(password: [0x31, 0x32, 0x33, 0x34], fromPage: 4, reading: false)
            try slot.present(card)
            #expect(try await ndef("write", "--text", "x").status == 1)
            let wrong = try await ndef("write", "--text", "x", "--password", "00000000")
            #expect(wrong.status == 1)
            let right = try await ndef("write", "--text", "x", "--password", "31323334")
            #expect(right.status == 0, "\(right.messages)")
            #expect(right.messages.contains("can be seen by other users"))
            #expect(!(right.output + right.messages).contains("31323334"))
        }
    }
}
#endif
