import CardCore
import CardPasses
import CardTags
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// Readers that go and come back under another name, cards that others reset, presentations of before.
@Suite(.timeLimit(.minutes(10))) struct PCSCReplugTests {
    private static let first = "SpringCard H518 [CCID] (000A1B2C) 00 00"
    private static let again = "SpringCard H518 [CCID] (000A1B2C) 01 00"
    private static let other = "SpringCard H518 [CCID] (000A1B2D) 00 00"

    /// A card with an identifier and nothing else, which may do something first.
    private static func card(
        _ id: UInt8,
        before: @escaping @Sendable ([UInt8]) -> FakePCSC.Answer? = { _ in nil }
    ) -> FakePCSC.Card {
        FakePCSC.Card { command in
            if let answer = before(command) { return answer }
            guard command.starts(with: [0xFF, 0xCA]) else { return .bytes([0x6A, 0x82]) }
            return .bytes([0x04, id, 3, 4, 5, 6, 7, 0x90, 0x00])
        }
    }

    /// What a scanner gives, as it comes.
    private final class Taps: Sendable {
        private let seen = Mutex<[ScanEvent]>([])
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ taps: some AsyncSequence<ScanEvent, Never> & Sendable) {
            task.withLock {
                $0 = Task { [weak self] in
                    for await tap in taps { self?.seen.withLock { $0.append(tap) } }
                }
            }
        }

        var all: [ScanEvent] { seen.withLock { $0 } }
        /// The second byte of the identifier, or the problem.
        var texts: [String] {
            all.map { tap in tap.uid.map { "\($0.bytes[1])" } ?? tap.problems.map(\.code.rawValue).joined() }
        }

        func stop() { task.withLock { $0?.cancel() } }
    }

    @Test(
        arguments: [
            (first, again, true), (first, first, true), (first, other, false),
            // Another slot of the same reader is another reader.
            (first, "SpringCard H518 [CCID] (000A1B2C) 00 01", false),
            ("SpringCard H518 [CCID Interface] (000A1B2C) 00 00", again, false),
            // Without a serial number there is only the name.
            ("Virtual PCD 00 00", "Virtual PCD 01 00", false), ("Virtual PCD 00 00", "Virtual PCD 00 00", true),
            // Names as pcscd does not make them.
            ("A (7)", "A (7)", true), ("A (7) x 00", "A (7) y 00", false), ("(7)", "(7)", true), ("", "", true),
        ] as [(String, String, Bool)]
    )
    func sameDevice(_ one: String, _ two: String, _ isSame: Bool) {
        let (one, two) = (ReaderInfo(pcscName: one), ReaderInfo(pcscName: two))
        #expect(one.isSameDevice(as: two) == isSame && two.isSameDevice(as: one) == isSame)
        var elsewhere = two
        elsewhere.backend = .nfc
        #expect(!one.isSameDevice(as: elsewhere))
    }

    @Test func unpluggedInTheMiddleOfAnExchange() async throws {
        let fake = FakePCSC(readers: [Self.first, Self.other])
        let backend = fake.backend()
        let watcher = Watcher(backend)
        try await watcher.until("added \(Self.other)")
        let taps = Taps(CardScanner(backend).taps(of: ReaderInfo(pcscName: Self.first)))
        try await until("watching") { fake.waiting == 2 }
        let seen = Gate()
        let leaving = Self.card(1) { [weak fake] _ in
            // A watch that looks only after the reader went tells nothing of its card.
            seen.pass()
            fake?.unplug(Self.first)
            fake?.plug(Self.again)
            return .code(.readerUnavailable)
        }
        fake.insert(leaving, into: Self.first)
        try await watcher.until("inserted \(Self.first) 1")
        seen.open()
        try await until("the tap that failed") { taps.all.count == 1 }
        #expect(taps.texts == ["readFailed"])
        #expect(taps.all[0].problems.first?.message.contains("the reader is not there") == true)
        // The stream of the reader goes on under its new name, and is its own.
        try await watcher.until("added \(Self.again)")
        fake.insert(Self.card(9), into: Self.other)
        fake.insert(Self.card(2), into: Self.again)
        try await until("the next tap") { taps.all.count == 2 }
        #expect(taps.texts == ["readFailed", "2"])
        #expect(taps.all[1].reader == Self.again)
        #expect(
            watcher.texts.filter { !$0.contains(Self.other) } == [
                "added \(Self.first)", "inserted \(Self.first) 1", "removed \(Self.first) 1", "gone \(Self.first)",
                "added \(Self.again)", "inserted \(Self.again) 1",
            ]
        )
        #expect(fake.complaints == [])
        TestReport.add(
            section: "resilience",
            line: "reader unplugged in the middle of an APDU, back under another index | that tap fails as"
                + " readerUnavailable, the same stream goes on with the next one"
        )
        taps.stop()
        watcher.stop()
    }

    @Test func unpluggedUnderARestingCard() async throws {
        let fake = FakePCSC(readers: [Self.first])
        fake.insert(Self.card(1), into: Self.first)
        let taps = Taps(CardScanner(fake.backend()).taps())
        try await until("the tap") { taps.texts == ["1"] }
        // The card is there when the reader comes back, and is no new tap.
        fake.locked {
            fake.readers = [FakePCSC.Reader(name: Self.again, counter: 1, card: Self.card(1))]
            fake.condition.broadcast()
        }
        try await until("read again") { fake.commands.count { $0.starts(with: [0xFF, 0xCA]) } >= 2 }
        fake.remove(from: Self.again)
        fake.insert(Self.card(1), into: Self.again)
        try await until("the next tap") { taps.texts.count == 2 }
        #expect(taps.texts == ["1", "1"])
        // Another card that lies there when it comes back is a tap.
        fake.locked {
            fake.readers = [FakePCSC.Reader(name: Self.first, counter: 1, card: Self.card(2))]
            fake.condition.broadcast()
        }
        try await until("the other card") { taps.texts.count == 3 }
        #expect(taps.texts == ["1", "1", "2"])
        TestReport.add(
            section: "resilience",
            line: "reader unplugged under a resting card, back under another index | the card is no second tap,"
                + " another card is one"
        )
        taps.stop()
        await fake.expectClean()
    }

    /// The conversation starts from the beginning: nothing that was selected is taken to be so still.
    @Test(arguments: [1, 2, 9]) func resetByAnotherProgram(times: Int) async throws {
        let fake = FakePCSC(readers: ["A"])
        let resets = Counter()
        let card = Self.card(1) { [weak fake] command in
            // Before the second command of each conversation.
            guard command.starts(with: [0xFF, 0xB0]), resets.next() <= times else { return nil }
            fake?.reset("A")
            return .code(.resetCard)
        }
        fake.insert(card, into: "A")
        let taps = Taps(CardScanner(fake.backend()).taps())
        try await until("the tap") { taps.all.count == 1 }
        let tap = taps.all[0]
        #expect(tap.problems.contains { $0.code == .readFailed } == (times > 2))
        // Each try begins with the first command, and there are three at most.
        let commands = fake.commands.map { $0.prefix(2).hex }
        let tries = commands.count { $0 == "FFCA" }
        #expect(tries == min(times, 2) + 1)
        #expect(commands.prefix(4) == ["FFCA", "FFB0", "FFCA", "FFB0"])
        #expect(fake.complaints == [] && fake.lockedReaders == [])
        TestReport.add(
            section: "resilience",
            line:
                "card reset by another program \(times) times (80100068) | begun again \(tries - 1) times,"
                + " then \(times > 2 ? "told as a failed tap" : "read")"
        )
        taps.stop()
        await fake.expectClean()
    }

    // MARK: - Presentations of before

    @Test func presentationOfBeforeARestart() async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(Self.card(1), into: "A")
        let backend = fake.backend()
        let watcher = Watcher(backend)
        try await watcher.until("inserted A 1")
        let before = try #require(watcher.card(on: "A"))
        #expect(before.epoch > 0)
        try await until("waiting") { fake.waiting == 1 }
        fake.kill()
        try await watcher.until("lost")
        fake.restart()
        fake.locked {
            fake.readers[0].card = nil
        }
        fake.insert(Self.card(2), into: "A")
        try await watcher.until("inserted A 1", times: 2)
        let after = try #require(watcher.card(on: "A"))
        #expect(after.number == before.number && after.reader == before.reader)
        #expect(after.epoch != before.epoch && after != before)
        let command: [UInt8] = [0xFF, 0xCA, 0, 0, 0]
        let error = await readerError { try await backend.withCard(before) { try $0.transmit(command) } }
        #expect(error?.kind == .cardRemoved)
        #expect(fake.commands == [])
        #expect(try await backend.withCard(after) { try $0.transmit(command) }[1] == 2)
        watcher.stop()
        TestReport.add(
            section: "resilience",
            line: "a presentation of before a restart of pcscd, whose number comes again | refused as cardRemoved"
        )
    }

    @Test func presentationOfBeforeReplugging() async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(Self.card(1), into: "A")
        let backend = fake.backend()
        let watcher = Watcher(backend)
        try await watcher.until("inserted A 1")
        let before = try #require(watcher.card(on: "A"))
        fake.unplug("A")
        try await watcher.until("gone A")
        fake.plug("A")
        fake.insert(Self.card(2), into: "A")
        try await watcher.until("inserted A 1", times: 2)
        #expect(await readerError { try await backend.withCard(before) { _ in } }?.kind == .cardRemoved)
        watcher.stop()
        try await until("ended") { watcher.hasFinished }
        // A watch that ended says nothing of what becomes of its cards.
        let after = try #require(watcher.card(on: "A"))
        try await backend.withCard(after) { _ in }
        #expect(await readerError { try await backend.withCard(before) { _ in } }?.kind == .cardRemoved)
    }

    @Test func epochs() {
        let epochs = PCSCEpochs()
        let (one, two) = (UUID(), UUID())
        let (a, b, c) = (epochs.begin(in: one), epochs.begin(in: one), epochs.begin(in: two))
        #expect(Set([a, b, c]).count == 3 && ![a, b, c].contains(0))
        epochs.end(a)
        #expect(!epochs.isCurrent(a) && epochs.isCurrent(b) && epochs.isCurrent(c) && epochs.isCurrent(0))
        epochs.leave(one)
        #expect(!epochs.isCurrent(a) && epochs.isCurrent(b) && epochs.isCurrent(c))
        epochs.end(c)
        epochs.leave(two)
        #expect(!epochs.isCurrent(c))
        // What ended watches leave behind is bounded; the oldest is forgotten.
        for _ in 0..<PCSCEpochs.mostLeft {
            _ = epochs.begin(in: one)
            epochs.leave(one)
        }
        #expect(!epochs.isCurrent(b) && epochs.isCurrent(c + 1) && !epochs.isCurrent(-1))
    }
}
#endif
