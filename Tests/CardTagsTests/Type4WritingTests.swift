import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type4WritingTests {
    typealias Configuration = SimulatedType4Tag.Configuration

    static func configuration(_ change: (inout Configuration) -> Void) -> Configuration {
        var configuration = Configuration()
        change(&configuration)
        return configuration
    }

    static func write(_ message: [UInt8], to card: any SimulatedCard) throws {
        var tag = try #require(try TagReader.open(over: SimulatedCardChannel(card)))
        try tag.writeNDEF(message)
    }

    static func read(_ card: any SimulatedCard) throws -> TagContent {
        try TagReader.readNDEF(over: SimulatedCardChannel(card))
    }

    @Test func everyLength() throws {
        let card = SimulatedType4Tag()
        for length in 0...254 {
            let message = sampleMessage(length, seed: length)
            try Self.write(message, to: card)
            let content = try Self.read(card)
            #expect(content.ndef.bytes == message)
            #expect(!content.isInterrupted)
        }
        #expect(card.file.count == 256)
    }

    static let habits: [Type4TagTests.Habit] =
        Type4TagTests.habits + [
            .init("MLc 13") { $0.longestCommand = 13 },
            .init("MLc 4") { $0.longestCommand = 4 },
            .init("MLc 52") { $0.longestCommand = 52 },
            .init("MLc 65535") { $0.longestCommand = 0xFFFF },
            .init("takes 59 of 255") { $0.longestWrite = 59 },
            .init("takes 15 of 16") { ($0.longestWrite, $0.longestCommand) = (15, 16) },
        ]

    @Test(arguments: habits, [1, 13, 52, 53, 255, 256, 510, 2000])
    func habit(_ habit: Type4TagTests.Habit, length: Int) throws {
        let card = SimulatedType4Tag(
            configuration: Self.configuration {
                $0.fileSize = length + 4
                habit.change(&$0)
            }
        )
        let message = sampleMessage(length)
        try Self.write(message, to: card)
        #expect(try Self.read(card).ndef == .message(message))
        try Self.write([], to: card)
        #expect(try Self.read(card).ndef == .empty)
    }

    @Test(arguments: [32_760, 32_766, 32_767, 33_100, 65_536], [20, 59, 134, 135, 255] as [UInt16])
    func extendedFile(length: Int, longestCommand: UInt16) throws {
        let card = SimulatedType4Tag(
            configuration: Self.configuration {
                ($0.version, $0.isExtended, $0.fileSize) = (0x30, true, length + 4)
                $0.longestCommand = longestCommand
            }
        )
        let channel = SimulatedCardChannel(card)
        var tag = Type4Tag(channel)
        try tag.writeNDEF(sampleMessage(length))
        let isWhole = try Self.read(card).ndef == .message(sampleMessage(length))
        #expect(isWhole)
        #expect(channel.commands.filter { $0[1] == 0xD6 }.allSatisfy { $0[2] < 0x80 })
        #expect(channel.commands.contains { $0[1] == 0xD7 } || length < 33_000)
    }

    // F6: capacity 62, MLc 52.
    @Test func knownConversation() throws {
        let message = sampleMessage(62)
        let channel = AnsweringChannel(script: [
            ("00A4040007D276000085010100", "9000"), ("00A4000C02E103", "9000"),
            ("00B000000F", "000F20003B00340406E10400400000 9000"), ("00A4000C02E104", "9000"),
            ("00B0000002", "000E9000"), ("00D6000002 0000", "9000"),
            ("00D6000234" + Array(message[..<52]).hex, "9000"), ("00D600360A" + Array(message[52...]).hex, "9000"),
            ("00B000023B", Array(message[..<59]).hex + "9000"), ("00B000 3D03", Array(message[59...]).hex + "9000"),
            ("00D6000002 003E", "9000"), ("00B0000002", "003E9000"),
        ])
        var tag = Type4Tag(channel)
        try tag.writeNDEF(message)
        #expect(channel.commands.count == 12)
    }

    @Test func refusals() throws {
        let full = Self.configuration { $0.fileSize = 64 }
        let cases: [(SimulatedType4Tag, Int, TagError)] = [
            (SimulatedType4Tag(message: [1], configuration: full), 63, .tooLarge(length: 63, capacity: 62)),
            (SimulatedType4Tag(message: [1], configuration: full), 70_000, .tooLarge(length: 70_000, capacity: 62)),
            (
                SimulatedType4Tag(message: [1], configuration: Self.configuration { $0.writeAccess = 0xFF }), 10,
                .readOnly(.type4)
            ),
            (
                SimulatedType4Tag(message: [1], configuration: Self.configuration { $0.writeAccess = 0x80 }), 10,
                .readOnly(.type4)
            ),
            (
                SimulatedType4Tag(message: [1], configuration: Self.configuration { $0.longestCommand = 1 }), 10,
                .corrupt(.init(.smallCommands(length: 1), offset: 5, file: 0xE103))
            ),
        ]
        for (card, length, error) in cases {
            let before = card.file
            #expect(#expect(throws: TagError.self) { try Self.write(sampleMessage(length), to: card) } == error)
            #expect(card.file == before)
        }
        let none = SimulatedIdentityCard.desFire()
        for attempt in 0..<4 {
            var tag = Type4Tag(SimulatedCardChannel(none))
            let error = #expect(throws: TagError.self) {
                switch attempt {
                case 0: try tag.writeNDEF([1])
                case 1: _ = try tag.repairNDEF()
                case 2: try tag.lock(PermanentLock(ofCardWith: CardUID(none.uid, technology: .iso14443a)))
                default: try tag.formatNDEF()
                }
            }
            if attempt < 3 {
                #expect(error == .notFormatted(.type4))
            } else if case .cannotFormat(.type4, _)? = error {
            } else {
                Issue.record("\(String(describing: error))")
            }
        }
    }

    // Refused for ever, not only for its length.
    @Test func cardThatRefusesEveryLength() throws {
        let card = SimulatedType4Tag(configuration: Self.configuration { $0.longestWrite = 3 })
        let channel = SimulatedCardChannel(card)
        var tag = Type4Tag(channel)
        let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(200)) }
        #expect(error == .refused(attempt: "write the file E104", status: .wrongLength))
        #expect(channel.commands.filter { $0[1] == 0xD6 }.count == 2)
    }

    @Test func whatIsNotKeptIsTold() throws {
        let card = SimulatedType4Tag(message: sampleMessage(5))
        card.powerOn()
        let channel = AnsweringChannel(facts: CardFacts(atr: card.atr)) { command throws(ReaderError) in
            if command[1] == 0xD6, command.count > 8 { return [0x90, 0x00] }
            return card.receive(apdu: command) ?? []
        }
        var tag = Type4Tag(channel)
        let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(30, seed: 3)) }
        #expect(error == .notWritten(offset: 1))
        #expect(try Self.read(card).isInterrupted)
    }

    @Test func interruption() throws {
        let card = SimulatedType4Tag()
        #expect(try !Self.read(card).isInterrupted)
        card.file = [0x00, 0x00, 0xD1, 0x01] + Array(repeating: 0, count: 252)
        #expect(
            try Self.read(card)
                == TagContent(
                    type: .type4,
                    ndef: .empty,
                    area: TagArea(capacity: 254, version: .init(major: 2, minor: 0)),
                    isInterrupted: true
                )
        )
        var tag = Type4Tag(SimulatedCardChannel(card))
        #expect(try tag.repairNDEF() == .repaired)
        #expect(try tag.repairNDEF() == .notNeeded)
        #expect(try !Self.read(card).isInterrupted)
        // A card that does not give the byte behind the length is not interrupted.
        let channel = AnsweringChannel(script: [
            ("00A4040007D276000085010100", "9000"), ("00A4000C02E103", "9000"),
            ("00B000000F", "000F20003B00340406E10400400000 9000"), ("00A4000C02E104", "9000"),
            ("00B0000002", "00009000"),
        ])
        #expect(try readType4(over: channel).get().isInterrupted == false)
    }

    @Test func formatLeavesAFormattedTag() throws {
        let card = SimulatedType4Tag(message: sampleMessage(50))
        var tag = Type4Tag(SimulatedCardChannel(card))
        try tag.formatNDEF()
        #expect(try Self.read(card).ndef == .message(sampleMessage(50)))
        card.file = [0x00, 0x00, 0xD1, 0x01] + Array(repeating: 0, count: 252)
        try tag.formatNDEF()
        #expect(try Self.read(card).isInterrupted)
        let unreadable = SimulatedType4Tag(message: [1], configuration: Self.configuration { $0.readAccess = 0x80 })
        let before = unreadable.file
        var unreadableTag = Type4Tag(SimulatedCardChannel(unreadable))
        try unreadableTag.formatNDEF()
        #expect(unreadable.file == before)
        // Only a length that cannot be is mended.
        card.file[0] = 0xFF
        try tag.formatNDEF()
        #expect(try Self.read(card).ndef == .empty)
    }

    // MARK: Locking

    @Test(arguments: [false, true]) func lock(isExtended: Bool) throws {
        let configuration = Self.configuration { ($0.isExtended, $0.version) = (isExtended, isExtended ? 0x30 : 0x20) }
        let card = SimulatedType4Tag(message: sampleMessage(50), configuration: configuration)
        let confirmation = PermanentLock(ofCardWith: CardUID(card.uid, technology: .iso14443a))
        var tag = Type4Tag(SimulatedCardChannel(card))
        try tag.lock(confirmation)
        let content = try Self.read(card)
        #expect(content.ndef == .message(sampleMessage(50)))
        #expect(content.area?.writeAccess == .never)
        let locked = card.container
        try tag.lock(confirmation)
        #expect(card.container == locked)
        #expect(#expect(throws: TagError.self) { try tag.writeNDEF([1]) } == .readOnly(.type4))
    }

    @Test func lockRefusals() throws {
        let card = SimulatedType4Tag(message: sampleMessage(50))
        let other = PermanentLock(ofCardWith: CardUID([1, 2, 3, 4], technology: .iso14443a))
        var tag = Type4Tag(SimulatedCardChannel(card))
        let before = card.container
        #expect(#expect(throws: TagError.self) { try tag.lock(other) } == .wrongCard(expected: other.uid))
        card.file = [0x00, 0x00, 0xD1, 0x01] + Array(repeating: 0, count: 252)
        let confirmation = PermanentLock(ofCardWith: CardUID(card.uid, technology: .iso14443a))
        let interrupted = #expect(throws: TagError.self) { try tag.lock(confirmation) }
        #expect(interrupted?.meaning.contains("interrupted") == true)
        #expect(card.container == before)
        let closed = SimulatedType4Tag(
            message: [1],
            configuration: Self.configuration { $0.containerIsWritable = false }
        )
        var closedTag = Type4Tag(SimulatedCardChannel(closed))
        let error = #expect(throws: TagError.self) { try closedTag.lock(confirmation) }
        #expect(error == .unsupported(.type4, attempt: "lock the tag"))
    }

    // A state that could not be read is not taken for a whole one.
    @Test func lockRefusesWhatItCannotRead() throws {
        let uid = CardUID([1, 2, 3, 4], technology: .iso14443a)
        for failure in ["refusal", "link"] {
            let card = SimulatedType4Tag(message: [])
            card.powerOn()
            let channel = AnsweringChannel(
                facts: CardFacts(technology: .iso14443a, values: [.init("uid", uid.bytes)])
            ) { command throws(ReaderError) in
                if command == bytes("00B0000201") {
                    guard failure == "link" else { return [0x6F, 0x00] }
                    throw ReaderError(.communication, attempting: "send a command")
                }
                return card.receive(apdu: command) ?? []
            }
            var tag = Type4Tag(channel)
            #expect(throws: TagError.self) { try tag.lock(PermanentLock(ofCardWith: uid)) }
            #expect(channel.commands.contains(bytes("00B0000201")))
            #expect(channel.commands.allSatisfy { $0[1] != 0xD6 }, "\(failure)")
        }
    }

    @Test func tellsWhetherTheCardKeepsTheLock() throws {
        let card = SimulatedType4Tag(message: [1])
        var tag = Type4Tag(SimulatedCardChannel(card))
        let before = card.container
        #expect(try tag.keepsLock() == false)
        #expect(card.container == before)
        try tag.lock(PermanentLock(ofCardWith: CardUID(card.uid, technology: .iso14443a)))
        let locked = card.container
        #expect(try tag.keepsLock() == false)
        #expect(card.container == locked)
        let closed = SimulatedType4Tag(
            message: [1],
            configuration: Self.configuration { ($0.containerIsWritable, $0.writeAccess) = (false, 0xFF) }
        )
        var closedTag = Type4Tag(SimulatedCardChannel(closed))
        #expect(try closedTag.keepsLock())
    }

    // MARK: Dump

    @Test func dump() throws {
        let card = SimulatedType4Tag(message: sampleMessage(50))
        // A proprietary file that may not be read, and one that is not there.
        card.container = bytes("001F2000FF00FF0406E104010000000506E105008082830506E106008000FF")
        var tag = Type4Tag(SimulatedCardChannel(card))
        let parts = try tag.dump().parts
        func content(of name: String) -> [UInt8] {
            parts.filter { $0.name.hasPrefix(name) }.flatMap { $0.bytes ?? [] }
        }
        #expect(content(of: "file E103") == card.container)
        #expect(content(of: "file E104") == card.file)
        #expect(parts.first?.name == "file E103, byte 0" && parts.first?.note == "capability container")
        #expect(parts.suffix(2).map(\.name) == ["file E105", "file E106"])
        #expect(parts.suffix(2).allSatisfy { $0.bytes == nil })
        var none = Type4Tag(SimulatedCardChannel(SimulatedIdentityCard.desFire()))
        #expect(try none.dump().parts.isEmpty)
    }
}
