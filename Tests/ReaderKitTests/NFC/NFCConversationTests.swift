import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags
@testable import ReaderKit

#if NFC && PCSC

/// Conversations through libnfc, on the function table.
@Suite(.timeLimit(.minutes(10))) struct NFCConversationTests {
    private static func present(
        _ card: any SimulatedCard,
        on fake: FakeNFC,
        _ backend: NFCBackend
    ) async throws -> CardPresence {
        fake.insert(card)
        return try #require(try await backend.readers().first?.card)
    }

    @Test(arguments: NFCCards.all) func sameEventAsInProcess(_ sample: NFCCards.Sample) async throws {
        let fake = FakeNFC("fake:A")
        do {
            let backend = fake.backend()
            let presence = try await Self.present(try sample.card(), on: fake, backend)
            let tap = await Scanning.scanner(backend).scan(presence)
            let expected = try #require(await Scanning.scan(try sample.card()))
            #expect(tap.backend == .nfc)
            #expect(tap.withoutWay == expected.withoutWay)
        }
        await fake.expectClean()
    }

    @Test func ownCommandsOfType2Chips() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let card = try #require(SimulatedNTAG.formatted(.ntag215, message: try NFCCards.message))
        card.protect(password: [1, 2, 3, 4], acknowledgement: [0xAA, 0xBB], fromPage: 4, reading: true)
        let presence = try await Self.present(card, on: fake, backend)
        try await backend.withCard(presence) { channel in
            #expect(!channel.capabilities.hasPseudoAPDUs)
            #expect(channel.capabilities.longestResponse == 263)
            var chip = NTAG(channel)
            #expect(try chip.version().product == "NTAG215")
            #expect(try chip.signature().bytes.count == 32)
            // No is four bits, and a tag that said it waits to be selected.
            #expect(try channel.transceive(RawFrame([0x3A, 0x00, 0xFF])).bitsInLastByte == 4)
            try channel.reset()
            #expect(try channel.transceive(RawFrame([0x3A, 0x00, 0x03])).bytes.count == 16)
            #expect(try chip.authenticate(password: [1, 2, 3, 4]) == [0xAA, 0xBB])
            #expect(try channel.transceive(RawFrame([0xA2, 0x10, 1, 2, 3, 4])) == RawFrame([0x0A], bitsInLastByte: 4))
            #expect(try channel.transceive(RawFrame([0x3A, 0x10, 0x10])).bytes == [1, 2, 3, 4])
            try channel.reset()
            #expect(try channel.transceive(RawFrame([0xA2, 0x10, 1, 2, 3, 4])).bitsInLastByte == 4)
        }
    }

    @Test func bothKeysOfClassicCards() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let keyB = try #require(ClassicKey([1, 2, 3, 4, 5, 6]))
        let card = try #require(SimulatedMIFAREClassic.formatted(message: try NFCCards.message, keyB: keyB))
        let presence = try await Self.present(card, on: fake, backend)
        try await backend.withCard(presence) { channel in
            var link = ClassicLink(channel)
            #expect(try link.authenticate(.init(sector: 1, side: .a, key: .ndef)))
            let block = try link.read(4)
            #expect(try !link.authenticate(.init(sector: 1, side: .a, key: keyB)))
            #expect(try link.authenticate(.init(sector: 1, side: .b, key: keyB)))
            try link.write(4, block.map { ~$0 })
            #expect(try link.read(4) == block.map { ~$0 })
            // Refused, not broken: the trailer's keys do not let it be written like that.
            #expect(try link.authenticate(.init(sector: 0, side: .a, key: .directory)))
            let refused = try channel.transceive(RawFrame([0xA0, 0x01] + block))
            #expect(refused.bitsInLastByte == 4 && refused.bytes != [0x0A])
        }
    }

    @Test func weakFieldIsNoRefusal() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let card = try #require(SimulatedMIFAREClassic.formatted(message: try NFCCards.message))
        let presence = try await Self.present(card, on: fake, backend)
        let other = try #require(SimulatedMIFAREClassic.formatted(message: try NFCCards.message))
        let expected = try #require(await Scanning.scan(other))
        for number in 1...12 {
            fake.fail(.transceive, with: .radio, onCall: number)
            let tap = await Scanning.scanner(backend).scan(presence)
            #expect(tap.withoutWay == expected.withoutWay, "call \(number)")
            fake.heal()
        }
    }

    @Test(arguments: NFCCards.all) func removalInAConversation(_ sample: NFCCards.Sample) async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let watcher = Watcher(backend)
        fake.insert(try sample.card())
        try await watcher.until("inserted fake:A 1")
        let presence = try #require(watcher.card(on: "fake:A"))
        let isISODEP = presence.facts["sak"] == [0x20]
        let kinds = try await backend.withCard(presence) { channel in
            fake.remove()
            return (0..<2).map { _ -> ReaderError.Kind? in
                do throws(ReaderError) {
                    if isISODEP { _ = try channel.transmit([0x00, 0xB0, 0, 0, 0]) }
                    if !isISODEP { _ = try channel.transceive(RawFrame([0x30, 0x04])) }
                    return nil
                } catch {
                    return error.kind
                }
            }
        }
        #expect(kinds == [.cardRemoved, .cardRemoved])
        fake.insert(try sample.card())
        try await watcher.until("inserted fake:A 2")
        #expect(watcher.texts == ["added fake:A", "inserted fake:A 1", "removed fake:A 1", "inserted fake:A 2"])
    }

    @Test func readerGoesInAConversation() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let watcher = Watcher(backend)
        fake.insert(SimulatedNTAG(.ntag213))
        try await watcher.until("inserted fake:A 1")
        let presence = try #require(watcher.card(on: "fake:A"))
        let error = await readerError {
            try await backend.withCard(presence) { channel in
                fake.unplug()
                _ = try channel.transceive(RawFrame([0x30, 0x00]))
            }
        }
        #expect(error?.kind == .readerUnavailable)
        #expect(error?.code?.rawValue == -1)
        await watcher.expect(["added fake:A", "inserted fake:A 1", "removed fake:A 1", "gone fake:A"])
    }

    @Test func nobodyIsLookedForDuringAConversation() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let watcher = Watcher(backend)
        fake.insert(SimulatedNTAG(.ntag213))
        try await watcher.until("inserted fake:A 1")
        let presence = try #require(watcher.card(on: "fake:A"))
        try await backend.withCard(presence) { _ in
            let calls = fake.locked { fake.counts }
            // That nothing happens has no end to wait for: 25 looks would be due by now.
            Thread.sleep(forTimeInterval: 0.05)
            #expect(fake.locked { fake.counts } == calls)
        }
    }

    @Test func apdusThatAreNotCarried() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let presence = try await Self.present(SimulatedType4Tag(), on: fake, backend)
        let long = await readerError {
            try await backend.withCard(presence) { _ = try $0.transmit([UInt8](repeating: 0, count: 263)) }
        }
        #expect(long?.kind == .unsupported)
        let frame = await readerError {
            try await backend.withCard(presence) { _ = try $0.transceive(RawFrame([UInt8](repeating: 0, count: 261))) }
        }
        #expect(frame?.kind == .unsupported)
        fake.fail(.transceive, with: .chip)
        let read: [UInt8] = [0x00, 0xB0, 0x00, 0x00, 0x00]
        let chip = await readerError { try await backend.withCard(presence) { _ = try $0.transmit(read) } }
        #expect(chip?.kind == .communication)
        #expect(chip?.detail?.contains("263") == true)
        fake.remove()
        let next = try await Self.present(SimulatedNTAG(.ntag213), on: fake, backend)
        let storage = await readerError { try await backend.withCard(next) { _ = try $0.transmit(read) } }
        #expect(storage?.kind == .unsupported)
    }

    @Test func cancelledConversationIsAborted() async throws {
        let fake = FakeNFC("fake:A")
        let backend = fake.backend()
        let presence = try await Self.present(SimulatedType4Tag(), on: fake, backend)
        let gate = Gate()
        let task = Task {
            try await backend.withCard(presence) { channel in
                fake.hang(.transceive, gate)
                _ = try channel.transmit([0x00, 0xB0, 0, 0, 0])
                Issue.record("it went on")
            }
        }
        try await until("the exchange") { gate.waiting == 1 }
        task.cancel()
        let error = await readerError { try await task.value }
        #expect(error?.kind == .cancelled)
        // It is tried again where it does not work at once.
        try await until("it was aborted") { fake.count(.abort) >= 1 }
        fake.fail(.transceive, with: .aborted)
        gate.open()
        // The reader serves the next conversation.
        #expect(try await backend.withCard(presence) { try $0.transmit([0x00, 0xB0, 0, 0, 0]).count } == 2)
        #expect(fake.complaints == [])
    }

    @Test func callThatDoesNotReturn() async throws {
        let fake = FakeNFC("fake:A")
        let abandoned = AbandonedThreads()
        do {
            var configuration = FakeNFC.configuration
            configuration.callDeadline = .milliseconds(500)
            let backend = fake.backend(configuration, abandoned: abandoned)
            let watcher = Watcher(backend)
            fake.insert(SimulatedNTAG(.ntag213))
            try await watcher.until("inserted fake:A 1")
            let presence = try #require(watcher.card(on: "fake:A"))
            let gate = Gate()
            let error = await readerError {
                try await backend.withCard(presence) { channel in
                    fake.hang(.transceive, gate)
                    _ = try channel.transceive(RawFrame([0x60]))
                }
            }
            #expect(error?.kind == .stuck)
            try await watcher.until("stuck fake:A")
            #expect(abandoned.count == 1)
            gate.open()
            try await until("the thread came back") { abandoned.count == 0 }
            try await watcher.until("recovered fake:A")
            try await watcher.until("added fake:A", times: 2)
            #expect(
                watcher.texts.prefix(6) == [
                    "added fake:A", "inserted fake:A 1", "removed fake:A 1", "gone fake:A", "stuck fake:A",
                    "recovered fake:A",
                ]
            )
        }
        try await until("clean") { fake.openDevices == 0 }
    }

    /// Nobody watches: asking for the readers shows that it serves again.
    @Test func hangingCallAndNoWatch() async throws {
        let fake = FakeNFC("fake:A")
        let abandoned = AbandonedThreads()
        var configuration = FakeNFC.configuration
        configuration.callDeadline = .milliseconds(500)
        let backend = fake.backend(configuration, abandoned: abandoned)
        let presence = try await Self.present(SimulatedNTAG(.ntag213), on: fake, backend)
        let gate = Gate()
        let error = await readerError {
            try await backend.withCard(presence) { channel in
                fake.hang(.transceive, gate)
                _ = try channel.transceive(RawFrame([0x60]))
            }
        }
        #expect(error?.kind == .stuck)
        gate.open()
        try await until("the thread came back") { abandoned.count == 0 && fake.openDevices == 0 }
        let again = try #require(try await backend.readers().first?.card)
        #expect(try await backend.withCard(again) { try $0.transceive(RawFrame([0x60])).bytes.count } == 8)
        await backend.close()
        await fake.expectClean()
    }

    /// What was closed lets go of its devices at once, ends its watches and begins nothing more.
    @Test func closing() async throws {
        let fake = FakeNFC("fake:A", "fake:B")
        var configuration = FakeNFC.configuration
        configuration.connectionStrings = ["fake:A", "fake:B"]
        configuration.discoversReaders = true
        let backend = fake.backend(configuration)
        let taps = Taps(Scanning.scanner(backend))
        try await until("both are open") { fake.openDevices == 2 }
        await backend.close()
        #expect(fake.openDevices == 0)
        try await until("the watch has ended") { taps.hasFinished }
        let later = Taps(Scanning.scanner(backend))
        try await until("nothing is begun") { later.hasFinished }
        #expect(fake.openDevices == 0)
        await fake.expectClean()
    }

    @Test func errorsHaveNamesAndAdvice() {
        for code in NFCCode.all {
            let error = code.error(attempting: "do it")
            #expect(!code.isSuccess)
            #expect(code.name.hasPrefix("NFC_E"))
            #expect(error.code?.rawValue == Int64(code.rawValue))
            #expect("\(error)".contains("\(code.name) \(code.rawValue)"))
            #expect(!error.hint.isEmpty)
        }
        #expect(NFCCode.all.count == 13)
        #expect(NFCCode(rawValue: -99).name == "NFC_?")
        #expect(NFCCode(rawValue: 7).isSuccess)
    }
}
#endif
