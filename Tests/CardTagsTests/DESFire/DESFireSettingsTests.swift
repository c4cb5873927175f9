import CardCore
import Testing
import TestSupport

@testable import CardTags

@Suite struct DESFireSettingsTests {
    @Test(arguments: [
        ("00 00 00E0 200000", DESFireFileSettings.Content.standard(size: 32), DESFireCommunication.plain),
        ("00 02 00E0 200000", .standard(size: 32), .plain),
        ("01 01 3012 FFFFFF", .backup(size: 0xFF_FFFF), .authenticated),
        (
            "02 03 3012 00000080 FFFFFF7F 01000000 03",
            .value(.init(lower: .min, upper: .max, limitedCredit: 1, options: 3)), .encrypted
        ),
        ("03 03 3012 1E0000 320000 280000", .linearRecords(.init(size: 30, capacity: 50, count: 40)), .encrypted),
        ("04 00 3012 010000 020000 010000", .cyclicRecords(.init(size: 1, capacity: 2, count: 1)), .plain),
        ("05 00 F01F 02 07", .transactionMAC(keyOptions: 2, keyVersion: 7), .plain),
    ])
    func decodes(text: String, content: DESFireFileSettings.Content, communication: DESFireCommunication) throws {
        let encoded = bytes(text)
        let settings = try #require(DESFireFileSettings(encoded))
        #expect(settings.content == content)
        #expect(settings.communication == communication)
        #expect(settings.additionalRights.isEmpty && settings.sdm == nil)
        #expect(settings.accessRights.number == UInt16(encoded[3]) << 8 | UInt16(encoded[2]))
        for length in encoded.indices {
            #expect(DESFireFileSettings(Array(encoded.prefix(length))) == nil, "\(length) bytes")
        }
        #expect(DESFireFileSettings(encoded + [1, 2]) == settings)
    }

    @Test(arguments: ["06000000000000", "FF000000000000", "", "00"])
    func refusesWhatItDoesNotKnow(text: String) {
        #expect(DESFireFileSettings(bytes(text)) == nil)
    }

    @Test func furtherRights() throws {
        let settings = try #require(DESFireFileSettings(bytes("00 83 3012 200000 02 00E0 FFFF")))
        #expect(settings.additionalRights == [DESFireAccessRights(0xE000), DESFireAccessRights(0xFFFF)])
        #expect(settings.isFreeToRead)
        #expect(settings.communication == .encrypted)
        #expect(DESFireFileSettings(bytes("00 83 3012 200000 03 00E0 FFFF")) == nil)
    }

    /// Options, rights, then only those offsets that the options ask for.
    @Test(arguments: [
        ("00 FFFF", "", 3),
        ("C1 FEEF 010000 020000 ", "uid 1 counter 2", 9),
        ("E1 FEEF 010000 020000 640000", "uid 1 counter 2 limit 100", 12),
        ("C1 F121 200000 430000 430000", "tag 32 input 67 mac 67", 12),
        ("41 FEE0 050000 060000 070000", "counter 5 input 6 mac 7", 12),
    ])
    func sdm(text: String, fields: String, length: Int) throws {
        let encoded = bytes(text)
        let settings = try #require(DESFireSDMSettings(encoded + [0xAA, 0xBB]))
        #expect(settings.encoded == encoded && encoded.count == length)
        let named: [(String, Int?)] = [
            ("uid", settings.uidOffset), ("counter", settings.counterOffset), ("tag", settings.encryptedTagOffset),
            ("input", settings.macInputOffset), ("enc", settings.encryptedOffset),
            ("length", settings.encryptedLength), ("mac", settings.macOffset), ("limit", settings.counterLimit),
        ]
        #expect(named.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: " ") == fields)
        for length in encoded.indices {
            #expect(DESFireSDMSettings(Array(encoded.prefix(length))) == nil, "\(length) bytes")
        }
    }

    @Test func rightsAreTheSameBothWays() {
        for number in UInt16.min...UInt16.max where DESFireAccessRights(number).number != number {
            Issue.record("\(number)")
        }
    }

    @Test func whichCommunicationHolds() throws {
        let settings = try #require(DESFireFileSettings(bytes("00 03 3412 200000")))
        // Read key 1, write key 2, both key 3, change key 4.
        for (key, reading, writing) in [
            (nil, DESFireCommunication.plain, DESFireCommunication.plain), (0, .plain, .plain),
            (1, .encrypted, .plain), (2, .plain, .encrypted), (3, .encrypted, .encrypted), (4, .plain, .plain),
        ] as [(UInt8?, DESFireCommunication, DESFireCommunication)] {
            #expect(settings.readingCommunication(keyNumber: key) == reading)
            #expect(settings.writingCommunication(keyNumber: key) == writing)
        }
    }

    // MARK: Version

    @Test(arguments: [
        ("04010101001A05 04010101041A05", DESFireVersion.Product?.some(.ev1)),
        ("04010112001A05 04010102011A05", .ev2),
        ("04010133001905 04010103001905", .ev3),
        ("04080130001305 04080100021305", .light),
        ("04040230001105 04040201021105", .ntag424),
        ("04010100021A05 04010100061A05", .desfire),
        ("05010101001A05 04010101041A05", nil),
        ("040101FF00FF05 04010101041A05", nil),
    ])
    func version(parts: String, product: DESFireVersion.Product?) throws {
        let text = bytes(parts) + bytes("04E1414AB21C80 CF39D44980 3420")
        let version = try #require(DESFireVersion(text))
        #expect(version.product == product)
        #expect(version.uid?.hex == "04E1414AB21C80")
        #expect(version.batch.hex == "CF39D44980")
        #expect(version.productionWeek == 34 && version.productionYear == 2020)
        #expect(!version.description.contains("04E1414AB21C80") && !"\([version])".contains("E141"))
        for length in text.indices { #expect(DESFireVersion(Array(text.prefix(length))) == nil, "\(length) bytes") }
        #expect(DESFireVersion(text + [0])?.product == product)
    }

    @Test(arguments: [("0020", nil, nil), ("5420", nil, nil), ("5320", 53, 2020), ("0A20", nil, nil), ("01FA", 1, nil)])
    func production(text: String, week: Int?, year: Int?) throws {
        let version = try #require(
            DESFireVersion(bytes("04010101001A05 04010101041A05 00000000000000 0000000000") + bytes(text))
        )
        #expect(version.productionWeek == week)
        #expect(version.productionYear == year)
        // Seven zeros stand for a random identifier.
        #expect(version.uid == nil)
    }

    @Test func applicationIDs() {
        #expect(DESFireApplicationID(0x01_0203)?.wire == [3, 2, 1])
        #expect(DESFireApplicationID(0x01_0203)?.description == "010203")
        #expect(DESFireApplicationID(0x100_0000) == nil)
        #expect(DESFireApplicationID(text: "010203")?.number == 0x01_0203)
        #expect(DESFireApplicationID(text: "0102") == nil)
        #expect(DESFireApplicationID(wire: [3, 2, 1])?.number == 0x01_0203)
        #expect(DESFireApplicationID(wire: [3, 2]) == nil)
    }

    @Test func statusNames() {
        #expect(DESFireStatus(StatusWord(0x91AE))?.description == "AE authentication error")
        #expect(DESFireStatus(StatusWord(0x9000)) == nil)
        #expect(DESFireStatus(rawValue: 0x77).name == "unknown status")
        let names = (UInt8.min...UInt8.max).map { DESFireStatus(rawValue: $0).name }.filter { $0 != "unknown status" }
        #expect(names.count == 24 && Set(names).count == 24)
    }
}
