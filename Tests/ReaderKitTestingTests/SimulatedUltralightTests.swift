import ReaderKit
import Testing

@testable import ReaderKitTesting

/// What Ultralight, Ultralight EV1 and Ultralight C do other than an NTAG.
@Suite struct SimulatedUltralightTests {
    private static let zeros = String(repeating: "00", count: 12)

    // MARK: COMPATIBILITY_WRITE

    @Test(arguments: SimulatedNTAG.Model.all)
    func compatibilityWrite(_ model: SimulatedNTAG.Model) {
        let tag = SimulatedNTAG(model)
        let steps = [
            // Of 16 bytes the first four are written.
            FrameStep("A005", "A/4"), FrameStep("11223344" + Self.zeros, "A/4"),
            FrameStep("A00655667788" + Self.zeros, "A/4"),
            // Neither the identifier nor pages that are not there; and the second half has 16 bytes.
            FrameStep("A000", "0/4"), FrameStep("A0FF", "0/4"), FrameStep("A005", "A/4"), FrameStep("112233", "0/4"),
        ]
        #expect(differences(tag, steps) == [])
        #expect(tag.memory[20..<28].hex == "1122334455667788")
    }

    // MARK: EV1

    private static let ev1: [SimulatedNTAG.Model] = [.ultralightEV1Small, .ultralightEV1Large]

    @Test(arguments: ev1) func counters(_ model: SimulatedNTAG.Model) {
        let tag = SimulatedNTAG(model)
        let steps = [
            FrameStep("3900", "000000"), FrameStep("A50001000000", "A/4"),
            FrameStep("3900", "010000"), FrameStep("A501341200FF", "A/4"), FrameStep("3901", "341200"),
            FrameStep("A50100010000", "A/4"), FrameStep("3901", "341300"),
            // There are three, and none goes beyond 24 bits or back to zero.
            FrameStep("3902", "000000"), FrameStep("3903", "0/4"), FrameStep("A50301000000", "0/4"),
            FrameStep("A502FFFFFF00", "A/4"), FrameStep("A50201000000", "4/4"), FrameStep("3902", "FFFFFF"),
            FrameStep("A50200000000", "A/4"), FrameStep("A5020100", "0/4"),
            .power, FrameStep("3901", "341300"),
        ]
        #expect(differences(tag, steps) == [])
        #expect(tag.counters == [1, 0x1334, 0xFF_FFFF])
    }

    @Test(arguments: ev1) func tornCounter(_ model: SimulatedNTAG.Model) {
        let tag = SimulatedNTAG(model)
        tag.tear(counter: 1)
        let steps = [
            FrameStep("3E00", "BD"), FrameStep("3E01", "00"), FrameStep("3E03", "0/4"),
            FrameStep("A50101000000", "A/4"),
            FrameStep("3E01", "BD"),
        ]
        #expect(differences(tag, steps) == [])
    }

    @Test(arguments: ev1) func virtualCard(_ model: SimulatedNTAG.Model) {
        let request = "4B" + String(repeating: "00", count: 20)
        let steps = [FrameStep(request, "05"), FrameStep("4B0000", "0/4")]
        #expect(differences(SimulatedNTAG(model), steps) == [])
    }

    @Test(arguments: ev1) func password(_ model: SimulatedNTAG.Model) {
        let tag = SimulatedNTAG(model)
        tag.protect(password: [1, 2, 3, 4], acknowledgement: [0x12, 0x34], fromPage: 5, reading: true, attempts: 2)
        let steps = [
            FrameStep("3005", "0/4"), FrameStep("1B01020305", "0/4"), FrameStep("1B01020304", "1234"),
            FrameStep("A20501020304", "A/4"), FrameStep("3A0505", "01020304"), .power, FrameStep("3A0505", "0/4"),
            // Two wrong ones in a row close the tag for ever; the right one between them begins the count anew.
            FrameStep("1B00000000", "0/4"), FrameStep("1B00000000", "0/4"), FrameStep("1B01020304", "4/4"), .power,
            FrameStep("1B01020304", "4/4"),
        ]
        #expect(differences(tag, steps) == [])
    }

    @Test func counterOfNTAG() {
        // These chips count nothing, whatever their configuration says.
        for model in [SimulatedNTAG.Model.ntag210, .ntag212, .ultralight, .ultralightC] {
            #expect(
                differences(SimulatedNTAG(model), [FrameStep("3902", "0/4"), FrameStep("A50201000000", "0/4")]) == []
            )
        }
        let tag = SimulatedNTAG(.ntag213)
        let unknown = ["A50201000000", "3E02", "4B" + String(repeating: "00", count: 20), "1A00"]
        #expect(differences(tag, unknown.map { FrameStep($0, "0/4") }) == [])
    }

    // MARK: C

    private static let key: [UInt8] = Array("IEMKAERB!NACUOYF".utf8)

    /// The proof that a reader sends, and what the card has to answer: its side of the protocol, done here again.
    private func proof(_ challenge: String, key: [UInt8] = key) throws -> (sent: String, expected: String) {
        let des = try #require(TripleDES(key: key))
        let cipher = Array(try Hex.decode(challenge).dropFirst())
        let plain = des.decrypt(cipher, vector: [UInt8](repeating: 0, count: 8))
        let own: [UInt8] = [0x0F, 1, 2, 3, 4, 5, 6, 7]
        let sent = des.encrypt(own + plain.dropFirst() + plain.prefix(1), vector: cipher)
        let expected = des.encrypt(Array(own[1...] + own[..<1]), vector: Array(sent[8...]))
        return ("AF" + sent.hex, "00" + expected.hex)
    }

    /// As recorded with a real card and the factory's key.
    @Test func recordedHandshake() throws {
        let memory = SimulatedNTAG(.ultralightC).memory
        let key = UltralightCHandshake.key(inMemory: Array(memory[0x2C * 4..<0x30 * 4]))
        #expect(key == Self.key)
        var handshake = UltralightCHandshake(seed: 1)
        #expect(handshake.start(0, key, try Hex.decode("D1699D8D9E225321")).bytes.hex == "AF04932EA8B4F93CE2")
        let answer = handshake.answer(try Hex.decode("AF145FF4DAC8273BA035AB0C28C6D40D89"), key)
        #expect(answer?.frame.bytes.hex == "00FDA43D35AE852FA0")
        #expect(answer?.isDone == true)
    }

    @Test func authentication() throws {
        let tag = SimulatedNTAG(.ultralightC)
        tag.protect(key: Self.key, fromPage: 6, reading: true)
        let user = tag.memory[16..<24].hex
        let start = tag.memory[0..<8].hex
        // The read rolls over at the protection boundary, and the key is never shown.
        let closed = [
            FrameStep("3004", user + start), FrameStep("3006", "0/4"), FrameStep("A20611223344", "0/4"),
            FrameStep("302C", "0/4"), FrameStep("1A01", "0/4"), FrameStep("1A", "0/4"),
            FrameStep("AF" + String(repeating: "00", count: 16), "0/4"),
        ]
        #expect(differences(tag, closed) == [])
        let first = answer(tag, "1A00")
        #expect(first.count == 18 && first.hasPrefix("AF"))
        let (sent, expected) = try proof(first)
        #expect(answer(tag, sent) == expected)
        #expect(answer(tag, "A20611223344") == "A/4")
        #expect(answer(tag, "3006").hasPrefix("11223344"))
        // Open is also what is behind the user's memory, but the key itself is not.
        #expect(answer(tag, "302A").hasPrefix("0600000000000000" + start.prefix(8)))
        #expect(answer(tag, "302C") == "0/4")
        #expect(answer(tag, "3006") == "0/4")
        // Each challenge is another one, and the old proof is none.
        tag.powerOn()
        #expect(answer(tag, "1A00") != first)
        #expect(answer(tag, sent) == "0/4")
        #expect(answer(tag, "3006") == "0/4")
    }

    @Test func wrongKeyAndNewKey() throws {
        let tag = SimulatedNTAG(.ultralightC)
        tag.powerOn()
        let wrong = try proof(answer(tag, "1A00"), key: Array(1...16))
        #expect(answer(tag, wrong.sent) == "0/4")
        // The card's order of the key: each half from its last byte.
        for part in ["2C08070605", "2D04030201", "2E100F0E0D", "2F0C0B0A09"] {
            #expect(answer(tag, "A2" + part) == "A/4", "\(part)")
        }
        let right = try proof(answer(tag, "1A00"), key: Array(1...16))
        #expect(answer(tag, right.sent) == right.expected)
    }

    @Test func writeProtectionOnly() {
        let tag = SimulatedNTAG(.ultralightC)
        tag.protect(key: Self.key, fromPage: 4, reading: false)
        let steps = [FrameStep("A20400000000", "0/4"), FrameStep("A00400000000" + Self.zeros, "0/4")]
        #expect(differences(tag, steps) == [])
        #expect(answer(tag, "3004").hasPrefix("0103A010"))
    }

    @Test func counterPage() {
        let steps = [
            // The first write sets the counter, later ones add 1 to 15.
            FrameStep("A229FEFF0000", "A/4"), FrameStep("A22910000000", "0/4"), FrameStep("A22902000000", "0/4"),
            FrameStep("A22901000000", "A/4"), FrameStep("A22901000000", "0/4"),
        ]
        let tag = SimulatedNTAG(.ultralightC)
        #expect(differences(tag, steps) == [])
        #expect(tag.memory[0x29 * 4..<0x2A * 4].hex == "FFFF0000")
    }

    @Test func locksOfC() {
        let steps = [
            // Bit 12 locks the counter, bit 15 the key.
            FrameStep("A22800900000", "A/4"), .power, FrameStep("A22901000000", "0/4"),
            FrameStep("A22C01020304", "0/4"),
            FrameStep("A22A30000000", "A/4"),
        ]
        #expect(differences(SimulatedNTAG(.ultralightC), steps) == [])
    }
}
