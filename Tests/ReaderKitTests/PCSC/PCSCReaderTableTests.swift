import CardCore
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

@Suite struct PCSCReaderTableTests {
    private static let now = Date(timeIntervalSince1970: 1)
    private static let empty: UInt32 = 0x10
    private static let present = PCSCState.present
    private static let inUse: UInt32 = 0x100

    private static func state(_ name: String, _ counter: Int, _ bits: UInt32) -> PCSCLibrary.ReaderState {
        let atr = bits & present != 0 ? SampleATR.type2 : []
        return PCSCLibrary.ReaderState(name: name, event: UInt32(counter) << 16 | bits | PCSCState.changed, atr: atr)
    }

    /// Counter and presence before, counter and presence after, what is told.
    private static let edges: [(before: (Int, Bool), after: (Int, Bool), events: [String])] = [
        // Nothing happened, or only to other programs.
        ((0, false), (0, false), []),
        ((1, true), (1, true), []),
        // One edge.
        ((0, false), (1, true), ["inserted A 1"]),
        ((1, true), (2, false), ["removed A 1"]),
        ((7, true), (8, false), ["removed A 7"]),
        // A whole tap between two looks.
        ((0, false), (2, false), ["missed A 1"]),
        ((4, false), (8, false), ["missed A 5", "missed A 7"]),
        // A tap, then a card that stays.
        ((0, false), (3, true), ["missed A 1", "inserted A 3"]),
        // The same card or another: taken away and brought back.
        ((1, true), (3, true), ["removed A 1", "inserted A 3"]),
        ((1, true), (5, true), ["removed A 1", "missed A 3", "inserted A 5"]),
        // Taken away, then a tap.
        ((1, true), (4, false), ["removed A 1", "missed A 3"]),
        ((1, true), (6, false), ["removed A 1", "missed A 3", "missed A 5"]),
        // The counter has 16 bits.
        ((65_535, false), (0, true), ["inserted A 0"]),
        ((65_535, true), (0, false), ["removed A 65535"]),
        ((65_534, true), (0, true), ["removed A 65534", "inserted A 0"]),
        ((65_534, false), (0, false), ["missed A 65535"]),
        ((65_533, true), (2, false), ["removed A 65533", "missed A 65535", "missed A 1"]),
        ((65_533, false), (1, false), ["missed A 65534", "missed A 0"]),
        // A counter that does not fit the state (a driver's fault) is no trap, and the state counts.
        ((1, true), (1, false), ["removed A 1"]),
        ((1, false), (1, true), ["inserted A 1"]),
        ((1, true), (2, true), ["removed A 1", "inserted A 2"]),
        // It went back: this is another reader, or the same one plugged in again.
        ((5, true), (0, false), ["removed A 5", "gone A", "added A"]),
        ((5, true), (1, true), ["removed A 5", "gone A", "added A", "inserted A 1"]),
        ((6, false), (1, true), ["gone A", "added A", "inserted A 1"]),
        ((6, false), (0, false), ["gone A", "added A"]),
    ]

    @Test(arguments: edges.indices) func edge(_ index: Int) {
        let (before, after, expected) = Self.edges[index]
        var table = PCSCReaderTable()
        _ = table.update(names: ["A"])
        _ = table.update(states: [Self.state("A", before.0, before.1 ? Self.present : Self.empty)], at: Self.now)
        let new = Self.state("A", after.0, after.1 ? Self.present : Self.empty)
        let events = table.update(states: [new], at: Self.now)
        #expect(events.map(Watcher.text) == expected, "\(before) to \(after)")
        #expect(table.query[0].current == new.event & ~PCSCState.changed)
        // The same look again tells nothing more.
        #expect(table.update(states: [new], at: Self.now) == [])
    }

    @Test func firstLook() {
        var table = PCSCReaderTable()
        #expect(table.update(names: ["A", "B"]).map(Watcher.text) == ["added A", "added B"])
        #expect(table.query.map(\.current) == [0, 0, 2 << 16])
        // What was before the first look is nobody's miss.
        let states = [Self.state("A", 300, Self.present), Self.state("B", 9, Self.empty)]
        let events = table.update(states: states, at: Self.now)
        let card = CardPresence(
            reader: ReaderInfo(name: "A", backend: .pcsc),
            number: 300,
            epoch: 1,
            facts: CardFacts(atr: SampleATR.type2),
            at: Self.now,
            wasAlreadyThere: true
        )
        #expect(events == [.cardInserted(card)])
    }

    /// Only a card of which nobody saw how it came was there already.
    @Test func cardThatWasAlreadyThere() {
        func wasThere(_ events: [ReaderEvent]) -> [Bool] {
            events.compactMap { if case .cardInserted(let card) = $0 { card.wasAlreadyThere } else { nil } }
        }
        var table = PCSCReaderTable()
        _ = table.update(names: ["A"])
        #expect(wasThere(table.update(states: [Self.state("A", 4, Self.present)], at: Self.now)) == [true])
        #expect(wasThere(table.update(states: [Self.state("A", 6, Self.present)], at: Self.now)) == [false])
        #expect(wasThere(table.update(states: [Self.state("A", 7, Self.empty)], at: Self.now)) == [])
        #expect(wasThere(table.update(states: [Self.state("A", 8, Self.present)], at: Self.now)) == [false])
        // The counter went back: plugged in anew, with a card on it.
        #expect(wasThere(table.update(states: [Self.state("A", 0, Self.present)], at: Self.now)) == [true])
        _ = table.clear()
        _ = table.update(names: ["A"])
        #expect(wasThere(table.update(states: [Self.state("A", 0, Self.empty)], at: Self.now)) == [])
        #expect(wasThere(table.update(states: [Self.state("A", 1, Self.present)], at: Self.now)) == [false])
    }

    @Test func queryEndsWithPlugAndPlay() {
        var table = PCSCReaderTable()
        #expect(table.query == [PCSCLibrary.ReaderState(name: PCSCLibrary.plugAndPlay, current: 0)])
        _ = table.update(names: ["A"])
        #expect(table.query.map(\.name) == ["A", PCSCLibrary.plugAndPlay])
        #expect(table.query.last?.current == 1 << 16)
    }

    /// Programs that come and go change the state, and nothing happened to the card.
    @Test func useByOthersIsNoEvent() {
        var table = PCSCReaderTable()
        _ = table.update(names: ["A"])
        _ = table.update(states: [Self.state("A", 1, Self.present)], at: Self.now)
        for bits in [Self.present | Self.inUse, Self.present, Self.present | 0x80, Self.present | PCSCState.mute] {
            #expect(table.update(states: [Self.state("A", 1, bits)], at: Self.now) == [])
        }
    }

    @Test func unknownReaderIsGone() {
        var table = PCSCReaderTable()
        _ = table.update(names: ["A", "B"])
        _ = table.update(states: [Self.state("A", 1, Self.present), Self.state("B", 0, Self.empty)], at: Self.now)
        let gone = PCSCLibrary.ReaderState(name: "A", event: PCSCState.unknown | PCSCState.unavailable)
        let events = table.update(states: [gone, Self.state("B", 1, Self.present)], at: Self.now)
        #expect(events.map(Watcher.text) == ["removed A 1", "gone A", "inserted B 1"])
        // The next list has a reader of the same name: a new one, whose counter starts anew.
        #expect(table.update(names: ["A", "B"]).map(Watcher.text) == ["added A"])
        let states = [Self.state("A", 0, Self.empty), Self.state("B", 1, Self.present)]
        #expect(table.update(states: states, at: Self.now) == [])
    }

    @Test func unavailableReaderLosesItsCardAndStays() {
        var table = PCSCReaderTable()
        _ = table.update(names: ["A"])
        _ = table.update(states: [Self.state("A", 1, Self.present)], at: Self.now)
        let states = [Self.state("A", 1, PCSCState.unavailable)]
        #expect(table.update(states: states, at: Self.now).map(Watcher.text) == ["removed A 1"])
        #expect(table.query[0].current == 1 << 16 | PCSCState.unavailable)
    }

    @Test func readersComeAndGo() {
        var table = PCSCReaderTable()
        _ = table.update(names: ["A", "B"])
        _ = table.update(states: [Self.state("A", 1, Self.present), Self.state("B", 1, Self.present)], at: Self.now)
        #expect(table.update(names: ["B", "C"]).map(Watcher.text) == ["removed A 1", "gone A", "added C"])
        // A state of a reader that is not known is passed over.
        #expect(table.update(states: [Self.state("A", 2, Self.present)], at: Self.now) == [])
        #expect(table.clear().map(Watcher.text) == ["removed B 1", "gone B", "gone C"])
        #expect(table.clear() == [])
        #expect(table.query.count == 1)
    }

    /// Two readers and many quick taps. Whatever is between two looks, insertions and removals told (or
    /// told as missed) are as many as the counter says. Seed 220.
    @Test func noEdgeIsLost() {
        var random = SeededNumbers(seed: 220)
        var table = PCSCReaderTable()
        let names = ["A", "B"]
        _ = table.update(names: names)
        var counters = [65_000, 10]
        var isPresent = [false, false]
        var steps = [0, 0]
        var told = [0, 0]
        _ = table.update(states: names.indices.map { Self.state(names[$0], counters[$0], Self.empty) }, at: Self.now)
        for _ in 0..<5000 {
            for index in names.indices {
                let count = Int.random(in: 0...7, using: &random)
                counters[index] = (counters[index] + count) & 0xFFFF
                steps[index] += count
                if count % 2 == 1 { isPresent[index].toggle() }
            }
            let states = names.indices.map {
                Self.state(names[$0], counters[$0], isPresent[$0] ? Self.present : Self.empty)
            }
            for event in table.update(states: states, at: Self.now) {
                switch event {
                case .cardInserted(let card), .cardRemoved(let card): told[card.reader.name == "A" ? 0 : 1] += 1
                case .cardMissed(let card): told[card.reader.name == "A" ? 0 : 1] += 2
                default: Issue.record("unexpected \(event)")
                }
            }
        }
        #expect(told == steps)
    }
}
#endif
