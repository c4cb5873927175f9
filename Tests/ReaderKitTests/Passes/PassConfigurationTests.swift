import Foundation
import ReaderKitTesting
import Testing

@testable import ReaderKit

/// The configuration file of passes, and the keys that it names.
@Suite struct PassConfigurationTests {
    private static let whole = """
        {
          "appleVAS": {
            "passes": [{ "passTypeIdentifier": "pass.com.example.club", "keys": ["vas.pem"] }],
            "longestAgeSeconds": 60, "triesVariant": true
          },
          "smartTap": { "collector": 20180608, "keyVersion": 1, "key": "smarttap.pem" },
          "signingTags": [
            { "host": "club.example", "path": "/t", "metaReadKey": "meta.key", "fileReadKey": "file.key",
              "layout": { "piccData": "e", "mac": "c" } }
          ],
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
        }
    }

    @Test func everything() throws {
        let folder = try Folder()
        try folder.writeKeys()
        try folder.write(Self.whole, to: "passes.json", mode: 0o644)
        let site = try PassConfiguration(path: folder.path + "/passes.json").site(folder: folder.path)
        #expect(site.appleVAS?.merchants.map(\.passTypeIdentifier) == ["pass.com.example.club"])
        #expect(site.appleVAS?.allowsVariant == true && site.longestAge == .seconds(60))
        #expect(site.smartTap?.key.collectorID == 20_180_608)
        #expect(site.signingTags.map(\.host) == ["club.example"] && site.signingTags.first?.identity == .uid)
        #expect(site.order == [.smartTap, .sdm] && site.lowestAssurance == .cryptographic)
        let empty = try PassConfiguration(json: Data("{}".utf8)).site(folder: "/")
        #expect(empty.appleVAS == nil && empty.smartTap == nil && empty.signingTags.isEmpty)
    }

    @Test(
        arguments: [
            ("", "", "no JSON"), ("[]", "", "an object"), ("{", "", "no JSON"),
            (#"{"apleVAS":{}}"#, "apleVAS", "appleVAS, lowestAssurance"),
            (#"{"smartTap":{"collector":"1","keyVersion":1,"key":"k"}}"#, "smartTap.collector", "a whole number"),
            (#"{"smartTap":{"collector":-1,"keyVersion":1,"key":"k"}}"#, "smartTap.collector", "0 to 4294967295"),
            (#"{"smartTap":{"collector":1,"key":"k"}}"#, "smartTap", "'keyVersion' is missing"),
            (#"{"appleVAS":{"passes":[{"keys":[]}]}}"#, "appleVAS.passes[0]", "'passTypeIdentifier' is missing"),
            (#"{"appleVAS":{"passes":[],"longestAgeSeconds":0}}"#, "appleVAS.longestAgeSeconds", "1 to 86400"),
            (#"{"appleVAS":{"passes":{}}}"#, "appleVAS.passes", "a list"),
            (#"{"order":["uid","sign"]}"#, "order[1]", "no value"),
            (#"{"lowestAssurance":3}"#, "lowestAssurance", "a text"),
            (
                #"{"signingTags":[{"host":"a","fileReadKey":"k","layout":{"mac":"c","piccdata":"e"}}]}"#,
                "signingTags[0].layout.piccdata", "piccData"
            ),
        ]
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

    @Test func keys() throws {
        let folder = try Folder()
        let configuration = try PassConfiguration(json: Data(Self.whole.utf8))
        func error() -> PassConfigurationError? {
            do throws(PassConfigurationError) {
                _ = try configuration.site(folder: folder.path)
                return nil
            } catch let fault {
                return fault
            }
        }
        let path = folder.path + "/vas.pem"
        #expect(error() == .keyNotReadable(path, "No such file or directory"))
        try folder.writeKeys()
        #expect(error() == nil)
        for mode in [0o640, 0o604, 0o666] {
            chmod(path, mode_t(mode))
            #expect(error() == .keyOpenToOthers(path, mode: UInt32(mode)))
            #expect("\(error().map { "\($0)" } ?? "")".contains("chmod 600"))
        }
        chmod(path, 0o600)
        for text in ["", "no key", AppleVASKey().passEncryptionPublicKey, "\u{FFFD}"] {
            try folder.write(text, to: "vas.pem")
            #expect(error() == .noKey(path, "a P-256 private key in PEM"))
        }
        try folder.writeKeys()
        try folder.write("00112233", to: "file.key")
        #expect(error() == .noKey(folder.path + "/file.key", "a key of 32 hexadecimal digits"))
        try folder.writeKeys()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(error() == .keyNotReadable(path, "it is no file"))
    }

    @Test func noFile() {
        #expect(throws: PassConfigurationError.notReadable("/nowhere/passes.json")) {
            try PassConfiguration(path: "/nowhere/passes.json")
        }
    }
}
