import Cryptography
import Foundation
import ReaderKit
import ReaderKitTesting
import Testing

/// `readerctl pass`: keys, configurations, and what recorded passes are worth.
@Suite(.timeLimit(.minutes(10))) struct PassCommandTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func mode(_ name: String) throws -> Int {
        let values = try FileManager.default.attributesOfItem(atPath: folder.file(name))
        return try #require(values[.posixPermissions] as? Int)
    }

    private func run(_ arguments: String..., json: Bool = true) async throws -> Tool.Outcome {
        try await Tool.readerctl.run(["pass"] + arguments + (json ? ["--json"] : []), input: [])
    }

    private func key(_ text: String, _ name: String) throws {
        let made = FileManager.default.createFile(
            atPath: folder.file(name),
            contents: Data(text.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        #expect(made)
    }

    // MARK: Keys

    @Test func keysOfAppleWallet() async throws {
        let path = folder.file("vas.pem")
        let made = try await run("vas", "keygen", "-o", path)
        #expect(made.status == 0 && made.objects.count == 1)
        let key = try #require(AppleVASKey(pem: String(contentsOfFile: path, encoding: .utf8)))
        #expect(made.objects.first?["identifier"] as? String == Hex.encode(key.identifier))
        #expect(made.objects.first?["encryptionPublicKey"] as? String == key.passEncryptionPublicKey)
        #expect(try mode("vas.pem") == 0o600)
        // A key is not lost by a slip.
        let again = try await run("vas", "keygen", "-o", path)
        #expect(again.status == 74)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == key.pem)
        // What takes its place is nobody else's, whatever the old file was.
        chmod(path, 0o644)
        #expect(try await run("vas", "keygen", "-o", path, "--force").status == 0)
        #expect(try mode("vas.pem") == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8) != key.pem)
        #expect(try await run("vas", "keygen", "-o", folder.file("no/vas.pem")).status == 74)
        #expect(try await run("vas", "keygen").status == 64)
    }

    @Test func keysOfGoogleWallet() async throws {
        let path = folder.file("smarttap.pem")
        let made = try await run("smarttap", "keygen", "-o", path)
        #expect(made.status == 0)
        let key = try #require(
            SmartTapKey(pem: String(contentsOfFile: path, encoding: .utf8), collectorID: 7, version: 2)
        )
        #expect(made.objects.first?["publicKey"] as? String == key.publicKeyPEM)
        let signed = try await run(
            "smarttap",
            "presign",
            "--key",
            path,
            "--collector",
            "7",
            "--key-version",
            "2",
            "-o",
            folder.file("door.json")
        )
        #expect(signed.status == 0 && signed.objects.first?["collector"] as? Int == 7)
        #expect(try mode("door.json") == 0o600)
        let text = try String(contentsOfFile: folder.file("door.json"), encoding: .utf8)
        #expect(SmartTapPreSignature(text: text)?.collectorID == 7)
        chmod(path, 0o640)
        let open = try await run(
            "smarttap",
            "presign",
            "--key",
            path,
            "--collector",
            "7",
            "--key-version",
            "2",
            "-o",
            folder.file("x")
        )
        #expect(open.status == 65 && open.messages.contains("chmod 600"))
    }

    // MARK: Configurations

    private func writeConfiguration() throws -> AppleVASKey {
        let apple = AppleVASKey()
        try key(apple.pem, "vas.pem")
        try key(String(repeating: "0", count: 32), "zero.key")
        let issuer = P256.PrivateKey()
        _ = try folder.write(issuer.publicKey.pem, to: "issuer.pem")
        _ = try folder.write(
            """
            { "appleVAS": { "passes": [{ "passTypeIdentifier": "pass.com.example.club", "keys": ["vas.pem"] }] },
              "signingTags": [{ "host": "club.example", "path": "/t", "metaReadKey": "zero.key",
                                "fileReadKey": "zero.key", "layout": { "piccData": "e", "mac": "c" } }],
              "cards": [{ "uri": { "host": "club.example", "path": "/m/" } },
                        { "mime": { "type": "application/jwt", "isToken": true } }],
              "tokens": { "keys": ["issuer.pem"], "issuer": "https://club.example" } }
            """,
            to: "passes.json"
        )
        return apple
    }

    @Test func checkConfiguration() async throws {
        let apple = try writeConfiguration()
        let checked = try await run("check-config", folder.file("passes.json"))
        #expect(checked.status == 0)
        let report = try #require(checked.objects.first)
        #expect(report["event"] as? String == "configuration")
        let reads = try #require(report["reads"] as? [[String: String]])
        #expect(reads.contains { $0["what"]?.contains("pass.com.example.club") == true })
        #expect(reads.contains { $0["what"]?.contains(apple.passEncryptionPublicKey) == true })
        #expect(
            (report["advice"] as? [[String: String]])?.map { $0["place"] } == [
                "lowestAssurance", "lowestAssurance", "signingTags[0]",
            ]
        )
        let text = try await run("check-config", folder.file("passes.json"), json: false)
        #expect(text.output.contains("What is read:") && text.output.contains("To be looked at:"))
        #expect(!text.output.contains("PRIVATE") && !text.output.contains(String(repeating: "0", count: 32)))

        for (configuration, status, words) in [
            (#"{"appleVAS":{"passes":[{"passTypeIdentifier":"p","keys":["no.pem"]}]}}"#, 66, "no.pem"),
            (#"{"appleVAS":{"passes":[{"passTypeIdentifier":"p","key":"vas.pem"}]}}"#, 65, "appleVAS.passes[0].key"),
            (#"{"tokens":{"keys":["vas.pem"]}}"#, 65, "a private key"), ("{", 65, "no JSON"),
        ] as [(String, Int32, String)] {
            _ = try folder.write(configuration, to: "wrong.json")
            let wrong = try await run("check-config", folder.file("wrong.json"))
            #expect(wrong.status == status && wrong.messages.contains(words), "\(configuration): \(wrong.messages)")
            #expect(wrong.objects.first?["error"] != nil)
        }
        #expect(try await run("check-config", folder.file("none.json")).status == 66)
    }

    // MARK: What passes are worth

    private static let moment = Date(timeIntervalSince1970: 1_780_000_000)

    /// What a phone answers to GET VAS DATA.
    private func answer(_ key: AppleVASKey, _ message: String) throws -> (command: [UInt8], answer: [UInt8]) {
        let phone = SimulatedApplePhone(
            [.init(passTypeIdentifier: "pass.com.example.club", message: message, readerKey: key.publicKey)],
            now: { Self.moment }
        )
        phone.powerOn()
        _ = phone.receive(apdu: WalletSelection.command.encoded())
        let merchant = AppleVASMerchant(passTypeIdentifier: "pass.com.example.club", keys: [])
        let request = AppleVASRequest(merchantID: merchant.merchantID)
        let command = try request.command().encoded()
        return (command, try #require(phone.receive(apdu: command)))
    }

    @Test func verify() async throws {
        let apple = try writeConfiguration()
        let configuration = folder.file("passes.json")
        let recorded = try answer(apple, "M-1042").answer
        let at = ISO8601.text(Self.moment)
        func verify(_ input: String, at time: String = at) async throws -> (Int32, [String: Any]?) {
            let outcome = try await run("verify", "--passes", configuration, "--at", time, input)
            return (outcome.status, outcome.objects.first)
        }
        let cryptogram = try #require(try BERTLV.decode(Array(recorded.dropLast(2))).find(0x70, 0x9F27)?.value)
        for input in [recorded, Array(recorded.dropLast(2)), cryptogram] {
            let (status, line) = try await verify(Hex.encode(input))
            #expect(status == 0 && line?["memberKey"] as? String == "M-1042")
            #expect(line?["event"] as? String == "verified")
        }
        let late = try await verify(Hex.encode(recorded), at: "2030-01-01T00:00:00Z")
        #expect(late.0 == 1 && "\(late.1?["problems"] ?? "")".contains("passExpired"))
        let sun = "https://club.example/t?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086"
        let tag = try await verify(sun)
        #expect(tag.0 == 0 && tag.1?["memberKey"] as? String == "04DE5F1EACC040")
        #expect(try await verify(sun.replacing("c=94", with: "c=95")).0 == 1)
        #expect(try await verify("https://club.example/m/77").1?["memberKey"] as? String == "77")
        // A word on a card names nobody where rules say what does.
        #expect(try await verify("D1010454026E6F58").0 == 1)
        #expect(try await verify("D1010A55").0 == 65)
        #expect(try await verify("6287").1.map { "\($0)" }?.contains("phoneLocked") == true)
        #expect(try await verify("eyJhbGciOiJub25lIn0.e30.").0 == 1)
        #expect(try await verify("hello").0 == 65)
        #expect(try await verify("none.capture").0 == 66)
    }

    @Test func capturesAndReading() async throws {
        let apple = try writeConfiguration()
        let tap = try answer(apple, "M-7")
        let selection = "6F1D50084170706C655061799F210201009F2404010203049F23040000003E9000"
        let capture = try folder.write(
            """
            capture 1
            reader: SpringCard H518 [CCID] (000A1B2C) 00 00
            started: \(ISO8601.text(Self.moment))

            card at 0.000 atr 3B80800101
            > FFCA000000
            < 08ED8F01 9000
            > 00A404000A4F53452E5641532E303100
            < \(selection)
            > \(Hex.encode(tap.command))
            < \(Hex.encode(tap.answer))
            removed at 1.000
            """,
            to: "tap.capture"
        )
        let configuration = folder.file("passes.json")
        let verified = try await run("verify", "--passes", configuration, capture)
        #expect(verified.status == 0, "\(verified.output) \(verified.messages)")
        #expect(verified.objects.first?["memberKey"] as? String == "M-7")
        let read = try await run("read", "--passes", configuration, "--replay", capture)
        let line = try #require(read.objects.first)
        let wallet = try #require(line["wallet"] as? [String: Any])
        #expect(wallet["kind"] as? String == "apple" && wallet["version"] as? String == "1.0")
        let asked = try #require(wallet["asked"] as? [[String: String]])
        #expect(asked.first?["passTypeIdentifier"] == "pass.com.example.club")
        // Without a configuration the wallet is seen all the same, and nothing is asked.
        let seen = try await run("read", "--replay", capture)
        #expect(seen.status == 1)
        #expect((seen.objects.first?["wallet"] as? [String: Any])?["kind"] as? String == "apple")
        #expect(seen.objects.first?["memberKey"] == nil)
        let text = try await run("read", "--replay", capture, json: false)
        #expect(text.output.contains("not accepted: nobody is named"))
    }

    /// The conversations that are kept, with the key of the one that can be opened again.
    @Test func fixtures() async throws {
        let apple = try #require(AppleVASKey([UInt8](repeating: 0x33, count: 32)))
        try key(apple.pem, "vas.pem")
        let google = SmartTapKey(collectorID: 20_180_608, version: 1)
        try key(google.pem, "smarttap.pem")
        let passes = try folder.write(
            """
            { "appleVAS": { "passes": [{ "passTypeIdentifier": "pass.com.example.readerkit", "keys": ["vas.pem"] }] },
              "smartTap": { "collector": 20180608, "keyVersion": 1, "key": "smarttap.pem" } }
            """,
            to: "passes.json"
        )
        let capture = Fixtures.path + "/passes/apple-vas.capture"
        let right = try await run("verify", "--passes", passes, "--at", "2025-06-16T07:32:16Z", capture)
        #expect(right.status == 0 && right.objects.first?["memberKey"] as? String == "MEMBER-000042")
        let late = try await run("verify", "--passes", passes, "--at", "2025-06-16T08:32:16Z", capture)
        #expect(late.status == 1 && late.output.contains("passExpired"))
        // Its keys ended with the tap.
        let over = try await run("verify", "--passes", passes, Fixtures.path + "/passes/google-smart-tap.capture")
        #expect(over.status == 1 && over.output.contains("passNotAccepted"))
        // Whatever replays it gives the same reason, and no advice that cannot help.
        let recorded = Fixtures.path + "/passes/google-smart-tap.capture"
        for arguments in [
            ["replay", "--passes", passes, recorded], ["pass", "read", "--passes", passes, "--replay", recorded],
        ] {
            let outcome = try await Tool.readerctl.run(arguments + ["--json"], input: [])
            #expect(outcome.output.contains("cannot be opened again from its recording"), "\(outcome.output)")
            #expect(!outcome.output.contains("Hold the phone to the reader again"))
        }
    }

    /// A replay reads passes too, by the time of the recording, and remembers nothing from one run to the next.
    @Test func replayOfPasses() async throws {
        let fixtures = Fixtures.path + "/passes"
        for name in ["vas.pem", "tag.key", "issuer.jwks", "passes.json"] {
            try key(try String(contentsOfFile: fixtures + "/" + name, encoding: .utf8), name)
        }
        func replay(_ arguments: String...) async throws -> Tool.Outcome {
            try await Tool.readerctl.run(
                ["replay", "--passes", folder.file("passes.json"), "--json"] + arguments,
                input: []
            )
        }
        for _ in 0..<2 {
            let same = try await replay("--expect", fixtures)
            #expect(same.status == 0 && Set(same.objects.compactMap { $0["event"] as? String }) == ["same"])
            let tap = try await replay("--seed", "0", fixtures + "/apple-vas.capture")
            #expect(tap.objects.first?["memberKey"] as? String == "MEMBER-000042")
            #expect(tap.objects.first?["at"] as? String == "2025-06-16T07:32:16.000Z")
        }
        // At another time the pass is too old; without the passes nobody is named.
        let late = try await replay("--start", "2026-01-01T00:00:00Z", "--expect", fixtures + "/apple-vas.capture")
        #expect(late.status == 1 && late.objects.first?["event"] as? String == "different")
        let without = try await Tool.readerctl.run(["replay", "--expect", fixtures + "/apple-vas.capture"], input: [])
        #expect(without.status == 1 && without.output.contains("The sidecar expects passes; give --passes."))
        _ = try folder.write("{", to: "broken.json")
        let broken = folder.file("broken.json")
        #expect(
            try await Tool.readerctl.run(["replay", "--passes", broken, "--expect", fixtures], input: []).status == 65
        )
        #expect(
            try await Tool.readerctl.run(["replay", "--passes", "/no/such", "--expect", fixtures], input: []).status
                == 66
        )
    }

    @Test func sdm() async throws {
        _ = try writeConfiguration()
        let sun = "https://club.example/t?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086"
        let right = try await run("sdm", "verify", "--passes", folder.file("passes.json"), sun)
        #expect(right.status == 0)
        #expect(right.objects.first?["uid"] as? String == "04DE5F1EACC040")
        #expect(right.objects.first?["counter"] as? Int == 61)
        let key = folder.file("zero.key")
        let plain = "https://x.example/?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3"
        let open = try await run("sdm", "verify", "--file-key", key, "--uid", "uid", "--counter", "ctr", plain)
        #expect(open.status == 0 && open.objects.first?["counter"] as? Int == 6)
        let forged = plain.replacing("=4B", with: "=4C")
        let wrong = try await run("sdm", "verify", "--file-key", key, "--uid", "uid", "--counter", "ctr", forged)
        #expect(wrong.status == 1 && wrong.objects.first?["error"] != nil)
        let other = try await run("sdm", "verify", "--file-key", key, "--uid", "id", "--counter", "ctr", plain)
        #expect(other.status == 65 && other.messages.contains("'id'"))
        #expect(try await run("sdm", "verify", plain).status == 64)
        #expect(try await run("sdm", "verify", "--passes", folder.file("passes.json"), plain).status == 65)
    }
}
