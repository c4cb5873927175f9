import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct CardImageTests {
    private static let message: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x01] + Array("example.com".utf8)

    /// Kinds whose memory is told by its size alone.
    private static let kinds = [
        "ultralight", "ultralight-c", "ultralight-ev1", "ultralight-ev1-128", "ntag213", "ntag215", "ntag216",
        "classic-mini", "classic-1k", "classic-4k",
    ]

    private func message(of card: any SimulatedCard) throws -> TagNDEF {
        try TagReader.readNDEF(over: SimulatedCardChannel(card)).ndef
    }

    @Test(arguments: kinds) func roundTrip(_ kind: String) throws {
        let original = try SimulatedCardCatalog.make(kind, messageBytes: Self.message)
        let image = try #require(CardImage(of: original))
        #expect(image.bytes.count == image.product.size)
        let read = try CardImage(contents: image.bytes)
        #expect(read.product == image.product && read.product == CardImage.Product(kind: kind))
        #expect(read.uid == original.uid)
        let card = read.card()
        #expect(card.uid == original.uid)
        #expect(try message(of: card) == .message(Self.message))
        #expect(CardImage(of: card)?.bytes == image.bytes)
    }

    @Test(arguments: [("ntag210", 80), ("ntag212", 164)]) func sizesThatTwoHave(_ kind: String, _ size: Int) throws {
        let tag = try SimulatedCardCatalog.make(kind, messageBytes: Self.message)
        let bytes = try #require(CardImage(of: tag)).bytes
        #expect(bytes.count == size)
        #expect(try CardImage(bytes).product != CardImage.Product(kind: kind))
        let named = try CardImage(bytes, of: CardImage.Product(kind: kind))
        #expect(try message(of: named.card()) == .message(Self.message))
    }

    /// As nfc-mfultralight leaves an Ultralight C: it reads 20 pages of a chip that does not tell its version.
    @Test func imageWithoutItsEnd() throws {
        let tag = try SimulatedCardCatalog.make("ultralight-c", messageBytes: Self.message)
        let bytes = Array(try #require(CardImage(of: tag)).bytes.prefix(80))
        let image = try CardImage(bytes, of: .type2(.ultralightC))
        #expect(try message(of: image.card()) == .message(Self.message))
        #expect(CardImage(of: image.card())?.bytes.count == 192)
    }

    @Test func identifiersOfClassic() throws {
        for uid in [[0x3A, 0x5B, 0x7C, 0x9D], [0x04, 1, 2, 3, 5, 6, 7]] as [[UInt8]] {
            let card = SimulatedMIFAREClassic(.oneK, uid: uid)
            #expect(try CardImage(card.memory).uid == uid)
        }
    }

    @Test(arguments: [0, 1, 63, 65, 81, 320 - 16, 1023, 2000, 4097]) func unknownSizes(_ size: Int) {
        let error = #expect(throws: CardImageError.self) { try CardImage([UInt8](repeating: 0xFF, count: size)) }
        let text = error.map { "\($0)" } ?? ""
        #expect(
            text.hasPrefix(
                "\(size) bytes are no memory of a known card. Known sizes: 64 (MIFARE Ultralight), 80 (MIFARE"
            )
        )
        #expect(text.contains("1024 (MIFARE Classic 1K), "))
    }

    @Test(arguments: [(60, "ntag213"), (66, "ntag213"), (184, "ntag213"), (1000, "classic-1k"), (64, "ultralight")])
    func sizesForAKind(_ size: Int, _ kind: String) throws {
        let product = try #require(CardImage.Product(kind: kind))
        let bytes = [UInt8](repeating: 0, count: size)
        if kind == "ultralight" {
            #expect(try CardImage(bytes, of: product).product == product)
        } else {
            #expect(throws: CardImageError.size(size, product: product)) { try CardImage(bytes, of: product) }
        }
        #expect(CardImage.Product(kind: "type4") == nil)
    }

    // MARK: Text

    private func lines(_ bytes: [UInt8], _ length: Int) -> [String] {
        stride(from: 0, to: bytes.count, by: length).map { bytes[$0..<$0 + length].hex }
    }

    @Test func linesOfHexadecimal() throws {
        for (kind, length) in [("classic-1k", 16), ("ntag215", 4)] {
            let card = try SimulatedCardCatalog.make(kind, messageBytes: Self.message)
            let bytes = try #require(CardImage(of: card)).bytes
            let text = lines(bytes, length).joined(separator: "\r\n") + "\n"
            let image = try CardImage(contents: Array(text.utf8))
            #expect(image.bytes == bytes && image.uid == card.uid)
        }
        let error = #expect(throws: CardImageError.self) { try CardImage(contents: Array("00112233\nzz\n".utf8)) }
        #expect(error.map { "\($0)" }?.hasPrefix("line 2: ") == true)
    }

    @Test func flipper() throws {
        let tag = SimulatedNTAG(.ntag213)
        let pages = lines(tag.memory, 4).enumerated().map { "Page \($0): \($1)" }
        let signature = (0..<32).map { UInt8($0 + 1) }
        let header = """
            Filetype: Flipper NFC device
            Version: 4
            # a comment
            Device type: NTAG/Ultralight
            UID: 04 A1 B2 C3 D4 E5 80
            NTAG/Ultralight type: NTAG213
            Signature: \(signature.hex)
            Counter 2: 7
            Pages total: 45

            """
        let image = try CardImage(contents: Array((header + pages.joined(separator: "\n")).utf8))
        #expect(image.product == .type2(.ntag213))
        #expect(image.bytes == tag.memory)
        let card = try #require(image.card() as? SimulatedNTAG)
        #expect(card.counters == [0, 0, 7])
        #expect(answer(card, "3C00") == signature.hex)
        // Blocks that were not read are question marks.
        let classic = SimulatedMIFAREClassic(.mini)
        var blocks = lines(classic.memory, 16)
        blocks[1] = String(repeating: "?? ", count: 16)
        let text = blocks.enumerated().map { "Block \($0): \($1)" }.joined(separator: "\n")
        let dump = try CardImage(
            contents: Array(("Filetype: Flipper NFC device\nMifare Classic type: MINI\n" + text).utf8)
        )
        #expect(dump.bytes == classic.memory)
        for bad in ["Page x: 00112233", "Page 999: 00112233", "Page 0: 0011"] {
            let text = "Filetype: Flipper NFC device\n" + bad
            #expect(throws: CardImageError.self) { try CardImage(contents: Array(text.utf8)) }
        }
    }

    @Test func proxmark() throws {
        let tag = SimulatedNTAG(.ntag212)
        let blocks = lines(tag.memory, 4).enumerated().map { "\"\($0)\": \"\($1)\"" }.joined(separator: ",")
        let text =
            "{\"Created\": \"proxmark3\", \"FileType\": \"mfu\", \"Card\": {\"UID\": \"04A1B2C3D4E580\", "
            + "\"Version\": \"0004040101000E03\"}, \"blocks\": {\(blocks)}}"
        let image = try CardImage(contents: Array(text.utf8))
        #expect(image.product == .type2(.ntag212))
        #expect(image.bytes == tag.memory)
        for bad in ["{", "{}", "{\"blocks\": {\"0\": \"zz\"}}", "{\"blocks\": {\"1\": \"00112233\"}}"] {
            #expect(throws: CardImageError.self) { try CardImage(contents: Array(bad.utf8)) }
        }
    }

    /// Counters have their lowest byte first, as READ_CNT answers.
    @Test func countersOfProxmark() throws {
        let blocks = lines(SimulatedNTAG(.ntag213).memory, 4).enumerated().map { "\"\($0)\": \"\($1)\"" }
        let text =
            "{\"FileType\": \"mfu\", \"Card\": {\"Counter2\": \"050100\"}, \"blocks\": {\(blocks.joined(separator: ","))}}"
        #expect(try CardImage(contents: Array(text.utf8)).counters == [0, 0, 261])
    }

    /// Every chip, with the header of today, that of before, and none.
    @Test(arguments: SimulatedNTAG.Model.all.map(\.name)) func proxmarkBinary(_ name: String) throws {
        let model = try #require(SimulatedNTAG.Model.all.first { $0.name == name })
        let tag = try #require(SimulatedNTAG.formatted(model, message: Self.message))
        let version = model.version ?? [UInt8](repeating: 0, count: 8)
        let signature = (0..<32).map { UInt8($0 + 1) }
        let counters: [UInt8] = [0, 0, 0, 0xBD, 0, 0, 0, 0xBD, 7, 1, 0, 0xBD]
        let header = version + [0, 0, 0, UInt8(model.pages - 1)] + signature + counters
        let oldHeader = version + [0, 0, 0xBD, 0xBD, 0xBD, 0x80, 0x80, 0] + signature
        #expect(header.count == 56 && oldHeader.count == 48)
        for (dump, expected) in [(header, [0, 0, 263]), (oldHeader, nil)] as [([UInt8], [Int]?)] {
            let image = try CardImage(contents: dump + tag.memory)
            #expect(image.product == .type2(model))
            #expect(image.bytes == tag.memory)
            #expect(image.signature == signature)
            #expect(image.counters == expected)
            #expect(try message(of: image.card()) == .message(Self.message))
        }
    }

    @Test func proxmarkBinaryOfOtherChips() throws {
        var dump = [0x00, 0x04, 0x04, 0x05, 0x02, 0x02, 0x13, 0x03] + [UInt8](repeating: 0, count: 48)
        let memory = SimulatedNTAG(.ntag213).memory
        dump[11] = 44
        // NTAG I2C 1K is not simulated; MF0ULH11 and NTAG213F are, as those that they differ from in nothing else.
        #expect(throws: CardImageError.self) { try CardImage(contents: dump + memory) }
        dump.replaceSubrange(0..<8, with: [0x00, 0x04, 0x04, 0x04, 0x01, 0x00, 0x0F, 0x03])
        #expect(try CardImage(contents: dump + memory).product == .type2(.ntag213))
        // A signature of nothing is none.
        #expect(try CardImage(contents: dump + memory).signature == nil)
        // Without its last pages.
        dump[11] = 39
        #expect(try CardImage(contents: dump + memory.prefix(160)).bytes == Array(memory.prefix(160)))
        // Cut off.
        #expect(throws: CardImageError.self) { try CardImage(contents: dump + memory.prefix(150)) }
    }

    @Test func mifareClassicTool() throws {
        for (size, kind) in [(ClassicSize.mini, "classic-mini"), (.oneK, "classic-1k"), (.fourK, "classic-4k")] {
            let card = try SimulatedCardCatalog.make(kind, messageBytes: Self.message)
            let bytes = try #require(CardImage(of: card)).bytes
            let blocks = lines(bytes, 16)
            let text = (0..<size.sectors).map { sector in
                "+Sector: \(sector)\n" + blocks[ClassicSize.blocks(ofSector: sector)].joined(separator: "\n")
            }
            let image = try CardImage(contents: Array(("# Müller\r\n" + text.joined(separator: "\n") + "\n").utf8))
            #expect(image.product == .classic(size))
            #expect(image.bytes == bytes)
            #expect(try message(of: image.card()) == .message(Self.message))
        }
    }

    @Test func mifareClassicToolWithWhatItCouldNotRead() throws {
        let memory = SimulatedMIFAREClassic(.oneK).memory
        let blocks = lines(memory, 16)
        let text = """
            +Sector: 0
            \(blocks[0])
            --------------------------------
            \(blocks[2])
            ------------\(blocks[3].dropFirst(12))
            +Sector: 1
            *Keine Schlüssel gefunden oder Sektor defekt
            +Sector: 7
            \(blocks[28])
            """
        let image = try CardImage(contents: Array(text.utf8))
        #expect(image.product == .classic(.oneK))
        #expect(image.bytes[..<16] == memory[..<16])
        #expect(image.bytes[16..<32].allSatisfy { $0 == 0 })
        #expect(image.bytes[48..<64] == [0, 0, 0, 0, 0, 0] + memory[54..<64])
        #expect(image.bytes.count == 1024)
    }

    /// What looks like a dump and is none is refused by its name.
    @Test(
        arguments: [
            ("+Sector: 40\n00", "line 1: "), ("+Sector: x\n00", "line 1: "), ("+Sector: 0\n0011", "line 2: "),
            ("+Sector: 1\n" + String(repeating: "0", count: 32), "the first sector"),
            ("+Sector: 0\n" + String(repeating: String(repeating: "0", count: 32) + "\n", count: 5), "line 6: "),
            ("FFFFFFFFFFFF\nA0A1A2A3A4A5\n", "lines of 6 bytes are keys"),
            (
                "Filetype: Flipper NFC device\nDevice type: Mifare DESFire\nUID: 04",
                "it is a Flipper dump of 'Mifare DESFire'"
            ),
            ("Filetype: Flipper NFC device\nDevice type: Bank card\n", "it is a Flipper dump of 'Bank card'"),
            ("Filetype: Flipper NFC device\nDevice type: UID\n", "it is a Flipper dump of 'UID'"),
            ("Filetype: Flipper NFC device\nDevice type: ISO14443-4A\n", "it is a Flipper dump of 'ISO14443-4A'"),
            ("Filetype: Flipper NFC device\nDevice type: FeliCa\nBlock 0: 00 00", "it is a Flipper dump of 'FeliCa'"),
            ("Filetype: Flipper NFC device\nDevice type: NTAG4xx\n", "it is a Flipper dump of 'NTAG4xx'"),
            (
                "Filetype: Flipper NFC device\nDevice type: NTAG/Ultralight\nNTAG/Ultralight type: NTAG I2C 1K\nPage 0: 04000000",
                "it is a Flipper dump of 'NTAG I2C 1K'"
            ),
            ("Filetype: Flipper RFID key\nKey type: EM4100\n", "it is a file of the kind 'Flipper RFID key'"),
            ("{\"FileType\": \"mfdes\", \"blocks\": {\"0\": \"00112233\"}}", "it is a Proxmark dump of 'mfdes'"),
            ("{\"FileType\": \"15693 v4\"}", "it is a Proxmark dump of '15693 v4'"),
            ("{\"userId\": 1}", "it is no JSON with blocks"),
        ] as [(String, String)]
    ) func whatIsNoDump(_ text: String, _ reason: String) {
        let error = #expect(throws: CardImageError.self) { try CardImage(contents: Array(text.utf8)) }
        #expect(error.map { "\($0)" }?.hasPrefix(reason) == true, "\(String(describing: error))")
    }

    /// Proxmark's file of both keys of 16 sectors has the size of an Ultralight C.
    @Test func keysAreNoMemory() throws {
        let keys = [UInt8](repeating: 0xFF, count: 192)
        let error = #expect(throws: CardImageError.self) { try CardImage(contents: keys) }
        #expect(error.map { "\($0)" }?.contains("keys of a MIFARE Classic") == true)
        #expect(try CardImage(keys, of: .type2(.ultralightC)).bytes == keys)
    }
}
