import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

#if NFC && PCSC

/// What a watch tells, on the function table.
@Suite(.timeLimit(.minutes(10))) struct NFCEventsTests {
    @Test func eachPresentationOnceAndInOrder() async throws {
        let fake = FakeNFC("fake:A")
        do {
            let backend = fake.backend()
            let watcher = Watcher(backend)
            try await watcher.until("added fake:A")
            for number in 1...3 {
                fake.insert(SimulatedNTAG(.ntag213))
                try await watcher.until("inserted fake:A \(number)")
                let looks = fake.count(.isPresent)
                try await until("it rests for a while") { fake.count(.isPresent) > looks + 5 }
                fake.remove()
                try await watcher.until("removed fake:A \(number)")
            }
            await watcher.expect(
                ["added fake:A"] + (1...3).flatMap { ["inserted fake:A \($0)", "removed fake:A \($0)"] }
            )
            #expect(watcher.events.allSatisfy { $0.presence?.wasAlreadyThere != true })
        }
        await fake.expectClean()
    }

    /// What a slow chip says of one kind of card must not be taken for a card of another kind.
    @Test func lateAnswerIsNoCard() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let watcher = Watcher(backend)
        try await watcher.until("added fake:A")
        for _ in 0..<3 {
            let looks = fake.count(.select)
            fake.answerLate(NFCTarget(.felica212, [.init("idm", [0x00, 0x07, 0x04, 0x01, 0x00, 0x3A, 0xD4, 0xE5])]))
            try await until("it was looked for again") { fake.count(.select) > looks + 8 }
        }
        #expect(watcher.texts == ["added fake:A"])
        // The reader serves as before.
        fake.insert(SimulatedNTAG(.ntag213))
        try await watcher.until("inserted fake:A 1")
    }

    @Test(arguments: NFCCards.all) func restingCardIsOnePresentation(_ sample: NFCCards.Sample) async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        fake.insert(try sample.card())
        let watcher = Watcher(backend)
        try await watcher.until("inserted fake:A 1")
        let card = try #require(watcher.card(on: "fake:A"))
        #expect(card.wasAlreadyThere)
        for _ in 0..<3 {
            // Also right after a conversation that left the card in some state.
            _ = try? await backend.withCard(card) { _ = try? $0.transceive(RawFrame([0x77, 0x77])) }
            let looks = fake.count(.select) + fake.count(.isPresent)
            try await until("it rests for a while") { fake.count(.select) + fake.count(.isPresent) > looks + 10 }
        }
        #expect(watcher.texts == ["added fake:A", "inserted fake:A 1"])
        fake.remove()
        try await watcher.until("removed fake:A 1")
    }

    @Test func cardThatIsAwayForAMomentIsAnotherPresentation() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let card = SimulatedNTAG(.ntag213)
        fake.insert(card)
        let watcher = Watcher(backend)
        try await watcher.until("inserted fake:A 1")
        try await until("it was seen to answer") { fake.count(.isPresent) > 1 }
        // Gone and back between two looks: it has lost its power, and is not selected any more.
        fake.locked {
            fake.chips["fake:A"]?.isSelected = false
        }
        try await watcher.until("inserted fake:A 2")
        #expect(watcher.texts == ["added fake:A", "inserted fake:A 1", "removed fake:A 1", "inserted fake:A 2"])
    }

    @Test func anotherCardInItsPlace() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        fake.insert(SimulatedMIFAREClassic(uid: [1, 2, 3, 4]))
        let watcher = Watcher(backend)
        try await watcher.until("inserted fake:A 1")
        let first = try #require(watcher.card(on: "fake:A"))
        fake.insert(SimulatedMIFAREClassic(uid: [5, 6, 7, 8]))
        try await watcher.until("inserted fake:A 2")
        #expect(watcher.texts == ["added fake:A", "inserted fake:A 1", "removed fake:A 1", "inserted fake:A 2"])
        let error = await readerError { try await backend.withCard(first) { _ in } }
        #expect(error?.kind == .cardRemoved)
        #expect(watcher.card(on: "fake:A")?.facts["uid"] == [5, 6, 7, 8])
    }

    @Test func readerGoesAndComesBack() async throws {
        let fake = FakeNFC("fake:A")
        fake.unplug()
        let backend = fake.backend()
        let watcher = Watcher(backend)
        try await until("it was tried") { fake.count(.open) > 3 }
        #expect(watcher.texts == [])
        fake.plug()
        try await watcher.until("added fake:A")
        fake.insert(SimulatedNTAG(.ntag213))
        try await watcher.until("inserted fake:A 1")
        let card = try #require(watcher.card(on: "fake:A"))
        fake.unplug()
        try await watcher.until("gone fake:A")
        let error = await readerError { try await backend.withCard(card) { _ in } }
        #expect(error?.kind == .cardRemoved)
        fake.plug()
        try await watcher.until("added fake:A", times: 2)
        try await watcher.until("inserted fake:A 2")
        #expect(
            watcher.texts == [
                "added fake:A", "inserted fake:A 1", "removed fake:A 1", "gone fake:A",
                "added fake:A", "inserted fake:A 2",
            ]
        )
        let again = try #require(watcher.card(on: "fake:A"))
        #expect(again.wasAlreadyThere)
        #expect(again.epoch != card.epoch)
        #expect(RestingCards.sees(watcher.events))
    }

    @Test func noiseOnTheLineIsNotTold() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        fake.insert(SimulatedNTAG(.ntag213))
        let watcher = Watcher(backend)
        try await watcher.until("inserted fake:A 1")
        for _ in 0..<3 {
            let opened = fake.count(.open)
            fake.fail(.isPresent, with: .inputOutput)
            try await until("it was opened anew") { fake.count(.open) > opened }
            let looks = fake.count(.isPresent)
            try await until("it goes on") { fake.count(.isPresent) > looks + 3 }
        }
        #expect(watcher.texts == ["added fake:A", "inserted fake:A 1"])
    }

    @Test func severalWatchersAndNone() async throws {
        let fake = FakeNFC("fake:A")
        do {
            let backend = fake.backend()
            fake.insert(SimulatedNTAG(.ntag213))
            let first = Watcher(backend)
            try await first.until("inserted fake:A 1")
            let second = Watcher(backend)
            try await second.until("inserted fake:A 1")
            first.stop()
            try await until("it ended") { first.hasFinished }
            fake.remove()
            try await second.until("removed fake:A 1")
            fake.insert(SimulatedNTAG(.ntag213))
            try await second.until("inserted fake:A 2")
            let card = try #require(second.card(on: "fake:A"))
            second.stop()
            try await until("nobody looks any more") { () -> Bool in
                let looks = fake.count(.isPresent)
                // That nothing happens has no end to wait for.
                try await Task.sleep(for: .milliseconds(50))
                return fake.count(.isPresent) == looks
            }
            // The card may still be talked to.
            #expect(try await backend.withCard(card) { try $0.transceive(RawFrame([0x60])).bytes.count } == 8)
            let third = Watcher(backend)
            await third.expect(["added fake:A", "inserted fake:A 2"])
            #expect(third.card(on: "fake:A")?.epoch == card.epoch)
            third.stop()
            fake.remove()
            try await until("it ended") { third.hasFinished }
            // A card that left meanwhile is not told to anybody.
            let fourth = Watcher(backend)
            try await fourth.until("added fake:A")
            let looks = fake.count(.select)
            try await until("it looks") { fake.count(.select) > looks + 10 }
            #expect(fourth.texts == ["added fake:A"])
        }
        await fake.expectClean()
    }

    @Test func readersAreDiscovered() async throws {
        let fake = FakeNFC("fake:A")
        var configuration = FakeNFC.configuration
        configuration.connectionStrings = []
        configuration.discoversReaders = true
        let backend = fake.backend(configuration)
        let watcher = Watcher(backend)
        try await watcher.until("added fake:A")
        fake.plug("fake:B")
        try await watcher.until("added fake:B")
        fake.unplug("fake:A")
        try await watcher.until("gone fake:A")
        fake.plug("fake:A")
        try await watcher.until("added fake:A", times: 2)
        #expect(Set(try await backend.readers().map(\.reader.name)) == ["fake:A", "fake:B"])
    }

    @Test func readersThatAreThere() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let empty = try #require(try await backend.readers().first)
        #expect(empty.card == nil)
        #expect(empty.details == "chip: fake")
        #expect(empty.technologies == [.iso14443a, .felica, .iso14443b])
        fake.insert(SimulatedNTAG(.ntag213))
        let found = try #require(try await backend.readers().first?.card)
        #expect(found.facts["uid"] == SimulatedNTAG.sampleUID)
        let technologies = try await backend.withCard(found) { $0.capabilities.technologies }
        #expect(technologies?.contains(.iso15693) == false)
        fake.remove()
        #expect(try await backend.readers().first?.card == nil)
        fake.unplug()
        #expect(try await backend.readers() == [])
    }

    @Test func noMemoryForLibnfc() async throws {
        let fake = FakeNFC("fake:A")
        fake.fail(.makeContext, with: .software, forEver: true)
        let backend = fake.backend()
        let watcher = Watcher(backend)
        try await watcher.until("lost")
        let error = await readerError { try await backend.readers() }
        #expect(error?.kind == .serviceUnavailable)
        let tried = fake.count(.makeContext)
        try await until("it is tried") { fake.count(.makeContext) > tried + 3 }
        fake.heal()
        await watcher.expect(["lost", "back", "added fake:A"])
    }
}

extension ReaderEvent {
    fileprivate var presence: CardPresence? {
        switch self {
        case .cardInserted(let card), .cardRemoved(let card), .cardMissed(let card): card
        default: nil
        }
    }
}

extension RestingCards {
    /// Whether the last card that was inserted may be the one that rested on the reader before.
    fileprivate static func sees(_ events: [ReaderEvent]) -> Bool {
        events.last?.presence?.wasAlreadyThere == true
    }
}
#endif
