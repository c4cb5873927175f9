import Testing
import TestSupport

@testable import CardCore

@Suite struct ResponseAPDUTests {
    @Test(arguments: [
        ("9000", "", "9000 success"),
        ("019000", "01", "1 byte 01, 9000 success"),
        ("04A1B2C39000", "04A1B2C3", "4 bytes 04A1B2C3, 9000 success"),
        ("6A82", "", "6A82 file or application not found"),
        ("01026282", "0102", "2 bytes 0102, 6282 end of file or record reached"),
    ]) func decodesEncodesAndDescribes(_ hex: String, _ data: String, _ text: String) throws {
        let response = try ResponseAPDU(bytes: Hex.decode(hex))
        #expect(response.data.hex == data)
        #expect(response.encoded.hex == hex)
        #expect(response.description == text)
        #expect(response.isSuccess == hex.hasSuffix("9000"))
    }

    @Test func lengthsAreChecked() throws {
        for count in 0...1 {
            let bytes = [UInt8](repeating: 0x90, count: count)
            let error = #expect(throws: APDUError.self) { try ResponseAPDU(bytes: bytes) }
            #expect(error?.code == .tooShort)
            #expect(error?.offset == count)
        }
        let longest = [UInt8](repeating: 0x61, count: ReaderLimits.responseLength)
        #expect(try ResponseAPDU(bytes: longest).data.count == 65_536)
        let error = #expect(throws: APDUError.self) { try ResponseAPDU(bytes: longest + [0]) }
        #expect(error?.code == .tooLong)
        #expect(error?.offset == ReaderLimits.responseLength)
    }

    /// Seed 0x5551.
    @Test func randomBytesAreTheSameAfterwards() throws {
        var random = SeededNumbers(seed: 0x5551)
        var wrong: [[UInt8]] = []
        for _ in rounds(20_000) {
            let bytes = random.bytes(Int.random(in: 0...20, using: &random))
            guard bytes.count >= 2 else {
                #expect(throws: APDUError.self) { try ResponseAPDU(bytes: bytes) }
                continue
            }
            let response = try ResponseAPDU(bytes: bytes)
            if response.encoded != bytes || response.description.isEmpty { wrong.append(bytes) }
        }
        #expect(wrong.isEmpty)
    }
}
