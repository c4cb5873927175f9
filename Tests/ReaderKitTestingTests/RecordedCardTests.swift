import Foundation
import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct RecordedCardTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/cards").path

    /// The recorded cards that come with the package, without those whose conversation was disturbed.
    private static let files = (try? CaptureFiles.expand([folder]))?.filter { !$0.contains("/fault-") } ?? []

    private static func card(_ text: String) throws -> RecordedCard {
        let capture = try Capture(parsing: "capture 1\n" + text + "\n")
        return try RecordedCard(try #require(capture.presentations.first))
    }

    private func scan(_ backend: some ReaderBackend) async throws -> ScanEvent {
        for await event in CardScanner(backend).events() {
            if case .scan(let tap) = event { return tap }
        }
        throw CancellationError()
    }

    /// A recorded card gives the tap that the replay of its capture gives.
    @Test(arguments: files) func sameAsReplayed(_ file: String) async throws {
        #expect(Self.files.count > 20)
        let capture = try Capture(contentsOf: file)
        for presentation in capture.presentations {
            let card = try RecordedCard(presentation)
            let backend = SimulatedBackend()
            let one = Capture(headers: capture.headers, presentations: [presentation])
            let replayed = try await scan(ReplayBackend([one]))
            // Twice: powered anew, it is there as before.
            for _ in 0..<2 {
                backend.insert(card)
                let tap = try await scan(backend)
                #expect(tap.uid == replayed.uid)
                #expect(tap.ndef == replayed.ndef)
                #expect(tap.card == replayed.card)
                #expect(tap.memberKey == replayed.memberKey)
                #expect(tap.atr == replayed.atr)
                backend.remove()
            }
        }
    }

    @Test func facts() throws {
        let desfire = try Self.card("card at 0 atr 3B8180018080\n> FF CA 00 00 00\n< 04 6F 16 9A FC 2E 80 90 00")
        #expect(desfire.uid.hex == "046F169AFC2E80")
        #expect(desfire.kind == .isoDEP(historicalBytes: [0x80]))
        #expect(desfire.atr.hex == "3B8180018080")
        let ntag = try Self.card("card at 0 iso14443a atqa 0044 sak 00 uid 04135C7E902B80")
        #expect(ntag.uid.hex == "04135C7E902B80")
        #expect(ntag.kind == .ultralight)
        #expect(ntag.atr == SimulatedCardKind.ultralight.atr)
        let classic = try Self.card("card at 0 iso14443a atqa 0002 sak 18 uid 3A5B7C9D")
        #expect(classic.kind == .classic4K)
        let type4 = try Self.card("card at 0 iso14443a atqa 0004 sak 20 uid 08010203 ats 0678807102AB")
        #expect(type4.kind == .isoDEP(historicalBytes: [0xAB]))
        let feliCa = try Self.card("card at 0 felica idm 012E4CE791835A06 pmm 00F1000000014300 syscode 12FC")
        #expect(feliCa.kind == .feliCa)
        let nothing = try Self.card("card at 0 atr 3B80800101")
        #expect(nothing.uid.isEmpty)
    }

    @Test func refusals() throws {
        #expect(throws: RecordedCardError.unknownCard) { try Self.card("card at 0") }
        #expect(throws: RecordedCardError.unreadable) { try Self.card("card at 0 atr 3B80800101\n! comm-error") }
    }

    /// What was recorded comes back; what was not is what a replay makes of it.
    @Test func answers() throws {
        let card = try Self.card(
            """
            card at 0 atr 3B80800101
            > 00 A4 04 00 00
            < 90 00
            > 00 B0 00 00 02
            < AA BB 90 00
            > 00 B0 00 00 02
            < CC DD 90 00
            > 00 B0 00 00 04
            ! removed
            """
        )
        card.powerOn()
        #expect(card.receive(apdu: [0x00, 0xCA, 0, 0])?.hex == "6D00")
        #expect(card.receive(apdu: [0x00, 0xA4, 4, 0, 0])?.hex == "9000")
        for expected in ["AABB9000", "CCDD9000", "CCDD9000"] {
            #expect(card.receive(apdu: [0x00, 0xB0, 0, 0, 2])?.hex == expected)
        }
        #expect(card.receive(frame: RawFrame([0x30, 0])) == nil)
        #expect(card.receive(apdu: [0x00, 0xB0, 0, 0, 4]) == nil)
        // It left then, so it is silent until it comes again, from the beginning.
        #expect(card.receive(apdu: [0x00, 0xA4, 4, 0, 0]) == nil)
        card.powerOff()
        card.powerOn()
        #expect(card.receive(apdu: [0x00, 0xA4, 4, 0, 0])?.hex == "9000")
        #expect(card.receive(apdu: [0x00, 0xB0, 0, 0, 2])?.hex == "AABB9000")
    }

    /// Commands of class FF: as recorded, or made of the recorded frames.
    @Test func readersPart() throws {
        let reader = SimulatedReader()
        let frames = try Self.card(
            """
            card at 0 iso14443a atqa 0044 sak 00 uid 04135C7E902B80
            >> 30 04
            << 03 14 D1 01 10 54 02 65 6E 34 7C 55 31 33 7C 78
            """
        )
        func answer(_ command: String, _ card: RecordedCard) throws -> String? {
            reader.transmit(try Hex.decode(command), to: card)?.hex
        }
        #expect(try answer("FFCA000000", frames) == "04135C7E902B809000")
        #expect(try answer("FFB0000410", frames) == "0314D1011054026 56E347C5531337C789000".filter { $0 != " " })
        #expect(try answer("FFB0000810", frames) == "6300")
        let commands = try Self.card(
            "card at 0 atr 3B8F8001804F0CA0000003060300030000000068\n> FF B0 00 04 10\n< 01 02 90 00\n"
                + "> FF CA 00 00 00\n! timeout"
        )
        #expect(try answer("FFB0000410", commands) == "01029000")
        #expect(try answer("FFB0000510", commands) == "6300")
        #expect(try answer("FFCA000000", commands) == "6F01")
    }

    /// FeliCa cards are found and kept track of by frames that no recording has.
    @Test func feliCa() throws {
        let card = try Self.card("card at 0 felica idm 012E4CE791835A06 pmm 00F1000000014300 syscode 12FC")
        let found = "01012E4CE791835A0600F1000000014300"
        #expect(answer(card, "0600FFFF0000") == "12" + found)
        #expect(answer(card, "060012FC0100") == "14" + found + "12FC")
        #expect(answer(card, "060088B40000") == "-")
        #expect(answer(card, "0A04012E4CE791835A06") == "0B05012E4CE791835A0600")
        #expect(answer(card, "1006012E4CE791835A06010B00018000") == "-")
    }

    /// What a PN532 can present, and why not.
    @Test(
        arguments: [
            ("atr 3B8180018080\n> FF CA 00 00 00\n< 04 6F 16 9A FC 2E 80 90 00\n> 90 60 00 00 00\n< 91 AF", nil),
            ("atr 3B8180018080", "the capture does not tell the card's identifier"),
            (
                "atr 3B8F8001804F0CA0000003060300030000000068\n> FF CA 00 00 00\n< 04 6F 16 9A FC 2E 80 90 00\n"
                    + "> FF B0 00 04 10\n< 90 00",
                "the capture has only what a PC/SC reader answered for the card, and none of the card's own frames"
            ),
            ("atr 3B8F8001804F0CA0000003060300030000000068\n> FF CA 00 00 00\n< 04 6F 16 9A FC 2E 80 90 00", nil),
            (
                "atr 3B8F8001804F0CA0000003060B00140000000077\n> FF CA 00 00 00\n< E0 04 01 50 2B 7C 91 3D 90 00",
                "a PN532 cannot reach cards of ISO 15693"
            ),
            ("iso14443a atqa 0044 sak 00 uid 04135C7E902B80", nil),
            ("iso14443b pupi 01020304 appdata 00000000 protinfo 008171", nil),
            ("felica idm 012E4CE791835A06", nil),
            ("iso15693 uid E00401502B7C913D", "a PN532 cannot reach cards of ISO 15693"),
        ] as [(String, String?)]
    )
    func obstacles(_ text: String, _ obstacle: String?) throws {
        #expect(PN532Terminal.obstacle(to: try Self.card("card at 0 " + text)) == obstacle)
    }

    @Test func obstaclesToSimulatedCards() throws {
        for kind in SimulatedCardCatalog.kinds {
            let card = try SimulatedCardCatalog.make(kind.name)
            #expect((PN532Terminal.obstacle(to: TornCard(card)) == nil) == (kind.name != "icode"), "\(kind.name)")
        }
    }
}
