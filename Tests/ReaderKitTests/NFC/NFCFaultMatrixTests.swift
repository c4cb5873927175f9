import CardCore
import CardPasses
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import ReaderKit

#if NFC && PCSC

/// Every function fails with every code, once and for ever: no trap, no hang, an error with words or a recovery, and the
/// next card is read.
@Suite(.timeLimit(.minutes(10))) struct NFCFaultMatrixTests {
    private static let codes = NFCCode.all + [NFCCode(rawValue: -99)]

    private static let configuration = NFCConfiguration(
        connectionStrings: ["fake:A"],
        pollInterval: .milliseconds(1),
        callDeadline: .seconds(300),
        firstBackOff: .milliseconds(1),
        lastBackOff: .milliseconds(4),
        looksBeforeReopening: 3
    )

    private static let cards: [NFCCards.Sample] = NFCCards.all.filter {
        ["NTAG213", "Classic 1K", "FeliCa", "Topaz", "Type 4"].contains($0.name)
    }

    @Test(arguments: FakeNFC.Function.allCases, [false, true])
    func everyCode(in function: FakeNFC.Function, forEver: Bool) async throws {
        let isOfTheCard = [.setProperty, .select, .deselect, .isPresent, .transceive].contains(function)
        // Most of a case is waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for code in Self.codes {
                group.addTask {
                    for sample in Self.cards.prefix(isOfTheCard ? Self.cards.count : 1) {
                        try await Self.run(function, code, forEver, sample)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// A reader that refuses all looks, and recovers in the midst of one, looks for every kind again.
    @Test(arguments: 1...3 * NFCModulation.allCases.count, cards) func recovers(
        afterRefusing count: Int,
        _ sample: NFCCards.Sample
    ) async throws {
        let fake = FakeNFC("fake:A")
        for call in 1...count { fake.fail(.select, with: .notSupported, onCall: call) }
        let taps = Taps(Scanning.scanner(fake.backend(Self.configuration)))
        try await until("looked for") { fake.count(.select) > 6 * NFCModulation.allCases.count }
        fake.insert(try sample.card())
        try await until("\(count) looks refused: \(sample.name)") { !taps.all.isEmpty }
        taps.stop()
    }

    /// The first call, and the ones that a conversation makes, fail in turn.
    @Test(arguments: Self.cards) func everyCallOfAConversation(_ sample: NFCCards.Sample) async throws {
        let expected = try #require(await Scanning.scan(try sample.card()))
        for code in Self.codes {
            for function in [FakeNFC.Function.transceive, .setProperty, .select, .isPresent] {
                for number in 1...6 {
                    let what = "\(function) \(number) \(code)"
                    let fake = FakeNFC("fake:A")
                    let backend = fake.backend(Self.configuration)
                    fake.insert(try sample.card())
                    let presence = try #require(try await backend.readers().first?.card, "\(what)")
                    fake.fail(function, with: code, onCall: number)
                    let tap = await Scanning.scanner(backend).scan(presence)
                    // These say that there is no message for this reader, and not that something went wrong.
                    let saysNo = [-3, -5, -8, -30].contains(code.rawValue) && function == .transceive
                    // Either as it is without the fault, or with a problem and no other member than without.
                    let isWhole = tap.withoutWay == expected.withoutWay
                    #expect(saysNo || isWhole || !tap.problems.isEmpty, "\(what): \(tap.card) \(tap.passes)")
                    let isNobodyElse = tap.memberKey == nil || tap.memberKey == expected.memberKey
                    #expect(saysNo || isNobodyElse, "\(what)")
                    #expect(fake.complaints == [], "\(what)")
                }
            }
        }
    }

    private static func run(
        _ function: FakeNFC.Function,
        _ code: NFCCode,
        _ forEver: Bool,
        _ sample: NFCCards.Sample
    ) async throws {
        let what = "\(function) fails \(forEver ? "for ever" : "once") with \(code), \(sample.name)"
        let fake = FakeNFC("fake:A")
        do {
            let backend = fake.backend(configuration)
            fake.fail(function, with: code, forEver: forEver)
            fake.insert(try sample.card())
            let taps = Taps(Scanning.scanner(backend))
            let calls = fake.count(function)
            // A while in which the fault works, or does not matter.
            try await until(what) {
                !taps.all.isEmpty || fake.count(function) > calls + 8 || (!forEver && fake.count(.select) > 40)
            }
            fake.heal()
            fake.remove()
            // A card that is back before anybody has looked was never away.
            let looks = fake.count(.select)
            try await until("\(what): it was looked for") { fake.count(.select) > looks + 2 }
            try await until("\(what): nobody there") { taps.state.cards == 0 }
            let expected = try #require(await Scanning.scan(try sample.card()))
            let before = taps.readers.count
            fake.insert(try sample.card())
            // The tap of a card that was there before may come late.
            try await until("\(what): the next card; \(taps.readers)") {
                taps.readers.count > before && taps.all.last?.withoutWay == expected.withoutWay
            }
            #expect(taps.state.fault == nil, "\(what)")
            taps.stop()
        }
        await fake.expectClean(what)
    }
}

extension Taps {
    /// What is wrong with the order of the events, and how many cards are there at the end.
    fileprivate var state: (fault: String?, cards: Int) {
        var (readers, cards) = (0, 0)
        for event in readers_ {
            switch event {
            case .readerAdded: readers += 1
            case .readerRemoved:
                readers -= 1
                if cards > 0 { return ("a reader went before its card", cards) }
            case .cardInserted:
                cards += 1
                if readers == 0 { return ("a card on no reader", cards) }
            case .cardRemoved: cards -= 1
            default: break
            }
            if !(0...1).contains(readers) || !(0...1).contains(cards) { return ("\(event)", cards) }
        }
        return (nil, cards)
    }

    private var readers_: [ReaderEvent] { readers }
}
#endif
