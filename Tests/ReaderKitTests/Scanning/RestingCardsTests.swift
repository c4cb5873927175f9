import CardCore
import CardPasses
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

/// A card that lies on the reader while pcscd is restarted, or while the reader is plugged in again, is no new tap.
@Suite struct RestingCardsTests {
    private static let reader = ReaderInfo(name: "A", backend: .pcsc)

    private static func card(_ number: Int, wasThere: Bool = false) -> CardPresence {
        CardPresence(
            reader: reader,
            number: number,
            facts: CardFacts(atr: [0x3B]),
            at: Date(timeIntervalSince1970: 0),
            wasAlreadyThere: wasThere
        )
    }

    private static func tap(_ uid: UInt8?, key: String? = "U1") -> ScanEvent {
        ScanEvent(
            id: UUID(),
            at: Date(timeIntervalSince1970: 0),
            reader: "A",
            backend: .pcsc,
            uid: uid.map { CardUID([4, $0, 1, 1, 1, 1, 1], technology: .iso14443a) },
            atr: [0x3B],
            memberKey: key
        )
    }

    private static func loss(_ number: Int) -> [ReaderEvent] {
        [.cardRemoved(card(number)), .readerRemoved(reader), .serviceBack, .readerAdded(reader)]
    }

    /// A card that was read and then lost with its reader.
    private static func lost(_ tap: ScanEvent = tap(1)) -> RestingCards {
        let resting = RestingCards()
        resting.note(.cardInserted(card(1)))
        #expect(resting.isNew(tap, of: card(1), before: nil))
        for event in loss(1) { resting.note(event) }
        return resting
    }

    @Test func sameCardIsNoTap() {
        let resting = Self.lost()
        let again = Self.card(0, wasThere: true)
        let before = resting.note(.cardInserted(again))
        #expect(!resting.isNew(Self.tap(1), of: again, before: before))
        // Taken away and presented once more, it is.
        resting.note(.cardRemoved(again))
        let next = resting.note(.cardInserted(Self.card(2)))
        #expect(next == nil)
        #expect(resting.isNew(Self.tap(1), of: Self.card(2), before: next))
    }

    @Test func again() {
        let resting = Self.lost()
        for _ in 0..<3 {
            let again = Self.card(0, wasThere: true)
            let before = resting.note(.cardInserted(again))
            #expect(!resting.isNew(Self.tap(1), of: again, before: before))
            for event in Self.loss(0) { resting.note(event) }
        }
        // Lost again before it could be read: still the same.
        resting.note(.cardInserted(Self.card(0, wasThere: true)))
        for event in Self.loss(0) { resting.note(event) }
        let again = Self.card(0, wasThere: true)
        let before = resting.note(.cardInserted(again))
        #expect(!resting.isNew(Self.tap(1), of: again, before: before))
    }

    /// It was read, and is told only after its removal and after the next cards were seen.
    @Test(arguments: [0, 1, 2, 3]) func toldLate(_ events: Int) {
        let resting = Self.lost()
        let again = Self.card(0, wasThere: true)
        let before = resting.note(.cardInserted(again))
        let later: [ReaderEvent] = [
            .cardRemoved(again), .cardMissed(Self.card(2)), .cardInserted(Self.card(4)),
        ]
        for event in later.prefix(events) { resting.note(event) }
        #expect(!resting.isNew(Self.tap(1), of: again, before: before))
    }

    @Test func anotherCard() {
        let resting = Self.lost()
        let again = Self.card(0, wasThere: true)
        let before = resting.note(.cardInserted(again))
        #expect(resting.isNew(Self.tap(2), of: again, before: before))
    }

    /// Its member was not known before, so the tap must not be swallowed.
    @Test func readOnlyNow() {
        for before in [Self.tap(1, key: nil), Self.tap(nil, key: nil)] {
            let resting = Self.lost(before)
            let again = Self.card(0, wasThere: true)
            let before = resting.note(.cardInserted(again))
            #expect(resting.isNew(Self.tap(1), of: again, before: before))
        }
    }

    @Test func presentedWhileTheReaderWasLookedAt() {
        let resting = Self.lost()
        let before = resting.note(.cardInserted(Self.card(1)))
        #expect(before == nil)
        #expect(resting.isNew(Self.tap(1), of: Self.card(1), before: before))
    }

    /// A card that was taken away long before the reader went is no card that rested.
    @Test func takenAwayBefore() {
        let time = Shared(ContinuousClock.now)
        let resting = RestingCards { time.withLock { $0 } }
        resting.note(.cardInserted(Self.card(1)))
        #expect(resting.isNew(Self.tap(1), of: Self.card(1), before: nil))
        resting.note(.cardRemoved(Self.card(1)))
        time.withLock { $0 += .seconds(60) }
        resting.note(.readerRemoved(Self.reader))
        let again = Self.card(0, wasThere: true)
        let before = resting.note(.cardInserted(again))
        #expect(resting.isNew(Self.tap(1), of: again, before: before))
    }

    @Test func missedCardEndsIt() {
        let resting = Self.lost()
        resting.note(.cardMissed(Self.card(1)))
        let again = Self.card(0, wasThere: true)
        let before = resting.note(.cardInserted(again))
        #expect(resting.isNew(Self.tap(1), of: again, before: before))
    }

    @Test func cardAtStart() {
        let resting = RestingCards()
        let first = Self.card(7, wasThere: true)
        let before = resting.note(.cardInserted(first))
        #expect(resting.isNew(Self.tap(1), of: first, before: before))
    }
}
