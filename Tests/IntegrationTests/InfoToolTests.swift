import Foundation
import ReaderKit
import ReaderKitTesting
import Synchronization
import Testing

/// `readerctl info` with recorded cards.
@Suite(.timeLimit(.minutes(10))) struct InfoToolTests {
    private func report(_ name: String) async throws -> [String: Any] {
        let file = Fixtures.path + "/cards/\(name).capture"
        let outcome = try await Tool.readerctl.run("info", "--json", "--replay", file)
        #expect(outcome.status == 0, "\(outcome.messages)")
        #expect(outcome.objects.count == 1)
        let report = try #require(outcome.objects.first)
        #expect(report["event"] as? String == "info")
        return report
    }

    @Test func tellsEveryPart() async throws {
        let report = try await report("ntag213-uri")
        #expect((report["reader"] as? [String: Any])?["backend"] as? String == "replay")
        #expect((report["atr"] as? [String: Any])?["card"] as? String == "MIFARE Ultralight")
        let uid = report["uid"] as? [String: Any]
        #expect(uid?["hex"] as? String == "045A1B72C36480")
        #expect(uid?["decimal"] as? String != nil)
        let product = try #require(report["product"] as? [String: Any])
        #expect(product["tagType"] as? String == "type2")
        #expect((product["evidence"] as? [[String: Any]])?.isEmpty == false)
        let ndef = try #require(report["ndef"] as? [String: Any])
        #expect(ndef["state"] as? String == "message")
        #expect(ndef["used"] as? Int == 22)
        #expect(ndef["writeAccess"] as? String == "free")
        #expect(((ndef["records"] as? [[String: Any]])?.first?["uri"] as? String) == "https://club.example/m/42")
    }

    /// Whether phones offer their passes depends on the reader.
    @Test(arguments: [
        ("ntag213-uri", "supported", [String]()), ("ntag213-raw-frames", "notSupported", ["readerDoesNotAnnotate"]),
    ])
    func tellsWhatTheReaderIsToPhones(name: String, annotations: String, codes: [String]) async throws {
        let passes = try #require(try await report(name)["phonePasses"] as? [String: Any])
        #expect(passes["annotations"] as? String == annotations)
        let findings = try #require(passes["findings"] as? [[String: Any]])
        #expect(findings.compactMap { $0["code"] as? String } == codes)
        #expect(findings.allSatisfy { $0["what"] is String && $0["consequence"] is String && $0["advice"] is String })
        let text = try await Tool.readerctl.run("info", "--replay", Fixtures.path + "/cards/\(name).capture")
        #expect(text.output.contains("\n\nPhone passes\n  annotations   "))
    }

    /// What one part cannot tell is an error of that part, and the rest is there.
    @Test func aPartThatFailsStopsNoOther() async throws {
        let report = try await report("fault-comm-error")
        let errors = try #require(report["errors"] as? [String: [String: Any]])
        #expect(!errors.isEmpty)
        #expect(errors.values.allSatisfy { $0["code"] is String && $0["message"] is String })
        for key in ["reader", "atr", "product"] { #expect(report[key] != nil, "\(key)") }
    }

    /// A card that announces more of its answer without end, two seconds for each part.
    @Test func aCardMayTakeOnlySoLong() async throws {
        let parts = (2...40).map { "> 00 C0 00 00 FF\n< 61 FF @ \($0 * 2).0\n" }.joined()
        let scratch = try ScratchFolder()
        let file = try scratch.write(
            """
            capture 1
            reader: A

            card at 0.000 atr 3B80800101
            > FF CA 00 00 00
            < 04 A1 B2 C3 D4 E5 80 90 00 @ 0.1
            > 00 A4 04 00 07 D2 76 00 00 85 01 01 00
            < 90 00
            > 00 A4 00 0C 02 E1 03
            < 90 00
            > 00 B0 00 00 0F
            < 61 FF @ 2.0
            \(parts)
            """,
            to: "endless.capture"
        )
        let outcome = try await Tool.readerctl.run("info", "--json", "--replay", file)
        let errors = try #require(outcome.objects.first?["errors"] as? [String: [String: Any]])
        #expect(errors["ndef"]?["code"] as? String == "overTime", "\(errors)")
        let read = try await Tool.readerctl.run("ndef", "read", "--json", "--replay", file)
        #expect(read.status == 1)
        #expect((read.objects.first?["error"] as? [String: Any])?["code"] as? String == "overTime")
    }

    @Test(arguments: [
        "classic-1k-uid", "desfire-uid", "felica-uid", "iso15693-uid", "phone-random-uid", "ndef-malformed",
        "ntag213-raw-frames", "torn-length-over-capacity", "type4-extended-large", "ultralight-empty",
    ])
    func everyFixtureGivesAReport(name: String) async throws {
        let report = try await report(name)
        #expect(report["product"] != nil)
        let file = Fixtures.path + "/cards/\(name).capture"
        let text = try await Tool.readerctl.run("info", "--replay", file)
        #expect(text.status == 0)
        #expect(text.output.hasPrefix("Reader\n  name"))
        #expect(text.output.contains("\n\nProduct\n"))
        // Aligned: every name is followed by its value at the same place, and nothing trails.
        #expect(text.output.split(separator: "\n").allSatisfy { !$0.hasSuffix(" ") })
    }

    @Test func noCardInTheCaptureIsATimeout() async throws {
        let scratch = try ScratchFolder()
        let empty = try scratch.write("capture 1\nreader: nobody\n", to: "empty.capture")
        let outcome = try await Tool.readerctl.run("info", "--json", "--replay", empty)
        #expect(outcome.status == 1)
        #expect(outcome.output == "{\"event\":\"timeout\"}\n")
        #expect(try await Tool.readerctl.run("info", "--replay", "/no/such.capture").status == 66)
        let bad = try scratch.write("capture 1\nreader: x\nrubbish\n", to: "bad.capture")
        #expect(try await Tool.readerctl.run("info", "--replay", bad).status == 65)
    }
}

#if PCSC
extension ThroughPCSCD {
    /// `readerctl info` with cards behind the virtual reader of the real pcscd.
    @Suite struct InfoThroughPCSCDTests {
        private let daemon: PCSCDaemon
        private let slot = VirtualCardReader()

        init() throws {
            daemon = try PCSCDaemon()
        }

        private func report() async throws -> [String: Any] {
            let outcome = try await Tool.readerctl.run("info", "--json", "--timeout", "20")
            #expect(outcome.status == 0, "\(outcome.messages)")
            return try #require(outcome.objects.first)
        }

        @Test("[real pcscd] info of an NTAG213")
        func ntag() async throws {
            let message = try NDEFMessage([.uri("https://club.example/m/42")]).encoded()
            try slot.present(try #require(SimulatedNTAG.formatted(.ntag213, message: message)))
            let report = try await report()
            #expect((report["reader"] as? [String: Any])?["backend"] as? String == "pcsc")
            #expect((report["uid"] as? [String: Any])?["hex"] as? String == SimulatedNTAG.sampleUID.hex)
            #expect((report["ndef"] as? [String: Any])?["ndef"] as? String == message.hex)
            let chip = try #require(report["chip"] as? [String: Any])
            #expect(chip["version"] as? String == "0004040201000F03")
            #expect(chip["product"] as? String == "NTAG213")
            #expect((chip["signature"] as? String)?.count == 64)
            #expect(chip["signatureVerified"] as? Bool == false)
            #expect((report["product"] as? [String: Any])?["name"] as? String == "NTAG213")
        }

        @Test("[real pcscd] info of a DESFire")
        func desfire() async throws {
            var configuration = SimulatedDESFire.Configuration()
            configuration.applications = [.ndef(message: [0xD0, 0, 0]), SimulatedDESFireApplication(id: 0xF48EF1)]
            try slot.present(SimulatedDESFire(configuration))
            let report = try await report()
            #expect(report["errors"] == nil)
            #expect((report["ndef"] as? [String: Any])?["ndef"] as? String == "D00000")
            let desfire = try #require(report["desfire"] as? [String: Any])
            #expect(desfire["product"] as? String == "MIFARE DESFire EV2")
            #expect(desfire["freeMemory"] is Int)
            let applications = try #require(desfire["applications"] as? [[String: Any]])
            #expect(applications.compactMap { $0["id"] as? String } == ["000001", "F48EF1"])
            let files = try #require(applications.first?["files"] as? [[String: Any]])
            #expect(files.compactMap { $0["number"] as? Int } == [1, 2])
            #expect(files.allSatisfy { $0["freeToRead"] as? Bool == true })
        }

        @Test("[real pcscd] info of a MIFARE Classic")
        func classic() async throws {
            try slot.present(try #require(SimulatedMIFAREClassic.formatted(message: [0xD0, 0, 0])))
            let report = try await report()
            #expect(report["errors"] == nil)
            let directory = try #require(report["directory"] as? [String: Any])
            #expect(directory["version"] as? Int == 1)
            let sectors = try #require(directory["sectors"] as? [[String: Any]])
            #expect(sectors.count == 15)
            #expect(sectors.allSatisfy { $0["application"] as? String == "03E1" && $0["name"] as? String == "NDEF" })
        }

        @Test("[real pcscd] a payment card is recognised and left alone")
        func payment() async throws {
            let card = PaymentCard()
            try slot.present(card)
            let report = try await report()
            #expect((report["product"] as? [String: Any])?["use"] as? String == "payment")
            for key in ["ndef", "chip", "desfire", "directory"] { #expect(report[key] == nil, "\(key)") }
            #expect(card.commands.allSatisfy { $0.dropFirst().first == 0xA4 }, "nothing but selections")
            let text = try await Tool.readerctl.run("info", "--timeout", "20")
            #expect(text.output.contains("Left alone"))
        }

        /// A card whose payment system environment can be selected.
        private final class PaymentCard: SimulatedCard {
            private let received = Mutex<[[UInt8]]>([])
            let uid: [UInt8] = [0x08, 1, 2, 3]
            let kind = SimulatedCardKind.isoDEP(historicalBytes: [])
            var commands: [[UInt8]] { received.withLock { $0 } }

            func receive(apdu: [UInt8]) -> [UInt8]? {
                received.withLock { $0.append(apdu) }
                let name = Array("2PAY.SYS.DDF01".utf8)
                guard apdu.count > 5, apdu[1] == 0xA4, apdu.dropFirst(5).starts(with: name) else {
                    return [0x6A, 0x82]
                }
                let template: [UInt8] = [0x84, UInt8(name.count)] + name
                return [0x6F, UInt8(template.count)] + template + [0x90, 0x00]
            }
        }

        @Test("[real pcscd] info of a Type 4 tag")
        func type4() async throws {
            try slot.present(SimulatedType4Tag(message: [0xD0, 0, 0]))
            let report = try await report()
            let ndef = try #require(report["ndef"] as? [String: Any])
            #expect(ndef["type"] as? String == "type4")
            #expect(ndef["capacity"] as? Int == 254)
            #expect(report["chip"] == nil)
        }
    }
}
#endif
