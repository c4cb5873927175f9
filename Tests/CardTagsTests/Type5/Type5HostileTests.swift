import CardCore
import Testing
import TestSupport

@testable import CardTags

/// Vicinity cards that contradict themselves.
@Suite struct Type5HostileTests {
    /// A card that gives these blocks in raw frames, and others as `rest`, which may be an error.
    private func channel(
        _ blocks: [String],
        blockSize: UInt8? = nil,
        rest: Result<[UInt8], ReaderError>
    ) -> AnsweringChannel {
        AnsweringChannel(
            facts: CardFacts(technology: .iso15693),
            frame: { frame throws(ReaderError) in
                let command = frame.bytes
                if command[1] == 0x2B {
                    guard let blockSize else { return RawFrame([0x01, 0x01]) }
                    return RawFrame([0x00, 0x04] + Array(repeating: 0xE0, count: 8) + [0x06, blockSize - 1])
                }
                let number = command[1] == 0x20 ? Int(command[2]) : Int(command[2]) | Int(command[3]) << 8
                if number < blocks.count { return RawFrame([0x00] + bytes(blocks[number])) }
                return RawFrame(try rest.get())
            },
            { _ throws(ReaderError) in throw ReaderError(.unsupported, attempting: "send a command") }
        )
    }

    /// The card says that its blocks are longer or shorter than those that it gives.
    @Test(arguments: [4, 5, 8, 16, 32] as [UInt8], [4, 5, 8, 16, 32])
    func blockSizeThatIsNotTrue(_ told: UInt8, _ given: Int) throws {
        let memory = bytes("E1400600 0302D000 FE") + Array(repeating: UInt8(0), count: 64)
        let blocks = (0..<2).map { Array(memory[$0 * given..<($0 + 1) * given]).hex }
        for count in [1, 2] {
            let rest = [UInt8](repeating: 0, count: given + 1)
            let channel = channel(Array(blocks.prefix(count)), blockSize: told, rest: .success(rest))
            var tag = try #require(try TagReader.open(over: channel))
            let content = try tag.readNDEF()
            if count == 2 || given >= 8 { #expect(content.ndef == .message([0xD0, 0x00])) }
            #expect(throws: Never.self) { try tag.dump() }
        }
    }

    /// An area of half a megabyte in which nothing comes to an end.
    @Test(arguments: ["00000000", "FD00FD00", "12001200", "1200FD00"])
    func endlessArea(_ block: String) throws {
        let empty = channel(["E1400000", "0000FFFF"], rest: .success([0x00] + bytes(block)))
        var tag = try #require(try TagReader.open(over: empty))
        #expect(try tag.readNDEF().ndef == .absent)
        #expect(empty.frames.count < 300)
        let behind = channel(["E1400000", "0000FFFF", "0300FD00"], rest: .success([0x00] + bytes(block)))
        var other = try #require(try TagReader.open(over: behind))
        #expect(try other.readNDEF().ndef == .empty)
        #expect(behind.frames.count < 300)
    }

    /// The byte behind an empty message may be refused, in whatever way; that the card left is told.
    @Test func byteBehindAnEmptyMessage() throws {
        let refusals: [Result<[UInt8], ReaderError>] = [
            .success([0x01, 0x10]), .failure(ReaderError(.timeout, attempting: "read")),
        ]
        for refusal in refusals {
            var tag = try #require(try TagReader.open(over: channel(["E1400600", "00000300"], rest: refusal)))
            let content = try tag.readNDEF()
            #expect(content.ndef == .empty && !content.isInterrupted)
        }
        for kind in [ReaderError.Kind.cardRemoved, .cardReset, .communication, .serviceStopped] {
            let channel = channel(["E1400600", "00000300"], rest: .failure(ReaderError(kind, attempting: "read")))
            var tag = try #require(try TagReader.open(over: channel))
            let error = #expect(throws: TagError.self) { try tag.readNDEF() }
            #expect(error?.readerError?.kind == kind)
        }
    }
}
