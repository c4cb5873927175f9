#if PCSC
import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// Programs that others wrote read our simulated cards through the real pcscd, and ours reads a card of others.
extension ThroughPCSCD {
    @Suite(
        .enabled(if: WitnessProgram.pcsc("pcsc_scan").isInstalled, "install pcsc-tools, or run Scripts/setup --tests"),
        .timeLimit(.minutes(10))
    )
    struct PCSCWitnessTests {
        private static let section = "others"

        private let daemon: PCSCDaemon
        private let slot = VirtualCardReader()

        init() throws {
            daemon = try PCSCDaemon()
        }

        /// Presents a card, and waits until pcscd has seen it.
        private func present(_ card: any SimulatedCard) async throws {
            try slot.present(card)
            let backend = PCSCBackend()
            try await until("pcscd has seen the card") { try await backend.readers().contains { $0.card != nil } }
        }

        @Test("[real pcscd] pcsc_scan tells the card's answer to reset and what it is")
        func pcscScan() async throws {
            let card = SimulatedNTAG(.ntag213)
            try await present(card)
            let outcome = try await WitnessProgram.pcsc("pcsc_scan").run(["-t", "2"])
            let atr = card.atr.map { String(format: "%02X", $0) }.joined(separator: " ")
            #expect(outcome.output.contains("Card inserted"))
            #expect(outcome.output.contains(atr))
            #expect(outcome.output.contains("Mifare Ultralight"))
            TestReport.add(section: Self.section, line: "pcsc_scan | NTAG213 through pcscd | answer to reset, name")
        }

        @Test("[real pcscd] scriptor reads the identifier and the memory of a tag")
        func scriptor() async throws {
            let message = try NDEFMessage([NDEFRecord.uri("https://club.example/m/42")]).encoded()
            try await present(try #require(SimulatedNTAG.formatted(.ntag213, message: message)))
            let outcome = try await WitnessProgram.pcsc("scriptor").run(
                ["-r", "Virtual PCD 00 00"],
                input: "FF CA 00 00 00\nFF B0 00 04 10\n"
            )
            let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("<") }
            #expect(lines.count == 2)
            #expect(lines.first?.contains("04 A1 B2 C3 D4 E5 80 90 00") == true)
            let memory = ([0x03, UInt8(message.count)] + message).prefix(16)
            #expect(lines.last?.contains(memory.map { String(format: "%02X", $0) }.joined(separator: " ")) == true)
            TestReport.add(section: Self.section, line: "scriptor | NTAG213 through pcscd | identifier and memory")
        }

        @Test("[real pcscd] opensc-tool reads the file of a Type 4 tag")
        func openSC() async throws {
            let message = try NDEFMessage([NDEFRecord.uri("https://club.example/m/42")]).encoded()
            let card = SimulatedType4Tag(message: message)
            try await present(card)
            let tool = WitnessProgram.pcsc("opensc-tool")
            let atr = try await tool.run(["-r", "0", "-a"])
            #expect(atr.lines.first == card.atr.map { String(format: "%02x", $0) }.joined(separator: ":"))
            let file = try await tool.run([
                "-r", "0", "-s", "00A4040007D276000085010100", "-s", "00A4000C02E104", "-s", "00B0000002",
            ])
            #expect(file.lines.count { $0.contains("SW1=0x90, SW2=0x00") } == 3)
            #expect(file.output.contains(String(format: "00 %02X", message.count)))
            TestReport.add(section: Self.section, line: "opensc-tool | Type 4 tag through pcscd | its NDEF file")
        }

        @Test(
            "[real pcscd] readerctl apdu talks to a card that others wrote",
            .enabled(if: VirtualICC.isInstalled, "install vsmartcard-vpicc and python3-pycryptodome")
        )
        func virtualICC() async throws {
            let folder = try ScratchFolder()
            let card = try VirtualICC.start(in: folder)
            defer { kill(card.process.processIdentifier, SIGKILL) }
            // Selecting without asking for data, for it cannot give any under this Python.
            let arguments = ["apdu", "--json", "--reader", "pcsc:", "--timeout", "60"]
            let commands = ["00A4000C023F00", "0084000008", "00B0000000", "80F2000000"]
            let outcome = await (try Tool.readerctl.start(arguments + commands)).finish()
            #expect(outcome.status == 0)
            #expect(outcome.objects.compactMap { $0["statusWord"] as? String } == ["9000", "9000", "6986", "6D00"])
            let challenge = outcome.objects.dropFirst().first?["data"] as? String
            #expect(challenge?.count == 16)
            TestReport.add(
                section: Self.section,
                line: "vicc, an ISO 7816 card of vsmartcard | readerctl apdu | selects, gives random numbers, refuses"
            )
        }
    }
}

/// The ISO/IEC 7816 card of vsmartcard.
private enum VirtualICC {
    private static let program = "/usr/bin/vicc"
    private static let modules = "/usr/lib/python3/site-packages/virtualsmartcard"
    private static let crypto = "/usr/lib/python3/dist-packages/Cryptodome"

    static var isInstalled: Bool {
        [program, modules, crypto].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    /// Puts it on the virtual reader. Debian 12 has its modules where Python does not look, and its cryptography under
    /// another name than it expects.
    static func start(in folder: ScratchFolder) throws -> WitnessProgram.Running {
        try FileManager.default.createSymbolicLink(atPath: folder.file("Crypto"), withDestinationPath: crypto)
        return try WitnessProgram(path: "/usr/bin/python3").start(
            [program, "--type", "iso7816"],
            environment: ["PYTHONPATH": "\(folder.path):\(modules)"],
            in: folder
        )
    }
}
#endif
