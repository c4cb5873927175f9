import Foundation
import Testing

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
        #expect(resting.isNew(tap, of: card(1)))
        loss(1).forEach(resting.note)
        return resting
    }

    @Test func sameCardIsNoTap() {
        let resting = Self.lost()
        let again = Self.card(0, wasThere: true)
        resting.note(.cardInserted(again))
        #expect(!resting.isNew(Self.tap(1), of: again))
        // Taken away and presented once more, it is.
        resting.note(.cardRemoved(again))
        resting.note(.cardInserted(Self.card(2)))
        #expect(resting.isNew(Self.tap(1), of: Self.card(2)))
    }

    @Test func again() {
        let resting = Self.lost()
        for _ in 0..<3 {
            let again = Self.card(0, wasThere: true)
            resting.note(.cardInserted(again))
            #expect(!resting.isNew(Self.tap(1), of: again))
            Self.loss(0).forEach(resting.note)
        }
        // Lost again before it could be read: still the same.
        resting.note(.cardInserted(Self.card(0, wasThere: true)))
        Self.loss(0).forEach(resting.note)
        let again = Self.card(0, wasThere: true)
        resting.note(.cardInserted(again))
        #expect(!resting.isNew(Self.tap(1), of: again))
    }

    /// It was read, and is told only after its removal was seen.
    @Test func toldAfterItsRemoval() {
        let resting = Self.lost()
        let again = Self.card(0, wasThere: true)
        resting.note(.cardInserted(again))
        resting.note(.cardRemoved(again))
        #expect(!resting.isNew(Self.tap(1), of: again))
    }

    @Test func anotherCard() {
        let resting = Self.lost()
        let again = Self.card(0, wasThere: true)
        resting.note(.cardInserted(again))
        #expect(resting.isNew(Self.tap(2), of: again))
    }

    /// Its member was not known before, so the tap must not be swallowed.
    @Test func readOnlyNow() {
        for before in [Self.tap(1, key: nil), Self.tap(nil, key: nil)] {
            let resting = Self.lost(before)
            let again = Self.card(0, wasThere: true)
            resting.note(.cardInserted(again))
            #expect(resting.isNew(Self.tap(1), of: again))
        }
    }

    @Test func presentedWhileTheReaderWasLookedAt() {
        let resting = Self.lost()
        resting.note(.cardInserted(Self.card(1)))
        #expect(resting.isNew(Self.tap(1), of: Self.card(1)))
    }

    /// A card that was taken away long before the reader went is no card that rested.
    @Test func takenAwayBefore() {
        let time = Shared(ContinuousClock.now)
        let resting = RestingCards { time.withLock { $0 } }
        resting.note(.cardInserted(Self.card(1)))
        #expect(resting.isNew(Self.tap(1), of: Self.card(1)))
        resting.note(.cardRemoved(Self.card(1)))
        time.withLock { $0 += .seconds(60) }
        resting.note(.readerRemoved(Self.reader))
        let again = Self.card(0, wasThere: true)
        resting.note(.cardInserted(again))
        #expect(resting.isNew(Self.tap(1), of: again))
    }

    @Test func missedCardEndsIt() {
        let resting = Self.lost()
        resting.note(.cardMissed(Self.card(1)))
        let again = Self.card(0, wasThere: true)
        resting.note(.cardInserted(again))
        #expect(resting.isNew(Self.tap(1), of: again))
    }

    @Test func cardAtStart() {
        let resting = RestingCards()
        let first = Self.card(7, wasThere: true)
        resting.note(.cardInserted(first))
        #expect(resting.isNew(Self.tap(1), of: first))
    }
}
