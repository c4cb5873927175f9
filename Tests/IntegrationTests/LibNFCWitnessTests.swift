import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// The programs that come with libnfc read our simulated cards, through the real libnfc and a simulated PN532.
@Suite(
    .serialized,
    .enabled(if: WitnessProgram.libnfc("nfc-list").isInstalled, "install libnfc-bin, or run Scripts/setup --tests"),
    .timeLimit(.minutes(10))
)
struct LibNFCWitnessTests {
    private static let message: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x01] + Array("example.com".utf8)

    // MARK: nfc-list

    /// A card, and what `nfc-list -v` has to say of it: all those lines, and no other target.
    private struct Listed: Sendable, CustomTestStringConvertible {
        var name: String
        var card: @Sendable () -> any SimulatedCard
        var lines: [String]

        var testDescription: String { name }

        init(_ name: String, _ card: @autoclosure @escaping @Sendable () -> any SimulatedCard, _ lines: String...) {
            self.name = name
            self.card = card
            self.lines = lines
        }
    }

    private static let typeA = "1 ISO14443A passive target(s) found:"

    private static let listed: [Listed] = [
        Listed(
            "NTAG213",
            SimulatedNTAG(.ntag213),
            typeA,
            "ATQA (SENS_RES): 00 44",
            "UID (NFCID1): 04 a1 b2 c3 d4 e5 80",
            "SAK (SEL_RES): 00",
            "* UID size: double",
            "* MIFARE Ultralight"
        ),
        Listed(
            "MIFARE Classic 1K",
            SimulatedMIFAREClassic(),
            typeA,
            "ATQA (SENS_RES): 00 04",
            "UID (NFCID1): 3a 5b 7c 9d",
            "SAK (SEL_RES): 08",
            "* UID size: single",
            "* MIFARE Classic 1K"
        ),
        Listed(
            "MIFARE Classic 4K, 7 bytes",
            SimulatedMIFAREClassic(.fourK, uid: [4, 1, 2, 3, 4, 5, 6]),
            typeA,
            "ATQA (SENS_RES): 00 42",
            "UID (NFCID1): 04 01 02 03 04 05 06",
            "SAK (SEL_RES): 18",
            "* MIFARE Classic 4K"
        ),
        Listed(
            "MIFARE Classic Mini",
            SimulatedMIFAREClassic(.mini),
            typeA,
            "ATQA (SENS_RES): 00 04",
            "SAK (SEL_RES): 09",
            "* MIFARE Mini 0.3K"
        ),
        Listed(
            "Type 4",
            SimulatedType4Tag(historicalBytes: [0x41, 0x42]),
            typeA,
            "SAK (SEL_RES): 20",
            "* Compliant with ISO/IEC 14443-4",
            "ATS: 78 80 71 02 41 42",
            "* Max Frame Size accepted by PICC: 256 bytes"
        ),
        Listed(
            "DESFire",
            SimulatedDESFire(),
            typeA,
            "ATQA (SENS_RES): 03 44",
            "UID (NFCID1): 04 6f 16 9a fc 2e 80",
            "SAK (SEL_RES): 20",
            "ATS: 75 77 81 02 80",
            "* MIFARE DESFire EV1 2K/4K/8K"
        ),
        Listed(
            "phone",
            SimulatedIdentityCard.phone(),
            typeA,
            "ATQA (SENS_RES): 00 04",
            "SAK (SEL_RES): 20",
            "* Random UID"
        ),
        Listed(
            "type B",
            SimulatedTypeB(SimulatedType4Tag(), applicationData: [1, 2, 3, 4]),
            "1 ISO14443B passive target(s) found:",
            "PUPI: 04 46 3a 7b",
            "Application Data: 01 02 03 04",
            "Protocol Info: 00 81 71",
            "* Protocol types supported: ISO/IEC 14443-4"
        ),
        Listed(
            "FeliCa",
            SimulatedFeliCa(),
            "1 Felica (212 kbps) passive target(s) found:",
            "1 Felica (424 kbps) passive target(s) found:",
            "ID (NFCID2): 01 2e 4c e7 91 83 5a 06",
            "Parameter (PAD): 00 f1 00 00 00 01 43 00",
            "System Code (SC): 88 b4"
        ),
        Listed(
            "Topaz",
            SimulatedTopaz(),
            "1 ISO14443A-3 Jewel passive target(s) found:",
            "ATQA (SENS_RES): 0c 00",
            "4-LSB JEWELID: 00 1a 2b 3c"
        ),
        // ISO 15693 is beyond the chip and beyond libnfc.
        Listed("vicinity", SimulatedIdentityCard.vicinity()),
    ]

    @Test("[real libnfc] nfc-list -v shows each kind of card", arguments: listed)
    private func list(_ listed: Listed) async throws {
        let board = try PN532Terminal()
        board.insert(listed.card())
        let outcome = try await WitnessProgram.libnfc("nfc-list").run(["-v"], with: board)
        #expect(outcome.status == 0)
        #expect(outcome.lines.first?.hasSuffix("uses libnfc 1.8.0") == true)
        for line in listed.lines { #expect(outcome.lines.contains(line), "\(line) in \(outcome.output)") }
        let found = outcome.lines.filter { $0.contains("passive target(s) found") && !$0.hasPrefix("0 ") }
        #expect(found == listed.lines.filter { $0.contains("passive target(s) found") })
    }

    // MARK: Dumps

    private static let type2: [SimulatedNTAG.Model] = [
        .ultralightC, .ultralightEV1Small, .ultralightEV1Large, .ntag213, .ntag215, .ntag216,
    ]

    @Test("[real libnfc] nfc-mfultralight reads a tag of Type 2 as it is", arguments: type2)
    func ultralight(model: SimulatedNTAG.Model) async throws {
        let tag = try #require(SimulatedNTAG.formatted(model, message: Self.message))
        let dump = try await dump("nfc-mfultralight", ["r"], of: tag)
        // It takes a tag that refuses to tell its version for the smallest that could, and reads 20 pages.
        var expected = model.version == nil ? Array(tag.memory.prefix(80)) : tag.memory
        // The password and its acknowledgement cannot be read.
        if let page = model.configurationPage {
            expected.replaceSubrange((page + 2) * 4..<(page + 4) * 4, with: Array(repeating: 0, count: 8))
        }
        #expect(dump.hex == expected.hex)
    }

    @Test("[real libnfc] nfc-mfultralight reads all pages of an Ultralight")
    func smallest() async throws {
        let folder = try ScratchFolder()
        let board = try PN532Terminal()
        board.insert(SimulatedNTAG(.ultralight))
        let outcome = try await WitnessProgram.libnfc("nfc-mfultralight").run(["r", folder.file("dump")], with: board)
        #expect(outcome.lines.contains("Using MIFARE Ultralight card with UID: 04a1b2c3d4e580"))
        // The last four that it looks for are not there.
        #expect(outcome.lines.contains("Reading 20 pages |................ffff|"))
        #expect(outcome.lines.contains("Done, 16 of 20 pages read (4 pages failed)."))
    }

    private static let classics: [ClassicSize] = [.mini, .oneK, .fourK]

    @Test("[real libnfc] nfc-mfclassic finds the keys of a MIFARE Classic and reads it", arguments: classics)
    func classic(size: ClassicSize) async throws {
        let message = Self.message + Array(repeating: 0x20, count: 100)
        let card = try #require(SimulatedMIFAREClassic.formatted(size, message: message))
        let dump = try await dump("nfc-mfclassic", ["r", "a", "u"], of: card)
        // The program writes the key that it found into the trailers, and no key B.
        var expected = card.memory
        for sector in 0..<size.sectors {
            let end = (ClassicSize.trailer(ofSector: sector) + 1) * 16
            expected.replaceSubrange(end - 6..<end, with: [0, 0, 0, 0, 0, 0])
        }
        #expect(dump.hex == expected.hex)
    }

    @Test("[real libnfc] nfc-mfclassic is refused a sector whose key it does not know")
    func unknownKey() async throws {
        let card = SimulatedMIFAREClassic()
        card.overwrite(
            block: 7,
            with: [1, 2, 3, 4, 5, 6] + AccessConditions.transport.bytes + [0x69, 1, 2, 3, 4, 5, 6]
        )
        let board = try PN532Terminal()
        board.insert(card)
        let folder = try ScratchFolder()
        let outcome = try await WitnessProgram.libnfc("nfc-mfclassic")
            .run(["r", "a", "u", folder.file("dump")], with: board)
        #expect(outcome.lines.contains("Error: authentication failed for block 0x07"))
        // Sectors 2 to 15 it has read, block by block.
        #expect(outcome.lines.contains { $0.hasSuffix("|" + String(repeating: ".", count: 56) + "!") })
    }

    @Test("[real libnfc] nfc-jewel reads a Topaz as it is")
    func topaz() async throws {
        let card = try #require(SimulatedTopaz.formatted(message: Self.message))
        #expect(try await dump("nfc-jewel", ["r"], of: card).hex == card.memory.hex)
    }

    @Test("[real libnfc] nfc-read-forum-tag3 reads the message of a FeliCa card")
    func feliCa() async throws {
        // This program never reads more than one command gives: four blocks.
        let message = Self.message + (0..<40).map { UInt8($0) }
        let card = try #require(SimulatedFeliCa.formatted(message: message))
        #expect(try await dump("nfc-read-forum-tag3", ["-o"], of: card).hex == message.hex)
    }

    /// What a program that is given a file as its last argument writes into it.
    private func dump(_ name: String, _ arguments: [String], of card: any SimulatedCard) async throws -> [UInt8] {
        let board = try PN532Terminal()
        board.insert(card)
        let folder = try ScratchFolder()
        let outcome = try await WitnessProgram.libnfc(name).run(arguments + [folder.file("dump")], with: board)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.messages)")
        return Array(try Data(contentsOf: URL(fileURLWithPath: folder.file("dump"))))
    }

    // MARK: One board, many programs

    @Test("[real libnfc] a board that was left by a program that was killed serves the next one")
    func killedProgram() async throws {
        let folder = try ScratchFolder()
        let board = try PN532Terminal(link: folder.file("ttyPN532"))
        board.insert(SimulatedNTAG(.ntag213))
        // libnfc marks the terminal as claimed, and does not unmark it when it is killed.
        board.delay = .milliseconds(400)
        let running = try WitnessProgram.libnfc("nfc-list").start(["-v"], with: board, in: folder)
        try await until("it is talked to") { board.commands > 0 }
        kill(running.process.processIdentifier, SIGKILL)
        #expect(await running.end() == -SIGKILL)
        board.delay = .zero
        for round in 0..<3 {
            let outcome = try await WitnessProgram.libnfc("nfc-list").run(["-t", "1"], with: board)
            #expect(outcome.lines.contains("UID (NFCID1): 04 a1 b2 c3 d4 e5 80"), "\(round): \(outcome.messages)")
            // Unplugged and back under the same name, it is there as before.
            board.unplug()
            try board.plugIn()
        }
    }

    @Test("[real libnfc] a board that is gone is reported, and a card that is taken away is not found")
    func absent() async throws {
        let folder = try ScratchFolder()
        let board = try PN532Terminal(link: folder.file("ttyPN532"))
        let connection = try #require(board.connectionString)
        board.insert(SimulatedNTAG(.ntag213))
        board.remove()
        let empty = try await WitnessProgram.libnfc("nfc-list").run(["-v"], with: board)
        #expect(empty.lines.contains("0 ISO14443A passive target(s) found."))
        // Cards that are torn while they are read are errors to the program.
        board.insert(SimulatedNTAG(.ntag213))
        board.tear(atExchange: 5)
        let torn = try await WitnessProgram.libnfc("nfc-mfultralight").run(["r", folder.file("dump")], with: board)
        #expect(torn.lines.contains { $0.hasPrefix("Done, ") && !$0.contains("(0 pages failed)") }, "\(torn.output)")
        #expect(!board.hasCard)
        #expect(connection == "pn532_uart:" + folder.file("ttyPN532"))
    }
}
