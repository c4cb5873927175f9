import CardCore
import Testing

@testable import CardPasses

/// What explains why a pass was not read.
@Suite struct PassFindingTests {
    private static let able = ReaderInfo(name: "SpringCard H518 [CCID] (000A1B2C) 00 00", backend: .pcsc)
    private static let plain = ReaderInfo(name: "ACS ACR122U PICC Interface 00 00", backend: .pcsc)
    private static let phone = CardFacts(atr: [0x3B, 0x80, 0x80, 0x01, 0x01])
    private static let desfire = CardFacts(atr: [0x3B, 0x81, 0x80, 0x01, 0x80, 0x80])
    private static let random = CardUID([0x08, 0xDF, 0xBF, 0xF2], technology: .iso14443a)
    private static let fixed = CardUID([0x04, 0x44, 0x71, 0x2A, 0x90, 0x5F, 0x80], technology: .iso14443a)

    @Test func readers() {
        #expect(PassFinding.findings(reader: Self.able).isEmpty)
        #expect(PassFinding.findings(reader: Self.plain).map(\.code) == [.readerDoesNotAnnotate])
        let unknown = ReaderInfo(name: "Virtual PCD 00 00", backend: .pcsc)
        #expect(PassFinding.findings(reader: unknown).map(\.code) == [.readerUnknown])
        #expect(
            PassFinding.findings(reader: Self.able, polled: [.iso14443a, .felica]).map(\.code) == [.typeBNotPolled]
        )
        #expect(PassFinding.findings(reader: Self.able, polled: [.iso14443a], wantsSmartTap: false).isEmpty)
        #expect(PassFinding.findings(reader: Self.able, polled: [.iso14443a, .iso14443b]).isEmpty)
    }

    @Test(arguments: [
        (phone, random as CardUID?, WalletSelection.absent(.fileNotFound), true),
        (phone, nil, .absent(.fileNotFound), true),
        (phone, fixed, .absent(.fileNotFound), false), (desfire, random, .absent(.fileNotFound), false),
        (phone, random, .absent(.instructionNotSupported), false), (phone, random, .malformed, false),
        (
            CardFacts(technology: .iso14443a, values: [.init("sak", [0x20]), .init("uid", [0x08, 1, 2, 3])]), nil,
            .absent(.fileNotFound), true
        ),
        (
            CardFacts(technology: .iso14443a, values: [.init("sak", [0x00]), .init("uid", [0x08, 1, 2, 3])]), nil,
            .absent(.fileNotFound), false
        ),
    ])
    func phonesWithoutAWallet(facts: CardFacts, uid: CardUID?, answer: WalletSelection, isFound: Bool) {
        let findings = PassFinding.findings(reader: Self.able, facts: facts, uid: uid, walletAnswer: answer)
        #expect(findings.map(\.code) == (isFound ? [.walletAbsent] : []))
    }

    @Test(arguments: [
        (AppleVASAnswer.locked, PassFinding.Code.phoneLocked as PassFinding.Code?), (.needsUser, .phoneNeedsOwner),
        (.noSuchPass, .noPass), (.noData, nil), (.refused(.incorrectData), nil),
    ])
    func applePhones(answer: AppleVASAnswer, code: PassFinding.Code?) {
        let outcome = AppleVASReader.Outcome(
            findings: [AppleVASReader.Finding(passTypeIdentifier: "pass.com.example.club", answer: answer)]
        )
        #expect(PassFinding.findings(reader: Self.able, appleVAS: outcome).map(\.code) == [code].compactMap(\.self))
    }

    @Test(arguments: [
        (0x9300 as UInt16, PassFinding.Code.phoneLocked as PassFinding.Code?), (0x9302, .phoneNeedsOwner),
        (0x9500, .keyNotAccepted),
        (0x9001, .noPass), (0x9102, .noPass), (0x6A82, .walletAbsent), (0x9000, nil), (0x9402, nil), (0x9502, nil),
    ])
    func googlePhones(status: UInt16, code: PassFinding.Code?) {
        let finding = SmartTapReader.Finding(status: SmartTapStatus(StatusWord(status)))
        #expect(PassFinding.findings(reader: Self.able, smartTap: finding).map(\.code) == [code].compactMap(\.self))
    }

    /// The same is told once, whoever found it.
    @Test func problemsOfATap() {
        let problems = [
            ScanEvent.Problem(.phoneLocked, "x"), ScanEvent.Problem(.noPass, "x"), ScanEvent.Problem(.randomUID, "x"),
        ]
        let findings = PassFinding.findings(
            reader: Self.plain,
            smartTap: SmartTapReader.Finding(status: .locked),
            problems: problems
        )
        #expect(findings.map(\.code) == [.readerDoesNotAnnotate, .phoneLocked, .noPass])
    }

    @Test(arguments: PassFinding.Code.allCases)
    func sayThreeThings(code: PassFinding.Code) {
        let finding = PassFinding(code)
        #expect(finding.code == code)
        for text in [finding.what, finding.consequence, finding.advice] { #expect(text.count > 10) }
        #expect(finding.advice.hasSuffix("."))
        #expect("\(finding)" == "\(finding.what). \(finding.consequence). \(finding.advice)")
    }
}
