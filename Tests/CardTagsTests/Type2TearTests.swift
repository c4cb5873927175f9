import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type2TearTests {
    static let cases: [(SimulatedNTAG.Model, Int, Int, Bool)] = [
        (.ultralight, 0, 46, false), (.ultralight, 46, 0, false), (.ultralight, 30, 20, true),
        (.ntag213, 10, 40, false), (.ntag213, 40, 41, true), (.ntag215, 254, 255, false), (.ntag216, 255, 100, true),
        (.ultralightC, 3, 50, false), (.ntag212, 60, 60, true),
    ]

    @Test(arguments: cases) func cuts(_ model: SimulatedNTAG.Model, old: Int, new: Int, isRaw: Bool) throws {
        var matrix = TearMatrix(
            name: "Type 2, \(model.name), \(old) to \(new) bytes, \(isRaw ? "raw frames" : "PC/SC")",
            old: sampleMessage(old, seed: 1),
            new: sampleMessage(new, seed: 2)
        ) {
            try #require(SimulatedNTAG.formatted(model, message: sampleMessage(old, seed: 1)))
        }
        if isRaw { matrix.channel = { RawCardChannel($0) } }
        let counts = try matrix.run()
        #expect(counts.others == 0 && counts.old > 0 && counts.new > 0, "\(counts)")
    }

    @Test func formatting() throws {
        for model in SimulatedNTAG.Model.all {
            for command in 0..<30 {
                for afterwards in [false, true] {
                    let chip = SimulatedNTAG.unformatted(model)
                    let card = TornCard(chip, .init(command, afterwards: afterwards))
                    var tag = Type2Tag(RawCardChannel(card))
                    try? tag.formatNDEF()
                    card.plan(nil)
                    var again = Type2Tag(RawCardChannel(card))
                    try again.formatNDEF()
                    #expect(Array(chip.memory[12..<16]) == [0xE1, 0x10, model.sizeByte, 0x00])
                    #expect(chip.memory == SimulatedNTAG(model).memory, "\(model.name), cut at \(command)")
                }
            }
        }
    }

    @Test func locking() throws {
        let message = sampleMessage(30)
        for model in SimulatedNTAG.Model.all {
            let whole = try #require(SimulatedNTAG.formatted(model, message: message))
            var tag = Type2Tag(RawCardChannel(whole))
            try tag.lock(PermanentLock(ofCardWith: CardUID(whole.uid, technology: .iso14443a)))
            for command in 0..<40 {
                for afterwards in [false, true] {
                    let chip = try #require(SimulatedNTAG.formatted(model, message: message))
                    let card = TornCard(chip, .init(command, afterwards: afterwards))
                    var tag = Type2Tag(RawCardChannel(card))
                    let confirmation = PermanentLock(ofCardWith: CardUID(chip.uid, technology: .iso14443a))
                    try? tag.lock(confirmation)
                    card.plan(nil)
                    #expect(try TagReader.readNDEF(over: RawCardChannel(card)).ndef == .message(message))
                    var again = Type2Tag(RawCardChannel(card))
                    try again.lock(confirmation)
                    #expect(chip.memory == whole.memory, "\(model.name), cut at \(command)")
                }
            }
        }
    }
}
