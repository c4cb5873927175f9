import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// READ begins again with page 0 behind the last page that a tag gives. What it repeats is not content.
@Suite struct Type2RollOverTests {
    @Test(arguments: 4...20) func protectedFrom(page: UInt8) throws {
        let message = (0..<60).map { UInt8($0) }
        let tag = try #require(SimulatedNTAG.formatted(.ntag213, message: message))
        tag.protect(password: [1, 2, 3, 4], fromPage: page, reading: true)
        let result = readType2(over: SimulatedCardChannel(tag))
        // Header and message take 62 bytes: pages 4 to 19.
        if page > 19 {
            #expect(result.content?.ndef == .message(message))
        } else {
            guard case .protected(let attempt, _)? = result.error else {
                Issue.record("\(result)")
                return
            }
            #expect(attempt == "read page \(page) of the tag")
        }
    }

    // Recorded from a locked Ultralight C: page 4 is protected, so a read of page 2 goes on with pages 0 and 1.
    @Test func recordedRollOver() {
        let pages = ["04942C34", "CA994F80", "9C480F00", "534C544F"]
        let channel = AnsweringChannel { command throws(ReaderError) in
            let first = Int(command[3])
            guard first < 4 else { return [0x63, 0x00] }
            return (0..<4).flatMap { bytes(pages[(first + $0) % 4]) } + [0x90, 0x00]
        }
        #expect(channel.facts.atr == nil)
        // 534C544F is no capability container, and nothing behind it is asked for.
        #expect(readType2(over: channel).content == TagContent(type: .type2, ndef: .absent))
        #expect(channel.commands.count == 1)
    }

    @Test(arguments: [16, 4]) func memoryEndsBeforeTheArea(bytesPerRead: Int) throws {
        // An Ultralight whose container claims the size of an NTAG213, and whose message claims most of it.
        let image = type2Image(container: "E1101200", data: "0380" + String(repeating: "5A", count: 46))
        let result = readType2(image, model: .ultralight, reader: SimulatedReader(bytesPerRead: bytesPerRead)).result
        #expect(result.error == .protected(attempt: "read page 16 of the tag", status: StatusWord(0x6300)))
    }

    /// A copy that answers a read behind its end with page 0 and so on, where a genuine chip refuses it.
    private static func wrappingChannel(pages: Int, memory: [UInt8], pageMask: Int = 0xFFFF) -> AnsweringChannel {
        AnsweringChannel { command throws(ReaderError) in
            let first = (Int(command[2]) << 8 | Int(command[3])) & pageMask
            return (0..<16).map { memory[(first * 4 + $0) % (pages * 4)] } + [0x90, 0x00]
        }
    }

    @Test func copyThatWrapsAround() {
        let memory = type2Image(container: "E1101200", data: "0380" + String(repeating: "5A", count: 46))
        let result = readType2(over: Self.wrappingChannel(pages: 16, memory: memory))
        #expect(result.error == .protected(attempt: "read page 16 of the tag", status: nil))
    }

    @Test(arguments: 0..<4) func copyWhoseEndIsNotAligned(extra: Int) {
        let pages = 16 + extra
        let content = String(repeating: "5A", count: pages * 4 - 18)
        let memory = type2Image(container: "E1101200", data: "0380" + content)
        let result = readType2(over: Self.wrappingChannel(pages: pages, memory: memory))
        #expect(result.error == .protected(attempt: "read page \(pages) of the tag", status: nil))
    }

    @Test func contentThatLooksLikePage0() throws {
        // Pages 7 and 8 hold what pages 0 and 1 hold; in a read of page 4, page 7 could be a roll-over.
        let lookalike = bytes("04A1B29F C3D4E580")
        let message = bytes("D1 0120550000000000 00") + lookalike + [UInt8](repeating: 0x61, count: 18)
        let tag = try #require(SimulatedNTAG.formatted(.ntag213, message: message))
        let channel = SimulatedCardChannel(tag)
        #expect(Array(tag.memory[28..<36]) == lookalike)
        #expect(readType2(over: channel).content?.ndef == .message(message))
        // One more read settles it.
        #expect(channel.commands.filter { $0.hex == "FFB0000710" }.count == 1)
    }

    @Test func pagesAbove255() {
        // 2040 bytes: pages 4 to 1FD. Every page holds its own number.
        var memory = type2Image(container: "E110FF00", data: "03FF07C0")
        for page in 5..<520 { memory += [UInt8(page >> 8), UInt8(page & 0xFF), 0x5A, 0xA5] }
        let good = readType2(over: Self.wrappingChannel(pages: 520, memory: memory))
        #expect(good.content?.ndef.bytes == Array(memory[20..<20 + 0x7C0]))
        // The same tag behind a reader that drops the high byte of the address.
        let bad = readType2(over: Self.wrappingChannel(pages: 520, memory: memory, pageMask: 0xFF))
        #expect(bad.error == .protected(attempt: "read page 256 of the tag", status: nil))
        // And where an unknown block leads over page 256 without reading it.
        var skipping = type2Image(container: "E110FF00", data: "77FF0700 00000000")
        skipping += Array(memory[24...])
        let skipped = readType2(over: Self.wrappingChannel(pages: 520, memory: skipping, pageMask: 0xFF))
        #expect(skipped.error == .protected(attempt: "read page 256 of the tag", status: nil))
    }

    @Test func readerThatRefusesToReadOverTheEnd() throws {
        // 46 pages: a read of page 44 would go two pages over the end, and this reader does not cut it short.
        var memory = type2Image(container: "E1101500", data: "03A4")
        memory += [UInt8](repeating: 0x42, count: 46 * 4 - memory.count)
        let channel = AnsweringChannel { command throws(ReaderError) in
            let start = Int(command[3]) * 4
            guard start + Int(command[4]) <= memory.count else { return [0x6A, 0x82] }
            return Array(memory[start..<start + Int(command[4])]) + [0x90, 0x00]
        }
        #expect(readType2(over: channel).content?.ndef.bytes?.count == 0xA4)
    }

    @Test(
        arguments: [
            (0x6300, TagError.protected(attempt: "read page 0 of the tag", status: StatusWord(0x6300))),
            (0x6982, .protected(attempt: "read page 0 of the tag", status: StatusWord(0x6982))),
            (0x6D00, .refused(attempt: "read page 0 of the tag", status: StatusWord(0x6D00))),
        ] as [(UInt16, TagError)]
    )
    func refusal(_ status: UInt16, _ error: TagError) {
        let channel = AnsweringChannel { _ throws(ReaderError) in [UInt8(status >> 8), UInt8(status & 0xFF)] }
        #expect(readType2(over: channel).error == error)
        #expect(error.description.contains([UInt8(status >> 8), UInt8(status & 0xFF)].hex))
    }

    @Test(arguments: [(0x6F01, ReaderError.Kind.communication), (0x6F1B, .timeout)] as [(UInt16, ReaderError.Kind)])
    func readerFault(_ status: UInt16, _ kind: ReaderError.Kind) {
        let channel = AnsweringChannel { _ throws(ReaderError) in [UInt8(status >> 8), UInt8(status & 0xFF)] }
        let error = readType2(over: channel).error?.readerError
        #expect(error?.kind == kind)
        #expect(error?.code?.rawValue == Int64(status))
    }

    @Test(arguments: ["9000", "019000", "0102039000"]) func tooFewBytes(_ answer: String) {
        let channel = AnsweringChannel { _ throws(ReaderError) in bytes(answer) }
        #expect(readType2(over: channel).error?.readerError?.kind == .invalidAnswer)
        #expect(channel.commands.count <= 2)
    }
}
