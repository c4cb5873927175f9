import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Answers that no honest card gives: never a trap, never data that was not verified, never a session afterwards.
@Suite struct DESFireHostileTests {
    /// Passes everything on to a simulated card, and changes what it answers.
    private final class Meddler: CardChannel {
        let inner: SimulatedCardChannel
        var change: ([UInt8]) -> [UInt8] = { $0 }
        private(set) var count = 0

        init(_ card: any SimulatedCard) { inner = SimulatedCardChannel(card) }

        var facts: CardFacts { inner.facts }
        var elapsed: Duration { .zero }

        func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
            count += 1
            return change(try inner.transmit(command))
        }
    }

    static let ways: [(DESFireSession.Generation, DESFireCommunication)] = [
        (.ev1, .plain), (.ev1, .authenticated), (.ev1, .encrypted), (.ev2, .authenticated), (.ev2, .encrypted),
    ]

    /// Every bit of the answer is under the code, and of the code that is sent.
    @Test(arguments: ways)
    func noBitCanBeChanged(generation: DESFireSession.Generation, communication: DESFireCommunication) throws {
        for index in 0..<40 {
            let channel = Meddler(DESFireSamples.card(communication: communication))
            var card = DESFireSamples.open(channel)
            try card.enter(generation)
            var wasChanged = false
            channel.change = { answer in
                guard answer.count - 2 > index else { return answer }
                wasChanged = true
                var answer = answer
                answer[index] ^= 1 << (index % 8)
                return answer
            }
            let result = Result { try card.readData(file: 0, length: 20, communication: communication) }
            guard wasChanged else {
                #expect(try result.get() == Array(DESFireSamples.pattern(20)))
                continue
            }
            #expect(throws: DESFireError.self, "byte \(index)") { try result.get() }
            #expect(card.session == nil)
        }
    }

    @Test(arguments: ways)
    func nothingCanBeLeftOut(generation: DESFireSession.Generation, communication: DESFireCommunication) throws {
        for kept in 0..<20 {
            let channel = Meddler(DESFireSamples.card(communication: communication))
            var card = DESFireSamples.open(channel)
            try card.enter(generation)
            channel.change = { Array($0.dropLast(2).prefix(kept)) + $0.suffix(2) }
            #expect(throws: DESFireError.self, "\(kept) bytes") {
                try card.readData(file: 0, length: 20, communication: communication)
            }
            #expect(card.session == nil)
        }
    }

    /// An answer of before does not fit the counter or the vector of now.
    @Test(arguments: ways)
    func nothingCanBeRepeated(generation: DESFireSession.Generation, communication: DESFireCommunication) throws {
        let channel = Meddler(DESFireSamples.card(communication: communication))
        var card = DESFireSamples.open(channel)
        try card.enter(generation)
        var first: [UInt8] = []
        channel.change = { answer in
            if first.isEmpty { first = answer }
            return first
        }
        #expect(try card.readData(file: 0, length: 20, communication: communication).count == 20)
        #expect(throws: DESFireError.self) { try card.readData(file: 0, length: 20, communication: communication) }
        #expect(card.session == nil)
    }

    @Test(arguments: [[], [UInt8](repeating: 7, count: 59)])
    func moreToComeForEver(part: [UInt8]) {
        let channel = AnsweringChannel { _ in part + [0x91, 0xAF] }
        var card = DESFireCard(channel)
        #expect(
            throws: DESFireError.limitExceeded(
                attempt: "list the files of the application",
                detail: "more than \(ReaderLimits.moreDataRounds) parts"
            )
        ) {
            try card.fileIDs()
        }
        #expect(channel.commands.count == ReaderLimits.moreDataRounds + 1)
    }

    @Test func moreThanAnyAnswer() {
        let channel = AnsweringChannel { _ in [UInt8](repeating: 7, count: 60_000) + [0x91, 0xAF] }
        var card = DESFireCard(channel)
        #expect(
            throws: DESFireError.limitExceeded(
                attempt: "list the files of the application",
                detail: "more than 65536 bytes"
            )
        ) {
            try card.fileIDs()
        }
        #expect(channel.commands.count == 2)
    }

    @Test(arguments: [
        ("00 00 00E0 FFFFFF", "16777215 bytes, the limit is 65536"),
        ("00 00 00E0 010001", "65537 bytes, the limit is 65536"),
    ])
    func filesThatClaimTooMuch(settings: String, detail: String) {
        let channel = AnsweringChannel { _ in bytes(settings) + [0x91, 0x00] }
        var card = DESFireCard(channel)
        #expect(throws: DESFireError.limitExceeded(attempt: "read file 1", detail: detail)) { try card.readFile(1) }
        #expect(channel.commands.count == 1)
    }

    @Test(arguments: [
        "03 00 00E0 FFFFFF FFFFFF FFFFFF", "03 00 00E0 000000 050000 050000", "03 00 00E0 010000 010000 020000",
        "04 00 00E0 000001 010100 010100",
    ])
    func recordsThatClaimTooMuch(settings: String) {
        let channel = AnsweringChannel { _ in bytes(settings) + [0x91, 0x00] }
        var card = DESFireCard(channel)
        #expect(throws: DESFireError.self) { try card.readRecords(1) }
        #expect(channel.commands.count == 1)
    }

    @Test(arguments: ["", "00", "9000", "91AF", "9100", "00 9100", "0102 9100", "6D00", "6E00", "61FF", "6CFF", "0000"])
    func answersThatFitNothing(answer: String) {
        let channel = AnsweringChannel { _ in bytes(answer) }
        var card = DESFireCard(channel)
        #expect(throws: DESFireError.self) { try card.version() }
        #expect(throws: DESFireError.self) { try card.fileSettings(1) }
        #expect(throws: DESFireError.self) { try card.readData(file: 1, length: 7) }
        #expect(throws: DESFireError.self) { try card.value(file: 1) }
        #expect(throws: DESFireError.self) { try card.cardUID() }
        #expect(throws: DESFireError.self) { try card.authenticateAES(key: .factory, number: 0) }
        #expect(throws: DESFireError.self) { try card.authenticateEV2First(key: .factory, number: 0) }
        #expect(card.session == nil)
    }

    @Test func endsAWriteThatTheCardEndsEarly() {
        let channel = AnsweringChannel { _ in [0x91, 0x00] }
        var card = DESFireCard(channel)
        #expect(throws: DESFireError.self) { try card.writeData([UInt8](repeating: 1, count: 100), file: 1) }
        #expect(channel.commands.count == 1)
    }

    /// Seeds 1 to 300: bytes of answers changed, cut off, doubled, at any moment of a conversation.
    @Test func mutations() {
        var refused = 0
        for seed in 1...300 {
            var random = SeededNumbers(seed: UInt64(seed))
            let communication = DESFireCommunication.allCases.randomElement(using: &random) ?? .plain
            let generation = ([nil, .ev1, .ev2] as [DESFireSession.Generation?]).randomElement(using: &random) ?? nil
            let channel = Meddler(DESFireSamples.card(communication: communication, isFree: generation == nil))
            var card = DESFireSamples.open(channel)
            let target = Int.random(in: 0..<30, using: &random)
            channel.change = { [unowned channel] answer in
                guard channel.count == target else { return answer }
                var answer = answer
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: answer = Array(answer.dropLast(Int.random(in: 0...answer.count, using: &random)))
                    case 1: answer += answer
                    case 2: answer.insert(UInt8.random(in: 0...255, using: &random), at: 0)
                    default:
                        guard let index = answer.indices.randomElement(using: &random) else { continue }
                        answer[index] = UInt8.random(in: 0...255, using: &random)
                    }
                }
                return answer
            }
            do {
                _ = try card.version()
                _ = try card.applicationIDs()
                try card.enter(generation)
                for file in try card.fileIDs() {
                    switch try card.fileSettings(file).content {
                    case .standard, .backup: _ = try card.readFile(file)
                    case .value: _ = try card.value(file: file, communication: communication)
                    case .linearRecords, .cyclicRecords: _ = try card.readRecords(file)
                    case .transactionMAC: break
                    }
                }
            } catch {
                refused += 1
                #expect(card.session == nil, "seed \(seed)")
            }
        }
        #expect(refused > 100)
    }

    /// The same for formatting and locking.
    @Test func mutationsOfFormatting() throws {
        for seed in 1...200 {
            var random = SeededNumbers(seed: UInt64(seed))
            let channel = Meddler(SimulatedDESFire())
            let target = Int.random(in: 0..<24, using: &random)
            channel.change = { [unowned channel] answer in
                guard channel.count == target, let index = answer.indices.randomElement(using: &random) else {
                    return answer
                }
                var answer = answer
                answer[index] = UInt8.random(in: 0...255, using: &random)
                return Array(answer.prefix(Int.random(in: 0...answer.count, using: &random)))
            }
            try? DESFireNDEF.format(over: channel)
            let uid = CardUID(channel.inner.card.uid, technology: .iso14443a)
            try? DESFireNDEF.lock(PermanentLock(ofCardWith: uid), over: channel, key: .factory)
        }
    }
}
