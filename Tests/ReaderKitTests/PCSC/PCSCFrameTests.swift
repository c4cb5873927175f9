import CardCore
import CardPasses
import CardTags
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// Raw frames through the backend: what reaches the reader, and in which order.
@Suite struct PCSCFrameTests {
    private static func fake(_ name: String, _ answers: [(command: String, answer: String)]) -> FakePCSC {
        let fake = FakePCSC(readers: [name])
        let answer: @Sendable ([UInt8]) -> FakePCSC.Answer = { command in
            let known = answers.first { command.hex.hasPrefix($0.command) }
            return .bytes(known.map { bytes($0.answer) } ?? [0x6D, 0x00])
        }
        fake.insert(FakePCSC.Card(answer: answer), into: name)
        return fake
    }

    @Test func knownReader() async throws {
        let fake = Self.fake("SpringCard H518", [("FFFE", "0A9000")])
        let backend = fake.backend()
        let frame = try await backend.withCard(fake.presence("SpringCard H518")) { channel in
            try channel.transceive(RawFrame([0xA2, 0x04, 1, 2, 3, 4]))
        }
        #expect(frame.bytes == [0x0A])
        #expect(fake.commands.map(\.hex) == ["FFFE010006A2040102030400"])
    }

    /// Other commands end the session, and so does the end of the conversation, cancelled or not: a reader in a session
    /// sees no further card.
    @Test func sessionsAreEnded() async throws {
        let fake = Self.fake("A", [("FFC20000", "C0030090009000"), ("FFC20001", "9702AABB9000"), ("FFCA", "019000")])
        let backend = fake.backend()
        for _ in 0..<2 {
            try await backend.withCard(fake.presence("A")) { channel in
                #expect(try channel.transceive(RawFrame([0x60])).bytes == [0xAA, 0xBB])
                _ = try channel.transmit(bytes("FFCA000000"))
                _ = try channel.transceive(RawFrame([0x60]))
            }
        }
        let once = [
            "FFFE0100016000", "FFC2000002810000", "FFC200010395016000", "FFC2000002820000", "FFCA000000",
            "FFC2000002810000", "FFC200010395016000", "FFC2000002820000",
        ]
        #expect(fake.commands.map(\.hex) == once + once)
        #expect(fake.complaints == [])
    }

    @Test func aReaderWithoutFrames() async throws {
        let fake = Self.fake("A", [])
        let backend = fake.backend()
        let kinds = try await backend.withCard(fake.presence("A")) { channel in
            (0..<3).map { _ -> ReaderError.Kind? in
                do throws(ReaderError) {
                    _ = try channel.transceive(RawFrame([0x60]))
                    return nil
                } catch {
                    return error.kind
                }
            }
        }
        #expect(kinds == [.unsupported, .unsupported, .unsupported])
        #expect(fake.commands.count == 2)
    }

    @Test func theCardIsTakenAway() async throws {
        let fake = Self.fake("SpringCard A", [])
        fake.fail(.transmit, with: .removedCard)
        let backend = fake.backend()
        let error = await readerError {
            try await backend.withCard(fake.presence("SpringCard A")) { try $0.transceive(RawFrame([0x60])) }
        }
        #expect(error?.kind == .cardRemoved)
    }
}
#endif
