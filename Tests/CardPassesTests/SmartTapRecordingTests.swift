import CardCore
import NDEFCodec
import Testing
import TestSupport

@testable import CardPasses

/// A recorded session of Smart Tap whose keys nobody published: what stands in the open is read, what is encrypted is
/// refused. The collector's number in it was put there in place of another.
@Suite struct SmartTapRecordingTests {
    private static let selection =
        "6f8184500a416e64726f6964506179c0020001c108cc00000000008080c22056d2ec8f857f0049aa54f1ca1de2791b5693a7014e6e"
        + "4565d5644b1c2a305136c32103dfee38dbdb68a607383ad622640b180cc7e27d796b4e788c40e5d994291c71fca523bf0c20611e4f"
        + "09a000000476d0000111870101730edf6d020000df4d020001df620103"
    private static let selectionAgain =
        "00000001dc0321036d646e6d646e0456d2ec8f857f0049aa54f1ca1de2791b5693a7014e6e4565d5644b1c2a305136"
    private static let negotiation =
        "d403b86e6772000194030a7365736b159a80fc8283fd00015403a0637072a8aa2bae1ba891783d8c5be8a95bf2f9e5bb90fd9d197f"
        + "8b2b1a84d9cc80427501027b2e12f1a1a542084b4d01b8799380fa4cb77e530ba2305b0bf2b3e4b474fe7d00000001940349736967"
        + "04304602210086e43dc483b22e51aa177ae8112ed83d399a58b41d6d8cbe900cde03c4524da5022100e94b6a919c9e097568f4efa9"
        + "a7123b86b97ee44342593f8a77fc9e12e3f95ae4540305636c640401020304"
    private static let negotiated =
        "d403376e727394030a7365736b159a80fc8283fd010154032164706b03dfee38dbdb68a607383ad622640b180cc7e27d796b4e788c"
        + "40e5d994291c71fc"
    private static let request =
        "d4033b737271000194030a7365736b159a80fc8283fd010114030b6d6572d40305636c640401020304140307736c72d40301737472"
        + "005403057063724100000004"
    private static let answer =
        "d403ce73727394030a7365736b159a80fc8283fd02015403b8726562031c5b7d2e9f0f6937a7c043dc6913dd976002ce5cf179dedb"
        + "caaab629442a89a72b6a92caa26e808903a6d02207fd2d42702161d21c76f0a2a135bd8d45ac796786787e268bcc7498d17eccab47"
        + "ad98be601a3470618fcd9790b40e3c324fc01ec29a98d1cb784fd4390ea1b045437cfdfa121447854c5ae5375c3f721a7a9f80b7da"
        + "35868e063f18c545f07d934e4cc557fc93ee52b6231c95ef2d2d1de6be82be0d76e8d555dc41cc4894e44af98c68e4245e5bb6cecc"
    private static let push =
        "d403b9737072000194030a7365736b159a80fc8283fd02011403126270729403016d6f6e0059010303546363645553441403246e73"
        + "720599010703546e737402656e5041535359010c03556e7375046578616d706c652e636f6d54035f7373729403096f696404010203"
        + "dc3be19e4814034373756701990116035473757402656e534552564943455f55534147455f5449544c4559011c035473756402656e"
        + "534552564943455f55534147455f4445534352495054494f4e54030173757005"
    private static let pushed =
        "d40310707372d4030a7365736b159a80fc8283fd0301"
    private static let phoneNonce = bytes("56d2ec8f857f0049aa54f1ca1de2791b5693a7014e6e4565d5644b1c2a305136")
    private static let phoneKey = bytes("03dfee38dbdb68a607383ad622640b180cc7e27d796b4e788c40e5d994291c71fc")
    private static let terminalNonce = bytes("a8aa2bae1ba891783d8c5be8a95bf2f9e5bb90fd9d197f8b2b1a84d9cc804275")
    private static let terminalKey = bytes("027b2e12f1a1a542084b4d01b8799380fa4cb77e530ba2305b0bf2b3e4b474fe7d")
    private static let sessionNumber = bytes("6b159a80fc8283fd")
    private static let collector = bytes("01020304")

    /// The records within the only record of a message.
    private static func records(
        _ text: String,
        in name: String,
        versioned: Bool = true
    ) throws -> [NDEFRecord] {
        let message = try SmartTapRecords.read(bytes(text))
        #expect(message.count == 1)
        let payload = try #require(message.first(named: name)).payload
        guard versioned else { return try SmartTapRecords.read(payload) }
        #expect(Array(payload.prefix(2)) == [0x00, 0x01])
        return try SmartTapRecords.read(payload.dropFirst(2))
    }

    /// As the terminal of the recording, but with a key of its own: that one's is not known.
    private static func session(nonce: [UInt8] = terminalNonce) throws -> SmartTapSession {
        let entropy = SmartTapEntropy(
            session: sessionNumber,
            nonce: nonce,
            ephemeralKey: [UInt8](repeating: 0x11, count: 32)
        )
        return try SmartTapSession(SmartTapTests.key, phoneNonce: phoneNonce, entropy: try #require(entropy)) { _ in
            SmartTapTests.signature
        }
    }

    @Test func selections() throws {
        let response = ResponseAPDU(data: bytes(Self.selection), statusWord: .success)
        guard case .google(let template) = WalletSelection(response) else {
            Issue.record("not Google")
            return
        }
        #expect(
            try SmartTapApplication(template)
                == SmartTapApplication(
                    versions: 0...1,
                    allowsSkippingSelect: true,
                    nonce: Self.phoneNonce,
                    ephemeralKey: Self.phoneKey
                )
        )
        // Selecting it gives the same number.
        #expect(try SmartTapApplication.nonce(selected: bytes(Self.selectionAgain)) == Self.phoneNonce)
    }

    /// Session and sequence, and a status that all is well, in each message.
    @Test(
        arguments: [
            (negotiation, "ngr", true, 0), (negotiated, "nrs", false, 1), (request, "srq", true, 1),
            (answer, "srs", false, 2), (push, "spr", true, 2), (pushed, "psr", false, 3),
        ] as [(String, String, Bool, UInt8)]
    )
    func sessions(_ text: String, _ name: String, _ isVersioned: Bool, _ sequence: UInt8) throws {
        let records = try Self.records(text, in: name, versioned: isVersioned)
        #expect(records.first(named: "ses")?.payload == Self.sessionNumber + [sequence, 0x01])
    }

    @Test func negotiating() throws {
        let request = try Self.records(Self.negotiation, in: "ngr")
        let proof = try #require(request.first(named: "cpr")).payload
        #expect(Array(proof.prefix(32)) == Self.terminalNonce)
        #expect(proof[32] == 0x01)
        #expect(Array(proof[33..<66]) == Self.terminalKey)
        #expect(Array(proof[66..<70]) == [0, 0, 0, 1])
        let inner = try SmartTapRecords.read(proof[70...])
        #expect(inner.first(named: "sig")?.primitive?.count == 72)
        #expect(inner.first(named: "sig")?.primitive?.prefix(4) == [0x30, 0x46, 0x02, 0x21])
        #expect(inner.first(named: "cld")?.primitive == Self.collector)
        let answer = try Self.records(Self.negotiated, in: "nrs", versioned: false)
        #expect(answer.first(named: "dpk")?.payload == Self.phoneKey)
    }

    @Test func asking() throws {
        let request = try Self.records(Self.request, in: "srq")
        #expect(request.map { String(decoding: $0.type, as: UTF8.self) } == ["ses", "mer", "slr", "pcr"])
        let merchant = try SmartTapRecords.read(try #require(request.first(named: "mer")).payload)
        #expect(merchant.first(named: "cld")?.primitive == Self.collector)
        let services = try SmartTapRecords.read(try #require(request.first(named: "slr")).payload)
        #expect(services.map(\.payload) == [[SmartTapRequest.Service.all.rawValue]])
        // Stand-alone, inflates zlib; pass and payment.
        let capabilities = SmartTapRequest.Capabilities(system: 0x41, tapMode: 0x04)
        #expect(request.first(named: "pcr")?.payload == capabilities.bytes)
    }

    @Test func pushing() throws {
        let request = try Self.records(Self.push, in: "spr")
        #expect(request.count == 4)
        // Its currency is a text with nothing before the letters, so it is no text; the amount beside it is one.
        let amount = try #require(request.first(named: "bpr")).payload
        let paid = try SmartTapRecords.read(amount)
        #expect(paid.count == 2 && paid.first(named: "ccd")?.smartTapText == nil)
        let offered = try #require(request.first(named: "nsr")).payload
        #expect(offered.first == 0x05)
        let offer = try SmartTapRecords.read(offered.dropFirst())
        #expect(offer.first(named: "nst")?.smartTapText == "PASS")
        #expect(offer.first(named: "nsu")?.content == .uri("https://example.com"))
        let used = try SmartTapRecords.read(try #require(request.first(named: "ssr")).payload)
        #expect(used.first(named: "oid")?.primitive == bytes("010203dc3be19e48"))
        let usage = try #require(used.first(named: "sug")).payload
        #expect(usage.first == 0x01)
        #expect(
            try SmartTapRecords.read(usage.dropFirst()).map(\.smartTapText)
                == ["SERVICE_USAGE_TITLE", "SERVICE_USAGE_DESCRIPTION"]
        )
        #expect(used.first(named: "sup")?.payload == [0x05])
    }

    /// Encrypted and compressed, and with keys that only that terminal could make.
    @Test func answerWithoutItsKeys() throws {
        let answer = try Self.records(Self.answer, in: "srs", versioned: false)
        let bundle = try #require(answer.first(named: "reb")).payload
        #expect(bundle.first == 0x03 && bundle.count == 184)
        var session = try Self.session()
        // Without the phone's key there is nothing to try.
        #expect(throws: SmartTapError.malformed(.ephemeralKey)) { try session.take(data: bytes(Self.answer)) }
        try session.take(negotiation: bytes(Self.negotiated))
        #expect(throws: SmartTapError.forged) { try session.take(data: bytes(Self.answer)) }
        var other = try Self.session(nonce: SmartTapTests.range(0x40, 32))
        try other.take(negotiation: bytes(Self.negotiated))
        #expect(throws: SmartTapError.forged) { try other.take(data: bytes(Self.answer)) }
        // Another session's answer is not even looked into.
        var stranger = try SmartTapTests.session()
        #expect(throws: SmartTapError.session(status: 1)) { try stranger.take(data: bytes(Self.answer)) }
        #expect(throws: SmartTapError.session(status: 1)) { try stranger.take(negotiation: bytes(Self.negotiated)) }
    }

    /// Whatever is cut off or changed, nothing comes of it but an error.
    @Test func brokenAnswers() throws {
        let (negotiated, answer) = (bytes(Self.negotiated), bytes(Self.answer))
        for count in 0..<negotiated.count {
            var session = try Self.session()
            #expect(throws: SmartTapError.self) { try session.take(negotiation: Array(negotiated.prefix(count))) }
        }
        var begun = try Self.session()
        try begun.take(negotiation: negotiated)
        for index in answer.indices {
            var session = begun
            #expect(throws: SmartTapError.self) { try session.take(data: Array(answer.prefix(index))) }
            // Each bit of what frames the data, and one of each byte of them.
            for bit in 0..<(index < 32 ? 8 : 1) {
                var (session, changed) = (begun, answer)
                changed[index] ^= 1 << bit
                #expect(throws: SmartTapError.self) { try session.take(data: changed) }
            }
        }
        let selected = bytes(Self.selectionAgain)
        for count in 0..<selected.count {
            #expect(throws: SmartTapError.self) {
                try SmartTapApplication.nonce(selected: Array(selected.prefix(count)))
            }
        }
    }
}
