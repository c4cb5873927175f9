import CardCore
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardPasses

/// Apple VAS by bytes: the reference session, what phones answer, and what must not pass.
@Suite struct AppleVASTests {
    static let key = AppleVASKey([UInt8](repeating: 0x33, count: 32))!
    static let merchant = AppleVASMerchant(passTypeIdentifier: "pass.com.example.readerkit", keys: [key])
    static let command =
        "80ca0101369f220201009f2520566fd1e2e5dc7696655e4e25ff47c08bd494f19f3bd2e1ff3a4c14a488104a88"
        + "9f2604008000029f28040102030400"
    static let start = "3d906c015b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"
    static let cryptogram = start + "683d40c7556fb65db93408bcac7a5fd304a23d390c2f7a2757a24b459d162f9d2e"
    static let variant = start + "2f981e54cfe38d5c687d2613983887502c376dbe6280181b633591d4eea379ef42"
    static let answer = "704b9f2a009f2745" + cryptogram

    static func bytes(_ hex: String) -> [UInt8] { (try? Hex.decode(hex)) ?? [] }

    static func response(_ hex: String, _ status: UInt16 = 0x9000) -> ResponseAPDU {
        ResponseAPDU(data: bytes(hex), statusWord: StatusWord(status))
    }

    /// What phones know a place by, and that what is encrypted for it opens. The last two are public
    /// identities of demonstrations.
    @Test(
        arguments: [
            (
                "pass.com.example.readerkit", String(repeating: "33", count: 32), "3d906c01",
                "566fd1e2e5dc7696655e4e25ff47c08bd494f19f3bd2e1ff3a4c14a488104a88"
            ),
            (
                "pass.com.springcard.springblue.generic",
                "2a7e3d3ecaf054123a2d87103d40af946ac7137612488a24c0927da2f886d60d", "858b5242",
                "73f1639abb7ab7ae44a69dccf6a73dc2ed6d6453363d18e7bc28191efffdc3d3"
            ),
            (
                "pass.com.pronto.zebra-wallet-pass.demo",
                "f5368708933920553b7b9ffb16aeed9c77d5bfd9662af149a6b9f965b73f0cca", "155b426f",
                "8e471b919290e89d0206b523ad5df82d637b8e9c3d60c3f214f74e31455f06f9"
            ),
        ]
    )
    func identities(_ passType: String, _ secret: String, _ identifier: String, _ merchantID: String) throws {
        let key = try #require(AppleVASKey(Self.bytes(secret)))
        let merchant = AppleVASMerchant(passTypeIdentifier: passType, keys: [key])
        #expect(key.identifier == Self.bytes(identifier))
        #expect(merchant.merchantID == Self.bytes(merchantID))
        let moment = Date(timeIntervalSince1970: 1_780_000_000)
        let phone = SimulatedApplePhone(
            [.init(passTypeIdentifier: passType, message: "MEMBER-000042", readerKey: key.publicKey)]
        ) { moment }
        let channel = SimulatedCardChannel(phone)
        #expect(try channel.exchange(WalletSelection.command).isSuccess)
        let request = AppleVASRequest(merchantID: merchant.merchantID)
        guard case .pass(let cryptogram) = try AppleVASAnswer(try channel.exchange(request.command())) else {
            Issue.record("no pass")
            return
        }
        #expect(cryptogram.keyIdentifier == Self.bytes(identifier))
        let message = try cryptogram.open(for: merchant)
        #expect(message.text == "MEMBER-000042" && message.at == moment)
        // Another place's key opens nothing of it.
        #expect(throws: AppleVASError.noKey(Self.bytes(identifier))) {
            try cryptogram.open(for: AppleVASMerchant(passTypeIdentifier: passType, keys: [AppleVASKey()]))
        }
    }

    @Test func keyIdentifier() {
        #expect(AppleVASKey([1, 2, 3]) == nil && AppleVASKey([UInt8](repeating: 0, count: 32)) == nil)
        #expect(!"\(Self.key)".contains("3333") && !String(reflecting: Self.key).contains("3333"))
    }

    @Test func request() throws {
        let request = AppleVASRequest(merchantID: Self.merchant.merchantID, nonce: [1, 2, 3, 4])
        // The order of the objects is free.
        let (data, expected) = (try request.command().data, Self.bytes(Self.command))
        #expect(Array(try request.command().encoded().prefix(5)) == Array(expected.prefix(5)))
        let (objects, others) = try (BERTLV.decode(data), BERTLV.decode(Array(expected[5..<(expected.count - 1)])))
        #expect(Set(objects) == Set(others))
        let more = AppleVASRequest(merchantID: Self.merchant.merchantID, mode: .passAndPayment, hasMore: true)
        #expect(try BERTLV.decode(more.command().data).find(0x9F26)?.value == [0, 0x80, 0, 0x81])
        for wrong in [
            AppleVASRequest(merchantID: [1]), AppleVASRequest(merchantID: Self.merchant.merchantID, nonce: [1]),
        ] {
            #expect(throws: APDUError.self) { try wrong.command() }
        }
    }

    @Test func selection() throws {
        let phone = "6f1d50084170706c655061799f210201009f240401020304" + "9f23040000001e"
        guard case .apple(let template) = WalletSelection(Self.response(phone)) else {
            Issue.record("not Apple")
            return
        }
        #expect(
            try AppleVASApplication(template)
                == AppleVASApplication(
                    version: .init(major: 1, minor: 0),
                    capabilities: .init(rawValue: 0x1E),
                    nonce: [1, 2, 3, 4]
                )
        )
        #expect(WalletSelection.command.encoded() == Self.bytes("00a404000a4f53452e5641532e303100"))
        #expect(WalletSelection(Self.response("", 0x6A82)) == .absent(.fileNotFound))
        #expect(WalletSelection(Self.response("6f0550034d07ff")) == .unknown(label: "M??"))
        for text in ["", "6f02", "6f00"] { #expect(WalletSelection(Self.response(text)) == .malformed) }
        for (text, expected) in [
            ("6f0a50084170706c65506179", AppleVASError.malformed(.version)),
            ("6f0f50084170706c655061799f21020200", .unsupportedVersion(.init(major: 2, minor: 0))),
        ] {
            #expect(throws: expected) {
                try AppleVASApplication(try #require(BERTLV.decode(Self.bytes(text)).first))
            }
        }
    }

    @Test func answers() throws {
        let cryptogram = try AppleVASCryptogram(Self.bytes(Self.cryptogram))
        for (text, status, expected) in [
            (Self.answer, 0x9000, .pass(cryptogram)), ("", 0x6A83, .noSuchPass), ("", 0x6287, .locked),
            ("", 0x6984, .needsUser), ("", 0x6100, .noData), ("", 0x9000, .noData), ("70039f2a00", 0x9000, .noData),
            ("", 0x6A80, .refused(.incorrectData)), ("", 0x6700, .refused(.wrongLength)),
        ] as [(String, UInt16, AppleVASAnswer)] {
            #expect(try AppleVASAnswer(Self.response(text, status)) == expected)
        }
        let long = String(repeating: "00", count: 33)
        for (text, part) in [
            ("00", .answer), ("7103", .answer), ("70249f2a21" + long, .token), ("70049f270101", .cryptogram),
            ("703a9f2737" + String(repeating: "00", count: 55), .cryptogram),
        ] as [(String, AppleVASError.Part)] {
            #expect(throws: AppleVASError.malformed(part)) { try AppleVASAnswer(Self.response(text)) }
        }
    }

    @Test func opening() throws {
        let cryptogram = try AppleVASCryptogram(Self.bytes(Self.cryptogram))
        let message = try cryptogram.open(for: Self.merchant)
        #expect(message.text == "MEMBER-000042")
        #expect(message.at == Date(timeIntervalSince1970: 978_307_200 + 0x2E00_0000))
        #expect(message.digest.count == 32)
        #expect(!"\(message) \(cryptogram)".contains("MEMBER"))
        // Of two keys with one identifier each is tried; here the same one stands twice.
        let twice = AppleVASMerchant(passTypeIdentifier: Self.merchant.passTypeIdentifier, keys: [Self.key, Self.key])
        #expect(try cryptogram.open(for: twice) == message)
    }

    @Test func variant() throws {
        let cryptogram = try AppleVASCryptogram(Self.bytes(Self.variant))
        #expect(throws: AppleVASError.notDecrypted) { try cryptogram.open(for: Self.merchant) }
        #expect(try cryptogram.open(for: Self.merchant, allowsVariant: true).text == "MEMBER-000042")
    }

    @Test func notOpened() throws {
        let whole = Self.bytes(Self.cryptogram)
        let cryptogram = try AppleVASCryptogram(whole)
        #expect(throws: AppleVASError.noKey(Self.bytes("3d906c01"))) {
            try cryptogram.open(
                for: AppleVASMerchant(passTypeIdentifier: "pass.com.example.readerkit", keys: [AppleVASKey()])
            )
        }
        // The pass type is part of the key.
        #expect(throws: AppleVASError.notDecrypted) {
            try cryptogram.open(for: AppleVASMerchant(passTypeIdentifier: "pass.com.example.other", keys: [Self.key]))
        }
        // Each byte counts; a changed coordinate may be that of no point.
        for index in 4..<whole.count {
            var changed = whole
            changed[index] ^= 0x01
            do throws(AppleVASError) {
                _ = try AppleVASCryptogram(changed).open(for: Self.merchant)
                Issue.record("byte \(index) does not count")
            } catch {
                #expect(error == .notDecrypted || (index < 36 && error == .malformed(.ephemeralKey)))
            }
        }
    }

    @Test func passKeyForIssuers() {
        let text = Self.key.passEncryptionPublicKey
        #expect(Data(base64Encoded: text)?.count == 59)
        #expect(Self.key.publicKey.count == 33)
        #expect(AppleVASKey(pem: Self.key.pem)?.identifier == Self.key.identifier)
        #expect(AppleVASKey(pem: "no key") == nil)
    }
}
