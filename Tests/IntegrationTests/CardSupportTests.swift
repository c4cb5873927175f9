#if PCSC
import Foundation
import ReaderKit
import ReaderKitTesting
import Testing

/// The README's table of cards is what these tests find: each card is tried in process and through a real pcscd.
extension ThroughPCSCD {
    @Suite struct CardSupportTests {
        private let daemon: PCSCDaemon
        private let slot = VirtualCardReader()
        private let backend = PCSCBackend()

        init() throws {
            daemon = try PCSCDaemon()
        }

        @Test("[real pcscd] the README's table of cards holds, in process and through pcscd")
        func tableOfCards() async throws {
            var events = backend.events().makeAsyncIterator()
            var rows: [String] = []
            for card in SupportedCard.all {
                var here = try card.tryAll(over: SimulatedCardChannel(card.formatted()))
                var there = try await present(card.formatted(), &events) { try card.tryAll(over: $0) }
                if let blank = card.blank {
                    if try SupportedCard.format(over: SimulatedCardChannel(blank())) { here.done.insert(.format) }
                    if try await present(blank(), &events, { try SupportedCard.format(over: $0) }) {
                        there.done.insert(.format)
                    }
                }
                #expect(here == there, "\(card.name)")
                #expect(here.done == card.operations, "\(card.name)")
                #expect(here.product == card.product, "\(card.name)")
                let cells = CardOperation.allCases.map { operation in
                    switch (here.done.contains(operation), there.done.contains(operation)) {
                    case (true, true): operation == .identify ? here.certainty.rawValue : "yes"
                    case (true, false): "in process only"
                    case (false, true): "through pcscd only"
                    case (false, false): "–"
                    }
                }
                rows.append("| \(([card.name] + cells).joined(separator: " | ")) |")
            }
            try Readme.expect(rows, between: "<!-- cards: begin -->", and: "<!-- cards: end -->")
        }

        /// Presents a card, talks to it, takes it away, and waits until pcscd has seen that.
        private func present<Result: Sendable>(
            _ card: any SimulatedCard,
            _ events: inout AsyncStream<ReaderEvent>.Iterator,
            _ conversation: @escaping @Sendable (any CardChannel) throws -> Result
        ) async throws -> Result {
            try slot.present(card)
            defer { slot.remove() }
            while let event = await events.next() {
                guard case .cardInserted(let presence) = event else { continue }
                let result = try await backend.withCard(presence, perform: conversation)
                slot.remove()
                while let event = await events.next() {
                    if case .cardRemoved = event { return result }
                }
            }
            throw ReaderError(.cancelled, attempting: "wait for the card")
        }
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
