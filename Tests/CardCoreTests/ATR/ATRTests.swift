import Testing
import TestSupport

@testable import CardCore

@Suite struct ATRTests {
    struct Storage: CustomTestStringConvertible, Sendable {
        var ss: UInt8
        var nn: UInt16
        var tck: UInt8
        var name: String
        var technology: Technology
        var bytes: [UInt8] {
            [0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, ss]
                + [UInt8(nn >> 8), UInt8(nn & 0xFF), 0, 0, 0, 0, tck]
        }
        var testDescription: String { name }
    }

    static let storageCards: [Storage] = [
        Storage(ss: 0x03, nn: 0x0001, tck: 0x6A, name: "MIFARE Classic 1K", technology: .iso14443a),
        Storage(ss: 0x03, nn: 0x0002, tck: 0x69, name: "MIFARE Classic 4K", technology: .iso14443a),
        Storage(ss: 0x03, nn: 0x0003, tck: 0x68, name: "MIFARE Ultralight", technology: .iso14443a),
        Storage(ss: 0x03, nn: 0x0026, tck: 0x4D, name: "MIFARE Mini", technology: .iso14443a),
        Storage(ss: 0x03, nn: 0x003A, tck: 0x51, name: "MIFARE Ultralight C", technology: .iso14443a),
        Storage(ss: 0x03, nn: 0x003D, tck: 0x56, name: "MIFARE Ultralight EV1", technology: .iso14443a),
        Storage(ss: 0x03, nn: 0x0030, tck: 0x5B, name: "Topaz", technology: .iso14443a),
        Storage(ss: 0x03, nn: 0x0036, tck: 0x5D, name: "MIFARE Plus SL1 2K", technology: .iso14443a),
        Storage(ss: 0x03, nn: 0x0037, tck: 0x5C, name: "MIFARE Plus SL1 4K", technology: .iso14443a),
        Storage(ss: 0x11, nn: 0x003B, tck: 0x42, name: "FeliCa", technology: .felica),
        Storage(ss: 0x0B, nn: 0x0014, tck: 0x77, name: "ICODE SLI", technology: .iso15693),
        Storage(ss: 0x0B, nn: 0x0035, tck: 0x56, name: "ICODE SL2", technology: .iso15693),
        Storage(ss: 0x0B, nn: 0x0012, tck: 0x71, name: "Tag-it", technology: .iso15693),
        Storage(ss: 0x06, nn: 0x0007, tck: 0x69, name: "SRIX4K", technology: .iso14443b),
        Storage(ss: 0x07, nn: 0xFFB3, tck: 0x23, name: "SRI4K", technology: .iso14443b),
        Storage(ss: 0x03, nn: 0xFFA0, tck: 0x34, name: "unknown ISO 14443 A card", technology: .iso14443a),
        Storage(ss: 0x0B, nn: 0xFFD0, tck: 0x4C, name: "unknown ISO 15693 card", technology: .iso15693),
    ]

    @Test(arguments: storageCards) func readsStorageCards(_ card: Storage) throws {
        let atr = try ATR(card.bytes)
        #expect(atr.bytes == card.bytes)
        #expect(atr.cardName == card.name)
        #expect(atr.technology == card.technology)
        #expect(atr.isContactless)
        #expect(atr.protocols == [0, 1])
        #expect(atr.historicalBytes.count == 15)
        #expect(atr.tck == card.tck)
        #expect(atr.isTCKValid == true)
        #expect(atr.warnings.isEmpty)
        #expect(atr.storageCard == StorageCard(standard: card.ss, nameCode: card.nn))
    }

    @Test(
        arguments: [
            (0x03, 0xFF20, "ISO 14443-4 A (SAK 20)"),
            (0x03, 0xFF28, "ISO 14443-4 A with MIFARE Classic 1K (SAK 28)"),
            (0x03, 0xFF40, "NFC-DEP target (SAK 40)"),
            (0x03, 0xFF88, "MIFARE Classic 1K (SAK 88)"),
            (0x03, 0xFF18, "unknown ISO 14443 A card (SAK 18)"),
            (0x07, 0xFF18, "unknown ISO 14443 B card (name FF18)"),
            (0x03, 0xF004, "Topaz"),
            (0x03, 0xF011, "FeliCa 212 kbit/s"),
            (0x03, 0x0005, "unknown ISO 14443 A card (name 0005)"),
            (0x0B, 0x0000, "unknown ISO 15693 card"),
            (0x11, 0x1234, "unknown FeliCa card (name 1234)"),
            (0x00, 0x0000, "unknown storage card"),
            (0x7F, 0x0001, "MIFARE Classic 1K"),
            (0x0B, 0xFFFF, "virtual card"),
        ] as [(UInt8, UInt16, String)]
    ) func namesOtherStorageCards(_ ss: UInt8, _ nn: UInt16, _ name: String) {
        #expect(StorageCard(standard: ss, nameCode: nn).displayName == name)
    }

    @Test(
        arguments: [
            ("3B80800101", "ISO 14443-4 A", Technology.iso14443a),
            ("3B8180018080", "MIFARE DESFire", .iso14443a),
            ("3B86800106757781028000", "MIFARE DESFire", .iso14443a),
            ("3B88800100000000338181003A", "ISO 14443-4 B", .iso14443b),
            // Eight historical bytes of type A: compact TLV, and a last byte with a low half.
            ("3B88800180318065B084010068", "ISO 14443-4 A", .iso14443a),
            ("3B88800100000000338181013B", "ISO 14443-4 A", .iso14443a),
        ] as [(String, String, Technology)]
    ) func readsISO14443Part4(
        _ hex: String,
        _ name: String,
        _ technology: Technology
    ) throws {
        let atr = try ATR(Hex.decode(hex))
        #expect(atr.cardName == name)
        #expect(atr.technology == technology)
        #expect(atr.isTCKValid == true)
        #expect(atr.isContactless)
        #expect(atr.storageCard == nil)
    }

    /// Each change to the type B example leaves the shape that type B has.
    @Test(
        arguments: [
            [0x00, 0, 0, 0, 0x3B, 0x81, 0x81, 0x00],
            [0x00, 0, 0, 0, 0x33, 0x80, 0x81, 0x00],
            [0x00, 0, 0, 0, 0x33, 0x89, 0x81, 0x00],
            [0x00, 0, 0, 0, 0x33, 0xD1, 0x81, 0x00],
            [0x00, 0, 0, 0, 0x33, 0x81, 0xF1, 0x00],
            [0x00, 0, 0, 0, 0x33, 0x81, 0x81, 0x08],
            [0x80, 0x66, 0, 0, 0x33, 0x81, 0x81, 0x00],
        ] as [[UInt8]]
    ) func otherShapesAreTypeA(_ historical: [UInt8]) throws {
        let body: [UInt8] = [0x88, 0x80, 0x01] + historical
        let atr = try ATR([0x3B] + body + [body.reduce(0, ^)])
        #expect(atr.technology == .iso14443a)
    }

    @Test func readsContactCards() throws {
        // T=0 only, with TA1, TB1, TC1 and no TCK.
        let plain = try ATR([0x3B, 0x72, 0x11, 0x22, 0x33, 0xAA, 0xBB])
        #expect(plain.interfaceBytes == [ATR.InterfaceGroup(ta: 0x11, tb: 0x22, tc: 0x33)])
        #expect(plain.protocols == [0])
        #expect(plain.historicalBytes == [0xAA, 0xBB])
        #expect(plain.tck == nil)
        #expect(plain.isTCKValid == nil)
        #expect(plain.cardName == "contact card")
        #expect(plain.technology == nil)
        #expect(!plain.isContactless)

        // Inverse convention, nothing else.
        let empty = try ATR([0x3F, 0x00])
        #expect(empty.interfaceBytes.isEmpty)
        #expect(empty.protocols == [0])

        // TD1 names T=0: still no TCK.
        let named = try ATR([0x3B, 0x80, 0x00])
        #expect(named.protocols == [0])
        #expect(named.tck == nil)
        #expect(named.interfaceBytes == [ATR.InterfaceGroup(td: 0x00)])

        // T=1, T=15 for global bytes, T=1 again.
        let body: [UInt8] = [0x91, 0x95, 0x81, 0xB1, 0xFE, 0x55, 0x9F, 0x01, 0x01, 0x42]
        let chain = try ATR([0x3B] + body + [body.reduce(0, ^)])
        #expect(
            chain.interfaceBytes == [
                ATR.InterfaceGroup(ta: 0x95, td: 0x81),
                ATR.InterfaceGroup(td: 0xB1),
                ATR.InterfaceGroup(ta: 0xFE, tb: 0x55, td: 0x9F),
                ATR.InterfaceGroup(ta: 0x01, td: 0x01),
            ]
        )
        #expect(chain.protocols == [1])
        #expect(chain.historicalBytes == [0x42])
        #expect(chain.isTCKValid == true)

        // T=0 and T=15: T=15 alone asks for a TCK.
        let global = try ATR([0x3B, 0x80, 0x80, 0x1F, 0x03, 0x1C])
        #expect(global.protocols == [0])
        #expect(global.isTCKValid == true)
    }

    @Test func aWrongChecksumIsAWarning() throws {
        var bytes = Self.storageCards[0].bytes
        bytes[19] = 0x6B
        let atr = try ATR(bytes)
        #expect(atr.isTCKValid == false)
        #expect(atr.tck == 0x6B)
        #expect(atr.warnings == [.wrongTCK(expected: 0x6A, actual: 0x6B)])
        #expect(atr.warnings.first?.description == "The checksum is 6B and should be 6A.")
        #expect(atr.cardName == "MIFARE Classic 1K")
    }

    /// Some readers leave the checksum out: whatever is complete but for it is read.
    @Test(
        arguments: [
            ("3B808001", "ISO 14443-4 A", 0), ("3B81800180", "MIFARE DESFire", 1),
            ("3B8880010000000033818100", "ISO 14443-4 B", 8),
            ("3B8F80018031806549544A3442120FFF829000", "ISO 14443-4 A", 15),
            ("3B8F8001804F0CA00000030603000300000000", "MIFARE Ultralight", 15),
            ("3B8F8001804F0CA00000030603F01100000000", "FeliCa 212 kbit/s", 15),
            ("3B8B8001804F08A000000306030003", "MIFARE Ultralight", 11),
            ("3B8001", "contact card", 0), ("3B81818142", "contact card", nil), ("3B818001", "contact card", nil),
        ] as [(String, String, Int?)]
    )
    func aMissingChecksumIsAWarning(_ hex: String, _ name: String, _ historical: Int?) throws {
        let bytes = try Hex.decode(hex)
        guard let historical else {
            // A byte of the ATR itself is missing.
            #expect(throws: ATRError.self) { try ATR(bytes) }
            return
        }
        let atr = try ATR(bytes)
        #expect(atr.bytes == bytes && atr.tck == nil && atr.isTCKValid == false)
        #expect(atr.historicalBytes.count == historical && atr.cardName == name)
        let expected = bytes.dropFirst().reduce(0, ^)
        #expect(atr.warnings == [.missingTCK(expected: expected)])
        #expect(atr.warnings.first?.description == "The checksum is missing; it should be \(Hex.encode([expected])).")
        // With it, and with a wrong one and bytes behind it, it is the same card.
        for rest in [[expected], [expected ^ 0xFF], [expected, 0x90, 0x00]] {
            let other = try ATR(bytes + rest)
            #expect(other.cardName == name && other.historicalBytes == atr.historicalBytes)
        }
    }

    /// A name that has a technology of its own counts before the standard, whatever that is.
    @Test(arguments: [0x00, 0x03, 0x07, 0x0B, 0x11, 0x7F] as [UInt8])
    func technologyOfTheName(_ standard: UInt8) {
        let names: [(UInt16, Technology?)] = [
            (0x0001, .iso14443a), (0x0002, .iso14443a), (0x0003, .iso14443a), (0x0026, .iso14443a),
            (0x002F, .iso14443a), (0x0030, .iso14443a), (0x003A, .iso14443a), (0x003D, .iso14443a),
            (0xF004, .iso14443a), (0xFFA1, .iso14443a),
            (0x0006, .iso14443b), (0x0007, .iso14443b), (0x0033, .iso14443b), (0xFFB3, .iso14443b),
            (0x000E, .iso15693), (0x0012, .iso15693), (0x0014, .iso15693), (0x0035, .iso15693), (0x003C, .iso15693),
            (0xFFD0, .iso15693), (0xFFD3, .iso15693),
            (0x003B, .felica), (0xF011, .felica), (0xF012, .felica),
        ]
        for (code, technology) in names {
            let card = StorageCard(standard: standard, nameCode: code)
            #expect(card.technology == technology, "\(code)")
            #expect(card.name != nil, "\(code)")
        }
        // Names of several technologies, and none.
        let stated: [UInt8: Technology] = [0x03: .iso14443a, 0x07: .iso14443b, 0x0B: .iso15693, 0x11: .felica]
        for code: UInt16 in [0x0000, 0x0005, 0x0017, 0xFF20, 0xFFC0, 0xFFFF] {
            #expect(StorageCard(standard: standard, nameCode: code).technology == stated[standard], "\(code)")
        }
    }

    @Test func paddingIsTrimmed() throws {
        let bytes = Self.storageCards[0].bytes
        let padded = try ATR(bytes + [UInt8](repeating: 0, count: 13))
        #expect(padded.bytes == bytes)
        #expect(padded.warnings == [.zeroPadding(count: 13)])
        let longer = try ATR(bytes + [UInt8](repeating: 0, count: 100))
        #expect(longer.bytes == bytes)
        #expect(longer.warnings == [.zeroPadding(count: 100)])
        let trailing = try ATR(bytes + [0x90, 0x00])
        #expect(trailing.bytes == bytes)
        #expect(trailing.warnings == [.trailingBytes(count: 2)])
        #expect(trailing.warnings.first?.description == "2 bytes after the ATR were trimmed.")
    }

    @Test(
        arguments: [
            ("", ATRError.Code.empty, 0),
            ("00", .invalidTS, 0),
            ("033F", .invalidTS, 0),
            ("3B", .truncated, 1),
            ("3B10", .truncated, 2),
            ("3B01", .truncated, 2),
            ("3BF0112233", .truncated, 5),
            ("3B80", .truncated, 2),
            ("3B818001", .truncated, 4),
        ] as [(String, ATRError.Code, Int)]
    ) func refusesMalformed(
        _ hex: String,
        _ code: ATRError.Code,
        _ offset: Int
    ) throws {
        let bytes = try Hex.decode(hex)
        let error = #expect(throws: ATRError.self) { try ATR(bytes) }
        #expect(error?.code == code)
        #expect(error?.offset == offset)
        #expect(error.map { !$0.hint.isEmpty && $0.description.contains($0.hint) } == true)
    }

    @Test func everyCutOfAnATRIsTruncated() throws {
        let bytes = Self.storageCards[0].bytes
        // All but the checksum is a whole ATR.
        for count in 1..<bytes.count - 1 {
            let error = #expect(throws: ATRError.self) { try ATR(Array(bytes[..<count])) }
            #expect(error?.code == .truncated)
            #expect(error?.offset == count)
        }
    }

    @Test func thirtyThreeBytesAreTheMost() throws {
        // T0 and TDs with four interface bytes each: 2 + 4 * 3 + 3 + 15 historical + TCK = 33.
        let body: [UInt8] =
            [0xFF, 1, 2, 3, 0xF1, 1, 2, 3, 0xF1, 1, 2, 3, 0x71, 1, 2, 3] + [UInt8](repeating: 0x20, count: 15)
        let longest = try ATR([0x3B] + body + [body.reduce(0, ^)])
        #expect(longest.bytes.count == 33)
        #expect(longest.isTCKValid == true)
        #expect(longest.historicalBytes.count == 15)
        // One interface byte more.
        var over = body
        over[12] = 0xF1
        over.insert(0x01, at: 16)
        let error = #expect(throws: ATRError.self) { try ATR([0x3B] + over + [over.reduce(0, ^)]) }
        #expect(error?.code == .tooLong)
        #expect(error?.offset == 33)
        // An endless chain of TDs.
        let chain = #expect(throws: ATRError.self) { try ATR([0x3B] + [UInt8](repeating: 0x81, count: 500)) }
        #expect(chain?.code == .tooLong)
    }

    /// Seed 0x5552. Rebuilding the ATR from its parts must give its bytes.
    @Test func randomBytesAreParsedToTheirParts() {
        var random = SeededNumbers(seed: 0x5552)
        var parsed = 0
        var wrong: [[UInt8]] = []
        for _ in rounds(20_000) {
            var bytes = random.bytes(Int.random(in: 0...40, using: &random))
            if !bytes.isEmpty, Int.random(in: 0...2, using: &random) > 0 { bytes[0] = 0x3B }
            if bytes.count > 4, Bool.random(using: &random) {
                bytes.replaceSubrange(0...3, with: [0x3B, 0x80 | bytes[1] & 0x0F, 0x80, 0x01])
            }
            guard let atr = try? ATR(bytes) else { continue }
            parsed += 1
            var rebuilt = Array(bytes[..<2])
            for group in atr.interfaceBytes {
                rebuilt += [group.ta, group.tb, group.tc, group.td].compactMap { $0 }
            }
            rebuilt += atr.historicalBytes
            if let tck = atr.tck { rebuilt.append(tck) }
            let isRight =
                rebuilt == atr.bytes && bytes.starts(with: rebuilt)
                && atr.bytes.count <= ReaderLimits.atrLength
                && !atr.cardName.isEmpty && !atr.protocols.isEmpty
                && atr.protocols.allSatisfy { (0...14).contains($0) }
            if !isRight { wrong.append(bytes) }
        }
        #expect(wrong.isEmpty)
        #expect(parsed > 2000)
    }

    @Test func itsDescriptionIsItsBytes() throws {
        #expect(try ATR([0x3B, 0x80, 0x80, 0x01, 0x01, 0x00, 0x00]).description == "3B 80 80 01 01")
    }

    /// Whether it is of a card with contacts, a module of the reader or an empty slot.
    @Test(
        arguments: [
            ("3B00", true), ("3F00", true), ("3B0000", true), ("3B6E000080318066B0840C016E0183009000", true),
            ("3BDF18FF81F1FE43003F03834D494641524520506C75732053414D3B", true), ("3B04A2131091", true),
            ("3B80800101", false), ("3B8180018080", false), ("3B8F8001804F0CA0000003060300030000000068", false),
            ("3B6F0000804F0CA00000030603000300000000", false), ("3BF59100FF918171FE40004108000000 0D", false),
            ("3B06010022018227", false), ("3B0441117781", false), ("3B880100030506 68D06080D1", false),
            ("3B9F1181113D1005BD25500000000000000000000000FE", false),
        ]
    )
    func contacts(_ text: String, _ isOfContacts: Bool) throws {
        #expect(try ATR(bytes(text)).isOfContacts == isOfContacts)
    }
}
