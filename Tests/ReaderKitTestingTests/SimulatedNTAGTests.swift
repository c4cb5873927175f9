import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct SimulatedNTAGTests {
    private static let ack = "A/4"

    private func powered(_ tag: SimulatedNTAG) -> SimulatedNTAG {
        tag.powerOn()
        return tag
    }

    @Test(
        arguments: [
            (SimulatedNTAG.Model.ntag213, "0004040201000F03", "E1101200", 0x29),
            (.ntag215, "0004040201001103", "E1103E00", 0x83),
            (.ntag216, "0004040201001303", "E1106D00", 0xE3),
        ] as [(SimulatedNTAG.Model, String, String, Int)]
    )
    func factory(_ model: SimulatedNTAG.Model, version: String, container: String, configurationPage: Int) throws {
        let tag = powered(SimulatedNTAG(model))
        #expect(answer(tag, "60") == version)
        #expect(answer(tag, "3000").hasSuffix(container))
        #expect(tag.memory.count == model.pages * 4)
        #expect(model.configurationPage == configurationPage)
        let page = Hex.encode([UInt8(configurationPage)])
        #expect(answer(tag, "30" + page) == "040000FF000500000000000000000000")
        #expect(tag.memory[(configurationPage + 2) * 4..<(configurationPage + 3) * 4].hex == "FFFFFFFF")
        let lockPage = try #require(model.dynamicLockPage)
        #expect(tag.memory[lockPage * 4..<lockPage * 4 + 4].hex == "000000BD")
    }

    @Test func identifier() {
        let tag = powered(SimulatedNTAG(.ntag213, uid: [0x04, 0xE1, 0x0C, 0xDA, 0x99, 0x3C, 0x80]))
        #expect(tag.uid.hex == "04E10CDA993C80")
        // BCC0 is 88 xor the first three bytes, BCC1 the xor of the other four.
        #expect(answer(tag, "3000").hasPrefix("04E10C61DA993C80FF48"))
        #expect(tag.atr.hex == "3B8F8001804F0CA0000003060300030000000068")
    }

    @Test func rollOver() {
        let tag = powered(SimulatedNTAG(.ntag213))
        // The last page is 2C; three pages of the read are pages 0, 1 and 2.
        #expect(answer(tag, "302C") == "00000000" + tag.memory[0..<12].hex)
        #expect(answer(tag, "302D") == "0/4")
        #expect(answer(tag, "30FF") == "0/4")
    }

    @Test(arguments: [
        ("3A0405", "0103A00C340300FE"), ("3A0404", "0103A00C"), ("3A0504", "0/4"), ("3A002D", "0/4"), ("3A00", "0/4"),
        ("A20411223344", "A/4"), ("A200112233", "0/4"), ("A20011223344", "0/4"), ("A20111223344", "0/4"),
        ("A22D11223344", "0/4"), ("3902", "0/4"), ("1B00000000", "0/4"), ("1BFFFFFFFF", "0000"), ("77", "0/4"),
        ("5000", "-"), ("", "-"),
    ])
    func frames(_ frame: String, _ expected: String) {
        #expect(answer(powered(SimulatedNTAG(.ntag213)), frame) == expected)
    }

    @Test func signature() {
        let placeholder = answer(powered(SimulatedNTAG(.ntag213)), "3C00")
        #expect(placeholder.count == 64)
        let signature = (0..<32).map { UInt8(255 - $0) }
        #expect(answer(powered(SimulatedNTAG(.ntag213, signature: signature)), "3C00") == signature.hex)
    }

    @Test func oneTimeProgrammable() {
        let tag = powered(SimulatedNTAG(.ntag213))
        // Bits of page 3 are only ever set: another container ruins the tag.
        #expect(answer(tag, "A203E1103E00") == Self.ack)
        #expect(tag.memory[12..<16].hex == "E1103E00")
        #expect(answer(tag, "A20300000000") == Self.ack)
        #expect(tag.memory[12..<16].hex == "E1103E00")
        #expect(answer(tag, "A2030000010F") == Self.ack)
        #expect(tag.memory[12..<16].hex == "E1103F0F")
    }

    @Test func staticLocks() {
        let tag = powered(SimulatedNTAG(.ntag213))
        // Page 4 (byte 0, bit 4) and page 15 (byte 1, bit 7); the identifier in the same page cannot be written.
        #expect(answer(tag, "A202FFFF1080") == Self.ack)
        #expect(tag.memory[8..<12].hex == "72481080")
        // The lock takes effect when the tag is next powered.
        #expect(answer(tag, "A20411223344") == Self.ack)
        tag.powerOn()
        #expect(answer(tag, "A20455667788") == "0/4")
        #expect(answer(tag, "A20F55667788") == "0/4")
        #expect(answer(tag, "A20555667788") == Self.ack)
        #expect(tag.memory[16..<20].hex == "11223344")
        // Block locking: no lock bit of pages 4 to 9 can be set any more.
        #expect(answer(tag, "A20200000200") == Self.ack)
        #expect(answer(tag, "A2020000F003") == Self.ack)
        #expect(tag.memory[10..<12].hex == "1280")
    }

    @Test(
        arguments: [
            // Bytes of the dynamic lock page; first and last locked page.
            (SimulatedNTAG.Model.ntag213, "010000", 16...17), (.ntag213, "000800", 38...39),
            (.ntag213, "800000", 30...31),
            (.ntag215, "010000", 16...31), (.ntag215, "800000", 128...129), (.ntag216, "010000", 16...31),
            (.ntag216, "002000", 224...225),
        ] as [(SimulatedNTAG.Model, String, ClosedRange<Int>)]
    )
    func dynamicLocks(_ model: SimulatedNTAG.Model, _ bits: String, _ locked: ClosedRange<Int>) throws {
        let tag = powered(SimulatedNTAG(model))
        let lockPage = try #require(model.dynamicLockPage)
        #expect(answer(tag, "A2" + Hex.encode([UInt8(lockPage)]) + bits + "FF") == Self.ack)
        #expect(tag.memory[lockPage * 4 + 3] == 0xBD)
        tag.powerOn()
        for page in 4...model.lastUserPage {
            let result = answer(tag, "A2" + Hex.encode([UInt8(page)]) + "00000000")
            #expect(result == (locked.contains(page) ? "0/4" : Self.ack), "page \(page)")
        }
    }

    @Test func frozenDynamicLocks() {
        let tag = powered(SimulatedNTAG(.ntag213))
        #expect(answer(tag, "A22800000100") == Self.ack)
        #expect(answer(tag, "A228FF000000") == Self.ack)
        // Bits 0 and 1 (pages 16 to 19) are frozen.
        #expect(tag.memory[160..<163].hex == "FC0001")
    }

    @Test func password() {
        let tag = SimulatedNTAG(.ntag213)
        tag.protect(password: [1, 2, 3, 4], acknowledgement: [0xAB, 0xCD], fromPage: 6, reading: true)
        tag.powerOn()
        // The read rolls over at the protection boundary.
        #expect(answer(tag, "3004") == "0103A00C340300FE" + tag.memory[0..<8].hex)
        #expect(answer(tag, "3006") == "0/4")
        #expect(answer(tag, "3A0406") == "0/4")
        #expect(answer(tag, "A20611223344") == "0/4")
        #expect(answer(tag, "A20511223344") == Self.ack)
        #expect(answer(tag, "1B01020305") == "0/4")
        #expect(answer(tag, "1B01020304") == "ABCD")
        #expect(answer(tag, "A20611223344") == Self.ack)
        #expect(answer(tag, "3006").hasPrefix("11223344"))
        // Password and acknowledgement are never shown.
        #expect(answer(tag, "302B").hasPrefix("0000000000000000"))
        // A refusal ends the authentication, and so does a loss of power.
        #expect(answer(tag, "30FF") == "0/4")
        #expect(answer(tag, "3006") == "0/4")
        #expect(answer(tag, "1B01020304") == "ABCD")
        tag.powerOff()
        tag.powerOn()
        #expect(answer(tag, "3006") == "0/4")
    }

    @Test func writeProtectionOnly() {
        let tag = SimulatedNTAG(.ntag213)
        tag.protect(password: [1, 2, 3, 4], fromPage: 4, reading: false)
        tag.powerOn()
        #expect(answer(tag, "3004").hasPrefix("0103A00C"))
        #expect(answer(tag, "A20411223344") == "0/4")
    }

    @Test func limitedAttempts() {
        let tag = SimulatedNTAG(.ntag213)
        tag.protect(password: [1, 2, 3, 4], fromPage: 4, reading: true, attempts: 2)
        tag.powerOn()
        for _ in 0..<2 { #expect(answer(tag, "1B00000000") == "0/4") }
        // Now even the right password is refused, for ever.
        tag.powerOn()
        #expect(answer(tag, "1B01020304") == "4/4")
    }

    @Test func counter() {
        let tag = powered(SimulatedNTAG(.ntag213))
        #expect(answer(tag, "A22A10050000") == Self.ack)
        for activation in 1...3 {
            tag.powerOn()
            _ = answer(tag, "3004")
            _ = answer(tag, "3A0405")
            #expect(answer(tag, "3902") == "0\(activation)0000")
        }
        // The counter behind the password too.
        #expect(answer(tag, "A22A18050000") == Self.ack)
        tag.powerOn()
        #expect(answer(tag, "3902") == "0/4")
        #expect(answer(tag, "1BFFFFFFFF") == "0000")
        #expect(answer(tag, "3902") == "030000")
    }

    @Test func lockedConfiguration() {
        let tag = powered(SimulatedNTAG(.ntag213))
        #expect(answer(tag, "A22A40050000") == Self.ack)
        tag.powerOn()
        #expect(answer(tag, "A22900000004") == "0/4")
        #expect(answer(tag, "A22A00050000") == "0/4")
        #expect(answer(tag, "A22B01020304") == Self.ack)
    }

    @Test func ultralightKnowsLess() {
        let tag = powered(SimulatedNTAG(.ultralight))
        for frame in ["60", "3A0405", "3902", "3C00", "1BFFFFFFFF"] { #expect(answer(tag, frame) == "0/4") }
        #expect(answer(tag, "300F") == "00000000" + tag.memory[0..<12].hex)
    }

    @Test func messageThatDoesNotFit() {
        #expect(SimulatedNTAG.formatted(.ntag213, message: [UInt8](repeating: 0, count: 142)) != nil)
        #expect(SimulatedNTAG.formatted(.ntag213, message: [UInt8](repeating: 0, count: 143)) == nil)
        #expect(SimulatedNTAG.formatted(.ntag216, message: [UInt8](repeating: 0, count: 70_000)) == nil)
    }

    @Test func shortAndLongInput() {
        #expect(SimulatedNTAG(.ntag213, uid: [1, 2]).uid.hex == "01020000000000")
        #expect(SimulatedNTAG(.ntag213, image: [UInt8](repeating: 7, count: 9999)).memory.count == 180)
        let tag = SimulatedNTAG(.ntag213)
        tag.overwrite(page: -1, with: [1])
        tag.overwrite(page: 99, with: [1])
        tag.overwrite(page: 44, with: [1, 2, 3, 4, 5])
        #expect(tag.memory[176...].hex == "01020304")
    }
}
