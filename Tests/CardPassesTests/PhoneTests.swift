import CardCore
import Foundation
import ReaderKitTesting
import Testing

@testable import CardPasses

/// Readers of passes and simulated phones: whole taps, in process.
@Suite struct ApplePhoneTests {
    private static let key = AppleVASKey([UInt8](repeating: 0x33, count: 32))!
    private static let club = AppleVASMerchant(passTypeIdentifier: "pass.com.example.club", keys: [AppleVASKey(), key])
    private static let other = AppleVASMerchant(passTypeIdentifier: "pass.com.example.other", keys: [key])
    private static let pass = SimulatedApplePhone.Pass(
        passTypeIdentifier: club.passTypeIdentifier,
        message: "M-1042",
        readerKey: key.publicKey
    )
    private static let moment = Date(timeIntervalSince1970: 1_780_000_000)

    private static func phone(_ passes: [SimulatedApplePhone.Pass] = [pass]) -> SimulatedApplePhone {
        SimulatedApplePhone(passes) { moment }
    }

    private static func tap(
        _ phone: SimulatedApplePhone,
        _ merchants: [AppleVASMerchant],
        _ mode: AppleVASRequest.Mode = .passOnly
    ) throws -> AppleVASReader.Outcome {
        let channel = SimulatedCardChannel(phone)
        guard case .apple(let template) = WalletSelection(try channel.exchange(WalletSelection.command)) else {
            throw AppleVASError.malformed(.answer)
        }
        return try AppleVASReader(merchants, mode: mode).read(template, over: channel)
    }

    @Test func pass() throws {
        let outcome = try Self.tap(Self.phone(), [Self.other, Self.club])
        #expect(outcome.application?.capabilities.contains(.mayBePerformed) == true)
        #expect(outcome.findings.map(\.answer?.isNoSuchPass) == [true, false])
        #expect(outcome.findings.last?.message?.text == "M-1042")
        #expect(outcome.findings.last?.message?.at == Self.moment)
        // Each tap has a cryptogram of its own.
        let phone = Self.phone()
        let digests = try (0..<3).map { _ in try Self.tap(phone, [Self.club]).findings.first?.message?.digest }
        #expect(Set(digests).count == 3)
    }

    @Test func lockedPhone() throws {
        let phone = Self.phone()
        phone.isLocked = true
        // Nothing more is asked of one that is busy with its owner.
        let outcome = try Self.tap(phone, [Self.club, Self.other])
        #expect(outcome.findings.map(\.answer) == [.locked])
        #expect(phone.shownPass == Self.club.passTypeIdentifier)
        phone.isLocked = false
        #expect(try Self.tap(phone, [Self.club]).findings.first?.message?.text == "M-1042")
    }

    @Test func severalPasses() throws {
        let second = SimulatedApplePhone.Pass(
            passTypeIdentifier: Self.other.passTypeIdentifier,
            message: "G-7",
            readerKey: Self.key.publicKey
        )
        let phone = Self.phone([Self.pass, second])
        // Where nothing else is wanted a phone gives one in a tap.
        #expect(try Self.tap(phone, [Self.club, Self.other]).findings.compactMap(\.message?.text) == ["M-1042"])
        let both = try Self.tap(phone, [Self.club, Self.other], .passAndPayment)
        #expect(both.findings.compactMap(\.message?.text) == ["M-1042", "G-7"])
    }

    @Test func passForAnotherReader() throws {
        var pass = Self.pass
        pass.readerKey = AppleVASKey().publicKey
        let finding = try #require(try Self.tap(Self.phone([pass]), [Self.club]).findings.first)
        #expect(finding.message == nil)
        guard case .noKey = finding.error else {
            Issue.record("\(String(describing: finding.error))")
            return
        }
    }
}

extension AppleVASAnswer {
    fileprivate var isNoSuchPass: Bool { self == .noSuchPass }
}

@Suite struct AndroidPhoneTests {
    private static let key = SmartTapKey(collectorID: 20_180_608, version: 3)
    private static let pass = SimulatedAndroidPhone.Pass(value: "M-1042")

    private static func tap(_ phone: SimulatedAndroidPhone, _ key: SmartTapKey = key) throws -> SmartTapReader.Finding {
        let channel = SimulatedCardChannel(phone)
        guard case .google(let template) = WalletSelection(try channel.exchange(WalletSelection.command)) else {
            throw SmartTapError.unsupported
        }
        return try SmartTapReader(key: key).read(template, over: channel)
    }

    @Test(arguments: [1, 16, 200], [false, true])
    func passes(_ chunk: Int, _ isCompressed: Bool) throws {
        let phone = SimulatedAndroidPhone(
            [Self.pass],
            collector: .init(Self.key),
            chunk: chunk,
            isCompressed: isCompressed
        )
        let finding = try Self.tap(phone)
        guard chunk > 1 else {
            // More rounds than any phone needs.
            #expect(finding.error == .tooLong && finding.objects.isEmpty)
            return
        }
        #expect(finding.error == nil && finding.assurance == .cryptographicWithReplayProtection)
        #expect(finding.objects.map(\.kind) == [.customer, .loyalty])
        #expect(finding.objects.last?.value == "M-1042")
        #expect(finding.objects.last?.issuer.id == [0x01, 0x33, 0xEE, 0x80])
        // The customer's number stays, the tap's does not.
        let again = try Self.tap(phone)
        #expect(again.objects.first?.customerID == finding.objects.first?.customerID)
        #expect(again.objects.first?.tapID != finding.objects.first?.tapID)
    }

    /// A terminal without the key: what the phone gives is proven, and might be a recording.
    @Test func preSigned() throws {
        let signature = try SmartTapPreSignature(Self.key)
        #expect(!"\(signature)".contains(Hex.encode(signature.signature)))
        let kept = try #require(SmartTapPreSignature(text: signature.text))
        let phone = SimulatedAndroidPhone([Self.pass], collector: .init(Self.key))
        for _ in 0..<2 {
            let channel = SimulatedCardChannel(phone)
            guard case .google(let template) = WalletSelection(try channel.exchange(WalletSelection.command)) else {
                throw SmartTapError.unsupported
            }
            let finding = try SmartTapReader(preSigned: kept).read(template, over: channel)
            #expect(finding.error == nil && finding.objects.last?.value == "M-1042")
            #expect(finding.assurance == .cryptographic)
        }
        let stranger = try SmartTapPreSignature(SmartTapKey(collectorID: 20_180_608, version: 3))
        let channel = SimulatedCardChannel(phone)
        guard case .google(let template) = WalletSelection(try channel.exchange(WalletSelection.command)) else {
            throw SmartTapError.unsupported
        }
        #expect(try SmartTapReader(preSigned: stranger).read(template, over: channel).status == .notAuthentic)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"collector":1,"keyVersion":1,"nonce":"00","ephemeralKey":"00","signature":"00"}"#,
    ])
    func noPreSignature(_ text: String) {
        #expect(SmartTapPreSignature(text: text) == nil)
    }

    @Test func whatAPhoneRefuses() throws {
        let phone = SimulatedAndroidPhone([Self.pass], collector: .init(Self.key))
        for stranger in [
            SmartTapKey(collectorID: 20_180_608, version: 3), SmartTapKey(collectorID: 1, version: 3),
            SmartTapKey(pem: Self.key.pem, collectorID: 20_180_608, version: 4),
        ].compactMap(\.self) {
            #expect(try Self.tap(phone, stranger).status == .notAuthentic)
        }
        phone.isLocked = true
        #expect(try Self.tap(phone).status == .locked)
        phone.isLocked = false
        #expect(try Self.tap(phone).error == nil)
    }

    @Test func choosing() throws {
        let other = SimulatedAndroidPhone.Pass(kind: .offer, value: "O-1")
        let phone = SimulatedAndroidPhone([Self.pass, other], collector: .init(Self.key))
        #expect(try Self.tap(phone).status == .needsUser)
        phone.choose(other)
        #expect(try Self.tap(phone).objects.last?.value == "O-1")
        let empty = try Self.tap(SimulatedAndroidPhone([], collector: .init(Self.key)))
        #expect(empty.status == .noPasses && empty.error == nil && empty.objects.isEmpty)
    }
}
