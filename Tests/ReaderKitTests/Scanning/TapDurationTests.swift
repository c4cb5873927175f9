import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// How long a tap may take, with cards that answer slowly; their time is simulated.
@Suite(.timeLimit(.minutes(10))) struct TapDurationTests {
    private static let key = SmartTapKey(collectorID: 20_180_608, version: 1)
    private static let site = PassSite(smartTap: SmartTapReader(key: key))

    private static func phone() -> SimulatedAndroidPhone {
        SimulatedAndroidPhone([.init(value: "M-7")], collector: .init(key))
    }

    @Test(arguments: [[UInt8](), [0xAB]])
    func endlessParts(_ part: [UInt8]) async {
        let backend = SlowBackend(Self.phone(), pause: .seconds(2)) { command in
            command.starts(with: [0x90, 0x50]) || command.starts(with: [0x90, 0xC0]) ? part + [0x91, 0x00] : nil
        }
        let tap = await backend.tap(Self.site)
        #expect(tap.memberKey == nil)
        #expect(tap.problems.map(\.code) == [.readFailed])
        #expect(tap.duration >= .seconds(15) && tap.duration <= .seconds(17))
    }

    /// Answers that announce more of themselves, at the reader's own command and at those of a card.
    @Test func endlessAnswers() async {
        for card in [Self.phone(), SimulatedType4Tag(message: [])] as [any SimulatedCard] {
            let backend = SlowBackend(card, pause: .seconds(2)) { command in
                command.starts(with: [0xFF, 0xCA]) ? nil : [0x61, 0xFF]
            }
            let tap = await backend.tap(Self.site)
            #expect(tap.memberKey == nil)
            #expect(tap.problems.map(\.code) == [.readFailed])
            #expect(tap.duration <= .seconds(17))
        }
    }

    /// Whoever stops to watch while a card is read is given no tap that this cut off.
    @Test func readingThatNobodyWaitsFor() async {
        for _ in 0..<500 {
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let backend = EndlessBackend { begin.finish() }
            let watch = Task {
                var taps = 0
                for await _ in CardScanner(backend).taps() { taps += 1 }
                return taps
            }
            for await _ in begun {}
            watch.cancel()
            #expect(await watch.value == 0)
        }
    }

    @Test func slowPhone() async {
        let tap = await SlowBackend(Self.phone(), pause: .seconds(1)).tap(Self.site)
        #expect(tap.memberKey == "M-7" && tap.problems.isEmpty)
        #expect(tap.duration >= .seconds(4))
    }
}

/// A reader with one card, whose conversation goes on until nobody wants it any more.
private struct EndlessBackend: ReaderBackend {
    let kind = BackendKind.simulated
    let begin: @Sendable () -> Void

    func events() -> AsyncStream<ReaderEvent> {
        let presence = CardPresence(
            reader: ReaderInfo(name: "A", backend: .simulated),
            number: 1,
            facts: CardFacts(),
            at: Date(timeIntervalSince1970: 0)
        )
        return AsyncStream { $0.yield(.cardInserted(presence)) }
    }

    func readers() async -> [ReaderStatus] { [] }

    func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        begin()
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
        throw ReaderError(.cancelled, attempting: "read the card")
    }
}

/// A reader with one card that takes a while for each answer, by a clock of its own.
final class SlowBackend: ReaderBackend {
    let kind = BackendKind.simulated
    private let card: any SimulatedCard
    private let pause: Duration
    private let answer: @Sendable ([UInt8]) -> [UInt8]?

    /// - Parameter answer: what is answered in the card's place, or `nil` for what the card answers.
    init(
        _ card: any SimulatedCard,
        pause: Duration,
        answer: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in nil }
    ) {
        (self.card, self.pause, self.answer) = (card, pause, answer)
    }

    private var presence: CardPresence {
        CardPresence(
            reader: ReaderInfo(name: "A", backend: .simulated),
            number: 1,
            facts: CardFacts(atr: card.atr),
            at: Date(timeIntervalSince1970: 0)
        )
    }

    func events() -> AsyncStream<ReaderEvent> { AsyncStream { $0.finish() } }

    func readers() async -> [ReaderStatus] { [ReaderStatus(reader: presence.reader, card: presence)] }

    func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        try conversation(Channel(SimulatedCardChannel(card), pause, answer))
    }

    func tap(_ site: PassSite) async -> ScanEvent {
        await CardScanner(self, configuration: ScannerConfiguration(site: site)).scan(presence)
    }

    private final class Channel: CardChannel {
        private let channel: SimulatedCardChannel
        private let pause: Duration
        private let answer: @Sendable ([UInt8]) -> [UInt8]?
        private(set) var elapsed = Duration.zero

        init(_ channel: SimulatedCardChannel, _ pause: Duration, _ answer: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
            (self.channel, self.pause, self.answer) = (channel, pause, answer)
        }

        var facts: CardFacts { channel.facts }

        func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
            elapsed += pause
            if let answer = answer(command) { return answer }
            return try channel.transmit(command)
        }
    }
}
