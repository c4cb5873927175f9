import Captures
import CardCore
import Foundation
import ReaderKitTesting
import TestSupport
import Testing

@testable import ReaderKit

/// What has contacts, or is no card at all, is no tap; a card that somebody presents never vanishes.
@Suite(.timeLimit(.minutes(10))) struct ContactCardTests {
    /// What a slot reports, and what its card is asked and answers.
    struct Slot: Sendable {
        var name: String
        var atr: String
        var answer: String
        var isTap: Bool

        init(_ name: String, _ atr: String, _ answer: String, isTap: Bool = false) {
            (self.name, self.atr, self.answer, self.isTap) = (name, atr, answer, isTap)
        }
    }

    static let sam = "3BDF18FF81F1FE43003F03834D494641524520506C75732053414D3B"

    static let slots: [Slot] = [
        // Modules, contact cards and empty slots, whatever they answer to FF CA 00 00 00.
        Slot("SAM", sam, "6E00"), Slot("SAM", sam, "6D00"), Slot("SAM", sam, "6300"), Slot("SAM", sam, "6A81"),
        Slot("SAM", sam, "6881"), Slot("SAM", sam, "6982"), Slot("SAM", sam, "6F00"), Slot("SAM", sam, "9000"),
        Slot("DESFire SAM", "3BDE18FF81F1FB34001F0744455346697265 53414D56312E30D2", "6E00"),
        Slot("empty ACR122U", "3B00", "6300"), Slot("empty, other convention", "3F00", "6300"),
        Slot("empty, with zeros behind", "3B000000", "6300"),
        Slot("T=0 bank card", "3B6E000080318066B0840C016E0183009000", "6E00"),
        Slot("T=0 SIM", "3B9F94801FC78031E073FE211B63E203E183009000EB", "6E00"),
        Slot("OpenPGP", "3BDA18FF81B1FE751F030031F573C001600090001C", "6881"),
        Slot("memory card", "3B04A2131091", "6A81"),
        // One with an identifier behind it is a card.
        Slot("contact form with identifier", "3B6E000080318066B0840C016E0183009000", "04A1B2C3D4E5809000", isTap: true),
        // Contactless cards whose identifier is not told, in the forms of all readers.
        Slot("storage card", "3B8F8001804F0CA0000003060300030000000068", "6D00", isTap: true),
        Slot("ISO 14443-4", "3B80800101", "6E00", isTap: true),
        Slot("DESFire", "3B8180018080", "6A81", isTap: true),
        Slot("storage card in other form", "3B6F0000804F0CA00000030603000300000000", "6D00", isTap: true),
        Slot("older reader", "3BF59100FF918171FE4000410800 00000D", "6D00", isTap: true),
        Slot("older reader's processor card", "3BF79100FF918171FE40004120001177818040", "6D00", isTap: true),
        Slot("125 kHz", "3B0601002201 8227", "6D00", isTap: true),
        Slot("no answer to reset that can be read", "3B", "6D00", isTap: true),
    ]

    private static func capture(_ slot: Slot) throws -> Capture {
        try Capture(
            parsing: "capture 1\ncard at 0.000 atr \(slot.atr)\n> FF CA 00 00 00\n< \(slot.answer)\nremoved at 1.000\n"
        )
    }

    @Test(arguments: slots.indices) func aCardIsATap(_ index: Int) async throws {
        let slot = Self.slots[index]
        let capture = try Self.capture(slot)
        func taps(_ includesContactCards: Bool) async -> [ScanEvent] {
            var configuration = ScannerConfiguration()
            configuration.includesContactCards = includesContactCards
            var taps: [ScanEvent] = []
            for await tap in CardScanner(ReplayBackend([capture]), configuration: configuration).taps() {
                taps.append(tap)
            }
            return taps
        }
        let found = await taps(false)
        #expect(found.count == (slot.isTap ? 1 : 0), "\(slot.name)")
        // One without an identifier is never silent.
        #expect(found.allSatisfy { $0.uid != nil || !$0.problems.isEmpty && $0.memberKey == nil }, "\(slot.name)")
        let told = await taps(true)
        #expect(told.count == 1)
        if !slot.isTap { #expect(told.map(\.card) == ["contact card"] && told.map(\.memberKey) == [nil]) }
    }

    /// In live slots: the reader goes on waiting, and the next card is the first tap.
    @Test func theNextCardIsTheFirstTap() async throws {
        for slot in Self.slots where !slot.isTap {
            let backend = SimulatedBackend(readers: ["A", "B"])
            let presentation = try #require(try Self.capture(slot).presentations.first)
            backend.insert(try RecordedCard(presentation), into: "B")
            let taps = Taps(CardScanner(backend))
            try await taps.until("it is seen") { _ in
                taps.readers.contains { if case .cardInserted = $0 { true } else { false } }
            }
            backend.insert(try #require(try Scanning.tag([.text("U1")])), into: "A")
            try await taps.until("tap") { !$0.isEmpty }
            #expect(taps.all.map(\.memberKey) == ["U1"], "\(slot.name)")
        }
    }

    /// A slot whose card does not answer.
    @Test(
        arguments: [
            (sam, "A", false), (sam, "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00", false),
            (nil, "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00", false),
            (nil, "Gemalto Prox-DU [Prox-DU Contact_10701234] 00 01", false),
            (nil, "ACS ACR1281 1S Dual Reader ICC 00 00", false),
            (nil, "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00", true),
            (nil, "Gemalto Prox-DU [Prox-DU Contactless_10701234] 00 00", true), (nil, "A", true),
            ("3B80800101", "Reader SAM 00 00", true),
        ] as [(String?, String, Bool)]
    )
    func mute(_ atr: String?, _ reader: String, _ isTap: Bool) async throws {
        for kind in [ReaderError.Kind.cardUnresponsive, .cardUnpowered] {
            let backend = MuteBackend(ReaderInfo(name: reader, backend: .simulated), atr.map(bytes), kind)
            var taps: [ScanEvent] = []
            for await tap in CardScanner(backend).taps() { taps.append(tap) }
            #expect(taps.count == (isTap ? 1 : 0))
            #expect(taps.allSatisfy { $0.memberKey == nil && !$0.problems.isEmpty })
        }
    }

    /// A backend whose one card cannot be connected to.
    private final class MuteBackend: ReaderBackend {
        let kind = BackendKind.simulated
        private let presence: CardPresence
        private let error: ReaderError

        init(_ reader: ReaderInfo, _ atr: [UInt8]?, _ kind: ReaderError.Kind) {
            presence = CardPresence(reader: reader, number: 1, facts: CardFacts(atr: atr), at: Date())
            error = ReaderError(kind, attempting: "connect to the card")
        }

        func events() -> AsyncStream<ReaderEvent> {
            AsyncStream { [presence] continuation in
                continuation.yield(.readerAdded(presence.reader))
                continuation.yield(.cardInserted(presence))
                continuation.finish()
            }
        }

        func readers() async -> [ReaderStatus] { [] }

        func withCard<Result: Sendable>(
            _ presence: CardPresence,
            perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
        ) async throws -> Result {
            throw error
        }
    }

    @Test func onlyTheTechnologiesThatAreServed() async throws {
        let capture = try Capture(
            parsing: """
                capture 1
                card at 0.000 atr 3B8F8001804F0CA0000003060300030000000068
                > FF CA 00 00 00
                < 04A1B2C3D4E5809000
                removed at 1.000
                card at 2.000 atr 3B8F8001804F0CA00000030611003B0000000042
                > FF CA 00 00 00
                < 012E4CE445055B879000
                removed at 3.000
                card at 4.000 atr 3B
                > FF CA 00 00 00
                < 04A1B2C3D4E5819000
                removed at 5.000

                """
        )
        func kinds(_ technologies: Set<Technology>) async -> [Technology?] {
            var configuration = ScannerConfiguration()
            configuration.technologies = technologies
            var found: [Technology?] = []
            for await tap in CardScanner(ReplayBackend([capture]), configuration: configuration).taps() {
                found.append(tap.technology)
            }
            return found
        }
        #expect(await kinds([]) == [.iso14443a, .felica, nil])
        // One of which it is not known is never passed over.
        #expect(await kinds([.felica]) == [.felica, nil])
        #expect(await kinds([.iso15693, .iso14443a]) == [.iso14443a, nil])
    }
}
