import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type4TearTests {
    static let cases: [(Int, Int, Type4TagTests.Habit)] = [
        (0, 40, .init("plain") { _ in }), (40, 0, .init("plain") { _ in }),
        (200, 150, .init("MLc 52") { $0.longestCommand = 52 }), (20, 30, .init("MLc 4") { $0.longestCommand = 4 }),
        (300, 310, .init("extended") { ($0.version, $0.isExtended, $0.longestCommand) = (0x30, true, 60) }),
        (90, 90, .init("takes 59") { $0.longestWrite = 59 }),
    ]

    @Test(arguments: cases) func cuts(old: Int, new: Int, habit: Type4TagTests.Habit) throws {
        var configuration = SimulatedType4Tag.Configuration()
        configuration.fileSize = 400
        habit.change(&configuration)
        let matrix = TearMatrix(
            name: "Type 4, \(habit.testDescription), \(old) to \(new) bytes",
            old: sampleMessage(old, seed: 1),
            new: sampleMessage(new, seed: 2)
        ) {
            SimulatedType4Tag(message: sampleMessage(old, seed: 1), configuration: configuration)
        }
        let counts = try matrix.run()
        #expect(counts.others == 0 && counts.old > 0 && counts.new > 0 && counts.repairable > 0, "\(counts)")
    }

    @Test func locking() throws {
        for command in 0..<12 {
            for afterwards in [false, true] {
                let chip = SimulatedType4Tag(message: sampleMessage(20))
                let confirmation = PermanentLock(ofCardWith: CardUID(chip.uid, technology: .iso14443a))
                let card = TornCard(chip, .init(command, afterwards: afterwards))
                var tag = Type4Tag(SimulatedCardChannel(card))
                try? tag.lock(confirmation)
                card.plan(nil)
                #expect(try Type4WritingTests.read(card).ndef == .message(sampleMessage(20)))
                var again = Type4Tag(SimulatedCardChannel(card))
                try again.lock(confirmation)
                #expect(try Type4WritingTests.read(card).area?.writeAccess == .never)
            }
        }
    }
}
