import Testing
import TestSupport

@testable import CardCore

@Suite struct APDUPipelineTests {
    static let extended = CardCapabilities(commandChaining: false, extendedLengths: true)
    static let chaining = CardCapabilities(commandChaining: true, extendedLengths: false)
    static let both = CardCapabilities(commandChaining: true, extendedLengths: true)
    static let neither = CardCapabilities(commandChaining: false, extendedLengths: false)

    static func put(_ count: Int, ins: UInt8 = 0xD6, cla: UInt8 = 0, le: Int? = nil) throws -> CommandAPDU {
        let data = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        return try CommandAPDU(cla: cla, ins: ins, p1: 0, p2: 0, data: data, expectedLength: le)
    }

    static func pipeline(
        _ channel: CommandCard,
        _ card: CardCapabilities?,
        _ lengths: APDUPipeline.Lengths = .automatic
    ) -> APDUPipeline {
        APDUPipeline(channel, configuration: .init(lengths: lengths, card: card))
    }

    /// What reader and card can do, and which commands carry 600 bytes of data to the card.
    @Test(
        arguments: [
            (true, both, [.case3Extended]), (true, extended, [.case3Extended]),
            (true, chaining, [.case3Short, .case3Short, .case3Short]),
            (true, .unknown, [.case3Short, .case3Short, .case3Short]),
            (nil, both, [.case3Extended]), (nil, .unknown, [.case3Short, .case3Short, .case3Short]),
            (false, both, [.case3Short, .case3Short, .case3Short]),
            (false, .unknown, [.case3Short, .case3Short, .case3Short]),
            // A card that takes no parts and says nothing of extended lengths: only trying tells.
            (true, CardCapabilities(commandChaining: false), [.case3Extended]),
        ] as [(Bool?, CardCapabilities, [APDUCase])]
    )
    func wayOfLongData(_ reader: Bool?, _ card: CardCapabilities, _ cases: [APDUCase]) throws {
        let channel = CommandCard(.init(longestCommand: 65_544, longestResponse: 65_538, extendedLength: reader))
        let command = try Self.put(600)
        #expect(try Self.pipeline(channel, card).send(command).isSuccess)
        #expect(channel.cases == cases)
        #expect(channel.received == [command.data])
    }

    /// The bytes of a chain: bit 5 of CLA in all but the last part, which has Le.
    @Test func bytesOfAChain() throws {
        let channel = CommandCard(.shortAPDUs)
        channel.answerCount = 3
        let command = try Self.put(511, ins: 0xDB, cla: 0x01, le: 256)
        #expect(try Self.pipeline(channel, nil).send(command).data == [0, 1, 2])
        #expect(
            channel.commands.map { Array($0.prefix(5)) } == [
                [0x11, 0xDB, 0, 0, 255], [0x11, 0xDB, 0, 0, 255], [0x01, 0xDB, 0, 0, 1],
            ]
        )
        #expect(channel.commands.map(\.count) == [260, 260, 7])
    }

    /// A reader whose frame is shorter than a short command.
    @Test func partsOfTheReadersFrame() throws {
        let channel = CommandCard(.init(longestCommand: 64, longestResponse: 64))
        let command = try Self.put(100)
        #expect(try Self.pipeline(channel, nil).send(command).isSuccess)
        #expect(channel.commands.map(\.count) == [63, 47])
        #expect(channel.received == [command.data])
    }

    /// Refusals of extended lengths by a card that says it takes them, and what is sent instead.
    @Test(
        arguments: [
            (.status(0x6700), both, 1 + 3, 0x9000), (.status(0x6701), both, 1 + 3, 0x9000),
            (.fault(.notTransacted), both, 1 + 3, 0x9000),
            (.fault(ReaderError(.unsupported, attempting: "x")), both, 1 + 3, 0x9000),
            // These are the answer: nothing says that they are about the form.
            (.status(0x6D00), both, 1, 0x6D00), (.status(0x6E00), both, 1, 0x6E00), (.status(0x6A80), both, 1, 0x6A80),
            (.status(0x6702), both, 1, 0x6702), (.status(0x6982), both, 1, 0x6982),
            // No other way is left.
            (.status(0x6700), extended, 1, 0x6700),
        ] as [(CommandCard.Refusal, CardCapabilities, Int, UInt16)]
    )
    func refusedExtendedLengths(
        _ refusal: CommandCard.Refusal,
        _ card: CardCapabilities,
        _ count: Int,
        _ status: UInt16
    ) throws {
        let channel = CommandCard()
        channel.extendedRefusal = refusal
        let pipeline = Self.pipeline(channel, card)
        #expect(try pipeline.send(Self.put(600)).statusWord.rawValue == status)
        #expect(channel.commands.count == count)
        #expect(channel.cases[0] == .case3Extended)
        guard count > 1 else { return }
        // It is remembered.
        #expect(pipeline.extendedLengthsWork == false)
        _ = try pipeline.send(Self.put(600))
        #expect(channel.commands.count == count + 3)
    }

    /// With T=0 the command that wraps an extended one may be unknown. Only of a card that takes parts is that believed.
    @Test(arguments: [(true, 0x9000), (false, 0x6D00)] as [(Bool, UInt16)])
    func unknownInstructionOfUnknownLengths(_ takesParts: Bool, _ status: UInt16) throws {
        let channel = CommandCard()
        channel.extendedRefusal = .status(0x6D00)
        let pipeline = Self.pipeline(channel, CardCapabilities(commandChaining: takesParts), .automatic)
        if takesParts {
            // Parts come first while extended lengths are not known, and they work.
            #expect(try pipeline.send(Self.put(600)).statusWord.rawValue == status)
            #expect(!channel.cases.contains(.case3Extended))
        } else {
            #expect(try pipeline.send(Self.put(600)).statusWord.rawValue == status)
            #expect(channel.commands.count == 1)
        }
    }

    @Test(
        arguments: [
            // Commands that may be carried out twice, and commands that a lost answer may have carried out already.
            (0xD6, true), (0xB0, true), (0xA4, true), (0xDB, true), (0xDC, true), (0xE2, false), (0x20, false),
            (0x82, false), (0x2A, false), (0xD0, false), (0xE0, false),
        ] as [(UInt8, Bool)]
    )
    func driverRefusal(_ ins: UInt8, _ isRepeated: Bool) throws {
        let channel = CommandCard()
        channel.extendedRefusal = .fault(.notTransacted)
        let pipeline = Self.pipeline(channel, Self.both)
        if isRepeated {
            #expect(try pipeline.send(Self.put(300, ins: ins)).isSuccess)
            #expect(channel.received.count == 1)
        } else {
            #expect(throws: ReaderError.notTransacted) { try pipeline.send(Self.put(300, ins: ins)) }
            #expect(channel.received.isEmpty)
        }
    }

    /// Once an extended command was carried out, the same faults are what they say: the card is lost.
    @Test func aFaultAfterSuccessIsNoRefusal() throws {
        let channel = CommandCard()
        let pipeline = Self.pipeline(channel, Self.both)
        #expect(try pipeline.send(Self.put(600)).isSuccess)
        #expect(pipeline.extendedLengthsWork == true)
        channel.extendedRefusal = .fault(.notTransacted)
        #expect(throws: ReaderError.notTransacted) { try pipeline.send(Self.put(600)) }
        channel.extendedRefusal = .status(0x6700)
        #expect(try pipeline.send(Self.put(600)).statusWord == .wrongLength)
        #expect(channel.commands.count == 3)
    }

    @Test(arguments: [.cardRemoved, .cardReset, .timeout, .stuck, .communication] as [ReaderError.Kind])
    func otherFaultsAreNoRefusal(_ kind: ReaderError.Kind) throws {
        let channel = CommandCard()
        channel.extendedRefusal = .fault(ReaderError(kind, attempting: "x"))
        let error = #expect(throws: ReaderError.self) { try Self.pipeline(channel, Self.both).send(Self.put(600)) }
        #expect(error?.kind == kind)
        #expect(channel.commands.count == 1)
    }

    /// Refusals of the first part, after which extended lengths are tried where they are not known to be missing.
    @Test(
        arguments: [
            (0x6884, .unknown, 2, 0x9000), (0x6E00, .unknown, 2, 0x9000), (0x6881, .unknown, 2, 0x9000),
            (0x6884, chaining, 1, 0x6884), (0x6700, .unknown, 1, 0x6700), (0x6982, .unknown, 1, 0x6982),
            (0x6CFF, .unknown, 1, 0x6CFF), (0x6282, .unknown, 1, 0x6282), (0x63C2, .unknown, 1, 0x63C2),
        ] as [(UInt16, CardCapabilities, Int, UInt16)]
    )
    func refusedParts(_ refusal: UInt16, _ card: CardCapabilities, _ count: Int, _ status: UInt16) throws {
        let channel = CommandCard()
        channel.chainRefusal = .status(refusal)
        #expect(try Self.pipeline(channel, card).send(Self.put(600)).statusWord.rawValue == status)
        #expect(channel.commands.count == count)
    }

    @Test func aChainEndsWhereTheCardEndsIt() throws {
        let channel = CommandCard(.shortAPDUs)
        channel.chainRefusal = .status(0x6A84)
        channel.refusedPart = 3
        #expect(try Self.pipeline(channel, nil).send(Self.put(2000)).statusWord == StatusWord(0x6A84))
        #expect(channel.commands.count == 4)
        #expect(channel.received.isEmpty)
    }

    /// A card that wants to be asked for more before the last part: following it would end in a success that is none.
    @Test func dataBeforeTheLastPart() throws {
        let channel = CommandCard(.shortAPDUs)
        channel.chainRefusal = .status(0x6110)
        let error = #expect(throws: ReaderError.self) { try Self.pipeline(channel, nil).send(Self.put(600)) }
        #expect(error?.kind == .invalidAnswer)
        #expect(channel.commands.count == 1)
    }

    @Test(arguments: [(0x90, nil), (0x80, nil), (0x10, nil), (0x00, neither)] as [(UInt8, CardCapabilities?)])
    func neitherWay(_ cla: UInt8, _ card: CardCapabilities?) throws {
        let channel = CommandCard(.shortAPDUs)
        let error = #expect(throws: ReaderError.self) {
            try Self.pipeline(channel, card).send(Self.put(256, cla: cla))
        }
        #expect(error?.kind == .unsupported)
        #expect(error?.hint.contains("255") == true)
        #expect(channel.commands.isEmpty)
    }

    /// The reader answers class FF itself.
    @Test func readerCommandsAreNotChained() throws {
        let channel = CommandCard()
        _ = try Self.pipeline(channel, nil).send(Self.put(300, cla: 0xFF))
        #expect(channel.cases == [.case3Extended])
    }

    @Test func moreThanAChainHolds() throws {
        let channel = CommandCard(.init(longestCommand: 16, longestResponse: 16))
        let error = #expect(throws: ReaderError.self) { try Self.pipeline(channel, nil).send(Self.put(65_535)) }
        #expect(error?.kind == .limitExceeded)
        #expect(channel.commands.isEmpty)
    }

    @Test func theLongestChain() throws {
        let channel = CommandCard(.shortAPDUs)
        let command = try Self.put(65_535, le: 65_536)
        channel.answerCount = 2000
        #expect(try Self.pipeline(channel, nil).send(command).data.count == 2000)
        #expect(channel.received == [command.data])
    }

    // MARK: - Long answers

    /// What is expected, what reader and card can do, and the lengths that are asked for.
    @Test(
        arguments: [
            (256, true, both, [256]), (257, true, both, [257]), (65_536, true, both, [65_536]),
            (65_536, false, both, [256, 256, 256, 232]), (65_536, true, chaining, [256, 256, 256, 232]),
            (65_536, true, .unknown, [256, 256, 256, 232]), (300, true, extended, [300, 256, 256, 188]),
        ] as [(Int, Bool, CardCapabilities, [Int])]
    )
    func wayOfLongAnswers(_ expected: Int, _ reader: Bool, _ card: CardCapabilities, _ lengths: [Int]) throws {
        let channel = CommandCard(.init(longestCommand: 65_544, longestResponse: 65_538, extendedLength: reader))
        channel.answerCount = expected == 65_536 || expected == 300 ? 1000 : expected
        let command = try CommandAPDU(cla: 0, ins: 0xCB, p1: 0x3F, p2: 0xFF, expectedLength: expected)
        let answer = try Self.pipeline(channel, card).send(command)
        #expect(answer.data == (0..<channel.answerCount).map { UInt8(truncatingIfNeeded: $0) })
        #expect(channel.commands.compactMap { try? CommandAPDU(bytes: $0).expectedLength } == lengths)
    }

    @Test func noMoreIsExpectedThanTheReaderCarries() throws {
        let channel = CommandCard(.init(longestCommand: 65_544, longestResponse: 1026, extendedLength: true))
        channel.answerCount = 2000
        let command = try CommandAPDU(cla: 0, ins: 0xB0, p1: 0, p2: 0, expectedLength: 65_536)
        #expect(try Self.pipeline(channel, Self.both).send(command).data.count == 2000)
        #expect(try CommandAPDU(bytes: channel.commands[0]).expectedLength == 1024)
    }

    @Test func refusedLongAnswer() throws {
        let channel = CommandCard()
        channel.extendedRefusal = .status(0x6700)
        channel.answerCount = 600
        let command = try CommandAPDU(cla: 0, ins: 0xB0, p1: 0, p2: 0, expectedLength: 65_536)
        #expect(try Self.pipeline(channel, Self.extended).send(command).data.count == 600)
        #expect(channel.cases == [.case2Extended, .case2Short, .case2Short, .case2Short])
    }

    // MARK: - Policies

    @Test func shortOnly() throws {
        let channel = CommandCard()
        #expect(try Self.pipeline(channel, Self.both, .short).send(Self.put(600)).isSuccess)
        #expect(channel.cases == [.case3Short, .case3Short, .case3Short])
    }

    @Test func extendedOnly() throws {
        let channel = CommandCard(.init(longestCommand: 65_544, longestResponse: 65_538))
        #expect(try Self.pipeline(channel, Self.neither, .extended).send(Self.put(600)).isSuccess)
        #expect(channel.cases == [.case3Extended])
        channel.extendedRefusal = .status(0x6700)
        let refused = Self.pipeline(channel, Self.both, .extended)
        #expect(try refused.send(Self.put(600)).statusWord == .wrongLength)
    }

    @Test func moreDataAsAResult() throws {
        let channel = AnsweringChannel { _ throws(ReaderError) in [0x61, 0x00] }
        let pipeline = APDUPipeline(channel, configuration: .init(fetchesMoreData: false))
        #expect(try pipeline.send(.getUID).statusWord.rawValue == 0x6100)
        #expect(channel.commands.count == 1)
    }

    @Test func wrongLengthAsAResult() throws {
        let channel = AnsweringChannel { _ throws(ReaderError) in [0x6C, 0x10] }
        let pipeline = APDUPipeline(channel, configuration: .init(wrongLengthRounds: 0))
        #expect(try pipeline.send(.getUID).statusWord.rawValue == 0x6C10)
        #expect(channel.commands.count == 1)
    }

    // MARK: - Hostile and slow cards

    @Test(
        arguments: [
            ("6100", 1 + ReaderLimits.moreDataRounds), ("6101", 1 + ReaderLimits.moreDataRounds),
            ("AA61FF", 1 + ReaderLimits.moreDataRounds), ("6C00", 1 + ReaderLimits.wrongLengthRounds),
            ("6C10", 1 + ReaderLimits.wrongLengthRounds),
        ]
    )
    func answersForEver(_ answer: String, _ count: Int) {
        let channel = AnsweringChannel { _ throws(ReaderError) in bytes(answer) }
        let error = #expect(throws: ReaderError.self) { try APDUPipeline(channel).send(.getUID) }
        #expect(error?.kind == .limitExceeded)
        #expect(channel.commands.count == count)
    }

    /// More data, and each time another length as well: both limits hold together.
    @Test func bothForEver() {
        var turn = 0
        let channel = AnsweringChannel { _ throws(ReaderError) in
            turn += 1
            return turn % 2 == 0 ? [0x61, 0x10] : [0x6C, UInt8(turn & 0xFF)]
        }
        let error = #expect(throws: ReaderError.self) { try APDUPipeline(channel).send(.getUID) }
        #expect(error?.kind == .limitExceeded)
        #expect(channel.commands.count <= (1 + ReaderLimits.moreDataRounds) * (1 + ReaderLimits.wrongLengthRounds))
    }

    @Test(arguments: [0, 1, 100, 1000, 65_536]) func longestAnswer(_ limit: Int) throws {
        let channel = CommandCard(.shortAPDUs)
        channel.answerCount = limit + 300
        let pipeline = APDUPipeline(channel, configuration: .init(longestAnswer: limit))
        let error = #expect(throws: ReaderError.self) { try pipeline.send(.getUID) }
        #expect(error?.kind == .limitExceeded)
        guard limit >= 256 else { return }
        channel.answerCount = limit
        #expect(try pipeline.send(.getUID).data.count == limit)
    }

    /// Each exchange keeps the reader's deadline, and all of them together would take an hour.
    @Test func aSlowCard() throws {
        let channel = CommandCard(.shortAPDUs)
        channel.answerCount = 65_536
        channel.slowness = .seconds(14)
        let error = #expect(throws: ReaderError.self) { try APDUPipeline(channel).send(.getUID) }
        #expect(error?.kind == .timeout)
        #expect(channel.elapsed <= ReaderLimits.commandDuration + .seconds(14))
        // The next command has its own time.
        channel.answerCount = 300
        #expect(throws: Never.self) { try APDUPipeline(channel).send(.getUID) }
    }

    @Test func timeBeginsAnewWithEachCommand() throws {
        let channel = CommandCard(.shortAPDUs)
        channel.slowness = .seconds(20)
        let pipeline = APDUPipeline(channel)
        for _ in 0..<5 { #expect(try pipeline.send(.getUID).isSuccess) }
    }

    // MARK: - Properties

    /// Whatever reader and card can do and refuse: the card receives the data once, whole and unchanged, and the answer
    /// is whole; or there is an error or a status word that says no.
    @Test func dataArriveOnceOrNotAtAll() throws {
        var random = SeededNumbers(seed: 0xA9D0)
        for _ in rounds(400) {
            let channel = CommandCard(
                .init(
                    longestCommand: [30, 64, 261, 1000, 65_544].randomElement(using: &random) ?? 261,
                    longestResponse: [64, 258, 1000, 65_538].randomElement(using: &random) ?? 258,
                    extendedLength: [true, false, nil].randomElement(using: &random) ?? nil
                )
            )
            let answers: [CommandCard.Refusal?] = [nil, nil, .status(0x6700), .status(0x6E00), .fault(.notTransacted)]
            channel.extendedRefusal = answers.randomElement(using: &random) ?? nil
            channel.chainRefusal = [nil, nil, .status(0x6884), .status(0x6A80)].randomElement(using: &random) ?? nil
            channel.refusedPart = Int.random(in: 0...4, using: &random)
            channel.answerCount = Int.random(in: 0...3000, using: &random)
            channel.slowness = .zero
            let card = CardCapabilities(
                commandChaining: [true, false, nil].randomElement(using: &random) ?? nil,
                extendedLengths: [true, false, nil].randomElement(using: &random) ?? nil
            )
            let command = try Self.put(
                Int.random(in: 0...2500, using: &random),
                le: [nil, 1, 256, 300, 65_536].randomElement(using: &random) ?? nil
            )
            let lengths = APDUPipeline.Lengths.allCases.randomElement(using: &random) ?? .automatic
            do throws(ReaderError) {
                let answer = try Self.pipeline(channel, card, lengths).send(command)
                guard answer.isSuccess else {
                    #expect(channel.received.isEmpty)
                    continue
                }
                #expect(channel.received.count == 1)
                #expect(channel.received.first?.count == command.data.count)
                #expect(channel.received.first?.elementsEqual(command.data) == true)
                #expect(answer.data.count == channel.answerCount)
            } catch {
                #expect([.unsupported, .communication].contains(error.kind))
                #expect(channel.received.isEmpty)
            }
        }
    }
}
