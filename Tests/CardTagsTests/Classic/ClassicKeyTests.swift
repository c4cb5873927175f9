import CardCore
import Testing
import TestSupport

@testable import Captures
@testable import CardTags

@Suite struct ClassicKeyTests {
    @Test func publicKeys() {
        #expect(ClassicKey.directory.bytes.hex == "A0A1A2A3A4A5")
        #expect(ClassicKey.ndef.bytes.hex == "D3F7D3F7D3F7")
        #expect(ClassicKey.factory.bytes.hex == "FFFFFFFFFFFF")
    }

    @Test(arguments: [0, 5, 7]) func length(_ count: Int) {
        #expect(ClassicKey(Array(repeating: 1, count: count)) == nil)
    }

    @Test func noTextShowsAKey() throws {
        let secret = try #require(ClassicKey([0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6]))
        var keys = ClassicKeys(newKeyB: secret)
        keys[3, .a] = secret
        var texts = ["\(secret)", String(reflecting: secret), "\(keys)", String(reflecting: keys)]
        for value in [secret as Any, keys as Any] {
            var dumped = ""
            dump(value, to: &dumped)
            texts.append(dumped)
        }
        for text in texts {
            #expect(!text.uppercased().contains("C1C2") && !text.contains("193") && !text.contains("0xc1"), "\(text)")
        }
        #expect(keys[3, .a] == secret && keys[3, .b] == nil && !secret.isPublic && ClassicKey.ndef.isPublic)
    }

    @Test(arguments: [
        (0, 0..<4), (1, 4..<8), (15, 60..<64), (31, 124..<128), (32, 128..<144), (39, 240..<256), (40, 0..<0),
        (-1, 0..<0),
    ])
    func blocks(_ sector: Int, _ blocks: Range<Int>) {
        #expect(ClassicSize.blocks(ofSector: sector) == blocks)
        for block in blocks { #expect(ClassicSize.sector(ofBlock: block) == sector) }
        for block in blocks { #expect(ClassicSize.isTrailer(block) == (block == blocks.upperBound - 1)) }
    }

    @Test(
        arguments: [
            (0x09, ClassicSize.mini), (0x08, .oneK), (0x88, .oneK), (0x28, .oneK), (0x18, .fourK), (0x38, .fourK),
            (0x19, .twoK), (0x98, .fourK), (0x00, nil), (0x01, nil), (0x10, nil), (0x11, nil), (0x20, nil),
        ] as [(UInt8, ClassicSize?)]
    )
    func sizeFromSAK(_ sak: UInt8, _ size: ClassicSize?) {
        #expect(ClassicSize(sak: sak) == size)
        #expect(ClassicSize(facts: CardFacts(values: [.init("sak", [sak])])) == size)
    }

    /// Whatever is asked which card shows a SAK, the answer is the same: a Classic for none or for all.
    @Test(arguments: UInt8.min...UInt8.max)
    func tablesAgree(sak: UInt8) {
        let facts = CardFacts(technology: .iso14443a, values: [.init("sak", [sak])])
        let standing = CardFacts(atr: facts.effectiveATR)
        let isClassic = TagReader.type(of: facts) == .mifareClassic
        #expect(TagReader.type(of: standing) == TagReader.type(of: facts))
        #expect(ClassicSize(facts: standing) == (sak & 0x20 == 0 ? ClassicSize(sak: sak) : nil))
        // A smart card with a Classic inside is spoken to as a smart card.
        #expect((ClassicSize(sak: sak) != nil && sak & 0x20 == 0) == isClassic)
        let product = CardTables.iso14443a(sak: sak, atqa: nil)?.product
        #expect((product?.family == .classic) == isClassic)
        if isClassic, let product { #expect(ClassicSize(sak: sak).map { $0.blocks * 16 } == product.memory) }
        let conversation = RedactionConversation(Capture.Presentation(at: .zero, facts: facts))
        #expect(conversation.isClassic == (ClassicSize(sak: sak) != nil))
    }

    @Test(
        arguments: [
            (0x0001, ClassicSize.oneK), (0x0002, .fourK), (0x0026, .mini), (0x0036, .twoK), (0x0037, .fourK),
            (0xFF88, .oneK), (0x0003, nil), (0xFFA0, nil),
        ] as [(UInt16, ClassicSize?)]
    )
    func sizeFromATR(_ name: UInt16, _ size: ClassicSize?) {
        let atr = [UInt8]([0x3B]) + bytes("8F8001804F0CA000000306") + [0x03, UInt8(name >> 8), UInt8(name & 0xFF)]
        let whole = atr + [0, 0, 0, 0]
        let check = whole.dropFirst().reduce(0, ^)
        #expect(ClassicSize(facts: CardFacts(atr: whole + [check])) == size)
    }
}
