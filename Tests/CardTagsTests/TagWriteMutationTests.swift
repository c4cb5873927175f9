import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Tags that lie while they are written, formatted, repaired, locked and dumped: no trap, no loop, and nothing written
/// where no message can be.
@Suite struct TagWriteMutationTests {
    private enum Action: CaseIterable { case write, repair, format, lock, dump }

    private static func perform(_ action: Action, _ tag: inout some NDEFTag, _ uid: [UInt8], _ length: Int) {
        do {
            switch action {
            case .write: try tag.writeNDEF(sampleMessage(length))
            case .repair: _ = try tag.repairNDEF()
            case .format: try tag.formatNDEF()
            case .lock: try tag.lock(PermanentLock(ofCardWith: CardUID(uid, technology: .iso14443a)))
            case .dump: _ = try tag.dump()
            }
        } catch {}
    }

    // Seed 0x5752_0001.
    @Test func mutatedType2Tags() {
        var random = SeededNumbers(seed: 0x5752_0001)
        var worst = 0
        for round in rounds(1200) {
            guard let model = SimulatedNTAG.Model.all.randomElement(using: &random) else { continue }
            let card = SimulatedNTAG(model)
            var image = card.memory
            let end = (model.dynamicLockPage ?? model.lastUserPage + 1) * 4
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 10..<min(end, round.isMultiple(of: 2) ? 32 : end), using: &random)
                image[place] =
                    [0x00, 0x01, 0x02, 0x03, 0x0F, 0x10, 0xE1, 0xFD, 0xFE, 0xFF].randomElement(using: &random) ?? 0
            }
            card.overwrite(page: 0, with: image)
            let channel: any CardChannel = round % 3 == 0 ? RawCardChannel(card) : SimulatedCardChannel(card)
            let action = Action.allCases[round % 5]
            var tag = Type2Tag(channel)
            Self.perform(action, &tag, card.uid, Int.random(in: 0...1000, using: &random))
            let exchanges = (channel as? SimulatedCardChannel)?.exchanges ?? (channel as? RawCardChannel)?.frames.count
            worst = max(worst, exchanges ?? 0)
            let after = card.memory
            #expect(after[..<8] == image[..<8])
            if action != .lock { #expect(after[8..<12] == image[8..<12] && after[end...] == image[end...], "\(round)") }
            if action == .dump { #expect(after == image) }
            if action == .write || action == .repair { #expect(after[12..<16] == image[12..<16]) }
        }
        #expect(worst < 1_500, "\(worst)")
    }

    // Seed 0x5752_0002: answers of random bytes, now and then good ones.
    @Test func randomAnswers() {
        var random = SeededNumbers(seed: 0x5752_0002)
        var worst = 0
        func answer(_ command: [UInt8], _ type: TagType) -> [UInt8] {
            let status: [UInt8] =
                [
                    [0x90, 0x00], [0x90, 0x00], [0x90, 0x00], [0x90, 0x00], [0x63, 0x00], [0x67, 0x00], [0x6C, 0x10],
                ]
                .randomElement(using: &random) ?? []
            if command[1] == 0xD6 || command[1] == 0xD7 || command[1] == 0xA4 { return status }
            let good =
                type == .type2
                ? type2Image(container: "E110FF00", data: "0300D1") : bytes("000F2000FF00FF0406E104FFFF0000")
            let data =
                Int.random(in: 0...3, using: &random) > 0
                ? Array(good.prefix(16))
                : (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            return data + status
        }
        for round in rounds(800) {
            let channel = AnsweringChannel { command throws(ReaderError) in
                answer(command, round.isMultiple(of: 2) ? .type2 : .type4)
            }
            let (action, length) = (Action.allCases[round / 2 % 5], Int.random(in: 0...1000, using: &random))
            if round.isMultiple(of: 2) {
                var tag = Type2Tag(channel)
                Self.perform(action, &tag, [], length)
            } else {
                var tag = Type4Tag(channel)
                Self.perform(action, &tag, [], length)
            }
            worst = max(worst, channel.commands.count)
        }
        #expect(worst < 9_000, "\(worst)")
    }

    // Seed 0x5752_0003.
    @Test func mutatedType4Tags() {
        var random = SeededNumbers(seed: 0x5752_0003)
        var worst = 0
        for round in rounds(1200) {
            var configuration = SimulatedType4Tag.Configuration()
            configuration.isExtended = round % 3 == 0
            configuration.version = configuration.isExtended ? 0x30 : 0x20
            configuration.longestWrite = round % 4 == 0 ? Int.random(in: 0...60, using: &random) : nil
            let card = SimulatedType4Tag(message: sampleMessage(100), configuration: configuration)
            var container = card.container
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                container[Int.random(in: 0..<container.count, using: &random)] = UInt8.random(
                    in: 0...255,
                    using: &random
                )
            }
            card.container = container
            if round.isMultiple(of: 2) { card.file[1] = UInt8.random(in: 0...255, using: &random) }
            let size = card.file.count
            let channel = SimulatedCardChannel(card)
            var tag = Type4Tag(channel)
            let action = Action.allCases[round % 5]
            Self.perform(action, &tag, card.uid, Int.random(in: 0...400, using: &random))
            worst = max(worst, channel.exchanges)
            #expect(card.file.count == size && card.container.count == container.count)
            if action != .lock { #expect(card.container == container) }
        }
        #expect(worst < 5_000, "\(worst)")
    }
}
