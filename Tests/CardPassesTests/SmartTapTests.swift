import CardCore
import Foundation
import Testing
import TestSupport

@testable import CardPasses

/// Smart Tap by bytes: the reference session, what phones answer, and what must not pass.
@Suite struct SmartTapTests {
    static func bytes(_ hex: String) -> [UInt8] { (try? Hex.decode(hex)) ?? [] }

    static func range(_ start: UInt8, _ count: Int) -> [UInt8] { (0..<count).map { start + UInt8($0) } }

    static let key = SmartTapKey(
        bytes("826d17e50767b165b0e4d9e332f8d1d1e20224284fb4daf1e50a03246e70797d"),
        collectorID: 20_180_608,
        version: 1
    )!
    static let entropy = SmartTapEntropy(
        session: range(0xA1, 8),
        nonce: range(0x40, 32),
        ephemeralKey: [UInt8](repeating: 0x11, count: 32)
    )!
    static let signature = bytes(
        "304402203cbe59767282ae8281b87b8e1f481ba39854c29ade4a9e6ca121e3e15dc31f6e0220"
            + "68a72f8e06ab02097e2f7d8c03a14e68531d97cd8dda8e5042cbed9ca5404b94"
    )
    static let compressed =
        "d403c873727394030a736573a1a2a3a4a5a6a7a804015403b272656203a0a1a2a3a4a5a6a7a8a9aaab8a5dc639ced1f5cd6160660d16"
        + "45f74c39fec38fef8ac3007948737be607ae4088197a5c93bde5541d2fc8f09fcc3b1199cc045ba3a542fcabe95f2f6b6a4b7911f6"
        + "6adc0aaf60131dfba639eba86ecf17631c47199d4ed18bf23827349f4722ec44fefeda81b2781ebfb5633abe1579dec61cb4e21909"
        + "f98c2bcfda77b9672e228a002156fe96182022c26b8f48b568c713a679532fb3a90c94326e92c15a1f5f80baa9ac"
    static let objects = [
        SmartTapObject(
            kind: .customer,
            issuer: .init(kind: 2, id: [0, 0, 0, 1]),
            customerID: range(0xC0, 16),
            tapID: range(0xD0, 16),
            language: "en"
        ),
        SmartTapObject(
            kind: .loyalty,
            issuer: .init(kind: 1, id: [0x01, 0x33, 0xEE, 0x80]),
            objectID: range(0x01, 8),
            value: "2018"
        ),
    ]

    /// A session that has come to its data.
    static func session() throws -> SmartTapSession {
        var session = try SmartTapSession(key, phoneNonce: range(0x80, 32), entropy: entropy, sequence: 1) { _ in
            signature
        }
        try session.take(negotiation: bytes(SmartTapVectors.negotiated))
        return session
    }

    @Test func selections() throws {
        guard
            case .google(let template) = WalletSelection(
                ResponseAPDU(data: Self.bytes(SmartTapVectors.selected), statusWord: .success)
            )
        else {
            Issue.record("not Google")
            return
        }
        let application = try SmartTapApplication(template)
        #expect(application.versions == 0...1 && application.allowsSkippingSelect)
        #expect(application.nonce == Self.range(0x80, 32))
        #expect(application.ephemeralKey?.count == 33)
        #expect(SmartTapApplication.select.encoded() == Self.bytes("00a4040009a000000476d000011100"))
        #expect(
            try SmartTapApplication.nonce(selected: Self.bytes(SmartTapVectors.selectedAgain)) == Self.range(0x80, 32)
        )
        for (text, expected) in [
            ("", SmartTapError.malformed(.selection)), ("00000001", .malformed(.selection)),
            ("00020003dc0321", .unsupported), ("00000001dc03", .malformed(.records)),
            ("00000001d403006d646e", .malformed(.nonce)),
        ] {
            #expect(throws: expected) { try SmartTapApplication.nonce(selected: Self.bytes(text)) }
        }
    }

    @Test func commands() throws {
        var session = try SmartTapSession(
            Self.key,
            phoneNonce: Self.range(0x80, 32),
            entropy: Self.entropy,
            sequence: 1
        ) { signed in
            #expect(signed.count == 101 && Array(signed.prefix(32)) == Self.range(0x40, 32))
            return Self.signature
        }
        #expect(try session.negotiate().encoded() == Self.bytes(SmartTapVectors.negotiate))
        try session.take(negotiation: Self.bytes(SmartTapVectors.negotiated))
        #expect(try session.getData(SmartTapRequest()).encoded() == Self.bytes(SmartTapVectors.getData))
        #expect(SmartTapSession.getMore.encoded() == Self.bytes("90c0000000"))
    }

    @Test(arguments: [SmartTapVectors.first + SmartTapVectors.second, compressed])
    func data(_ data: String) throws {
        var session = try Self.session()
        let (objects, isProven) = try session.take(data: Self.bytes(data))
        #expect(objects == Self.objects)
        #expect(isProven)
        #expect(!"\(objects)".contains("2018"))
    }

    /// Each byte behind the flags is covered by the code.
    @Test func changedData() throws {
        let whole = Self.bytes(SmartTapVectors.first + SmartTapVectors.second)
        let start = whole.count - 172
        for index in start..<whole.count {
            var changed = whole
            changed[index] ^= 0x01
            var session = try Self.session()
            #expect(throws: SmartTapError.forged) { try session.take(data: changed) }
        }
        // Another nonce makes other keys.
        var other = try SmartTapSession(Self.key, phoneNonce: Self.range(0x81, 32), entropy: Self.entropy) { _ in
            Self.signature
        }
        try other.take(negotiation: Self.bytes(SmartTapVectors.negotiated))
        #expect(throws: SmartTapError.forged) { try other.take(data: whole) }
    }

    private static func answer(_ bundle: [UInt8], session: [UInt8] = range(0xA1, 8) + [4, 1]) -> [UInt8] {
        SmartTapRecords.bytes([
            SmartTapRecords.record(
                "srs",
                SmartTapRecords.bytes([SmartTapRecords.record("ses", session), SmartTapRecords.record("reb", bundle)])
            )
        ])
    }

    @Test func malformedData() throws {
        for (data, expected) in [
            ([], SmartTapError.malformed(.records)), ([0xD4], .malformed(.records)),
            (answer([]), .malformed(.data)), (answer([0x01] + [UInt8](repeating: 0, count: 43)), .malformed(.data)),
            (answer([0x02, 1, 2, 3]), .malformed(.compression)), (answer([0x00, 0xFF]), .malformed(.records)),
            (answer([0x00], session: [1, 2, 3]), .malformed(.session)),
            (answer([0x00], session: Self.range(0xA2, 8) + [4, 1]), .session(status: 1)),
            (answer([0x00], session: Self.range(0xA1, 8) + [4, 5]), .session(status: 5)),
        ] as [([UInt8], SmartTapError)] {
            var session = try Self.session()
            #expect(throws: expected) { try session.take(data: data) }
        }
        var session = try Self.session()
        #expect(throws: SmartTapError.malformed(.ephemeralKey)) {
            var changed = Self.bytes(SmartTapVectors.negotiated)
            changed[changed.count - 33] = 0x05
            try session.take(negotiation: changed)
        }
    }

    private func answer(_ bundle: [UInt8]) -> [UInt8] { Self.answer(bundle) }

    private func answer(_ bundle: [UInt8], session: [UInt8]) -> [UInt8] { Self.answer(bundle, session: session) }

    /// What is not encrypted may come from anybody.
    @Test func plainData() throws {
        let value = SmartTapRecords.bytes([
            SmartTapRecords.record(
                "asv",
                SmartTapRecords.bytes([
                    SmartTapRecords.record("i", [0x04, 0x01, 1, 2, 3, 4]),
                    SmartTapRecords.record(
                        "gr",
                        SmartTapRecords.bytes([SmartTapRecords.record("n", [0x02] + Array("Ä1".utf8))])
                    ),
                ])
            )
        ])
        var session = try Self.session()
        let (objects, isProven) = try session.take(data: Self.answer([0x00] + value))
        #expect(objects.map(\.value) == ["Ä1"] && objects.map(\.kind) == [.generic])
        #expect(!isProven)
    }

    @Test(
        arguments: [
            (0x9000, .done), (0x9001, .noPasses), (0x9002, .done), (0x9100, .moreData),
            (0x9101, .doneWithoutPayment(hasPasses: true)), (0x9102, .doneWithoutPayment(hasPasses: false)),
            (0x9200, .passing), (0x92FF, .passing), (0x9300, .locked), (0x9302, .needsUser), (0x93AB, .needsUser),
            (0x9400, .notUnderstood), (0x9405, .noMoreData), (0x9406, .tooManyRequests), (0x9500, .notAuthentic),
            (0x9502, .unsupportedVersion), (0x6A82, .absent), (0x6F00, .other),
        ] as [(UInt16, SmartTapStatus)]
    )
    func statuses(_ word: UInt16, _ status: SmartTapStatus) {
        #expect(SmartTapStatus(StatusWord(word)) == status)
        #expect(!status.meaning.isEmpty && !status.advice.isEmpty)
    }

    @Test func signing() throws {
        #expect(
            Self.key.publicKey.dropFirst()
                == Self.bytes("721c978fcebdcdf98a8518bdc4fedfd802b4ee4128e2513b665593375e238786")[...]
        )
        #expect(try Self.key.sign([1, 2, 3]).count <= 72)
        #expect(!"\(Self.key)".contains("826"))
        #expect(SmartTapKey(pem: Self.key.pem, collectorID: 1, version: 1)?.publicKey == Self.key.publicKey)
        #expect(SmartTapKey([1], collectorID: 1, version: 1) == nil)
    }
}

/// Inflation up to a limit.
@Suite struct InflationTests {

    @Test func inflates() throws {
        #expect(try Inflation.inflate(SmartTapTests.bytes("789c4b4a2c0200025d0136"), limit: 100) == Array("bar".utf8))
    }

    @Test(arguments: ["", "78", "789c", "789c4b4a2c0200", "789c4b4a2c0200025d013600", "ffff", "789c4b4a2c0200025d0137"])
    func malformed(_ text: String) {
        #expect(throws: Inflation.Failure.malformed) { try Inflation.inflate(SmartTapTests.bytes(text), limit: 100) }
    }

    @Test func tooLong() throws {
        #expect(throws: Inflation.Failure.tooLong) {
            try Inflation.inflate(SmartTapTests.bytes("789c4b4a2c0200025d0136"), limit: 2)
        }
    }
}
