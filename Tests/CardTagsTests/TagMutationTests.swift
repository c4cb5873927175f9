import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Broken tags and hostile cards: no trap, and no more exchanges than the size of a tag justifies.
@Suite struct TagMutationTests {
    /// One to eight bytes of the image changed, with the bytes that matter favoured.
    private static func mutate(_ image: inout [UInt8], from start: Int, _ random: inout SeededNumbers) {
        let interesting: [UInt8] = [0x00, 0x01, 0x02, 0x03, 0x04, 0x06, 0x10, 0x7F, 0x80, 0xE1, 0xFD, 0xFE, 0xFF]
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let nearStart = Bool.random(using: &random)
            let end = nearStart ? min(image.count, start + 32) : image.count
            let offset = Int.random(in: start..<end, using: &random)
            image[offset] =
                Bool.random(using: &random)
                ? interesting.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...255, using: &random)
        }
    }

    @Test func mutatedType2Tags() throws {
        var random = SeededNumbers(seed: 0x5432_0001)
        let message = (0..<100).map { UInt8($0) }
        let tag = try #require(SimulatedNTAG.formatted(.ntag213, message: message))
        tag.overwrite(page: 4, with: bytes("0103A00C34 0203180204 FD02AABB 0364") + message + [0xFE])
        let original = tag.memory
        var outcomes = Outcomes()
        for round in rounds(2000) {
            var image = original
            // The length of the message is byte 31; now and then it is 0 before anything else is broken.
            if round.isMultiple(of: 10) { image[31] = 0 }
            Self.mutate(&image, from: 12, &random)
            let channel = SimulatedCardChannel(
                SimulatedNTAG(.ntag213, image: image),
                reader: SimulatedReader(bytesPerRead: round % 4 == 0 ? 4 : 16)
            )
            outcomes.count(readType2(over: channel))
            // 510 pages one at a time, page 0 to 3, and a check of each page that could be a roll-over.
            if channel.exchanges > 600 { Issue.record("\(channel.exchanges) exchanges for \(image.hex)") }
        }
        #expect(outcomes.messages > 80 && outcomes.empty > 8 && outcomes.absent > 8, "\(outcomes)")
        #expect(outcomes.corrupt > 80 && outcomes.others > 8, "\(outcomes)")
    }

    @Test func mutatedType4Tags() {
        var random = SeededNumbers(seed: 0x5432_0002)
        let message = (0..<100).map { UInt8($0) }
        var configuration = SimulatedType4Tag.Configuration()
        var outcomes = Outcomes()
        for round in rounds(2000) {
            configuration.isExtended = round % 3 == 0
            configuration.version = configuration.isExtended ? 0x30 : 0x20
            configuration.overread = [.endReached, .silent, .wrongLength][round % 7 % 3]
            configuration.partLength = round % 11 == 0 ? 9 : nil
            let card = SimulatedType4Tag(message: message, configuration: configuration)
            var container = card.container
            Self.mutate(&container, from: 0, &random)
            card.container = container
            if round.isMultiple(of: 2) {
                var file = card.file
                file[Int.random(in: 0..<4, using: &random)] = UInt8.random(in: 0...255, using: &random)
                card.file = file
            }
            if round.isMultiple(of: 10) { card.file = Array(repeating: 0, count: 256) }
            let channel = SimulatedCardChannel(card)
            outcomes.count(readType4(over: channel))
            if channel.exchanges > 400 { Issue.record("\(channel.exchanges) exchanges for \(container.hex)") }
        }
        #expect(outcomes.messages > 80 && outcomes.empty > 8, "\(outcomes)")
        #expect(outcomes.corrupt > 80 && outcomes.others > 8, "\(outcomes)")
    }

    /// A card that answers anything with random bytes, now and then with what the reader hopes for.
    @Test(arguments: [TagType.type2, .type4]) func randomAnswers(_ type: TagType) {
        var random = SeededNumbers(seed: 0x5432_0003)
        var worst = 0
        for _ in rounds(2000) {
            let channel = AnsweringChannel { command throws(ReaderError) in
                let status: [UInt8] =
                    [
                        [0x90, 0x00], [0x90, 0x00], [0x90, 0x00], [0x62, 0x82], [0x61, 0x05], [0x6C, 0x04],
                        [0x63, 0x00],
                    ]
                    .randomElement(using: &random) ?? []
                var data = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random) {
                    data =
                        type == .type2
                        ? type2Image(container: "E110FF00", data: "") : bytes("000F2000FF00FF0406E104FFFF0000")
                }
                return Bool.random(using: &random) ? Array(data.prefix(16)) + status : data + status
            }
            let result = type == .type2 ? readType2(over: channel) : readType4(over: channel)
            if case .success(let content) = result { #expect((content.ndef.bytes?.count ?? 0) <= 65_536) }
            worst = max(worst, channel.commands.count)
        }
        #expect(worst < 2_000)
    }

    @Test func neverMoreThanAByte() {
        // An honest container, a message of 65 535 bytes, and then a byte at a time.
        var reads = 0
        let channel = AnsweringChannel { command throws(ReaderError) in
            guard command[1] == 0xB0 else { return [0x90, 0x00] }
            reads += 1
            switch reads {
            case 1: return bytes("000F2000FF00FF0406E104FFFF00009000")
            case 2: return [0xFF, 0xF0, 0x90, 0x00]
            default: return [0x42, 0x90, 0x00]
            }
        }
        #expect(readType4(over: channel).error?.readerError?.kind == .limitExceeded)
        #expect(channel.commands.count < 300)
    }

    private struct Outcomes: CustomStringConvertible {
        var messages = 0, empty = 0, absent = 0, corrupt = 0, others = 0

        mutating func count(_ result: Result<TagContent, TagError>) {
            switch result {
            case .success(let content):
                switch content.ndef {
                case .message: messages += 1
                case .empty: empty += 1
                case .absent: absent += 1
                }
            case .failure(.corrupt): corrupt += 1
            case .failure: others += 1
            }
        }

        var description: String {
            "\(messages) messages, \(empty) empty, \(absent) absent, \(corrupt) corrupt, \(others) others"
        }
    }
}
