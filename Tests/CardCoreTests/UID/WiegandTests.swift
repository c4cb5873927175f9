import Testing
import TestSupport

@testable import CardCore

@Suite struct WiegandTests {
    @Test func readsTheReferenceExamples() throws {
        let card = try #require(Wiegand(.h10301, number: 213 << 16 | 2000))
        #expect(card.bits == "11101010100000111110100001")
        #expect(card.hex == "3AA0FA1")
        #expect(card.frame == 0x3AA_0FA1)
        #expect(card.facilityCode == 213)
        #expect(card.cardNumber == 2000)
        let long = try #require(Wiegand(.h10306, number: 0x04A1_B2C3))
        #expect(long.bits == "0" + "00000100101000011011001011000011" + "1")
        #expect(long.hex == "09436587")
    }

    @Test func the37BitFormatsShareTheMiddleBit() throws {
        // Only the middle of 35 bits: both halves have one 1, so the even bit is set and the odd bit is not.
        let middle = try #require(Wiegand(.h10302, number: 1 << 17))
        #expect(middle.bits == "1" + "00000000000000000100000000000000000" + "0")
        #expect(middle.hex.count == 10)
        let split = try #require(Wiegand(.h10304, number: 1 << 35 - 1))
        #expect(split.bits == "0" + String(repeating: "1", count: 35) + "1")
        #expect(split.facilityCode == 65_535)
        #expect(split.cardNumber == 524_287)
        #expect(Wiegand(.h10302, number: 1 << 35 - 1)?.cardNumber == 1 << 35 - 1)
    }

    @Test(arguments: Wiegand.Format.allCases) func numbersAreLimited(_ format: Wiegand.Format) {
        #expect(Wiegand(format, number: 1 << UInt64(format.dataBits)) == nil)
        #expect(Wiegand(format, number: .max) == nil)
        #expect(Wiegand(format, number: 1 << UInt64(format.dataBits) - 1) != nil)
        #expect(format.totalBits == format.dataBits + 2)
    }

    /// Seed 0x5555.
    @Test(arguments: Wiegand.Format.allCases) func parityIsRight(_ format: Wiegand.Format) throws {
        var random = SeededNumbers(seed: 0x5555)
        for _ in 0..<1_000 {
            let number = random.next() & (1 << UInt64(format.dataBits) - 1)
            let value = try #require(Wiegand(format, number: number))
            #expect(value.bits.count == format.totalBits)
            #expect(UInt64(value.facilityCode) << UInt64(format.cardBits) | UInt64(value.cardNumber) == number)
            // Counted over the printed bits, as the line's other end does.
            let covered = (format.dataBits + 1) / 2
            #expect(value.bits.prefix(covered + 1).count { $0 == "1" } % 2 == 0)
            #expect(value.bits.suffix(covered + 1).count { $0 == "1" } % 2 == 1)
        }
    }
}

extension Wiegand {
    /// The frame as `0` and `1`, first bit first.
    fileprivate var bits: String {
        let digits = String(frame, radix: 2)
        return String(repeating: "0", count: max(0, format.totalBits - digits.count)) + digits
    }
}
