import CardCore
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type4TagTests {
    static let message = bytes("D1010A55036E666370792E6F7267")

    static func configuration(
        _ change: (inout SimulatedType4Tag.Configuration) -> Void
    ) -> SimulatedType4Tag.Configuration {
        var configuration = SimulatedType4Tag.Configuration()
        change(&configuration)
        return configuration
    }

    // F6: URI http://nfcpy.org; MLe 003B, MLc 0034, a file of 64 bytes.
    @Test func knownConversation() throws {
        let channel = AnsweringChannel(script: [
            ("00A4040007D276000085010100", "9000"),
            ("00A4000C02E103", "9000"),
            ("00B000000F", "000F20003B00340406E10400400000 9000"),
            ("00A4000C02E104", "9000"),
            ("00B0000002", "000E9000"),
            ("00B000020E", "D1010A55036E666370792E6F72679000"),
        ])
        let content = try TagReader.readNDEF(over: withATR(channel))
        #expect(content.ndef == .message(Self.message))
        #expect(content.area == TagArea(capacity: 62, version: .init(major: 2, minor: 0)))
        #expect(channel.commands.count == 6)
    }

    /// A channel with the ATR of an ISO 14443-4 card before another one.
    private func withATR(_ channel: AnsweringChannel) -> AnsweringChannel {
        AnsweringChannel(facts: CardFacts(atr: bytes("3B80800101"))) { command throws(ReaderError) in
            try channel.transmit(command)
        }
    }

    // F6, the exchange as nfcpy does it: two bytes of the container first.
    @Test func simulatedCardAnswersTheKnownConversation() {
        let configuration = Self.configuration {
            ($0.longestAnswer, $0.longestCommand, $0.fileSize) = (0x3B, 0x34, 0x40)
        }
        let card = SimulatedType4Tag(message: Self.message, configuration: configuration)
        let exchanges = [
            ("00A4040007D276000085010100", "9000"),
            ("00A4000C02E103", "9000"),
            ("00B0000002", "000F9000"),
            ("00B000020D", "20003B00340406E104004000009000"),
            ("00A4000C02E104", "9000"),
            ("00B0000002", "000E9000"),
            ("00B000020E", "D1010A55036E666370792E6F72679000"),
            ("00D60000050003D50000", "9000"),
            ("00B0000005", "0003D500009000"),
        ]
        for (command, answer) in exchanges { #expect(card.receive(apdu: bytes(command))?.hex == answer) }
    }

    @Test(
        arguments: [
            ("000E20003B00340406E10400400000", .corrupt(at(0, .shortContainer(length: 14)))),
            ("000F00003B00340406E10400400000", .unsupportedVersion(.type4, .init(major: 0, minor: 0))),
            ("000F40003B00340406E10400400000", .unsupportedVersion(.type4, .init(major: 4, minor: 0))),
            ("000F20000E00340406E10400400000", .corrupt(at(3, .smallCommands(length: 14)))),
            ("000F20000000340406E10400400000", .corrupt(at(3, .smallCommands(length: 0)))),
            ("000F20003B00340505E10400400000", .corrupt(at(7, .noFileControl))),
            ("000F20003B00340405E10400400000", .corrupt(at(8, .fileControlLength(5)))),
            ("000F20003B00340608E10400400000", .corrupt(at(0, .shortContainer(length: 15)))),
            ("000F20003B00340406000000400000", .corrupt(at(9, .reservedFile(0x0000)))),
            ("000F20003B00340406E10200400000", .corrupt(at(9, .reservedFile(0xE102)))),
            ("000F20003B00340406E10300400000", .corrupt(at(9, .reservedFile(0xE103)))),
            ("000F20003B003404063F0000400000", .corrupt(at(9, .reservedFile(0x3F00)))),
            ("000F20003B003404063FFF00400000", .corrupt(at(9, .reservedFile(0x3FFF)))),
            ("000F20003B00340406FFFF00400000", .corrupt(at(9, .reservedFile(0xFFFF)))),
            ("000F20003B00340406E10400020000", .corrupt(at(11, .smallFile(size: 2)))),
            (
                "000F20003B00340406E10500400000",
                .refused(attempt: "select the file E105 of the message", status: .fileNotFound)
            ),
            ("000F20", .corrupt(at(3, .endsEarly(missing: 12)))),
            ("", .corrupt(at(0, .endsEarly(missing: 15)))),
        ] as [(String, TagError)]
    )
    func malformedContainer(_ container: String, _ error: TagError) {
        let card = SimulatedType4Tag(message: Self.message)
        card.container = bytes(container)
        #expect(readType4(over: SimulatedCardChannel(card)).error == error)
    }

    private static func at(_ offset: Int, _ reason: TagError.Corruption.Reason) -> TagError.Corruption {
        TagError.Corruption(reason, offset: offset, file: 0xE103)
    }

    @Test(arguments: [
        ("000F20003B00340406E10400400000", TagArea.Access.free, TagArea.Access.free, 62),
        ("000F10003B00340406E104004000FF", .free, .never, 62),
        ("000F30003B00340406E10400408082", .proprietary(0x80), .proprietary(0x82), 62),
        ("001120003B00340406E1040100000005", .free, .free, 254),
        ("00172001000 0FF0406E104010000000506E10500808283", .free, .free, 254),
        ("001130003B00340608E104000100000000", .free, .free, 65_532),
    ])
    func container(_ text: String, read: TagArea.Access, write: TagArea.Access, capacity: Int) throws {
        let card = SimulatedType4Tag()
        card.container = bytes(text.filter { $0 != " " })
        let content = try readType4(over: SimulatedCardChannel(card)).get()
        #expect(content.ndef == .empty)
        #expect(content.area?.readAccess == read)
        #expect(content.area?.writeAccess == write)
        #expect(content.area?.capacity == capacity)
    }

    struct Habit: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var change: @Sendable (inout SimulatedType4Tag.Configuration) -> Void
        init(_ name: String, _ change: @escaping @Sendable (inout SimulatedType4Tag.Configuration) -> Void) {
            (testDescription, self.change) = (name, change)
        }
    }

    static let habits: [Habit] = [
        Habit("plain") { _ in },
        Habit("MLe 15") { $0.longestAnswer = 15 },
        Habit("MLe 16") { $0.longestAnswer = 16 },
        Habit("MLe 59") { $0.longestAnswer = 59 },
        Habit("MLe 254") { $0.longestAnswer = 254 },
        Habit("MLe 256") { $0.longestAnswer = 256 },
        Habit("MLe 65535") { $0.longestAnswer = 0xFFFF },
        Habit("mapping version 1") { $0.version = 0x10 },
        Habit("mapping version 3") { $0.version = 0x30 },
        Habit("refuses P2 0C") { $0.refusesSelectWithoutAnswer = true },
        Habit("mapping version 1, refuses P2 0C") { ($0.version, $0.refusesSelectWithoutAnswer) = (0x10, true) },
        Habit("answers in parts of 7") { $0.partLength = 7 },
        Habit("other file") { $0.fileID = 0x0001 },
        Habit("extended") { ($0.version, $0.isExtended) = (0x30, true) },
        Habit("6Cxx at the end") { $0.overread = .wrongLength },
        Habit("9000 at the end") { $0.overread = .silent },
    ]

    @Test(arguments: habits, [1, 13, 14, 15, 16, 253, 254, 255, 256, 510, 511, 2000])
    func habit(_ habit: Habit, length: Int) throws {
        let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 5) }
        let configuration = Self.configuration {
            $0.fileSize = length + 4
            habit.change(&$0)
        }
        let channel = SimulatedCardChannel(SimulatedType4Tag(message: message, configuration: configuration))
        let content = try TagReader.readNDEF(over: channel)
        #expect(content.type == .type4)
        #expect(content.ndef == .message(message))
    }

    @Test(arguments: [32_764, 32_765, 32_766, 33_100, 40_000, 65_536], [15, 59, 127, 131, 132, 255])
    func extendedFile(length: Int, longestAnswer: UInt16) throws {
        let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let configuration = Self.configuration {
            ($0.version, $0.isExtended, $0.fileSize, $0.longestAnswer) = (0x30, true, length + 4, longestAnswer)
        }
        let channel = SimulatedCardChannel(SimulatedType4Tag(message: message, configuration: configuration))
        let result = readType4(over: channel)
        let isWhole = result.content?.ndef == .message(message)
        #expect(isWhole, "\(String(describing: result.error))")
        #expect(result.content?.area?.capacity == length)
        // Only offsets above 7FFF take the data object.
        let objectReads = channel.commands.filter { $0[1] == 0xB1 }
        #expect(!objectReads.isEmpty || length < 33_100)
        #expect(objectReads.allSatisfy { $0[7] > 0 || $0[8] >= 0x80 })
        #expect(channel.commands.filter { $0[1] == 0xB0 }.allSatisfy { $0[2] < 0x80 })
    }

    @Test func limits() throws {
        let configuration = Self.configuration { ($0.version, $0.isExtended, $0.fileSize) = (0x30, true, 2_000_004) }
        for (length, limits, fits) in [
            (65_536, NDEFLimits.default, true), (65_537, .default, false),
            (1_048_576, .maximum, true), (1_048_577, .maximum, false),
        ] {
            let message = [UInt8](repeating: 0x42, count: length)
            let channel = SimulatedCardChannel(SimulatedType4Tag(message: message, configuration: configuration))
            let result = readType4(over: channel, limits: limits)
            if fits {
                #expect(result.content?.ndef.bytes?.count == length)
            } else {
                #expect(result.error == .tooLong(length: length, limit: limits.message))
                #expect(channel.exchanges == 6)
            }
        }
    }

    @Test func tornLength() {
        let card = SimulatedType4Tag(message: Self.message)
        card.file = [0xFF, 0xFE] + Self.message
        let error = readType4(over: SimulatedCardChannel(card)).error
        #expect(error == .corrupt(.init(.lengthOverCapacity(length: 0xFFFE, capacity: 254), offset: 0, file: 0xE104)))
    }

    @Test(arguments: SimulatedType4Tag.Configuration.Overread.allCases)
    func fileShorterThanClaimed(_ overread: SimulatedType4Tag.Configuration.Overread) {
        let configuration = Self.configuration { $0.overread = overread }
        let card = SimulatedType4Tag(message: Self.message, configuration: configuration)
        card.file = [0x00, 0x20] + Self.message
        let channel = SimulatedCardChannel(card)
        let error = readType4(over: channel).error
        #expect(error == .corrupt(.init(.endsEarly(missing: 18), offset: 16, file: 0xE104)))
        #expect(channel.exchanges < 12)
    }

    @Test func protectedFile() {
        let card = SimulatedType4Tag(message: Self.message, configuration: Self.configuration { $0.readAccess = 0x80 })
        let error = readType4(over: SimulatedCardChannel(card)).error
        #expect(error == .protected(attempt: "read the file E104", status: .securityStatusNotSatisfied))
    }

    @Test(arguments: ["6A82", "6A81", "6A88", "6999", "6D00", "6E00", "911C", "91A0"])
    func noApplication(_ status: String) throws {
        let channel = AnsweringChannel { _ throws(ReaderError) in bytes(status) }
        #expect(try readType4(over: channel).get() == TagContent(type: .type4, ndef: .absent))
        #expect(channel.commands.count <= 2)
    }

    /// A question that the card refuses for its form or its state is no word on whether there is a message.
    @Test(
        arguments: [
            ("6700", 6), ("6701", 6), ("6A80", 6), ("6A86", 6), ("6A87", 6), ("6B00", 6), ("6C00", 6), ("6C04", 8),
            ("6985", 2), ("6986", 2), ("6900", 2), ("6283", 2), ("6300", 2), ("6881", 2), ("9100", 2), ("917E", 2),
            ("6099", 2),
        ] as [(String, Int)]
    )
    func applicationNotAsked(_ status: String, _ commands: Int) {
        // Nor is that a later form is not known.
        for later in [status, "6D00", "6E00"] {
            let channel = AnsweringChannel { command throws(ReaderError) in
                bytes(command.count == 13 && command[12] == 0x00 ? status : later)
            }
            let error = readType4(over: channel).error
            guard case .notAsked(.type4, _, let word)? = error else {
                Issue.record("\(status) \(later): \(String(describing: error))")
                continue
            }
            #expect(word?.rawValue.bytes == bytes(status))
            #expect(channel.commands.count == commands)
        }
    }

    /// What is refused for its form is asked in the next one: each form that a card may want, for each name.
    @Test(arguments: ["6700", "6A80", "6A86", "6B00", "6C00", "6C04"], ["D2760000850101", "D2760000850100"])
    func formsOfSelect(_ refusal: String, _ name: String) throws {
        let forms = ["00A4040007\(name)00", "00A4040007\(name)", "00A4040C07\(name)"]
        for (form, later) in forms.flatMap({ form in [refusal, "6D00", "6E00"].map { (form, $0) } }) {
            let tag = SimulatedType4Tag(message: Self.message)
            _ = tag.receive(apdu: CommandAPDU.selectNDEFApplication.encoded())
            let channel = AnsweringChannel { command throws(ReaderError) in
                guard command[2] == 0x04 else { return tag.receive(apdu: command) ?? [] }
                guard command.hex.contains(name) else { return [0x6A, 0x82] }
                return bytes(command == bytes(form) ? "9000" : command == bytes(forms[0]) ? refusal : later)
            }
            #expect(try readType4(over: channel).get().ndef == .message(Self.message), "\(form) \(later)")
        }
    }

    /// The forms of the SELECT of a file: without an answer, with P2 00, and with Le too.
    @Test(arguments: ["00A4000C02", "00A4000002", "00A4000002/00"], ["6700", "6A86", "6985", "6D00"])
    func formsOfFileSelect(_ form: String, _ refusal: String) throws {
        let tag = SimulatedType4Tag(message: Self.message)
        let channel = AnsweringChannel { command throws(ReaderError) in
            guard command[1] == 0xA4, command[2] == 0x00 else { return tag.receive(apdu: command) ?? [] }
            let taken = form.split(separator: "/")
            guard command.hex.hasPrefix(taken[0]), command.count == 7 + taken.count - 1 else { return bytes(refusal) }
            return tag.receive(apdu: CommandAPDU.select(fileID: UInt16(command[5]) << 8 | UInt16(command[6])).encoded())
                ?? []
        }
        #expect(try readType4(over: channel).get().ndef == .message(Self.message))
    }

    @Test func protectedApplication() {
        let channel = AnsweringChannel { _ throws(ReaderError) in [0x69, 0x82] }
        let error = readType4(over: channel).error
        #expect(error == .protected(attempt: "select the NDEF application", status: .securityStatusNotSatisfied))
    }

    @Test(arguments: ["6F00", "6400", "6581"]) func failedApplication(_ status: String) {
        let channel = AnsweringChannel { _ throws(ReaderError) in bytes(status) }
        #expect(readType4(over: channel).error?.status?.rawValue.bytes == bytes(status))
    }

    /// `later` is the answer to the forms behind the first one, which calls the file missing.
    @Test(
        arguments: [
            ("6A82", true), ("6700", true), ("6A86", true), ("6B00", true), ("6D00", true), ("6E00", true),
            ("6985", false), ("6300", false), ("6F00", false),
        ]
    )
    func applicationWithoutFiles(_ later: String, _ isMissing: Bool) {
        let channel = AnsweringChannel { command throws(ReaderError) in
            command[2] == 0x04 ? [0x90, 0x00] : command[3] == 0x0C ? [0x6A, 0x82] : bytes(later)
        }
        let result = readType4(over: channel)
        #expect(result.content == (isMissing ? TagContent(type: .type4, ndef: .absent) : nil))
        if !isMissing { #expect(result.error?.status?.rawValue.bytes == bytes(later)) }
    }

    @Test(arguments: [
        ("5305AABBCCDDEE", "AABBCCDDEE"), ("5300", ""), ("AABBCC", "AABBCC"), ("5304AABBCCDDEE", "5304AABBCCDDEE"),
        ("53", "53"), ("538101AA", "AA"), ("53820002AABB", "AABB"), ("5381", "5381"), ("5382", "5382"), ("", ""),
        ("538002AABB", "538002AABB"),
    ])
    func dataObject(_ answer: String, _ value: String) {
        #expect(Type4Files.objectValue(bytes(answer)).hex == value)
    }
}

extension UInt16 {
    fileprivate var bytes: [UInt8] { [UInt8(self >> 8), UInt8(self & 0xFF)] }
}
