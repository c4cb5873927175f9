import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// What the simulated card does by itself, byte for byte.
@Suite struct SimulatedDESFireTests {
    private func native(_ card: SimulatedDESFire, _ instruction: UInt8, _ data: [UInt8] = []) -> [UInt8] {
        let body = data.isEmpty ? [] : [UInt8(data.count)] + data
        return card.receive(apdu: [0x90, instruction, 0, 0] + body + [0]) ?? []
    }

    private func card(_ file: SimulatedDESFireFile) -> SimulatedDESFire {
        var configuration = SimulatedDESFire.Configuration()
        configuration.applications = [SimulatedDESFireApplication(id: 0x1234, files: [file])]
        return SimulatedDESFire(configuration)
    }

    @Test func standardFilesAreWrittenThrough() {
        let card = card(SimulatedDESFireFile(1, .standard([UInt8](repeating: 0, count: 8))))
        #expect(native(card, 0x5A, [0x34, 0x12, 0x00]) == [0x91, 0x00])
        // Eight bytes are announced, three have come when the card is taken away.
        #expect(native(card, 0x3D, [1, 0, 0, 0, 8, 0, 0, 0xA1, 0xA2, 0xA3]) == [0x91, 0xAF])
        card.powerOff()
        #expect(card.data(of: 1, in: 0x1234) == [0xA1, 0xA2, 0xA3, 0, 0, 0, 0, 0])
    }

    @Test("A selected application that is taken away is selected no more")
    func applicationsTakenAway() {
        let card = card(SimulatedDESFireFile(1, .standard([1, 2, 3, 4])))
        #expect(native(card, 0x5A, [0x34, 0x12, 0x00]) == [0x91, 0x00])
        card.applications = []
        #expect(native(card, 0xBD, [1, 0, 0, 0, 0, 0, 0]) == [0x91, 0xF0])
    }

    @Test func backupFilesWaitForTheirCommit() {
        let card = card(SimulatedDESFireFile(1, .backup([0, 0, 0, 0])))
        for commits in [false, true] {
            card.powerOn()
            #expect(native(card, 0x5A, [0x34, 0x12, 0x00]) == [0x91, 0x00])
            #expect(native(card, 0x3D, [1, 1, 0, 0, 2, 0, 0, 0xA1, 0xA2]) == [0x91, 0x00])
            #expect(native(card, 0xBD, [1, 0, 0, 0, 0, 0, 0]) == [0, 0, 0, 0, 0x91, 0x00])
            if commits { #expect(native(card, 0xC7) == [0x91, 0x00]) }
            card.powerOff()
            #expect(card.data(of: 1, in: 0x1234) == (commits ? [0, 0xA1, 0xA2, 0] : [0, 0, 0, 0]))
        }
        #expect(native(card, 0xC7) == [0x91, 0x9D])
    }

    @Test func answersNoFurtherThanTheFile() {
        let card = card(SimulatedDESFireFile(1, .standard([1, 2, 3, 4])))
        _ = native(card, 0x5A, [0x34, 0x12, 0x00])
        #expect(native(card, 0xBD, [1, 2, 0, 0, 2, 0, 0]) == [3, 4, 0x91, 0x00])
        #expect(native(card, 0xBD, [1, 2, 0, 0, 3, 0, 0]) == [0x91, 0xBE])
        #expect(native(card, 0xBD, [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) == [0x91, 0xBE])
        #expect(native(card, 0x3D, [1, 0xFF, 0xFF, 0xFF, 1, 0, 0, 9]) == [0x91, 0xBE])
        #expect(native(card, 0xBD, [2, 0, 0, 0, 0, 0, 0]) == [0x91, 0xF0])
        #expect(native(card, 0xBD, [1]) == [0x91, 0x7E])
        #expect(native(card, 0xBD) == [0x91, 0x7E])
        #expect(native(card, 0xAF) == [0x91, 0x1C])
        #expect(native(card, 0x5A, [9, 9, 9]) == [0x91, 0xA0])
    }

    @Test(arguments: SimulatedDESFire.Model.allCases)
    func modelsKnowTheirCommands(model: SimulatedDESFire.Model) {
        var configuration = SimulatedDESFire.Configuration()
        configuration.model = model
        configuration.masterKey = .factory
        let card = SimulatedDESFire(configuration)
        let isLight = model == .light || model == .ntag424
        #expect(native(card, 0xAA, [0]).suffix(2) == (isLight ? [0x91, 0x1C] : [0x91, 0xAF]))
        #expect(native(card, 0x71, [0, 0]).suffix(2) == (model == .ev1 ? [0x91, 0x1C] : [0x91, 0xAF]))
        #expect(native(card, 0x6A) == (isLight ? [0x91, 0x1C] : [0x91, 0x00]))
        #expect(native(card, 0x60).count == 9)
        #expect(native(card, 0xAF).count == 9)
        #expect(native(card, 0xAF).count == 16)
        #expect(card.atr == [0x3B, 0x81, 0x80, 0x01, 0x80, 0x80])
    }

    @Test func identifiersChangeWithEachActivation() {
        let card = SimulatedNTAG424.card(showsRandomUID: true)
        var seen: Set<[UInt8]> = []
        for _ in 0..<5 {
            card.powerOn()
            seen.insert(card.uid)
            #expect(card.uid.count == 4 && card.uid.first == 0x08)
            card.powerOff()
        }
        #expect(seen.count == 5)
    }

    @Test func isAType4Tag() throws {
        let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x34]
        var configuration = SimulatedDESFire.Configuration()
        configuration.applications = [.ndef(message: message)]
        for card in [SimulatedDESFire(configuration), SimulatedNTAG424.card(message: message)] {
            let content = try TagReader.readNDEF(over: SimulatedCardChannel(card))
            #expect(content.ndef == .message(message))
            #expect(content.area?.capacity == 254)
            #expect(content.area?.writeAccess == .free)
        }
    }

    @Test func theProprietaryFileTakesAKey() throws {
        let card = SimulatedNTAG424.card()
        let name = SimulatedDESFireApplication.ndefName
        #expect(card.receive(apdu: [0x00, 0xA4, 0x04, 0x00, 0x07] + name + [0x00]) == [0x90, 0x00])
        #expect(card.receive(apdu: [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x05]) == [0x90, 0x00])
        #expect(card.receive(apdu: [0x00, 0xB0, 0x00, 0x00, 0x10]) == [0x69, 0x82])
        #expect(card.receive(apdu: [0x00, 0xD6, 0x00, 0x00, 0x01, 0x01]) == [0x69, 0x82])
        #expect(native(card, 0xAD, [3, 0, 0, 0, 0, 0, 0]) == [0x91, 0xAE])
    }

    /// Whatever is sent, it answers. Seed 424.
    @Test func answersAnything() {
        var state: UInt64 = 424
        func next() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        let instructions: [UInt8] = [
            0x45, 0x51, 0x5A, 0x5F, 0x60, 0x64, 0x6A, 0x6C, 0x6E, 0x6F, 0x71, 0x3D, 0x8D, 0xAA, 0xAD, 0xAF, 0xBB, 0xBD,
            0xC7, 0xCA, 0xCD, 0xF5, 0xA4, 0xB0, 0xD6,
        ]
        for model in SimulatedDESFire.Model.allCases {
            var configuration = SimulatedDESFire.Configuration()
            configuration.model = model
            configuration.applications = [.ndef()]
            let card = SimulatedDESFire(configuration)
            for _ in rounds(1000) {
                let data = (0..<Int(next() % 12)).map { _ in next() % 4 }
                let header = [next() % 2 == 0 ? 0x90 : 0x00, instructions[Int(next()) % instructions.count]]
                let body = data.isEmpty ? [] : [UInt8(data.count)] + data
                let answer = card.receive(apdu: header + [next() % 5, next() % 13] + body + [0])
                #expect((answer?.count ?? 0) >= 2)
                let zeroed = card.receive(apdu: header + [0, 0] + body + [0])
                #expect((zeroed?.count ?? 0) >= 2)
            }
        }
    }
}
