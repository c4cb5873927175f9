import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Broken and hostile storage cards: no trap, and no more exchanges than the size of a card justifies.
@Suite struct StorageMutationTests {
    private struct Outcomes: CustomStringConvertible {
        var messages = 0, empty = 0, absent = 0, errors = 0

        mutating func count(_ body: () throws -> TagContent) {
            do {
                switch try body().ndef {
                case .message: messages += 1
                case .empty: empty += 1
                case .absent: absent += 1
                }
            } catch {
                errors += 1
            }
        }

        var description: String { "\(messages) messages, \(empty) empty, \(absent) absent, \(errors) errors" }
    }

    /// One to eight bytes of a range of the image changed, favouring those that matter.
    private static func mutate(_ image: inout [UInt8], _ range: Range<Int>, _ random: inout SeededNumbers) {
        let interesting: [UInt8] = [0x00, 0x01, 0x02, 0x03, 0x0F, 0x10, 0x40, 0x43, 0x7F, 0x80, 0xE1, 0xE2, 0xFE, 0xFF]
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let offset = Int.random(in: range, using: &random)
            image[offset] =
                Bool.random(using: &random)
                ? interesting.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...255, using: &random)
        }
    }

    /// Reads, writes, repairs and dumps; nothing but ``TagError`` may come of it.
    private static func exercise(_ card: any SimulatedCard, _ way: TagWay, _ outcomes: inout Outcomes, round: Int)
        throws
    {
        func open() throws -> any NDEFTag {
            let channel = way.channel(card)
            return card.kind == .topaz ? Type1Tag(channel) : try #require(try TagReader.open(over: channel))
        }
        outcomes.count {
            var tag = try open()
            return try tag.readNDEF()
        }
        for (number, body): (Int, (inout any NDEFTag) throws -> Void) in [
            (0, { tag in try tag.writeNDEF(sample(30)) }), (1, { tag in _ = try tag.repairNDEF() }),
            (2, { tag in _ = try tag.dump() }), (3, { tag in try tag.formatNDEF() }),
        ] where (round + number).isMultiple(of: 4) {
            var tag = try open()
            do {
                try body(&tag)
            } catch {
                #expect(error is TagError)
            }
        }
    }

    @Test(arguments: TagWay.allCases) func classic(_ way: TagWay) throws {
        var random = SeededNumbers(seed: 0x434C_0001)
        let original = try #require(SimulatedMIFAREClassic.formatted(.mini, message: sample(60))).memory
        var outcomes = Outcomes()
        for round in rounds(200) {
            var image = original
            switch round % 4 {
            case 0: Self.mutate(&image, 16..<48, &random)
            case 1: Self.mutate(&image, 64..<80, &random)
            case 2: Self.mutate(&image, 54..<58, &random)
            default: Self.mutate(&image, 112..<128, &random)
            }
            // A directory that is only different, not damaged.
            if round.isMultiple(of: 8) { image[16] = MAD.checksum(image[17..<48]) }
            let card = SimulatedMIFAREClassic(.mini)
            for block in 0..<20 { card.overwrite(block: block, with: Array(image[block * 16..<block * 16 + 16])) }
            let counter = TornCard(card)
            try Self.exercise(counter, way, &outcomes, round: round)
            if counter.commands > 400 { Issue.record("\(counter.commands) commands") }
        }
        #expect(outcomes.messages > 4 && outcomes.absent > 4 && outcomes.errors > 4, "\(outcomes)")
    }

    @Test(arguments: TagWay.allCases) func feliCa(_ way: TagWay) throws {
        var random = SeededNumbers(seed: 0x4643_0001)
        let original = try #require(SimulatedFeliCa.formatted(message: sample(60))).memory
        var outcomes = Outcomes()
        for round in rounds(400) {
            var image = original
            Self.mutate(&image, 0..<14, &random)
            if !round.isMultiple(of: 5) {
                let sum = image[..<14].reduce(0) { $0 + Int($1) }
                (image[14], image[15]) = (UInt8(sum >> 8 & 0xFF), UInt8(sum & 0xFF))
            }
            let card = SimulatedFeliCa()
            card.overwrite(block: 0, with: image)
            let counter = TornCard(card)
            try Self.exercise(counter, way, &outcomes, round: round)
            if counter.commands > 400 { Issue.record("\(counter.commands) commands for \(image.hex)") }
        }
        #expect(outcomes.messages > 4 && outcomes.empty > 4 && outcomes.errors > 4, "\(outcomes)")
    }

    @Test(arguments: TagWay.allCases) func vicinity(_ way: TagWay) throws {
        var random = SeededNumbers(seed: 0x5635_0001)
        let original = try #require(SimulatedVicinityTag.formatted(message: sample(60))).memory
        var outcomes = Outcomes()
        for round in rounds(400) {
            var image = original
            Self.mutate(&image, 0..<16, &random)
            var configuration = SimulatedVicinityTag.Configuration()
            configuration.blockSize = [4, 8, 4, 16, 1, 32][round % 6]
            configuration.tellsSystemInformation = round % 5 != 0
            let card = SimulatedVicinityTag(configuration: configuration)
            card.overwrite(block: 0, with: image)
            let counter = TornCard(card)
            try Self.exercise(counter, way, &outcomes, round: round)
            if counter.commands > 600 { Issue.record("\(counter.commands) commands for \(image.hex)") }
        }
        #expect(outcomes.messages > 4 && outcomes.absent > 4 && outcomes.errors > 4, "\(outcomes)")
    }

    @Test(arguments: [true, false]) func topaz(_ isLarge: Bool) throws {
        var random = SeededNumbers(seed: 0x5431_0001)
        let original = try #require(SimulatedTopaz.formatted(message: sample(60), isLarge: isLarge)).memory
        var outcomes = Outcomes()
        for round in rounds(400) {
            var image = original
            Self.mutate(&image, 8..<32, &random)
            let card = SimulatedTopaz(isLarge: isLarge)
            card.overwrite(at: 8, with: Array(image[8...]))
            let counter = TornCard(card)
            try Self.exercise(counter, .frames, &outcomes, round: round)
            if counter.commands > 600 { Issue.record("\(counter.commands) commands for \(image.hex)") }
        }
        #expect(outcomes.messages > 4 && outcomes.absent > 4 && outcomes.errors > 4, "\(outcomes)")
    }

    /// Cards and readers that answer anything with random bytes, now and then with what is hoped for.
    @Test(arguments: [SimulatedCardKind.classic4K, .feliCa, .icodeSLI, .topaz], [true, false])
    func randomAnswers(_ kind: SimulatedCardKind, _ throughReader: Bool) {
        var random = SeededNumbers(seed: 0x5241_0001)
        let hopes = [
            "10010100050000000000010000100028", "1401" + String(repeating: "03E1", count: 7), "E1400D00",
            "E140000100000400",
            "0300FE0000000000", "000000000000787788C1000000000000", "0000000000007F078840000000000000",
            "12010102030405060708FFFFFFFFFFFFFFFF", "114801020304",
        ]
        let uid: [UInt8] = [0xE0, 4, 1, 2, 3, 4, 5, 6]
        var worst = 0
        for round in rounds(600) {
            func noise() -> [UInt8] {
                if Bool.random(using: &random) { return bytes(hopes.randomElement(using: &random) ?? "") }
                return (0..<Int.random(in: 0...20, using: &random)).map { _ in .random(in: 0...255, using: &random) }
            }
            let facts: CardFacts
            if throughReader {
                facts = CardFacts(atr: kind.atr)
            } else {
                let technology: Technology = kind == .feliCa ? .felica : kind == .icodeSLI ? .iso15693 : .iso14443a
                facts = CardFacts(technology: technology, values: [.init("sak", [0x18]), .init("uid", uid)])
            }
            let channel = AnsweringChannel(
                facts: facts,
                frame: { frame throws(ReaderError) in
                    var answer = noise()
                    if Bool.random(using: &random) {
                        let head = [
                            UInt8(truncatingIfNeeded: answer.count + 13), (frame.bytes.dropFirst().first ?? 0) &+ 1,
                        ]
                        answer = head + [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 1] + answer
                    }
                    if Int.random(in: 0..<8, using: &random) == 0 { throw ReaderError(.timeout, attempting: "x") }
                    return RawFrame(answer, bitsInLastByte: Int.random(in: 0..<6, using: &random) == 0 ? 4 : 8)
                },
                { _ throws(ReaderError) in
                    let status: [UInt8] =
                        [
                            [0x90, 0x00], [0x90, 0x00], [0x90, 0x00], [0x62, 0x82], [0x63, 0x00], [0x6A, 0x81],
                            [0x6F, 0x01], [0x6C, 0x08],
                        ].randomElement(using: &random) ?? []
                    return noise() + status
                }
            )
            var tag: any NDEFTag =
                switch kind {
                case .feliCa: Type3Tag(channel)
                case .icodeSLI: Type5Tag(channel)
                case .topaz: Type1Tag(channel)
                default: MIFAREClassicTag(channel)
                }
            switch round % 4 {
            case 0: _ = try? tag.readNDEF()
            case 1: try? tag.writeNDEF(sample(40))
            case 2: try? tag.formatNDEF()
            default: _ = try? tag.repairNDEF()
            }
            worst = max(worst, channel.commands.count + channel.frames.count)
        }
        #expect(worst < 2_000)
    }
}
