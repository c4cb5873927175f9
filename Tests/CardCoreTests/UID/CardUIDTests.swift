import Foundation
import Testing
import TestSupport

@testable import CardCore

@Suite struct CardUIDTests {
    @Test(
        arguments: [
            (.iso14443a, "04A1B2C3", .fixed),
            (.iso14443a, "08A1B2C3", .random),
            (.iso14443a, "0FA1B2C3", .nonUnique),
            (.iso14443a, "FFA1B2C3", .nonUnique),
            (.iso14443a, "88A1B2C3", .nonUnique),
            (.iso14443a, "18A1B2C3", .nonUnique),
            (.iso14443a, "80A1B2C3", .fixed),
            (.iso14443a, "00000000", .nonUnique),
            (.iso14443a, "04A1B2C3D4E580", .fixed),
            (.iso14443a, "08A1B2C3D4E580", .fixed),
            (.iso14443a, "0FA1B2C3D4E580", .fixed),
            (.iso14443a, "04A1B2C3D4E580112233", .fixed),
            (.iso14443a, "04A1B2C3D4", .nonUnique),
            (.iso14443a, "", .nonUnique),
            (.iso14443b, "04A1B2C3", .random),
            (.iso14443b, "D0021A2B3C4D5E6F", .fixed),
            (.felica, "012E4CD8A1B2C3D4", .fixed),
            (.felica, "01FE4CD8A1B2C3D4", .random),
            (.felica, "02FE4CD8A1B2C3D4", .random),
            (.felica, "03FE4CD8A1B2C3D4", .fixed),
            (.felica, "FFFFFFFFFFFFFFFF", .nonUnique),
            (.iso15693, "E00401001A2B3C4D", .fixed),
            (.iso15693, "E00401", .nonUnique),
            (nil, "04A1B2C3", .fixed),
            (nil, "08A1B2C3", .random),
            (nil, "00D507D0", .fixed),
            (nil, "04A1B2C3D4E580", .fixed),
            (nil, "E00401001A2B3C4D", .fixed),
            (nil, "01FE4CD8A1B2C3D4", .random),
            (nil, "A1B2C3", .nonUnique),
        ] as [(Technology?, String, CardUID.Kind)]
    ) func kinds(
        _ technology: Technology?,
        _ hex: String,
        _ kind: CardUID.Kind
    ) throws {
        #expect(try CardUID(Hex.decode(hex), technology: technology).kind == kind)
    }

    @Test func kindsHaveTheirRawStrings() {
        #expect(CardUID.Kind.allCases.map(\.rawValue) == ["fixed", "random", "nonUnique"])
    }

    @Test(
        arguments: [
            (.iso14443a, "04A1B2C3D4E580", 0x04, "NXP"),
            (.iso14443a, "02A1B2C3D4E580112233", 0x02, "STMicroelectronics"),
            (.iso14443a, "41A1B2C3D4E580", 0x41, "Renesas Electronics"),
            (.iso14443a, "4C5A2B3A9C3980", 0x4C, "LEGIC"),
            (.iso14443a, "5E5A2B3A9C3980", 0x5E, "GANTNER"),
            (.iso14443a, "5F5A2B3A9C3980", 0x5F, "Nordic"),
            (.iso15693, "E07E01001A2B3C4D", 0x7E, "Holtek"),
            (.iso14443a, "6EA1B2C3D4E580", 0x6E, "unknown (0x6E)"),
            (.iso14443a, "7FA1B2C3D4E580", 0x7F, "unknown (0x7F)"),
            (.iso14443a, "00A1B2C3D4E580", 0x00, "unknown (0x00)"),
            (.iso14443a, "04A1B2C3", nil, nil),
            (.iso14443b, "04A1B2C3", nil, nil),
            (.iso14443b, "D0021A2B3C4D5E6F", 0x02, "STMicroelectronics"),
            (.iso15693, "E00401001A2B3C4D", 0x04, "NXP"),
            (.iso15693, "E00780983E796083", 0x07, "Texas Instruments"),
            (.iso15693, "000401001A2B3C4D", nil, nil),
            (.felica, "012E4CD8A1B2C3D4", 0x012E, nil),
            (.felica, "00044CD8A1B2C3D4", 0x0004, nil),
            (.felica, "01FE4CD8A1B2C3D4", nil, nil),
            (nil, "04A1B2C3D4E580", 0x04, "NXP"),
            (nil, "E01601001A2B3C4D", 0x16, "EM Microelectronic-Marin"),
            (nil, "012E4CD8A1B2C3D4", nil, nil),
            (nil, "04A1B2C3", nil, nil),
            (nil, "", nil, nil),
        ] as [(Technology?, String, UInt16?, String?)]
    ) func manufacturers(
        _ technology: Technology?,
        _ hex: String,
        _ code: UInt16?,
        _ name: String?
    ) throws {
        let uid = try CardUID(Hex.decode(hex), technology: technology)
        #expect(uid.manufacturerCode == code)
        #expect(uid.manufacturer == name)
    }

    @Test func theRegisterHasNoGapsButItsOwn() {
        for code in UInt8.min...UInt8.max {
            let isAssigned = (0x01...0x7E).contains(code) && ![0x6E, 0x6F].contains(code)
            #expect((ICManufacturer.name(of: code) != nil) == isAssigned)
        }
    }

    @Test(
        arguments: [
            (.iso15693, "8360793E988007E0", "E00780983E796083"),
            (.iso15693, "E00780983E796083", "E00780983E796083"),
            (.iso15693, "E00780983E7960E0", "E00780983E7960E0"),
            (.iso15693, "8360793E98800700", "8360793E98800700"),
            (.iso15693, "01E0", "01E0"),
            (.iso15693, "", ""),
            (.felica, "0160793E988007E0", "0160793E988007E0"),
            (nil, "0160793E988007E0", "0160793E988007E0"),
        ] as [(Technology?, String, String)]
    ) func putsISO15693InOrder(
        _ technology: Technology?,
        _ given: String,
        _ hex: String
    ) throws {
        #expect(try CardUID(readerBytes: Hex.decode(given), technology: technology).hex == hex)
    }

    @Test(arguments: ["04A1B2C3", "04:a1:b2:c3", "04-A1-B2-C3", "04 A1 B2 C3", "0x04a1b2c3", "0X04A1B2C3"])
    func readsText(_ text: String) throws {
        let uid = try CardUID(text: text)
        #expect(uid == CardUID([0x04, 0xA1, 0xB2, 0xC3], technology: nil))
    }

    @Test(
        arguments: [
            ("", UIDError.Code.empty, 0),
            (" : ", .empty, 3),
            ("0x", .empty, 2),
            ("04A", .notHexadecimal, 3),
            ("04A1G2", .notHexadecimal, 4),
            ("0x04G1", .notHexadecimal, 4),
            ("0:4", .notHexadecimal, 1),
            ("0404040404040404040404040404040404", .tooLong, 34),
        ] as [(String, UIDError.Code, Int)]
    ) func refusesText(_ text: String, _ code: UIDError.Code, _ offset: Int) {
        let error = #expect(throws: UIDError.self) { try CardUID(text: text) }
        #expect(error?.code == code)
        #expect(error?.offset == offset)
        #expect(error.map { !$0.hint.isEmpty && $0.description.contains($0.hint) } == true)
    }

    @Test func itsDescriptionDoesNotShowIt() {
        let uid = CardUID([0x04, 0xA1, 0xB2, 0xC3], technology: .iso14443a)
        #expect("\(uid)" == "fixed UID of 4 bytes")
        #expect(String(reflecting: uid) == "fixed UID of 4 bytes")
    }

    @Test(arguments: [
        ("04A1B2C3", ["04A1B2C3D4"]),
        ("04A1B2C3D4E580", ["8804A1B29F", "C3D4E58072"]),
        ("04A1B2C3D4E580112233", ["8804A1B29F", "88C3D4E57A", "8011223380"]),
    ]) func cascades(_ hex: String, _ levels: [String]) throws {
        let uid = try CardUID(Hex.decode(hex), technology: .iso14443a)
        #expect(uid.cascadeLevels?.map(\.hex) == levels)
    }

    @Test func otherLengthsDoNotCascade() {
        for count in [0, 1, 3, 5, 8, 11] {
            #expect(CardUID([UInt8](repeating: 1, count: count), technology: nil).cascadeLevels == nil)
        }
    }

    /// Seed 0x5553.
    @Test func randomBytesHaveEveryForm() throws {
        var random = SeededNumbers(seed: 0x5553)
        let technologies: [Technology?] = Technology.allCases + [nil]
        var wrong: [[UInt8]] = []
        for index in rounds(20_000) {
            let bytes = random.bytes(Int.random(in: 0...16, using: &random))
            let technology = technologies[index % technologies.count]
            let uid = CardUID(readerBytes: bytes, technology: technology)
            var isRight =
                uid.hex.utf8.count == 2 * bytes.count
                && (uid.wiegand26 == nil) == bytes.isEmpty && (uid.wiegand34 == nil) == bytes.isEmpty
            if !bytes.isEmpty {
                let again = try CardUID(text: uid.hex, technology: technology)
                isRight = isRight && again == uid
            }
            if !isRight { wrong.append(bytes) }
            // Any bytes may come as text; most are refused.
            _ = try? CardUID(text: String(decoding: bytes, as: UTF8.self))
        }
        #expect(wrong.isEmpty)
    }
}
