#if PCSC
import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// The README's table of cards is what these tests find: each card is tried in process, through a real pcscd and through
/// a real libnfc.
extension ThroughPCSCD {
    @Suite(.timeLimit(.minutes(10))) struct CardSupportTests {
        private static let section = "ways-in"

        private let daemon: PCSCDaemon

        init() throws {
            daemon = try PCSCDaemon()
        }

        @Test("[real pcscd] [real libnfc] the README's table of cards holds, whatever the way in")
        func tableOfCards() async throws {
            let ways = try WayIn.all()
            var rows: [String] = []
            TestReport.add(
                section: Self.section,
                line: (["card"] + ways.map(\.name)).joined(separator: " | ")
            )
            for card in SupportedCard.all {
                var findings: [SupportedCard.Finding?] = []
                var scans: [ScanEvent?] = []
                var obstacles: [String] = []
                for way in ways {
                    if let obstacle = way.obstacle(to: card.formatted()) {
                        findings.append(nil)
                        scans.append(nil)
                        obstacles.append(obstacle)
                        continue
                    }
                    let (scan, found) = try await way.present(card.formatted()) { try card.tryAll(over: $0) }
                    var finding = found
                    if let blank = card.blank {
                        let (_, isFormatted) = try await way.present(blank()) { try SupportedCard.format(over: $0) }
                        if isFormatted { finding.done.insert(.format) }
                    }
                    findings.append(finding)
                    scans.append(scan.withoutWay)
                }
                let here = try #require(findings[0])
                #expect(here.done == card.operations, "\(card.name)")
                #expect(here.product == card.product, "\(card.name)")
                for (index, way) in ways.enumerated() {
                    guard let finding = findings[index] else { continue }
                    #expect(finding.done == here.done, "\(card.name), \(way.name)")
                    #expect(finding.product == here.product, "\(card.name), \(way.name)")
                    #expect(scans[index] == scans[0], "\(card.name), \(way.name)")
                }
                rows.append(Self.row(card, here, ways, findings))
                let cells = zip(findings, scans).map { finding, scan in
                    finding == nil
                        ? "not possible: " + obstacles.joined() : scan == scans[0] ? "the same event" : "another event"
                }
                // The one thing that libnfc does not know, and nothing else is left out.
                #expect(obstacles.isEmpty || here.product.hasPrefix("ICODE"), "\(card.name): \(obstacles)")
                TestReport.add(section: Self.section, line: ([card.name] + cells).joined(separator: " | "))
            }
            try Readme.expect(rows, between: "<!-- cards: begin -->", and: "<!-- cards: end -->")
        }

        /// The card's row of the README's table.
        private static func row(
            _ card: SupportedCard,
            _ here: SupportedCard.Finding,
            _ ways: [WayIn],
            _ findings: [SupportedCard.Finding?]
        ) -> String {
            var cells = CardOperation.allCases.map { operation in
                let done = zip(ways, findings).filter { $1?.done.contains(operation) ?? true }.map(\.0.name)
                if done.count == ways.count { return operation == .identify ? here.certainty.rawValue : "yes" }
                return here.done.contains(operation) ? "only " + done.joined(separator: ", ") : "–"
            }
            cells.append(findings.contains { $0 == nil } ? "no" : "yes")
            return "| \(([card.name] + cells).joined(separator: " | ")) |"
        }
    }
}

/// A way in which a simulated card comes to this package.
private final class WayIn {
    let name: String
    private let backend: any ReaderBackend
    private let insert: (any SimulatedCard) throws -> Void
    private let remove: () -> Void
    private var events: AsyncStream<ReaderEvent>.Iterator

    private init(
        _ name: String,
        _ backend: any ReaderBackend,
        insert: @escaping (any SimulatedCard) throws -> Void,
        remove: @escaping () -> Void
    ) {
        self.name = name
        self.backend = backend
        self.insert = insert
        self.remove = remove
        events = backend.events().makeAsyncIterator()
    }

    /// In process, through the real pcscd, through the real libnfc.
    static func all() throws -> [WayIn] {
        let simulated = SimulatedBackend()
        let slot = VirtualCardReader()
        var ways = [
            WayIn("in process", simulated) {
                simulated.insert($0)
            } remove: {
                simulated.remove()
            },
            WayIn("pcscd", PCSCBackend()) {
                try slot.present($0)
            } remove: {
                slot.remove()
            },
        ]
        #if NFC
        let board = try PN532Terminal()
        let connection = try #require(board.connectionString)
        let configuration = NFCConfiguration(connectionStrings: [connection], pollInterval: .milliseconds(20))
        ways.append(
            WayIn("libnfc", NFCBackend(configuration: configuration)) {
                board.insert($0)
            } remove: {
                board.remove()
            }
        )
        #endif
        return ways
    }

    /// Why a card of that kind cannot come this way, or `nil`.
    func obstacle(to card: any SimulatedCard) -> String? {
        backend.kind == .nfc ? PN532Terminal.obstacle(to: card) : nil
    }

    /// Presents a card, reads it as a tap, talks to it, takes it away, and waits until that was seen.
    func present<Result: Sendable>(
        _ card: any SimulatedCard,
        _ conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> (scan: ScanEvent, result: Result) {
        try insert(card)
        defer { remove() }
        while let event = await events.next() {
            guard case .cardInserted(let presence) = event else { continue }
            let scan = await CardScanner(backend).scan(presence)
            let result = try await backend.withCard(presence, perform: conversation)
            remove()
            while let event = await events.next() {
                if case .cardRemoved = event { return (scan, result) }
            }
        }
        throw ReaderError(.cancelled, attempting: "wait for the card")
    }
}

extension ScanEvent {
    /// The event without what may differ between two ways in.
    fileprivate var withoutWay: ScanEvent {
        ScanEvent(
            id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
            at: Date(timeIntervalSince1970: 0),
            reader: "",
            backend: .simulated,
            technology: technology,
            card: card,
            uid: uid,
            atr: nil,
            ndef: ndef,
            passes: passes,
            memberKey: memberKey,
            memberName: memberName,
            problems: problems
        )
    }
}

/// The README, as far as tests write it.
enum Readme {
    private static let file = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("README.md")

    /// Expects the rows below the head of the table between two lines. `READERKIT_UPDATE_README=1` writes them instead.
    static func expect(_ rows: [String], between begin: String, and end: String) throws {
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let first = try #require(lines.firstIndex(of: begin))
        let last = try #require(lines[first...].firstIndex(of: end))
        // Two lines are the head of the table.
        let body = first + 3..<last
        if ProcessInfo.processInfo.environment["READERKIT_UPDATE_README"] == "1" {
            let text = (lines[..<body.lowerBound] + rows + lines[last...]).joined(separator: "\n")
            try Data(text.utf8).write(to: file)
            return
        }
        #expect(Array(lines[body]) == rows, "READERKIT_UPDATE_README=1 with this test writes the table anew")
    }
}
#endif
