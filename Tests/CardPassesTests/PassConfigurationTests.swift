import CardCore
import CardTags
import Foundation
import Testing
import TestSupport

@testable import CardPasses

/// The configuration file of passes, and the keys that it names.
@Suite struct PassConfigurationTests {
    private static let whole = """
        {
          "appleVAS": {
            "passes": [{ "passTypeIdentifier": "pass.com.example.club", "keys": ["vas.pem"] }],
            "longestAgeSeconds": 60, "triesVariant": true
          },
          "smartTap": { "collector": 20180608, "keyVersion": 1, "key": "smarttap.pem",
            "memberKinds": ["loyalty", "giftCard"], "issuers": [20180608, 3388000000012345678] },
          "signingTags": [
            { "host": "club.example", "path": "/t", "metaReadKey": "meta.key", "fileReadKey": "file.key",
              "layout": { "piccData": "e", "mac": "c" },
              "diversification": { "method": "AN10922", "applicationID": "3042F5", "systemIdentifier": "NXP Abu" } }
          ],
          "cards": [{ "uri": { "host": "club.example", "parameter": "t", "isToken": true } }],
          "tokens": { "keys": ["issuer.jwks"], "issuer": "https://club.example", "audience": "door" },
          "order": ["smartTap", "sdm"], "lowestAssurance": "cryptographic"
        }
        """

    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ text: String, to name: String, mode: Int = 0o600) throws {
            let made = FileManager.default.createFile(
                atPath: "\(path)/\(name)",
                contents: Data(text.utf8),
                attributes: [.posixPermissions: mode]
            )
            #expect(made)
        }

        /// All keys that ``whole`` names.
        func writeKeys() throws {
            try write(AppleVASKey().pem, to: "vas.pem")
            try write(SmartTapKey(collectorID: 1, version: 1).pem, to: "smarttap.pem")
            for name in ["meta.key", "file.key"] { try write(String(repeating: "0", count: 32) + "\n", to: name) }
            try write(SignedTokenTests.set, to: "issuer.jwks", mode: 0o644)
        }
    }

    @Test func everything() async throws {
        let folder = try Folder()
        try folder.writeKeys()
        try folder.write(Self.whole, to: "passes.json", mode: 0o644)
        let site = try PassConfiguration(path: folder.path + "/passes.json").site(folder: folder.path)
        #expect(site.appleVAS?.merchants.map(\.passTypeIdentifier) == ["pass.com.example.club"])
        #expect(site.appleVAS?.allowsVariant == true && site.longestAge == .seconds(60))
        #expect(site.smartTap?.credential.collector.id == 20_180_608)
        #expect(site.signingTags.map(\.host) == ["club.example"] && site.signingTags.first?.identity == .uid)
        #expect(site.cards.count == 1 && site.tokens?.keyNames == ["a", "b"])
        let key = site.signingTags.first?.verifier.keys.fileRead([0x04, 0x78, 0x2E, 0x21, 0x80, 0x1D, 0x80])
        #expect(key != nil && key != SecretKey([UInt8](repeating: 0, count: 16)))
        #expect(site.smartTapKinds == [.loyalty, .giftCard])
        #expect(site.smartTapIssuers == [20_180_608, 3_388_000_000_012_345_678])
        let members = try #require(site.explanation.first { $0.place == "smartTap.memberKinds" }).what
        #expect(members.hasPrefix("the member is the first of loyalty, giftCard, issued by 20180608, 33880"))
        #expect(members.hasSuffix("nor does Google's number of the customer"))
        #expect(site.order == [.smartTap, .sdm] && site.lowestAssurance == .cryptographic)
        let empty = try PassConfiguration(json: Data("{}".utf8)).site(folder: "/")
        #expect(empty.uidDespite.isEmpty)
        let open = try PassConfiguration(json: Data(#"{"uidDespite":["tagProtected"]}"#.utf8)).site(folder: "/")
        #expect(open.uidDespite == [.tagProtected])
        #expect(open.explanation.last?.what == "the card's own number counts in spite of tagProtected")
        #expect(empty.smartTapKinds == [.loyalty] && empty.smartTapIssuers == nil)
        #expect(empty.appleVAS == nil && empty.smartTap == nil && empty.signingTags.isEmpty)
    }

    @Test(
        arguments: [
            ("", "", "no JSON"), ("[]", "", "an object"), ("{", "", "no JSON"),
            (#"{"apleVAS":{}}"#, "apleVAS", "appleVAS, cards, lowestAssurance"),
            (#"{"smartTap":{"collector":"1","keyVersion":1,"key":"k"}}"#, "smartTap.collector", "a whole number"),
            (#"{"smartTap":{"collector":-1,"keyVersion":1,"key":"k"}}"#, "smartTap.collector", "0 to 4294967295"),
            (#"{"smartTap":{"collector":1,"key":"k"}}"#, "smartTap", "'keyVersion' is missing"),
            (#"{"appleVAS":{"passes":[{"keys":[]}]}}"#, "appleVAS.passes[0]", "'passTypeIdentifier' is missing"),
            (#"{"appleVAS":{"passes":[],"longestAgeSeconds":0}}"#, "appleVAS.longestAgeSeconds", "1 to 86400"),
            (#"{"appleVAS":{"passes":{}}}"#, "appleVAS.passes", "a list"),
            (#"{"order":["uid","sign"]}"#, "order[1]", "no value"),
            (#"{"uidDespite":["tagBroken"]}"#, "uidDespite[0]", "there are: tagProtected, tagUnsupported"),
            (
                #"{"uidDespite":["tagProtected","readFailed"]}"#, "uidDespite[1]",
                "there are: tagProtected, tagUnsupported"
            ),
            (#"{"uidDespite":true}"#, "uidDespite", "a list"),
            (#"{"lowestAssurance":3}"#, "lowestAssurance", "a text"),
            (#"{"smartTap":{"collector":1,"keyVersion":1}}"#, "smartTap", "either 'key' or 'preSigned'"),
            (#"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","preSigned":"p"}}"#, "smartTap", "either"),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","memberKinds":["loyalty","coupon"]}}"#,
                "smartTap.memberKinds[1]", "there are: customer, loyalty, offer, giftCard"
            ),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","memberKinds":["ly"]}}"#,
                "smartTap.memberKinds[0]",
                "there are: customer, loyalty"
            ),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","issuers":["1"]}}"#, "smartTap.issuers[0]",
                "a whole number"
            ),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","issuers":[7,"0133EE80"]}}"#,
                "smartTap.issuers[1]", "'0133EE80' in hexadecimal, as in scan events, is 20180608"
            ),
            (
                #"{"signingTags":[{"host":"a","metaReadKey":"m","fileReadKey":"k","layout":{"mac":"c","piccData":"e","uid":"u"}}]}"#,
                "signingTags[0].layout", "leave out 'uid' and 'counter'"
            ),
            (
                #"{"signingTags":[{"host":"a","metaReadKey":"m","fileReadKey":"k","layout":{"mac":"e","piccData":"e","counter":"e"}}]}"#,
                "signingTags[0].layout", "leave out 'uid' and 'counter'"
            ),
            (#"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","kinds":[]}}"#, "smartTap.kinds", "memberKinds"),
            (#"{"tokens":{"keys":["k"],"leewaySeconds":-1}}"#, "tokens.leewaySeconds", "0 to 86400"),
            (#"{"tokens":{"key":"k"}}"#, "tokens.key", "audience, idClaim"),
            (#"{"tokens":{"keys":[]}}"#, "tokens.keys", "no key"),
            (#"{"cards":[{"uri":{"host":"https://a"}}]}"#, "cards[0].uri.host", "as club.example"),
            (#"{"cards":[{"uri":{"host":"a:8443"}}]}"#, "cards[0].uri.host", "as club.example"),
            (#"{"cards":[{"uri":{"host":"a","path":"m"}}]}"#, "cards[0].uri.path", "begins with '/'"),
            (
                #"{"signingTags":[{"host":"","fileReadKey":"k","layout":{"mac":"c","uid":"u"}}]}"#,
                "signingTags[0].host", "as club.example"
            ),
            (
                #"{"signingTags":[{"host":"a","fileReadKey":"k","layout":{"mac":"c","piccData":"e"}}]}"#,
                "signingTags[0]", "no 'metaReadKey'"
            ),
            (
                #"{"signingTags":[{"host":"a","fileReadKey":"k","layout":{"mac":"c","uid":"u","fileData":"d"}}]}"#,
                "signingTags[0].layout", "no 'signedFrom'"
            ),
            (
                #"{"signingTags":[{"host":"a","fileReadKey":"k","layout":{"mac":"c","uid":"u"},"identity":"fileData"}]}"#,
                "signingTags[0].layout", "'fileData' is to name"
            ),
            (
                #"{"signingTags":[{"host":"a","fileReadKey":"k","layout":{"mac":"c"}}]}"#,
                "signingTags[0].layout", "'uid' is to name"
            ),
            (#"{"lowestAssurance":"crypto"}"#, "lowestAssurance", "there are: none, identifier, cryptographic"),
            (#"{"cards":[{"uri":{"host":"a","isToken":true}}]}"#, "cards[0]", "no 'tokens' to check it with"),
            (#"{"cards":[{"uri":{"hots":"a"}}]}"#, "cards[0].uri.hots", "host, isToken"),
            (#"{"cards":[{"uri":{"host":"a"},"text":{}}]}"#, "cards[0]", "no value"),
            (#"{"cards":[{"vcard":{}}]}"#, "cards[0].vcard", "json, mime, text, uri"),
            (
                #"{"signingTags":[{"host":"a","fileReadKey":"k","layout":{"mac":"c"},"diversification":{"method":"X"}}]}"#,
                "signingTags[0].diversification.method", "no value"
            ),
            (
                #"{"signingTags":[{"host":"a","fileReadKey":"k","layout":{"mac":"c","piccdata":"e"}}]}"#,
                "signingTags[0].layout.piccdata", "piccData"
            ),
        ] as [(String, String, String)]
    )
    func malformed(_ text: String, _ place: String, _ what: String) {
        do throws(PassConfigurationError.Fault) {
            _ = try PassConfiguration(json: Data(text.utf8))
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.place == place, "\(text): \(error)")
            #expect(error.what.contains(what), "\(text): \(error)")
        }
    }

    /// File data directly before the code need nothing that says where the signed part begins.
    @Test func oneParameter() throws {
        let text = """
            {"signingTags":[{"host":"a","fileReadKey":"f","metaReadKey":"m",
                             "layout":{"piccData":"e","fileData":"e","mac":"e"},"identity":"fileData"}]}
            """
        let tags = try #require(try PassConfiguration(json: Data(text.utf8)).signingTags?.first)
        #expect(tags.layout == SDMLayout(piccData: "e", fileData: "e", mac: "e"))
    }

    @Test func keys() async throws {
        let folder = try Folder()
        let configuration = try PassConfiguration(json: Data(Self.whole.utf8))
        func error() async -> PassConfigurationError? {
            do throws(PassConfigurationError) {
                _ = try configuration.site(folder: folder.path)
                return nil
            } catch let fault {
                return fault
            }
        }
        let path = folder.path + "/vas.pem"
        #expect(await error() == .keyNotReadable(path, "No such file or directory"))
        try folder.writeKeys()
        #expect(await error() == nil)
        for mode in [0o640, 0o604, 0o666] {
            chmod(path, mode_t(mode))
            #expect(await error() == .keyOpenToOthers(path, mode: UInt32(mode)))
            #expect("\(await error().map { "\($0)" } ?? "")".contains("chmod 600"))
        }
        chmod(path, 0o600)
        for text in ["", "no key", AppleVASKey().passEncryptionPublicKey, "\u{FFFD}"] {
            try folder.write(text, to: "vas.pem")
            #expect(await error() == .noKey(path, "a P-256 private key in PEM"))
        }
        try folder.writeKeys()
        try folder.write("00112233", to: "file.key")
        #expect(await error() == .noKey(folder.path + "/file.key", "a key of 32 hexadecimal digits"))
        try folder.writeKeys()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(await error() == .keyNotReadable(path, "it is no file"))
    }

    @Test func publicKeys() async throws {
        let folder = try Folder()
        try folder.writeKeys()
        let configuration = try PassConfiguration(json: Data(Self.whole.utf8))
        let path = folder.path + "/issuer.jwks"
        chmod(path, 0o664)
        await #expect(throws: PassConfigurationError.writableByOthers(path, mode: 0o664)) {
            try configuration.site(folder: folder.path)
        }
        try folder.write("{}", to: "issuer.jwks", mode: 0o644)
        await #expect(throws: PassConfigurationError.badPublicKeys(path, .malformed)) {
            try configuration.site(folder: folder.path)
        }
    }

    @Test func aByteOrderMarkDoesNoHarm() throws {
        let folder = try Folder()
        try folder.writeKeys()
        let plain = try PassConfiguration(json: Data(Self.whole.utf8)).site(folder: folder.path)
        for name in ["vas.pem", "smarttap.pem", "meta.key", "file.key", "issuer.jwks"] {
            let text = try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
            try folder.write("\u{FEFF}" + text, to: name)
        }
        try folder.write("\u{FEFF}" + Self.whole, to: "passes.json", mode: 0o644)
        let site = try PassConfiguration(path: folder.path + "/passes.json").site(folder: folder.path)
        #expect(site.tokens?.keyNames == plain.tokens?.keyNames)
        #expect(site.smartTap?.credential.collector.id == plain.smartTap?.credential.collector.id)
        #expect(
            site.appleVAS?.merchants.map(\.passTypeIdentifier) == plain.appleVAS?.merchants.map(\.passTypeIdentifier)
        )
    }

    @Test func configurationOfOthers() throws {
        let folder = try Folder()
        try folder.write("{}", to: "passes.json", mode: 0o664)
        let path = folder.path + "/passes.json"
        #expect(throws: PassConfigurationError.writableByOthers(path, mode: 0o664)) {
            try PassConfiguration(path: path)
        }
        if geteuid() == 0 {
            chmod(path, 0o644)
            chown(path, 4711, 4711)
            #expect(throws: PassConfigurationError.ownedByAnother(path)) { try PassConfiguration(path: path) }
        }
    }

    /// Keys where names of files belong, which must not be shown.
    @Test(arguments: [AppleVASKey().pem, String(repeating: "0A", count: 16), #"{"keys":[]}"#])
    func keyInPlaceOfFile(_ key: String) async throws {
        let json = String(decoding: try JSONEncoder().encode([key]), as: UTF8.self)
        let texts = [
            #"{"appleVAS":{"passes":[{"passTypeIdentifier":"pass.a","keys":\#(json)}]}}"#,
            #"{"tokens":{"keys":\#(json)}}"#,
        ]
        for text in texts {
            let configuration = try PassConfiguration(json: Data(text.utf8))
            #expect(throws: PassConfigurationError.keyInPlaceOfFile) { try configuration.site(folder: "/") }
        }
    }

    /// Keys of 32 bytes on other curves, which are no keys of a wallet.
    @Test func otherCurves() throws {
        // PKCS #8 of secp256k1 and brainpoolP256r1 differ from P-256 in the name of the curve.
        let pem = AppleVASKey().pem
        let body = pem.split(separator: "\n").dropFirst().dropLast().joined()
        var bytes = try #require(Data(base64Encoded: body))
        let place = try #require(bytes.firstRange(of: Data([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])))
        bytes[place.upperBound - 1] = 0x06
        let lines = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let other = "-----BEGIN PRIVATE KEY-----\n\(lines)\n-----END PRIVATE KEY-----\n"
        #expect(AppleVASKey(pem: pem) != nil && AppleVASKey(pem: other) == nil)
        #expect(SmartTapKey(pem: other, collectorID: 1, version: 1) == nil)
    }

    /// What `openssl ecparam -name prime256v1 -genkey` writes: SEC 1, with the parameters of the curve before it.
    @Test func parametersBeforeTheKey() {
        let text = """
            a comment
            -----BEGIN EC PARAMETERS-----
            BggqhkjOPQMBBw==
            -----END EC PARAMETERS-----
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEIKRWs4g47MjEeWJ5AGuqwywi5IZqIrw7VKivWkIUIozcoAoGCCqGSM49
            AwEHoUQDQgAEcc2CQZVrqbgfQAOzMUxOp0mJJwHBoYL9bqGacyMfEomIQZ9PkwDK
            9k5Q/nvuO05AIXNns0ZzNdoWceyRATRBEA==
            -----END EC PRIVATE KEY-----
            """
        let indented = text.split(separator: "\n").map { "  \($0) \r\n" }.joined()
        for text in [text, indented] {
            let point = AppleVASKey(pem: text)?.publicKey
            #expect(point?.dropFirst().hex == "71CD8241956BA9B81F4003B3314C4EA749892701C1A182FD6EA19A73231F1289")
        }
    }

    @Test func tooMany() {
        let tags = Array(repeating: #"{"host":"a","fileReadKey":"k","layout":{"mac":"c","uid":"u"}}"#, count: 65)
        #expect(throws: PassConfigurationError.Fault(place: "signingTags", what: "at most 64 belong here")) {
            try PassConfiguration(json: Data("{\"signingTags\":[\(tags.joined(separator: ","))]}".utf8))
        }
    }

    @Test func preSigned() async throws {
        let folder = try Folder()
        let key = SmartTapKey(collectorID: 7, version: 2)
        try folder.write(try SmartTapPreSignature(key).text, to: "door.json")
        func site(_ collector: Int) async throws -> PassSite {
            let text = #"{"smartTap":{"collector":\#(collector),"keyVersion":2,"preSigned":"door.json"}}"#
            return try PassConfiguration(json: Data(text.utf8)).site(folder: folder.path)
        }
        #expect(try await site(7).smartTap?.credential.collector.version == 2)
        // A signature is of one collector.
        await #expect(throws: PassConfigurationError.self) { try await site(8) }
    }

    @Test(
        arguments: [
            ("{}", []), (#"{"order":["uid"]}"#, []), (#"{"order":["sdm"]}"#, ["order"]), (#"{"order":[]}"#, ["order"]),
            (#"{"order":["uid","uid"]}"#, ["order"]), (#"{"lowestAssurance":"cryptographic"}"#, ["lowestAssurance"]),
            (#"{"lowestAssurance":"none"}"#, ["lowestAssurance"]),
            (#"{"smartTap":{"collector":1,"keyVersion":1,"key":"k"}}"#, ["lowestAssurance"]),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"preSigned":"k"},"order":["smartTap"]}"#,
                ["smartTap.preSigned"]
            ),
            (#"{"smartTap":{"collector":1,"keyVersion":1,"key":"k"},"order":["text"]}"#, ["order"]),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","memberKinds":[],"issuers":[]},"order":["smartTap"]}"#,
                ["smartTap.memberKinds", "smartTap.issuers"]
            ),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","memberKinds":["offer","loyalty","customer"]},"#
                    + #""order":["smartTap"]}"#,
                ["smartTap.memberKinds", "smartTap.memberKinds"]
            ),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"key":"k","memberKinds":["customer"]},"order":["smartTap"]}"#,
                []
            ),
            (#"{"appleVAS":{"passes":[]},"order":["appleVAS"]}"#, ["appleVAS.passes"]),
            (
                #"{"appleVAS":{"passes":[{"passTypeIdentifier":"p","keys":[]},{"passTypeIdentifier":"p","keys":["k"]}],"longestAgeSeconds":901},"order":["appleVAS"]}"#,
                [
                    "appleVAS.passes[0].keys", "appleVAS.passes[0]", "appleVAS.passes[1]", "appleVAS.passes[1]",
                    "appleVAS.longestAgeSeconds",
                ]
            ),
            (
                #"{"signingTags":[{"host":"a","fileReadKey":"k","layout":{"mac":"c","uid":"u"}}],"order":["sdm"]}"#,
                ["signingTags[0].layout"]
            ),
            (
                #"{"signingTags":[{"host":"a","metaReadKey":"m","fileReadKey":"k","layout":{"mac":"c","piccData":"e"}},"#
                    + #"{"host":"A","path":"/t","metaReadKey":"m","fileReadKey":"k","layout":{"mac":"c","piccData":"e"}}],"#
                    + #""order":["sdm"]}"#,
                ["signingTags[1]"]
            ),
            (#"{"cards":[{"text":{}}],"tokens":{"keys":["k"]}}"#, ["lowestAssurance", "tokens"]),
            (#"{"tokens":{"keys":["k"]},"lowestAssurance":"cryptographicWithReplayProtection"}"#, ["lowestAssurance"]),
            (
                #"{"smartTap":{"collector":1,"keyVersion":1,"key":"k"},"lowestAssurance":"cryptographic"}"#,
                ["lowestAssurance"]
            ),
            (#"{"cards":[]}"#, ["cards"]), (#"{"uidDespite":[]}"#, []), (#"{"uidDespite":["tagProtected"]}"#, []),
            (#"{"uidDespite":["tagUnsupported"]}"#, ["uidDespite"]),
            (#"{"uidDespite":["tagProtected"],"order":["text"]}"#, ["uidDespite"]),
        ] as [(String, [String])]
    )
    func advice(_ text: String, _ places: [String]) throws {
        let advice = try PassConfiguration(json: Data(text.utf8)).advice
        #expect(advice.map(\.place) == places)
        #expect(advice.allSatisfy { !$0.what.isEmpty })
    }

    @Test func noFile() {
        #expect(throws: PassConfigurationError.notReadable("/nowhere/passes.json")) {
            try PassConfiguration(path: "/nowhere/passes.json")
        }
    }
}
