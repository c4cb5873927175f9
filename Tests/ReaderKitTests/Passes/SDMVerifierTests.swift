import Testing

@testable import ReaderKit

/// Codes of signing tags: the vectors of AN12196 and of a tag in the open, and what must not pass.
@Suite struct SDMVerifierTests {
    private static let keys = SDMKeys(metaRead: .factory, fileRead: .factory)
    private static let encrypted = SDMLayout(piccData: "e", mac: "c")
    private static let tap = "https://club.example/t?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086"
    private static let open = "https://club.example/t?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3"

    @Test func encryptedIdentifier() throws {
        let tap = try SDMVerifier(layout: Self.encrypted, keys: Self.keys).verify(Self.tap)
        #expect(tap == SDMTap(uid: [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40], counter: 61))
    }

    @Test func identifierInTheOpen() throws {
        let tap = try SDMVerifier(layout: .plain, keys: SDMKeys(metaRead: nil, fileRead: .factory)).verify(Self.open)
        #expect(tap == SDMTap(uid: [0x04, 0x1E, 0x3C, 0x8A, 0x2D, 0x6B, 0x80], counter: 6))
    }

    /// A key for each tag: the one that is asked for is that of the identifier.
    @Test func diversified() throws {
        let keys = SDMKeys(metaRead: .factory) { uid in
            uid == [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40] ? .factory : SecretKey([UInt8](repeating: 1, count: 16))!
        }
        #expect(try SDMVerifier(layout: Self.encrypted, keys: keys).verify(Self.tap).counter == 61)
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

    @Test func noKey() {
        #expect(throws: SDMError.noKey) {
            try SDMVerifier(layout: Self.encrypted, keys: SDMKeys(metaRead: nil, fileRead: .factory)).verify(Self.tap)
        }
    }
}
