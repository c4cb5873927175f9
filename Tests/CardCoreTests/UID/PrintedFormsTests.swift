import Foundation
import Testing
import TestSupport

@testable import CardCore

@Suite struct PrintedFormsTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        var hex: String
        var reversed: String
        var decimal: String
        var decimalReversed: String
        var threePlusFive: String?
        var wiegand26: String?
        var wiegand34: String?
        var testDescription: String { hex }
    }

    static let vectors: [Vector] = [
        Vector(
            hex: "04A1B2C3",
            reversed: "C3B2A104",
            decimal: "0077705923",
            decimalReversed: "3283263748",
            threePlusFive: "161,45763",
            wiegand26: "1436586",
            wiegand34: "09436587"
        ),
        Vector(
            hex: "00D507D0",
            reversed: "D007D500",
            decimal: "0013961168",
            decimalReversed: "3490174208",
            threePlusFive: "213,02000",
            wiegand26: "3AA0FA1",
            wiegand34: "201AA0FA1"
        ),
        Vector(
            hex: "04A1B2C3D4E580",
            reversed: "80E5D4C3B2A104",
            decimal: "1303689068602752",
            decimalReversed: "36281498998055172",
            threePlusFive: "212,58752",
            wiegand26: "3A9CB00",
            wiegand34: "187A9CB01"
        ),
        Vector(
            hex: "FFFFFFFFFFFFFFFFFFFF",
            reversed: "FFFFFFFFFFFFFFFFFFFF",
            decimal: "1208925819614629174706175",
            decimalReversed: "1208925819614629174706175",
            threePlusFive: "255,65535",
            wiegand26: "1FFFFFF",
            wiegand34: "1FFFFFFFF"
        ),
        Vector(
            hex: "E00401001A2B3C4D",
            reversed: "4D3C2B1A000104E0",
            decimal: "16142028064353369165",
            decimalReversed: "5565370630192301280",
            threePlusFive: "043,15437",
            wiegand26: "056789B",
            wiegand34: "23456789B"
        ),
        Vector(
            hex: "00",
            reversed: "00",
            decimal: "0000000000",
            decimalReversed: "0000000000",
            threePlusFive: "000,00000",
            wiegand26: "0000001",
            wiegand34: "00000001"
        ),
        Vector(hex: "", reversed: "", decimal: "", decimalReversed: ""),
    ]

    @Test(arguments: vectors) func printsEveryForm(_ vector: Vector) throws {
        let uid = try CardUID(Hex.decode(vector.hex), technology: nil)
        #expect(uid.hex == vector.hex)
        #expect(uid.hexReversed == vector.reversed)
        #expect(uid.decimal == vector.decimal)
        #expect(uid.decimalReversed == vector.decimalReversed)
        #expect(uid.threePlusFive == vector.threePlusFive)
        #expect(uid.wiegand26 == vector.wiegand26)
        #expect(uid.wiegand34 == vector.wiegand34)
    }

    /// Seed 0x5554: against the machine's own arithmetic, up to the eight bytes that it can do.
    @Test func decimalAgreesWithTheMachine() {
        var random = SeededNumbers(seed: 0x5554)
        var wrong: [[UInt8]] = []
        for _ in rounds(4000) {
            let bytes = random.bytes(Int.random(in: 1...8, using: &random))
            let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let digits = String(number)
            let expected = String(repeating: "0", count: max(0, 10 - digits.count)) + digits
            if CardUID(bytes, technology: nil).decimal != expected { wrong.append(bytes) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func limbsKeepTheirInnerZeros() {
        // 10^18 = 0DE0B6B3A7640000.
        let uid = CardUID([0x0D, 0xE0, 0xB6, 0xB3, 0xA7, 0x64, 0x00, 0x00], technology: nil)
        #expect(uid.decimal == "1000000000000000000")
    }

    @Test func summaryHasExactlyItsKeys() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let data = try encoder.encode(UIDSummary(CardUID(text: "00D507D0")))
        #expect(
            String(decoding: data, as: UTF8.self)
                == #"{"decimal":"0013961168","decimalReversed":"3490174208","hex":"00D507D0","hexReversed":"D007D500","#
                + #""kind":"fixed","manufacturer":null,"wiegand26":"3AA0FA1","wiegand34":"201AA0FA1"}"#
        )
    }
}
