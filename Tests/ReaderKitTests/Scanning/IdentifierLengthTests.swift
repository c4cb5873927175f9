import CardCore
import CardTags
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// Identifiers of lengths that no card has.
@Suite struct IdentifierLengthTests {
    /// A card that knows nothing but its identifier.
    private final class Card: SimulatedCard {
        let uid: [UInt8]
        let kind = SimulatedCardKind.isoDEP(historicalBytes: [])

        init(_ uid: [UInt8]) { self.uid = uid }

        func receive(apdu: [UInt8]) -> [UInt8]? { [0x6A, 0x82] }
    }

    @Test(arguments: [0, 1, 5, 6, 9, 11, 250]) func ofTheReader(_ count: Int) {
        let card = Card([UInt8](repeating: 0x5A, count: count))
        let reading = CardReading(over: SimulatedCardChannel(card), limits: .default)
        #expect(reading.uid == nil && reading.member == nil)
        #expect(reading.problems.map(\.code.rawValue) == ["invalidUID"])
    }

    @Test(
        arguments: [
            (.iso14443a, "uid", [0, 1, 5, 8, 250]), (.iso14443b, "pupi", [0, 3, 7, 250]),
            (.felica, "idm", [0, 4, 250]),
            (.iso15693, "uid", [0, 4, 7, 250]),
        ] as [(Technology, String, [Int])]
    )
    func ofAnticollision(_ technology: Technology, _ name: String, _ counts: [Int]) {
        for count in counts {
            let bytes = [UInt8](repeating: 0x5A, count: count)
            let facts = CardFacts(technology: technology, values: [.init(name, bytes)])
            // It is silent in its own frames, too.
            let silence = { (_: RawFrame) throws(ReaderError) -> RawFrame in
                throw ReaderError(.timeout, attempting: "exchange a raw frame")
            }
            let channel = AnsweringChannel(facts: facts, frame: silence) { _ throws(ReaderError) in [0x6A, 0x82] }
            let reading = CardReading(over: channel, limits: .default)
            #expect(reading.uid == nil && reading.passes.isEmpty, "\(count)")
            #expect(reading.problems.map(\.code.rawValue) == ["invalidUID"], "\(count)")
        }
    }
}
