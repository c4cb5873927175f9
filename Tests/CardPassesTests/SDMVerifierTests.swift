import CardTags
import Foundation
import Testing
import TestSupport

@testable import CardPasses

/// Codes of signing tags: the vectors of AN12196, of tags in LRP mode and of tags in the open, and what must not pass.
@Suite struct SDMVerifierTests {
    private static let keys = SDMKeys(metaRead: .factory, fileRead: .factory)
    private static let encrypted = SDMLayout(piccData: "e", mac: "c")
    private static let plainLRP = SDMLayout(uid: "uid", counter: "ctr", mac: "cmac", mode: .lrp)
    private static let tap = "https://club.example/t?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086"
    private static let open = "https://club.example/t?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3"
    private static let withData =
        "https://club.example/t?picc_data=FD91EC264309878BE6345CBE53BADF40&enc=CEE9A53E3E463EF1F459635736738962"
        + "&cmac=ECC1E7F6C6C73BF6"
    private static let lrp =
        "https://club.example/t?e=1FCBE61B3E4CAD980CBFDD333E7A4AC4A579569BAFD22C5F&c=4231608BA7B02BA9"
    private static let lrpWithData =
        "https://club.example/t?picc_data=07D9CA2545881D4BFDD920BE1603268C0714420DD893A497"
        + "&enc=D6E921C47DB4C17C56F979F81559BB83&cmac=F9481AC7D855BDB6"

    /// Keys that differ, so that one in place of the other shows.
    private static let ownKeys = SDMKeys(
        metaRead: SecretKey(text: "101112131415161718191A1B1C1D1E1F"),
        fileRead: SecretKey(text: "A0A1A2A3A4A5A6A7A8A9AAABACADAEAF") ?? .factory
    )
    private static let openLRP = "https://club.example/t?uid=04112233445566&ctr=000102&cmac=F2E54BD86341D385"
    private static let openLRPWithData =
        "https://club.example/t?uid=04112233445566&ctr=000102"
        + "&enc=E50B2EF16D250B422632625775AFD77A68429BE172DF095BB9397467B3F6BB6A&cmac=D7B54E60B6A3B4FB"
    /// Encrypted identifier and counter with a random part of `0123456789ABCDEF`.
    private static func made(_ encrypted: String, _ code: String) -> String {
        "https://club.example/t?e=0123456789ABCDEF\(encrypted)&c=\(code)"
    }

    @Test(
        arguments: [
            (tap, encrypted, keys, "04DE5F1EACC040", 61, nil),
            (withData, .encrypted, keys, "04958CAA5C5E80", 8, "xxxxxxxxxxxxxxxx"),
            (open, .plain, SDMKeys(metaRead: nil, fileRead: .factory), "041E3C8A2D6B80", 6, nil),
            // In LRP mode, which the length of what is encrypted tells.
            (lrp, encrypted, keys, "04940E2A2F7080", 3, nil),
            (lrpWithData, .encrypted, keys, "049B112A2F7080", 4, "NTXXb7dz3PsYYBlU"),
            (made("2F1E459E389E2B1A1F155970F16402DE", "51CCF3784112D9D2"), encrypted, ownKeys, "11223344", nil, nil),
            (made("7C8DCC25936981DF709089CCEDAAB13D", "4D94E07AE3099AD2"), encrypted, ownKeys, "", 5, nil),
            (made("484F778AC5C1BF456B5101C93758BDFD", "5F1F95B46C33FBFD"), encrypted, ownKeys, "11223344", 5, nil),
            (openLRP, plainLRP, ownKeys, "04112233445566", 0x0102, nil),
            (
                openLRPWithData,
                SDMLayout(uid: "uid", counter: "ctr", fileData: "enc", mac: "cmac", signedFrom: "enc", mode: .lrp),
                ownKeys, "04112233445566", 0x0102, "MEMBER-000042" + String(repeating: "\0", count: 19)
            ),
        ] as [(String, SDMLayout, SDMKeys, String, UInt32?, String?)]
    )
    func taps(
        _ url: String,
        _ layout: SDMLayout,
        _ keys: SDMKeys,
        _ uid: String,
        _ counter: UInt32?,
        _ data: String?
    ) throws {
        let tap = try SDMVerifier(layout: layout, keys: keys).verify(url)
        #expect(tap == SDMTap(uid: bytes(uid), counter: counter, fileData: data.map { Array($0.utf8) }))
    }

    /// AN12196, table 1: what codes are made with (of SV2), and what file data are encrypted with (of SV1).
    @Test func keysOfATap() throws {
        let key = try #require(SecretKey(text: "5ACE7E50AB65D5D51FD5BF5A16B8205B"))
        let meta = SDMMeta(uid: bytes("04C767F2066180"), counterBytes: [1, 0, 0])
        guard case .aes(let code, let data) = try SDMSession(.aes, key, meta).keys else {
            Issue.record("not AES")
            return
        }
        #expect(code == SecretKey(text: "3A3E8110E05311F7A3FCF0D969BF2B48"))
        #expect(data == SecretKey(text: "66DA61797E23DECA5D8ECA13BBADF7A9"))
    }

    /// Everything in one parameter, one behind the other, as NXP's own backend takes it (`e`); its tests have the data.
    private static let bulk = SDMLayout(piccData: "e", fileData: "e", mac: "e")
    private static let bulkMeta = SecretKey(text: "C3B653D8484D82FD9D5DC48840E1F94E")
    private static let bulkLong =
        "https://club.example/t?e=8DE9030262807261850FCCF5FE007E21"
        + "382B4C3D68552C3A5F417F0695A3D857923764E1737AD1F80E834E46387F45DC"
        + "77FE7468BBCF9DBF43B29CA58E8D6435F908C9C0CD56E9B4B9960FE1279C5DF1DF3EF20BE7D91C8E"
    private static let bulkShort =
        "https://club.example/t?e=4F5B914723915D456C038FE658686CD55CE7DCDEA93F5DA7AAA0AADC97485ABFFFCD8DE82AD05289"
    private static let joined =
        "https://club.example/t?picc_data=8ACADDEF0A9B62CDAE39A16B83FC14DE"
        + "&enc=B8436E11F627BB7F543FCC0C1E0D1A89238B2543A8DEBAD8"

    private static func bulkKeys(_ file: String) -> SDMKeys {
        SDMKeys(metaRead: bulkMeta, fileRead: SecretKey(text: file) ?? .factory)
    }

    @Test(
        arguments: [
            (
                bulkLong, bulk, bulkKeys("1FD0D360CCF906DF902CC8404C7CE5AA"), "04C24EDA926980", 1,
                "NT1" + String(repeating: "x", count: 49) + String(repeating: "E", count: 12)
            ),
            (
                bulkShort, bulk, bulkKeys("97D1C3D765BC22AB707E80723E17B126"), "047D5F2AAA6180", 2,
                "CC\u{4}aaaaEEEEEEEEE"
            ),
            // Identifier and counter apart, the code behind the file data.
            (
                joined, SDMLayout(piccData: "picc_data", fileData: "enc", mac: "enc"),
                SDMKeys(
                    metaRead: SecretKey(text: "42AFF114F2CB3B6141BE6DC95DFC5416"),
                    fileRead: SecretKey(text: "B62A9BAF092439BD43C62AEE96B970C5") ?? .factory
                ),
                "041D3C8A2D6B80", 0x123, "NTXXqno_oBFpwy-V"
            ),
            // Without file data, in either mode, and in the open.
            (tap.replacing("&c=", with: ""), bulk, keys, "04DE5F1EACC040", 61, nil),
            (lrp.replacing("&c=", with: ""), SDMLayout(piccData: "e", mac: "e"), keys, "04940E2A2F7080", 3, nil),
            (
                "https://club.example/t?m=041E3C8A2D6B800000064B00064004B0B3D3",
                SDMLayout(uid: "m", counter: "m", mac: "m"), SDMKeys(metaRead: nil, fileRead: .factory),
                "041E3C8A2D6B80", 6, nil
            ),
        ] as [(String, SDMLayout, SDMKeys, String, UInt32?, String?)]
    )
    func oneParameter(
        _ url: String,
        _ layout: SDMLayout,
        _ keys: SDMKeys,
        _ uid: String,
        _ counter: UInt32?,
        _ data: String?
    ) throws {
        try taps(url, layout, keys, uid, counter, data)
        // Each digit counts, and so does their number.
        let start = try #require(url.firstIndex(of: "=")).utf16Offset(in: url) + 1
        for offset in start..<url.utf16.count {
            var changed = Array(url.utf8)
            changed[offset] = changed[offset] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            let verifier = SDMVerifier(layout: layout, keys: keys)
            #expect(throws: SDMError.self) { try verifier.verify(String(decoding: changed, as: UTF8.self)) }
        }
        for count in [1, 2, 16, 32, 40, 48] {
            #expect(throws: SDMError.self) {
                try SDMVerifier(layout: layout, keys: keys).verify(String(url.dropLast(count)))
            }
            let longer = url + String(repeating: "0", count: count)
            #expect(throws: SDMError.self) { try SDMVerifier(layout: layout, keys: keys).verify(longer) }
        }
    }

    /// A key for each tag: the one that is asked for is that of the identifier.
    @Test func diversified() throws {
        let keys = SDMKeys(metaRead: .factory) { uid in
            uid == [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40] ? .factory : SecretKey([UInt8](repeating: 1, count: 16))
        }
        #expect(try SDMVerifier(layout: Self.encrypted, keys: keys).verify(Self.tap).counter == 61)
    }

    /// The master key and the identifiers of AN10922's example.
    @Test(
        arguments: [
            ("EAA37DDFB2288809", SDMLayout.plain, true), ("D2B16A11F092E366", plainLRP, true),
            ("4B00064004B0B3D3", .plain, false),
        ] as [(String, SDMLayout, Bool)]
    )
    func diversifiedFromAMasterKey(_ code: String, _ layout: SDMLayout, _ isRight: Bool) throws {
        let keys = SDMKeys(
            metaRead: nil,
            master: try #require(SecretKey(text: "00112233445566778899AABBCCDDEEFF")),
            diversification: try #require(
                KeyDiversification(applicationID: [0x30, 0x42, 0xF5], systemIdentifier: Array("NXP Abu".utf8))
            )
        )
        let verifier = SDMVerifier(layout: layout, keys: keys)
        let url = Self.open.replacing("4B00064004B0B3D3", with: code)
        if isRight {
            #expect(try verifier.verify(url).counter == 6)
        } else {
            #expect(throws: SDMError.wrongCode) { try verifier.verify(url) }
        }
    }

    /// Nobody is let in for want of a key, not even with a code of the key of zeros.
    @Test func unknownTag() {
        let keys = SDMKeys(metaRead: .factory) { _ in nil }
        for url in [Self.tap, Self.lrp] {
            #expect(throws: SDMError.wrongCode) {
                try SDMVerifier(layout: Self.encrypted, keys: keys).verify(url)
            }
        }
    }

    @Test(
        arguments: [
            // One digit of the code, of the identifier, of the counter.
            (open.replacing("4B00", with: "4B01"), SDMLayout.plain, SDMError.wrongCode),
            (open.replacing("1E3C", with: "1E3D"), .plain, .wrongCode),
            (open.replacing("000006", with: "000007"), .plain, .wrongCode),
            (open.replacing("&ctr=000006", with: ""), .plain, .missing("ctr")),
            (open.replacing("000006", with: "0006"), .plain, .malformed("ctr")),
            (open.replacing("000006", with: "00:00:06"), .plain, .malformed("ctr")),
            (open.replacing("4B00", with: "4BXX"), .plain, .malformed("cmac")),
            (tap.replacing("EF96", with: "EF97"), encrypted, .wrongCode),
            (tap.replacing("c=94", with: "c=95"), encrypted, .wrongCode),
            (tap.replacing("e=EF", with: "e="), encrypted, .malformed("e")),
            ("", encrypted, .missing("c")), ("https://club.example/t?", encrypted, .missing("c")),
            // What stands behind a fragment is no parameter, and the first of a name counts.
            ("https://club.example/#?e=EF&c=94EED9EE65337086", encrypted, .missing("c")),
            (open + "&cmac=0000000000000000", .plain, nil),
            (open.replacing("?", with: "?cmac=00&"), .plain, .malformed("cmac")),
            // Encrypted in LRP mode: the random part, the data, the code; lengths of no mode; digits that are none.
            (lrp.replacing("1FCB", with: "1FCC"), encrypted, .wrongCode),
            (lrp.replacing("2C5F", with: "2C5E"), encrypted, .wrongCode),
            (lrp.replacing("2BA9", with: "2BA8"), encrypted, .wrongCode),
            (lrp.replacing("2C5F", with: "2C"), encrypted, .malformed("e")),
            (lrp.replacing("2C5F", with: "2C5"), encrypted, .malformed("e")),
            (lrp.replacing("2C5F", with: "2C5F00"), encrypted, .malformed("e")),
            (lrp.replacing("2C5F", with: "2CXF"), encrypted, .malformed("e")),
            (lrp.replacing("1FCBE61B3E4CAD98", with: ""), encrypted, .wrongCode),
            (lrp.replacing("1FCBE61B3E4CAD980CBFDD333E7A4AC4A579569BAFD22C5F", with: ""), encrypted, .malformed("e")),
            (lrp.replacing("4231608BA7B02BA9", with: "4231608BA7B02B"), encrypted, .malformed("c")),
            // In the open the length does not tell the mode.
            (open, plainLRP, .wrongCode),
            // File data: each digit is signed; whole blocks only.
            (withData.replacing("8962", with: "8963"), .encrypted, .wrongCode),
            (lrpWithData.replacing("BB83", with: "BB84"), .encrypted, .wrongCode),
            (lrpWithData.replacing("BB83", with: "BB"), .encrypted, .malformed("enc")),
            (lrpWithData.replacing("BB83", with: "BB8"), .encrypted, .malformed("enc")),
            (lrpWithData.replacing("&enc=D6", with: "&cne=D6"), .encrypted, .missing("enc")),
            // What is not signed is not taken.
            (
                tap + "&d=00112233445566778899AABBCCDDEEFF", SDMLayout(piccData: "e", fileData: "d", mac: "c"),
                .malformed("d")
            ),
            (
                tap.replacing("?", with: "?d=00112233445566778899AABBCCDDEEFF&"),
                SDMLayout(piccData: "e", fileData: "d", mac: "c", signedFrom: "c"), .malformed("d")
            ),
            (tap, SDMLayout(piccData: "e", fileData: "d", mac: "c"), nil),
            (
                open.replacing("&cmac", with: "&x=" + String(repeating: "0", count: 4091) + "&cmac"),
                SDMLayout(uid: "uid", counter: "ctr", mac: "cmac", signedFrom: "x", mode: .lrp), .malformed("x")
            ),
            (
                open.replacing("&cmac", with: "&x=" + String(repeating: "0", count: 4090) + "&cmac"),
                SDMLayout(uid: "uid", counter: "ctr", mac: "cmac", signedFrom: "x", mode: .lrp), .wrongCode
            ),
        ] as [(String, SDMLayout, SDMError?)]
    )
    func refused(_ url: String, _ layout: SDMLayout, _ expected: SDMError?) {
        var error: SDMError?
        do throws(SDMError) {
            _ = try SDMVerifier(layout: layout, keys: Self.keys).verify(url)
        } catch let fault {
            error = fault
        }
        #expect(error == expected)
        #expect(error.map { !"\($0)".contains("04") } ?? true)
    }

    /// Either key, in either mode.
    @Test(
        arguments: [
            (tap, encrypted), (lrp, encrypted), (withData, .encrypted), (lrpWithData, .encrypted),
        ] as [(String, SDMLayout)]
    )
    func wrongKey(_ url: String, _ layout: SDMLayout) throws {
        let other = try #require(SecretKey(text: "A0A1A2A3A4A5A6A7A8A9AAABACADAEAF"))
        for keys in [SDMKeys(metaRead: other, fileRead: .factory), SDMKeys(metaRead: .factory, fileRead: other)] {
            #expect(throws: SDMError.wrongCode) { try SDMVerifier(layout: layout, keys: keys).verify(url) }
        }
    }

    @Test func noKey() {
        for url in [Self.tap, Self.lrp] {
            #expect(throws: SDMError.noKey) {
                try SDMVerifier(layout: Self.encrypted, keys: SDMKeys(metaRead: nil, fileRead: .factory)).verify(url)
            }
        }
    }

    /// What another key makes of encrypted data, which no tag writes.
    @Test(arguments: ["", "00", "37" + "04112233445566" + "010000", "85" + "04112233445566" + "010000", "C0"])
    func noPICCData(_ text: String) {
        #expect(SDMMeta(piccData: bytes(text)) == nil)
    }

    @Test(arguments: [
        (#"{"mac":"c"}"#, SDMLayout(mac: "c")),
        (#"{"mac":"cmac","uid":"uid","counter":"ctr","mode":"aes"}"#, .plain),
        (#"{"mac":"cmac","uid":"uid","counter":"ctr","mode":"lrp"}"#, plainLRP),
        (#"{"mac":"cmac","piccData":"picc_data","fileData":"enc","signedFrom":"enc"}"#, .encrypted),
    ])
    func configuration(_ text: String, _ layout: SDMLayout) throws {
        #expect(try JSONDecoder().decode(SDMLayout.self, from: Data(text.utf8)) == layout)
        #expect(try JSONDecoder().decode(SDMLayout.self, from: JSONEncoder().encode(layout)) == layout)
    }

    @Test(arguments: ["{}", #"{"mac":"c","mode":"des"}"#, #"{"mac":"c","mode":"LRP"}"#])
    func malformedConfiguration(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(SDMLayout.self, from: Data(text.utf8)) }
    }
}
