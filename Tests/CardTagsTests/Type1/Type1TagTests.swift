import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type1TagTests {
    private static func channels(_ card: SimulatedTopaz) -> [any CardChannel] {
        [
            FrameChannel(card), SimulatedCardChannel(card), EncapsulatingChannel(card, reader: .init(readsTopaz: true)),
            SimulatedCardChannel(card, reader: .init(readsTopaz: true)),
        ]
    }

    @Test(arguments: [false, true]) func everyLength(_ isLarge: Bool) throws {
        let capacity = isLarge ? 462 : 90
        #expect(SimulatedTopaz.formatted(message: sample(capacity + 1), isLarge: isLarge) == nil)
        for length in 1...capacity {
            let card = try #require(SimulatedTopaz.formatted(message: sample(length), isLarge: isLarge))
            for channel in length % 20 == 0 || length == capacity ? Self.channels(card) : [FrameChannel(card)] {
                var tag = Type1Tag(channel)
                let content = try tag.readNDEF()
                #expect(content.ndef == .message(sample(length)), "\(length)")
                #expect(content.area?.capacity == capacity && content.type == .type1)
            }
        }
    }

    @Test func identifiedByItsATR() throws {
        let card = try #require(SimulatedTopaz.formatted(message: sample(20)))
        #expect(try TagReader.readNDEF(over: SimulatedCardChannel(card)).ndef == .message(sample(20)))
    }

    @Test(arguments: [false, true]) func empty(_ isLarge: Bool) throws {
        let card = try #require(SimulatedTopaz.formatted(isLarge: isLarge))
        for channel in Self.channels(card) {
            var tag = Type1Tag(channel)
            #expect(try tag.readNDEF().ndef == .empty)
        }
    }

    @Test func interrupted() throws {
        let card = try #require(SimulatedTopaz.formatted(message: sample(20)))
        card.overwrite(at: 12, with: [0x03, 0x00, 0xD1, 0x01])
        for channel in Self.channels(card) {
            var tag = Type1Tag(channel)
            let content = try tag.readNDEF()
            #expect(content.ndef == .empty && content.isInterrupted)
        }
    }

    @Test func withoutNDEF() throws {
        for channel in Self.channels(SimulatedTopaz()) {
            var tag = Type1Tag(channel)
            #expect(try tag.readNDEF() == .init(type: .type1, ndef: .absent))
        }
        var tag = Type1Tag(SimulatedCardChannel(SimulatedIdentityCard(kind: .topaz, uid: [1, 2, 3, 4])))
        #expect(try tag.readNDEF() == .init(type: .type1, ndef: .absent))
        var mute = Type1Tag(EncapsulatingChannel(SimulatedTopaz(), reader: .init(encapsulation: nil)))
        let attempt = "look for the message of the card"
        #expect(throws: TagError.notAsked(.type1, attempt: attempt, status: .functionNotSupported)) {
            try mute.readNDEF()
        }
    }

    @Test func readOnlyAndVersion() throws {
        let card = try #require(SimulatedTopaz.formatted(message: sample(20)))
        card.overwrite(at: 11, with: [0x0F])
        var tag = Type1Tag(FrameChannel(card))
        #expect(try tag.readNDEF().area?.isReadOnly == true)
        card.overwrite(at: 9, with: [0x20])
        var newer = Type1Tag(FrameChannel(card))
        #expect(throws: TagError.unsupportedVersion(.type1, .init(major: 2, minor: 0))) { try newer.readNDEF() }
    }

    @Test func nothingIsWritten() throws {
        let card = try #require(SimulatedTopaz.formatted(message: sample(20)))
        let before = card.memory
        var tag = Type1Tag(FrameChannel(card))
        #expect(throws: TagError.unsupported(.type1, attempt: "write a message")) { try tag.writeNDEF([1]) }
        #expect(throws: TagError.unsupported(.type1, attempt: "format the tag")) { try tag.formatNDEF() }
        #expect(throws: TagError.unsupported(.type1, attempt: "repair the message")) { try tag.repairNDEF() }
        #expect(card.memory == before)
    }

    @Test(arguments: [false, true]) func dump(_ isLarge: Bool) throws {
        let card = try #require(SimulatedTopaz.formatted(message: sample(60), isLarge: isLarge))
        for channel in Self.channels(card) {
            var tag = Type1Tag(channel)
            let dump = try tag.dump()
            #expect(dump.parts.compactMap(\.bytes).flatMap { $0 } == card.memory)
        }
    }
}
