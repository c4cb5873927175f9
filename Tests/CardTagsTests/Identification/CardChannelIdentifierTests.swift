import ReaderKit
import CardCore
import Testing
import TestSupport

@testable import CardTags

/// One way to a card's identifier: whoever asks for it is given the same.
@Suite struct CardChannelIdentifierTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts = CardFacts(atr: bytes("3B80800101"))
        var answer = ""
        var uid: String?
    }

    private static func facts(_ technology: Technology, _ name: String, _ value: String) -> CardFacts {
        CardFacts(technology: technology, values: [.init(name, bytes(value))])
    }

    static let cases = [
        Case(testDescription: "the whole identifier", answer: "04A1B2C3D4E5809000", uid: "04A1B2C3D4E580"),
        Case(testDescription: "four bytes", answer: "3A5B7C9D9000", uid: "3A5B7C9D"),
        // PC/SC part 3: the end was reached before Le bytes; the data are whole.
        Case(testDescription: "shorter than asked for", answer: "04A1B2C3D4E5806282", uid: "04A1B2C3D4E580"),
        Case(testDescription: "perhaps damaged", answer: "04A1B2C3D4E5806281"),
        Case(testDescription: "another warning", answer: "04A1B2C3D4E5806300"),
        Case(testDescription: "refused", answer: "6A81"),
        Case(testDescription: "without data", answer: "9000"),
        Case(testDescription: "of no card's length", answer: "04A19000"),
        Case(testDescription: "with the right length told", answer: "6C07", uid: "04A1B2C3D4E580"),
        Case(testDescription: "type A", facts: facts(.iso14443a, "uid", "3A5B7C9D"), uid: "3A5B7C9D"),
        Case(testDescription: "type B", facts: facts(.iso14443b, "pupi", "11223344"), uid: "11223344"),
        Case(testDescription: "FeliCa", facts: facts(.felica, "idm", "012E4CE791835A06"), uid: "012E4CE791835A06"),
        Case(
            testDescription: "ISO 15693, backwards",
            facts: facts(.iso15693, "uid", "5566778899AA02E0"),
            uid: "E002AA9988776655"
        ),
        Case(
            testDescription: "an empty fact",
            facts: CardFacts(atr: bytes("3B80800101"), values: [.init("uid", [])]),
            answer: "3A5B7C9D9000",
            uid: "3A5B7C9D"
        ),
    ]

    private static func channel(_ given: Case) -> AnsweringChannel {
        AnsweringChannel(facts: given.facts) { command throws(ReaderError) in
            guard command.starts(with: [0xFF, 0xCA, 0x00, 0x00]) else { return [0x6A, 0x82] }
            return command.last == 0x07 ? bytes("04A1B2C3D4E5809000") : bytes(given.answer)
        }
    }

    @Test(arguments: cases)
    func identifier(_ given: Case) throws {
        #expect(try Self.channel(given).identifier()?.hex == given.uid)
        #expect(CardReading(over: Self.channel(given), limits: .default).uid?.hex == given.uid)
        let random = CardUID(bytes("08112233"), technology: .iso14443a)
        let uid = given.uid.map { CardUID(bytes($0), technology: nil) }
        if let uid {
            #expect(throws: Never.self) {
                try PermanentLock(ofCardWith: uid).check(over: Self.channel(given), type: .type4)
            }
        }
        #expect(throws: TagError.self) {
            try PermanentLock(ofCardWith: random).check(over: Self.channel(given), type: .type4)
        }
        let channel = Self.channel(given)
        _ = try CardIdentifier.identify(over: channel)
        // Facts that tell it leave nothing to ask.
        let isTold = given.answer.isEmpty
        #expect(channel.commands.contains { $0.starts(with: [0xFF, 0xCA, 0x00]) } != isTold)
    }

    @Test func readerWithoutCommandsOfItsOwn() throws {
        let channel = AnsweringChannel { _ throws(ReaderError) in throw ReaderError(.unsupported, attempting: "ask") }
        #expect(try channel.identifier() == nil)
        let removed = AnsweringChannel { _ throws(ReaderError) in throw ReaderError(.cardRemoved, attempting: "ask") }
        #expect(throws: (any Error).self) { try removed.identifier() }
    }
}
