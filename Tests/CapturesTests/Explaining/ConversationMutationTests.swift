import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures

/// Conversations in which cards and readers say anything, from a seed that is told.
///
/// `READERKIT_EXPLANATION_MUTATIONS` says how many.
@Suite struct ConversationMutationTests {
    private typealias Tests = ConversationExplanationTests

    private static var rounds: Int {
        ProcessInfo.processInfo.environment["READERKIT_EXPLANATION_MUTATIONS"].flatMap(Int.init) ?? 1_500
    }

    /// Whole conversations, of which everything that cards and readers say is changed.
    private static func captures() throws -> [Capture] {
        let files = Fixtures.captures(in: "cards").map { Fixtures.directory + "/" + $0 }
        let texts = [
            Tests.phone + Tests.appleWallet + Tests.askVAS + Tests.giveVAS,
            Tests.phone + Tests.googleWallet
                + "> 00A4040009A000000476D000011100\n< \(SmartTapVectors.selectedAgain)9000\n"
                + "> \(SmartTapVectors.negotiate)\n< \(SmartTapVectors.negotiated)9000\n"
                + "> \(SmartTapVectors.getData)\n< \(SmartTapVectors.first)9100\n> 90C0000000\n< \(SmartTapVectors.second)9000\n",
            Tests.phone + Tests.googleWallet + "> \(SmartTapVectors.getData)\n< \(Tests.plainBundle)9000\n"
                + "> \(SmartTapVectors.getData)\n< \(Tests.compressedBundle)9000\n> 90520000BF\(Tests.recordedPush)00\n< 9000\n",
        ]
        let titles =
            ConversationTitleTests.selections + ConversationTitleTests.readerCommands + ConversationTitleTests.others
        let rows = titles.map { $0.before + $0.exchange }
        return try files.map { try Capture(contentsOf: $0) }
            + (texts + rows).map { try Capture(parsing: "capture 1\n" + $0) }
    }

    private static func mutate(_ bytes: [UInt8], atLeast count: Int, _ random: inout SeededNumbers) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes[place] = [0x00, 0x7F, 0x80, 0x81, 0x84, 0xFF].randomElement(using: &random) ?? 0
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &random)))
            default: bytes.insert(contentsOf: bytes[place...].prefix(16), at: place)
            }
        }
        while bytes.count < count { bytes.append(0) }
        return bytes
    }

    private static func mutate(_ exchange: Capture.Exchange, _ random: inout SeededNumbers) -> Capture.Exchange {
        var exchange = exchange
        switch exchange.request {
        case .apdu(let bytes): exchange.request = .apdu(mutate(bytes, atLeast: 4, &random))
        case .raw(let frame): exchange.request = .raw(RawFrame(mutate(frame.bytes, atLeast: 1, &random)))
        case .control(let code, let bytes):
            exchange.request = .control(code: code, data: mutate(bytes, atLeast: 0, &random))
        }
        switch exchange.answer {
        case .bytes(let bytes): exchange.answer = .bytes(mutate(bytes, atLeast: 2, &random))
        case .raw(let frame): exchange.answer = .raw(RawFrame(mutate(frame.bytes, atLeast: 1, &random)))
        case .fault: break
        }
        return exchange
    }

    /// Whether each field lies within what it is a part of.
    private static func lie(_ fields: [ExplainedField], within count: Int?) -> Bool {
        fields.allSatisfy { field in
            let isInside =
                field.offset.map { offset in
                    offset >= 0 && field.length >= 0 && (count.map { offset + field.length <= $0 } ?? true)
                } ?? true
            return isInside && !field.name.isEmpty
                && lie(field.fields, within: field.isJoined ? field.bytes?.count : count)
        }
    }

    @Test func anyCaptureIsExplained() throws {
        let captures = try Self.captures()
        var random = SeededNumbers(seed: 7_001)
        for round in 0..<Self.rounds {
            var capture = captures[round % captures.count]
            var count = capture.lines.count
            for index in capture.presentations.indices {
                let exchanges = capture.presentations[index].exchanges
                capture.presentations[index].exchanges = exchanges.map { exchange in
                    Int.random(in: 0..<3, using: &random) == 0 ? Self.mutate(exchange, &random) : exchange
                }
                if round % 7 == 0, let atr = capture.presentations[index].facts.atr {
                    capture.presentations[index].facts.atr = Array(
                        Self.mutate(atr, atLeast: 1, &random).prefix(ReaderLimits.atrLength)
                    )
                }
                let presentation = capture.presentations[index]
                count += 1 + (presentation.facts.atr == nil ? 0 : 1) + presentation.facts.values.count
                count += presentation.connectFault == nil ? 0 : 1
                count += 2 * exchanges.count + (presentation.removedAt == nil ? 0 : 1)
            }
            let lines = ConversationExplanation(of: capture).lines
            #expect(lines.count == count, "seed 7001, round \(round)")
            for line in lines {
                #expect(!line.title.isEmpty && !line.text().isEmpty, "seed 7001, round \(round)")
                #expect(
                    Self.lie(line.fields, within: line.bytes?.count),
                    "seed 7001, round \(round): \(line.statement)"
                )
            }
            if round % 50 == 0 { _ = try JSONEncoder().encode(lines) }
        }
    }
}
