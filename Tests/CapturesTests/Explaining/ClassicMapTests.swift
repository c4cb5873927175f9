import ReaderKit
import CardCore
import CardTags
import Foundation
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures

/// One map of the chip: what a tag's message is to whoever reads it, it is to explanations and to redaction.
@Suite struct ClassicMapTests {
    private static let text = String(repeating: "Membership of Annabel Winterbottom. ", count: 60)

    /// A 4K card whose message runs over sector 16, and over the first large sector, read through a PC/SC reader.
    private static func recorded() throws -> (capture: Capture, message: [UInt8]) {
        let message = try NDEFMessage([.text(text, language: "en")]).encoded()
        let card = try #require(SimulatedMIFAREClassic.formatted(.fourK, message: message))
        var exchanges: [Capture.Exchange] = []
        let channel = RecordingChannel(SimulatedCardChannel(card)) { request, answer in
            exchanges.append(Capture.Exchange(request, answer, at: .zero))
            return .zero
        }
        guard case .message(message) = try TagReader.readNDEF(over: channel).ndef else {
            Issue.record("the card is not read")
            throw CancellationError()
        }
        let presentation = Capture.Presentation(at: .zero, facts: channel.facts, exchanges: exchanges)
        return (Capture(presentations: [presentation]), message)
    }

    @Test func explanationFindsTheMessage() throws {
        let (capture, message) = try Self.recorded()
        var memory = try #require(ObservedMemory(.mifareClassic))
        var found: [[UInt8]] = []
        for exchange in capture.presentations[0].exchanges {
            guard case .apdu(let command) = exchange.request, command[1] == 0xB0,
                case .bytes(let answer) = exchange.answer
            else { continue }
            memory.note(answer.dropLast(2), fromBlock: Int(command[3]))
            if case .success(let message) = memory.newMessage() { found.append(message) }
        }
        #expect(found == [message])
    }

    @Test func redactionLeavesTheDirectoryAndNothingOfTheMessage() async throws {
        let (capture, _) = try Self.recorded()
        let redaction = CaptureRedaction(of: capture, seed: 1)
        #expect(redaction.unexaminedLines.isEmpty)
        #expect(await CaptureRedaction.replaysAlike(capture, redaction.capture))
        let letters = Set(["Anna", "bel ", "Wint", "erbo", "ttom", "Memb", "ersh"].map { Array($0.utf8) })
        for (old, new) in zip(capture.presentations[0].exchanges, redaction.capture.presentations[0].exchanges) {
            guard case .apdu(let command) = old.request, command[1] == 0xB0, case .bytes(let bytes) = new.answer
            else { continue }
            if [1, 2, 64, 65, 66].contains(command[3]) {
                #expect(new.answer == old.answer, "block \(command[3])")
            } else {
                let runs = (0...max(0, bytes.count - 4)).map { Array(bytes[$0..<min($0 + 4, bytes.count)]) }
                #expect(letters.isDisjoint(with: runs), "block \(command[3])")
            }
        }
    }

    /// What stands in a directory's place and is none may be anything.
    @Test(arguments: [1, 64, 66])
    func textInPlaceOfADirectory(block: Int) throws {
        let text =
            "capture 1\ncard at 0 iso14443a sak 18\n"
            + "> FF B0 00 \([UInt8(block)].hex) 10\n< 41 6E 6E 61 62 65 6C 20 57 69 6E 74 65 72 01 02 90 00\n"
        let redaction = CaptureRedaction(of: try Capture(parsing: text), seed: 1)
        #expect(!redaction.capture.text().contains("41 6E 6E 61"))
        #expect(redaction.unexaminedLines == [3])
    }
}
