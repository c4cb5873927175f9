import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct SimulatedCardChannelTests {
    private let write = (try? Hex.decode("FFD600040411223344")) ?? []

    @Test func tearBeforeLeavesTheCardAsItWas() {
        let tag = SimulatedNTAG(.ntag213)
        let channel = SimulatedCardChannel(tag, faults: [.tear(beforeExchange: 0)])
        #expect(throws: ReaderError(.cardRemoved, attempting: "send a command to the card")) {
            try channel.transmit(write)
        }
        #expect(tag.memory[16..<20].hex == "0103A00C")
    }

    @Test func tearAfterHasWritten() {
        let tag = SimulatedNTAG(.ntag213)
        let channel = SimulatedCardChannel(tag, faults: [.tear(afterExchange: 0)])
        #expect(throws: ReaderError.self) { try channel.transmit(write) }
        #expect(tag.memory[16..<20].hex == "11223344")
        // It stays away.
        let error = #expect(throws: ReaderError.self) { try channel.transceive(RawFrame([0x30, 0x04])) }
        #expect(error?.kind == .cardRemoved)
        #expect(throws: ReaderError.self) { try channel.reset() }
    }

    @Test func resetForgetsThePassword() throws {
        let tag = SimulatedNTAG(.ntag213)
        tag.protect(password: [1, 2, 3, 4], fromPage: 4, reading: true)
        let channel = SimulatedCardChannel(tag, faults: [.init(.reset, atExchange: 2)])
        _ = try channel.transceive(RawFrame([0x1B, 1, 2, 3, 4]))
        #expect(try channel.transceive(RawFrame([0x30, 4])).bytes.count == 16)
        let error = #expect(throws: ReaderError.self) { try channel.transceive(RawFrame([0x30, 4])) }
        #expect(error?.kind == .cardReset)
        #expect(try channel.transceive(RawFrame([0x30, 4])) == RawFrame([0], bitsInLastByte: 4))
        #expect(channel.exchanges == 4)
    }

    @Test func silenceIsATimeout() {
        let channel = SimulatedCardChannel(SimulatedNTAG(.ntag213))
        let error = #expect(throws: ReaderError.self) { try channel.transceive(RawFrame([0x50, 0x00])) }
        #expect(error?.kind == .timeout)
    }

    @Test func noControlCodes() {
        let channel = SimulatedCardChannel(SimulatedNTAG(.ntag213))
        let error = #expect(throws: ReaderError.self) { try channel.control(0x4200_0001, [0x58]) }
        #expect(error?.kind == .unsupported)
    }
}
