#if PCSC
import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// The documentation's table of cards is what these tests find: each card is tried in process, through a real pcscd and through
/// a real libnfc.
extension ThroughPCSCD {
    @Suite(.timeLimit(.minutes(10))) struct CardSupportTests {
        private static let section = "ways-in"

        private let daemon: PCSCDaemon

        init() throws {
            daemon = try PCSCDaemon()
        }

        @Test("[real pcscd] [real libnfc] the documentation's table of cards holds, whatever the way in")
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
            try Page.expect(
                rows,
                between: "<!-- cards: begin -->",
                and: "<!-- cards: end -->",
                of: "Documentation/cards.md"
            )
        }

        /// The card's row of the documentation's table.
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
#endif
