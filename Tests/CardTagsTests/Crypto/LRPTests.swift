import CardCore
import Testing
import TestSupport

@testable import CardTags

/// The leakage resilient primitive by the examples of AN12304.
@Suite struct LRPTests {
    private static func primitive(_ key: String, _ number: UInt8 = 0) throws -> LRP {
        try LRP(try #require(SecretKey(text: key)), updatedKey: number)
    }

    @Test(
        arguments: [
            ("567826B8DA8E768432A9548DBE4AA3A0", 2, "1359", true, "1BA2C0C578996BC497DD181C6885A9DD"),
            ("88B95581002057A93E421EFE4076338B", 2, "77299D", true, "E9C04556A214AC3297B83E4BDF46F142"),
            (
                "B65557CE0E9B4C5886F232200113562B", 1, "BB4FCF27C94076F756AB030D", false,
                "6FDFA8D2A6AA8476BF94E71F25637F96"
            ),
            ("CAF3750AFF93F9A0C8861BCCCCDF1A9D", 3, "9273B7", false, "468C2BFCF993E7F112E150C17298A968"),
            ("9AFF3EF56FFEC3153B1CADB48B445409", 3, "4B073B247CD48F7E0A", false, "909415E5C8BE77563050F2227E17C0E4"),
            // The updated keys themselves.
            ("567826B8DA8E768432A9548DBE4AA3A0", 0, "", false, "163D14ED24ED935373568EC521E96CF4"),
            ("567826B8DA8E768432A9548DBE4AA3A0", 2, "", false, "FE30AB50467E61783BFE6B5E0560160E"),
        ] as [(String, UInt8, String, Bool, String)]
    )
    func evaluation(_ key: String, _ number: UInt8, _ input: String, _ isFinal: Bool, _ expected: String) throws {
        #expect(try Self.primitive(key, number).evaluate(bytes(input), isFinal: isFinal).hex == expected)
    }

    @Test(
        arguments: [
            (
                "EFA5B7429CD153BF0086DEF900C0F235", "9036FFFF", false, "E7F61E012F4F3255312BA68B1D2FDABF",
                "EA6E09AC2FB97E102D8CA64C1CBC0C0C"
            ),
            (
                "E0C4935FF0C254CD2CEF8FDDC32460CF", "C3315DBF", true, "012D7F1653CAF6503C6AB0C1010E8CB0",
                "FCBBACAA4F29182464F99DE41085266F480E863E487BAAF687B43ED1ECE0D623"
            ),
            (
                "A2D06401CDF35822B430F4457D1D1775", "5C35A6ED", true,
                "D2D83A1971077EDDFE2DF28DF9B736A4D9D4244BCF72E9597CB47B7DCDB5A4B245B52080E79BBFEDC69F1EE983CE",
                "73B1BED57B59090BC496799FA9BFE9F5252A88350A8F48A4FF252B8E813F6D96CA8BA7C8162E4CB2DFE0D53800FF01DA"
            ),
            // Behind the highest counter comes 0.
            (
                "17F248D6920799AFE75B6E4E3E1BBC14", "FFFFFFFF", true,
                "9B8020184B707288E9BCF1D1E2CBC4D0ED0DF78CE4F1DFB18D5BB20E630B54B5CF43FE2EC74222DECB93D25774E0768B",
                "8C8F3AB5C6863E45D1DE3DBEB1CFF992510ABB95B44188B71EEBAA3E86655BA9A3F59795337F7E2299AE771D3428EC7C"
                    + "01AAB4432B046526A9641FB580613CBD"
            ),
        ] as [(String, String, Bool, String, String)]
    )
    func blocks(_ key: String, _ counter: String, _ isPadded: Bool, _ plain: String, _ encrypted: String) throws {
        let primitive = try Self.primitive(key)
        let padded = isPadded ? AES128.padding(bytes(plain)) : bytes(plain)
        #expect(try primitive.encrypt(padded, counter: bytes(counter)).hex == encrypted)
        #expect(try primitive.decrypt(bytes(encrypted), counter: bytes(counter)) == padded)
    }

    @Test(arguments: [
        ("63A0169B4D9FE42C72B2784C806EAC21", "", "0E07C601970814A4176FDA633C6FC3DE"),
        ("A418BA1658A6F0D90830C58679F80AC4", "06", "FF9561CC6E45FFFD4388003AA5F61233"),
        ("8195088CE6C393708EBBE6C7914ECB0B", "BBD5B85772C7", "AD8595E0B49C5C0DB18E77355F5AAFF6"),
        ("5AA9F6C6DE5138113DF5D6B6C77D5D52", "A4434D740C2CB665FE5396959189383F", "8B43ADF767E46B692E8F24E837CB5EFC"),
        (
            "11ED02022570CB10502BC1DACF64B21F", "E825603F896A85CAB45E6730D89DD4CE78010599",
            "4A1577C366D53080D0DFD1CC47EE3CC7"
        ),
        (
            "651312D289F4DE957C208D35827C07E4",
            "D39E4B336C46FCDCFDF803A49EB3A603851CFCFA72B3A5F843768EBDEDEB939891059275C79F1DADE2B97E288A91E3",
            "9B1530F1AD35213EB8903D5610BFD7C4"
        ),
    ])
    func codes(_ key: String, _ message: String, _ code: String) throws {
        #expect(try Self.primitive(key).cmac(bytes(message)).hex == code)
    }

    @Test func takesWholeBlocksAndACounter() throws {
        let primitive = try LRP(.factory)
        for length in [1, 15, 17, 31] {
            let content = [UInt8](repeating: 0, count: length)
            #expect(throws: CryptoFailure.wrongLength) { try primitive.encrypt(content, counter: [0]) }
            #expect(throws: CryptoFailure.wrongLength) { try primitive.decrypt(content, counter: [0]) }
        }
        #expect(throws: CryptoFailure.wrongLength) { try primitive.decrypt(AES128.zeroBlock, counter: []) }
        #expect(try primitive.decrypt([], counter: [0]).isEmpty)
    }

    @Test func showsNothing() throws {
        #expect(Mirror(reflecting: try LRP(.factory)).children.isEmpty)
    }
}
