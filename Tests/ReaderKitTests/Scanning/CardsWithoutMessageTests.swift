import CardCore
import CardPasses
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// Whatever a reader answers for a card that shows no message, the card's identifier stays the member's; but where the
/// reader did not ask the card, it is nobody.
@Suite struct CardsWithoutMessageTests {
    /// A PC/SC reader that tells the identifier and answers everything else in one way, until something breaks.
    private final class OneAnswerChannel: CardChannel {
        let facts: CardFacts
        let elapsed = Duration.zero
        private(set) var steps = 0
        private let card: any SimulatedCard
        private let answer: [UInt8]
        private let fault: (step: Int, kind: ReaderError.Kind)?
        private var frames: FrameExchange

        init(
            _ card: any SimulatedCard,
            reader: String = "A",
            answer: [UInt8],
            fault: (step: Int, kind: ReaderError.Kind)? = nil
        ) {
            (self.card, self.answer, self.fault) = (card, answer, fault)
            facts = CardFacts(atr: card.atr)
            frames = FrameExchange(reader: reader, facts: facts)
            card.powerOn()
        }

        private func step() throws(ReaderError) {
            steps += 1
            if let fault, steps > fault.step { throw ReaderError(fault.kind, attempting: "ask the card") }
        }

        func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
            try step()
            guard command.starts(with: [0xFF, 0xCA]) else { return answer }
            return SimulatedReader().transmit(command, to: card) ?? [0x6A, 0x81]
        }

        func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
            try frames.transceive(frame) { command throws(ReaderError) in try self.transmit(command) }
        }

        func reset() throws(ReaderError) { try step() }
    }

    enum Kind: CaseIterable, Sendable {
        case classic, feliCa, vicinity, topaz

        var card: any SimulatedCard {
            switch self {
            case .classic: SimulatedIdentityCard.classic1K()
            case .feliCa: SimulatedIdentityCard.feliCa()
            case .vicinity: SimulatedIdentityCard.vicinity()
            case .topaz: SimulatedIdentityCard(kind: .topaz, uid: [0x2B, 0x5B, 0x7C, 0x9D])
            }
        }

        var key: String {
            switch self {
            case .classic: "3A5B7C9D"
            case .feliCa: "012E4CE791835A06"
            case .vicinity: "E00401502B7C913D"
            case .topaz: "2B5B7C9D"
            }
        }

        /// The problem of a card for which a reader of that name answers everything so; `nil` if the card was asked.
        func problem(_ answer: [UInt8], _ reader: String) -> ScanEvent.Problem.Code? {
            if self == .classic { return .tagUnsupported }
            let status = UInt16(answer[answer.count - 2]) << 8 | UInt16(answer[answer.count - 1])
            switch status {
            case 0x9000, 0x6982, 0x6A82: return nil
            // The card's silence to a frame, in the words of readers that carry some.
            case 0x6F01 where ["A", "SpringCard"].contains(reader): return nil
            case 0x6F1B where ["A", "SpringCard"].contains(reader): return nil
            case 0x6401 where !["A", "ACS ACR1252"].contains(reader): return nil
            case 0x6F01...0x6FFF: return .readFailed
            default: return .tagUnsupported
            }
        }
    }

    /// What readers are known to answer.
    private static let known: [UInt16] = [
        0x6300, 0x6400, 0x6401, 0x6581, 0x6700, 0x6800, 0x6900, 0x6981, 0x6982, 0x6983, 0x6985, 0x6986, 0x6988, 0x6A80,
        0x6A81, 0x6A82, 0x6A86, 0x6A88, 0x6B00, 0x6D00, 0x6E00, 0x6F00, 0x6F01, 0x6F04, 0x6F0A, 0x6F1B, 0x6FFF, 0x9000,
    ]
    /// Names by which the form of raw frames is chosen; the first is of no known make.
    private static let readers = ["A", "SpringCard", "ACS ACR122U", "ACS ACR1252", "Identiv uTrust 3700"]

    private func check(_ kind: Kind, _ reader: String, _ answer: [UInt8]) {
        let reading = CardReading(over: OneAnswerChannel(kind.card, reader: reader, answer: answer), limits: .default)
        let problem = kind.problem(answer, reader)
        #expect(reading.member?.key == (problem == nil ? kind.key : nil), "\(reader) \(answer.hex)")
        #expect(reading.problems.map(\.code) == [problem].compactMap { $0 }, "\(reader) \(answer.hex)")
        #expect((reading.fault != nil) == (problem == .readFailed) && reading.ndef == nil)
        #expect(reading.uid?.hex == kind.key)
        guard problem == .tagUnsupported else { return }
        // A place may allow it.
        let channel = OneAnswerChannel(kind.card, reader: reader, answer: answer)
        let allowed = CardReading(over: channel, limits: .default, site: PassSite(uidDespite: [.tagUnsupported]))
        #expect(allowed.member?.key == kind.key && allowed.problems.map(\.code) == [.tagUnsupported])
    }

    @Test(arguments: Kind.allCases, readers) func knownStatusWords(_ kind: Kind, _ reader: String) {
        for status in Self.known { check(kind, reader, [UInt8(status >> 8), UInt8(status & 0xFF)]) }
    }

    @Test(arguments: Kind.allCases) func allStatusWords(_ kind: Kind) {
        for first in UInt8.min...UInt8.max { check(kind, "A", [first, 0x00]) }
        for first in UInt8(0x62)...0x6F {
            for second in stride(from: 0, through: 0xFF, by: step(15)) { check(kind, "A", [first, UInt8(second)]) }
        }
    }

    @Test(arguments: Kind.allCases, readers) func unusableData(_ kind: Kind, _ reader: String) {
        for count in [1, 3, 4, 5, 7, 8, 12, 15, 16, 17, 18, 32, 122, 129] {
            for byte: UInt8 in [0x00, 0x10, 0xD5, 0xFF] {
                check(kind, reader, Array(repeating: byte, count: count - 1) + [0x5A, 0x90, 0x00])
            }
        }
    }

    /// A fault of the link is told whenever it comes, and nobody is named.
    @Test(arguments: Kind.allCases, [ReaderError.Kind.cardRemoved, .cardReset, .timeout, .serviceStopped])
    func faultsAreTold(_ kind: Kind, _ fault: ReaderError.Kind) {
        for reader in Self.readers {
            for status in Self.known {
                let answer = [UInt8(status >> 8), UInt8(status & 0xFF)]
                let whole = OneAnswerChannel(kind.card, reader: reader, answer: answer)
                _ = CardReading(over: whole, limits: .default)
                #expect(whole.steps >= 3, "the card is asked, and asked whether it is still there")
                for step in 0..<whole.steps {
                    let channel = OneAnswerChannel(kind.card, reader: reader, answer: answer, fault: (step, fault))
                    let reading = CardReading(over: channel, limits: .default)
                    let code: ScanEvent.Problem.Code = fault == .cardRemoved ? .cardRemoved : .readFailed
                    #expect(reading.problems.map(\.code) == [code], "\(reader) \(answer.hex) step \(step)")
                    #expect(reading.member == nil && reading.fault?.kind == fault)
                }
            }
        }
    }

    /// Whether an empty tag was interrupted is found out by another command: its fault is told too.
    @Test func emptyTagThatLeaves() async throws {
        let ntag = try #require(SimulatedNTAG.formatted(.ntag213, message: []))
        for card in [ntag, SimulatedType4Tag(message: [], uid: SimulatedNTAG.sampleUID)] as [any SimulatedCard] {
            let whole = SimulatedCardChannel(card)
            #expect(CardReading(over: whole, limits: .default).ndef == [])
            #expect(whole.exchanges > 1)
            for exchange in 0..<whole.exchanges {
                let tap = try #require(await Scanning.scan(card, faults: [.tear(beforeExchange: exchange)]))
                #expect(tap.problems.map(\.code) == [.cardRemoved], "\(exchange)")
                #expect(tap.memberKey == nil)
            }
        }
    }
}
