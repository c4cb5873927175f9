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
}
