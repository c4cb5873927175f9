import CardCore
import Testing
import TestSupport

@testable import CardTags

/// Conversations that others published or recorded, byte for byte.
@Suite struct DESFireVectorTests {
    // MARK: EV2 (NXP AN12196)

    private static let challenge = bytes("13C5DB8A5930439FC3DEF9A4C675360F")
    private static let cardChallenge = bytes("B9E2FC789B64BF237CCCAA20EC7E6E48")

    @Test func authenticateEV2First() throws {
        let channel = AnsweringChannel(script: [
            ("9071000002000000", "A04C124213C186F22399D33AC2A30215 91AF"),
            (
                "90AF00002035C3E05A752E0144BAC0DE51C1F22C56B34408A23D8AEA266CAB947EA8E0118D00",
                "3FA64DB5446D1F34CD6EA311167F5E4985B89690C04A05F17FA7AB2F08120663 9100"
            ),
        ])
        var card = DESFireCard(channel) { Self.challenge }
        try card.authenticateEV2First(key: .factory, number: 0)
        #expect(card.session?.generation == .ev2)
        #expect(card.session?.keyNumber == 0)
        #expect(channel.commands.count == 2)
    }

    /// The session that was begun above goes on: its keys and its transaction identifier, 9D00C4DF, are in every byte.
    @Test func writingInThatSession() throws {
        let channel = AnsweringChannel(script: [
            ("9071000002000000", "A04C124213C186F22399D33AC2A30215 91AF"),
            (
                "90AF00002035C3E05A752E0144BAC0DE51C1F22C56B34408A23D8AEA266CAB947EA8E0118D00",
                "3FA64DB5446D1F34CD6EA311167F5E4985B89690C04A05F17FA7AB2F08120663 9100"
            ),
            (
                "908D00009F02000000800000421C73A27D827658AF481FDFF20A5025B559D0E3AA21E58D347F343CFFC768BF"
                    + "E596C706BC00F2176781D4B0242642A0FF5A42C461AAF894D9A1284B8C76BCFA658ACD40555D362E08DB15CF"
                    + "421B51283F9064BCBE20E96CAE545B407C9D651A3315B27373772E5DA2367D2064AE054AF996C6F1F669170F"
                    + "A88CE8C4E3A4A7BBBEF0FD971FF532C3A802AF745660F2B4D1D9A8499661EBF300",
                "FC222E5F7A542452 9100"
            ),
        ])
        var card = DESFireCard(channel) { Self.challenge }
        card.commandSet = .light
        try card.authenticateEV2First(key: .factory, number: 0)
        let text = "choose.url.com/ntag424?e=00000000000000000000000000000000&c=0000000000000000"
        let message = bytes("0051D1014D5504") + Array(text.utf8)
        let content = message + [UInt8](repeating: 0, count: 128 - message.count)
        try card.writeData(content, file: 2, communication: .encrypted)
        #expect(channel.commands.count == 3)
        #expect(card.session != nil)
    }

    @Test func sessionKeysOfEV2() throws {
        let keys = try EV2Messaging.sessionKeys(.factory, ours: Self.challenge, cards: Self.cardChallenge)
        #expect(keys.encryption == SecretKey(text: "1309C877509E5A215007FF0ED19CA564"))
        #expect(keys.code == SecretKey(text: "4C6626F5E72EA694202139295C7A7FC7"))
    }

    @Test func fileSettingsWithCode() throws {
        let channel = AnsweringChannel(script: [
            (
                "90F5000009026597A457C8CD442C00",
                "0040EEEE000100D1FE001F00004400004400002000006A00002A474282E7A47986 9100"
            )
        ])
        var card = DESFireCard(channel)
        let codeKey = try #require(SecretKey(text: "8248134A386E86EB7FAF54A52E536CB6"))
        let messaging = try #require(
            EV2Messaging(
                encryptionKey: .factory,
                codeKey: codeKey,
                transaction: bytes("7A21085E")
            )
        )
        card.session = DESFireSession(keyNumber: 0, messaging)
        let settings = try card.fileSettings(2)
        #expect(settings.content == .standard(size: 256))
        #expect(settings.communication == .plain)
        #expect(
            settings.accessRights == DESFireAccessRights(read: .free, write: .free, readWrite: .free, change: .free)
        )
        let sdm = try #require(settings.sdm)
        #expect(sdm.mirrorsUID && sdm.mirrorsCounter)
        #expect(sdm.metaRead == .key(0) && sdm.fileRead == .key(0) && sdm.counterAccess == .free)
        #expect(sdm.uidOffset == nil && sdm.counterOffset == nil && sdm.counterLimit == nil)
        #expect(sdm.encryptedTagOffset == 0x1F && sdm.macInputOffset == 0x44)
        #expect(sdm.encryptedOffset == 0x44 && sdm.encryptedLength == 0x20 && sdm.macOffset == 0x6A)
        #expect(sdm.encoded == bytes("D1FE001F00004400004400002000006A0000"))
        #expect(card.session != nil)
    }

    @Test func cardUIDEncrypted() throws {
        let channel = AnsweringChannel(script: [
            ("90510000088E2C155ADDA99BE300", "70756055688505B52A5E26E59E329CD6595F672298EA41B7 9100")
        ])
        var card = DESFireCard(channel)
        let encryptionKey = try #require(SecretKey(text: "2B4D963C014DC36F24F69A50A394F875"))
        let codeKey = try #require(SecretKey(text: "379D32130CE61705DD5FD8C36B95D764"))
        let messaging = try #require(
            EV2Messaging(
                encryptionKey: encryptionKey,
                codeKey: codeKey,
                transaction: bytes("DF055522")
            )
        )
        card.session = DESFireSession(keyNumber: 0, messaging)
        #expect(try card.cardUID().bytes.hex == "04958CAA5C5E80")
    }

    // MARK: A recorded conversation with an access card; its keys are not known, so its codes are not verified

    @Test func recordedAccessCard() throws {
        let channel = AnsweringChannel(script: [
            ("00A4040007D276000085010000", "9000"),
            ("905A0000034F49D300", "9100"),
            ("90F50000010F00", "00010312380000 9100"),
            ("90BD0000070F00000005000000", "30318102C2 9100"),
            ("90BD0000070F00000033000000", "30318102C2D9542AFECECA1BA1 9100"),
        ])
        var card = DESFireCard(channel)
        try card.select(name: bytes("D2760000850100"))
        #expect(card.selected == nil)
        let application = try #require(DESFireApplicationID(text: "D3494F"))
        try card.select(application)
        #expect(card.selected == application)
        let settings = try card.fileSettings(0x0F)
        #expect(settings.content == .standard(size: 56))
        #expect(settings.communication == .authenticated)
        #expect(settings.accessRights.description == "read key 1, write key 2, read and write key 0, change key 3")
        #expect(try card.readData(file: 0x0F, length: 5).hex == "30318102C2")
        // Fewer bytes than were asked for are no answer.
        #expect(throws: DESFireError.self) { try card.readData(file: 0x0F, length: 0x33) }
        #expect(channel.commands.count == 5)
    }

    /// What stands behind the settings in that recording is the code of a session: eight bytes that are no settings.
    @Test func recordedSettingsWithTheirCode() throws {
        let settings = try #require(DESFireFileSettings(bytes("00010312380000 03FD0D1FE11E9166")))
        #expect(settings.content == .standard(size: 56))
    }

    // MARK: EV1

    /// Bytes 0 to 3 and 12 to 15 of either challenge.
    @Test func sessionKeyOfEV1() {
        let ours = (0..<16).map { UInt8($0) }
        let cards = (16..<32).map { UInt8($0) }
        let key = EV1Messaging.sessionKey(ours: ours, cards: cards)
        #expect(key == SecretKey(text: "00010203101112130C0D0E0F1C1D1E1F"))
        #expect(EV1Messaging.sessionKey(ours: ours, cards: Array(cards.dropLast())) == nil)
    }

    /// The check value of CRC-32/JAMCRC, least significant byte first.
    @Test func checksum() {
        #expect(DESFireChecksum.bytes(of: Array("123456789".utf8)).hex == "D9C60B34")
    }

    @Test func truncatedCodesAreTheOddBytes() {
        #expect(EV2Messaging.truncated(bytes("000102030405060708090A0B0C0D0E0F")).hex == "01030507090B0D0F")
    }

    @Test func theCounterOfASessionEnds() throws {
        var messaging = try #require(
            EV2Messaging(encryptionKey: .factory, codeKey: .factory, transaction: [0, 0, 0, 0], counter: .max - 1)
        )
        #expect(try messaging.wrap(0xF5, [1], [], .plain) == [1])
        #expect(try messaging.unwrap([], status: 0, .plain).isEmpty)
        #expect(throws: CryptoFailure.exhausted) { try messaging.wrap(0xF5, [1], [], .plain) }
        #expect(throws: CryptoFailure.exhausted) { try messaging.unwrap([], status: 0, .plain) }
    }
}
