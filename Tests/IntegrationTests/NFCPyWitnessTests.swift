import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

private let nfcpy = PythonWitness(modules: "nfc, ndef")

/// nfcpy, a PN532 driver and tag reader that shares no code with libnfc, reads and writes our simulated cards on the same
/// terminal. It wants more of the chip: extended frames, another speed, power down, and ISO/IEC 14443-4 in its own hands.
@Suite(
    .serialized,
    .enabled(if: nfcpy != nil, "nfcpy is not installed: run Scripts/setup --tests"),
    .timeLimit(.minutes(10))
)
struct NFCPyWitnessTests {
    /// Tells what is on the board, line by line, and writes a message if it is given one. The terminal is opened by its
    /// path, because by name nfcpy looks only directly under /dev. It would wait 100 ms for an acknowledgement, which a
    /// simulated chip on a busy machine misses.
    private static let script = """
        import sys, nfc, nfc.clf.pn532, nfc.clf.transport, ndef
        class Line(nfc.clf.transport.TTY):
            def read(self, timeout): return super().read(max(timeout, 20000))
        front = nfc.ContactlessFrontend()
        front.device = nfc.clf.pn532.init(Line(sys.argv[1]))
        try:
            print("chip", front.device.chipset_name)
            kinds = [nfc.clf.RemoteTarget(kind) for kind in ("106A", "106B", "212F")]
            target = front.sense(*kinds)
            tag = target and nfc.tag.activate(front, target)
            print("tag", tag)
            if tag and tag.ndef:
                for record in tag.ndef.records:
                    print("record", record.type, getattr(record, "uri", ""))
                if len(sys.argv) > 2:
                    tag.ndef.records = [ndef.UriRecord(sys.argv[2])]
                    print("written", tag.ndef.records[0].uri)
            if tag:
                print("present", tag.is_present)
        finally:
            front.close()
        """

    private static let message: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x01] + Array("example.com".utf8)
    private static let record = "record urn:nfc:wkt:U http://www.example.com"

    private func run(_ card: any SimulatedCard, writing link: String? = nil) async throws -> [String] {
        let board = try PN532Terminal()
        board.insert(card)
        let program = WitnessProgram(path: try #require(nfcpy).path)
        let arguments = ["-c", Self.script, try #require(board.path)] + (link.map { [$0] } ?? [])
        let outcome = try await program.run(arguments, with: board)
        #expect(outcome.status == 0, "\(outcome.messages)")
        #expect(outcome.lines.first == "chip PN532v1.6")
        return Array(outcome.lines.dropFirst())
    }

    /// A card with the message, and how nfcpy names it.
    private struct Named: Sendable, CustomTestStringConvertible {
        var tag: String
        var card: @Sendable () throws -> any SimulatedCard
        var testDescription: String { tag }
    }

    private static let named: [Named] = [
        Named(tag: "Type1Tag 'Topaz (BCM20203T96)' ID=001A2B3C") {
            try #require(SimulatedTopaz.formatted(message: message))
        },
        Named(tag: "Type2Tag 'NXP NTAG213' ID=04A1B2C3D4E580") {
            try #require(SimulatedNTAG.formatted(.ntag213, message: message))
        },
        Named(tag: "Type2Tag 'NXP NTAG216' ID=04A1B2C3D4E580") {
            try #require(SimulatedNTAG.formatted(.ntag216, message: message))
        },
        Named(
            tag: "Type3Tag 'FeliCa Lite-S (RC-S966)' ID=012E4CE791835A06 PMM=00F1000000014300 SYS=88B4"
        ) { try #require(SimulatedFeliCa.formatted(message: message)) },
        Named(tag: "Type4ATag MIU=253 FWT=0.038664") { SimulatedType4Tag(message: message) },
        Named(tag: "Type4BTag MIU=253 FWT=0.038664") { SimulatedTypeB(SimulatedType4Tag(message: message)) },
        Named(tag: "Type4ATag MIU=61 FWT=0.077329") { SimulatedNTAG424.card(message: message) },
    ]

    @Test("[real nfcpy] every type of tag is read", arguments: named)
    private func read(_ named: Named) async throws {
        let lines = try await run(named.card())
        #expect(lines == ["tag \(named.tag)", Self.record, "present True"])
    }

    @Test("[real nfcpy] an empty board has no tag")
    func nothing() async throws {
        #expect(try await run(SimulatedIdentityCard.vicinity()) == ["tag None"])
    }

    @Test("[real nfcpy] a message is written to a tag of Type 2, 3 and 4", arguments: [2, 3, 4])
    func write(type: Int) async throws {
        let link = "https://example.org/" + String(repeating: "a", count: 100)
        let written: [UInt8] =
            [0xD1, 0x01, 0x71, 0x55, 0x04] + Array("example.org/".utf8) + Array(repeating: 0x61, count: 100)
        let card: any SimulatedCard =
            switch type {
            case 2: try #require(SimulatedNTAG.formatted(.ntag213, message: Self.message))
            case 3: try #require(SimulatedFeliCa.formatted(message: Self.message))
            default: SimulatedType4Tag(message: Self.message)
            }
        let lines = try await run(card, writing: link)
        #expect(lines.dropFirst() == [Self.record, "written \(link)", "present True"])
        let content: ArraySlice<UInt8>? =
            switch card {
            case let card as SimulatedNTAG: card.memory[16..<16 + written.count + 2].dropFirst(2)
            case let card as SimulatedFeliCa: card.memory[16..<16 + written.count]
            case let card as SimulatedType4Tag: card.file[2..<2 + written.count]
            default: nil
            }
        #expect(content.map { Array($0) } == written)
    }
}
