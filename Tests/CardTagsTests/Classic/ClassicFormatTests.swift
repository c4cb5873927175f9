import CardCore
import ReaderKitTesting
import Synchronization
import Testing
import TestSupport

@testable import CardTags

@Suite struct ClassicFormatTests {
    @Test(arguments: [ClassicSize.mini, .oneK, .fourK], TagWay.allCases)
    func factoryCard(_ size: ClassicSize, _ way: TagWay) throws {
        let card = SimulatedMIFAREClassic(size)
        try withTag(card, way) { tag in try tag.formatNDEF() }
        let expected = try #require(SimulatedMIFAREClassic.formatted(size))
        #expect(card.memory == expected.memory)
        #expect(try content(of: card, way).ndef == .empty)
        // Once more changes nothing; with a message on it the card is left alone.
        try withTag(card, way) { tag in try tag.formatNDEF() }
        #expect(card.memory == expected.memory)
        try withTag(card, way) { tag in try tag.writeNDEF(sample(40)) }
        try withTag(card, way) { tag in try tag.formatNDEF() }
        #expect(try content(of: card, way).ndef == .message(sample(40)))
    }

    static func isCannotFormat(_ error: TagError) -> Bool {
        if case .cannotFormat(.mifareClassic, _) = error { true } else { false }
    }

    @Test(arguments: TagWay.allCases) func keyBOfTheCaller(_ way: TagWay) throws {
        let key = try #require(ClassicKey(bytes("102030405060")))
        let card = SimulatedMIFAREClassic()
        var tag = MIFAREClassicTag(way.channel(card), keys: ClassicKeys(newKeyB: key))
        try tag.formatNDEF()
        let expected = try #require(SimulatedMIFAREClassic.formatted(keyB: key))
        #expect(card.memory == expected.memory)
    }

    @Test(arguments: [0, 1, 7, 15, 16, 39], TagWay.allCases)
    func foreignSector(_ sector: Int, _ way: TagWay) throws {
        let size = sector < 16 ? ClassicSize.oneK : .fourK
        let card = SimulatedMIFAREClassic(size)
        let trailer = ClassicSize.trailer(ofSector: sector)
        card.overwrite(block: trailer, with: bytes("112233445566 7F0788 69 112233445566"))
        let before = card.memory
        let error = #expect(throws: TagError.self) { try withTag(card, way) { tag in try tag.formatNDEF() } }
        #expect(error == .cannotFormat(.mifareClassic, reason: "sector \(sector) does not open with the keys known"))
        #expect(card.memory == before)
    }

    @Test(arguments: TagWay.allCases) func sectorWhoseTrailerIsFrozen(_ way: TagWay) throws {
        let card = SimulatedMIFAREClassic()
        // Key A opens the sector, but nobody changes its trailer.
        card.overwrite(block: 7, with: bytes("FFFFFFFFFFFF") + AccessConditions.locked.bytes + bytes("69FFFFFFFFFFFF"))
        let before = card.memory
        let error = #expect(throws: TagError.self) { try withTag(card, way) { tag in try tag.formatNDEF() } }
        #expect(
            error == .cannotFormat(.mifareClassic, reason: "the keys of sector 1 cannot be changed with the keys known")
        )
        #expect(card.memory == before)
    }

    /// Formatting cut at every command, then again to the end: the card is a formatted one.
    @Test(arguments: [ClassicSize.mini, .oneK], TagWay.allCases)
    func tornFormat(_ size: ClassicSize, _ way: TagWay) throws {
        let expected = try #require(SimulatedMIFAREClassic.formatted(size)).memory
        let commands = try count(SimulatedMIFAREClassic(size), way) { tag in try tag.formatNDEF() }
        var counts = (untouched: 0, partly: 0, formatted: 0)
        for tear in tears(commands) {
            let card = SimulatedMIFAREClassic(size)
            let before = card.memory
            let torn = TornCard(card, tear)
            try? withTag(torn, way) { tag in try tag.formatNDEF() }
            let after = card.memory
            switch try? content(of: torn, way).ndef {
            case .absent where after == before: counts.untouched += 1
            case .absent: counts.partly += 1
            case .empty where after == expected: counts.formatted += 1
            case let other: Issue.record("\(tear): \(String(describing: other))")
            }
            // Cut a second time somewhere else, then to the end.
            torn.plan(.init(tear.command / 2, afterwards: tear.command.isMultiple(of: 2)))
            try? withTag(torn, way) { tag in try tag.formatNDEF() }
            torn.plan(nil)
            try withTag(torn, way) { tag in try tag.formatNDEF() }
            #expect(card.memory == expected, "\(tear)")
        }
        #expect(counts.partly > 0 && counts.formatted > 0)
        TestReport.add(
            section: "tear",
            line: "MIFARE Classic \(size), formatting \(way.testDescription) | \(commands) commands, "
                + "\(2 * commands) cuts | \(counts.untouched) untouched, \(counts.partly) partly, "
                + "\(counts.formatted) formatted, all formatted when repeated"
        )
    }

    // MARK: Locking

    @Test(arguments: TagWay.allCases) func locking(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(200)))
        try withTag(card, way) { tag in try tag.lock(Self.confirmation(card)) }
        for sector in 1...15 {
            #expect(Array(card.memory[(sector * 64 + 54)..<(sector * 64 + 58)]).hex == "078F0F43")
        }
        let locked = card.memory
        #expect(try content(of: card, way).ndef == .message(sample(200)))
        #expect(try content(of: card, way).area?.isReadOnly == true)
        #expect(throws: TagError.readOnly(.mifareClassic)) {
            try withTag(card, way) { tag in try tag.writeNDEF([1]) }
        }
        // Nothing but the trailers has changed, and a second lock changes nothing.
        try withTag(card, way) { tag in try tag.lock(Self.confirmation(card)) }
        #expect(card.memory == locked)
    }

    static func confirmation(_ card: any SimulatedCard) -> PermanentLock {
        PermanentLock(ofCardWith: CardUID(card.uid, technology: .iso14443a))
    }

    @Test(arguments: TagWay.allCases) func otherCard(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(20)))
        let before = card.memory
        let other = CardUID([1, 2, 3, 4], technology: .iso14443a)
        let error = #expect(throws: TagError.self) {
            try withTag(card, way) { tag in try tag.lock(PermanentLock(ofCardWith: other)) }
        }
        #expect(error == .wrongCard(expected: other))
        #expect(card.memory == before)
    }

    @Test(arguments: TagWay.allCases) func lockNeedsKeyB(_ way: TagWay) throws {
        let secret = try #require(ClassicKey(bytes("102030405060")))
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(20), keyB: secret))
        let before = card.memory
        let error = #expect(throws: TagError.self) {
            try withTag(card, way) { tag in try tag.lock(Self.confirmation(card)) }
        }
        #expect(error == .wrongKey(attempt: "lock sector 1", attemptsLeft: nil))
        #expect(card.memory == before)
        var tag = MIFAREClassicTag(way.channel(card), keys: ClassicKeys(newKeyB: secret))
        try tag.lock(Self.confirmation(card))
        #expect(try content(of: card, way).area?.isReadOnly == true)
    }

    @Test(arguments: TagWay.allCases) func interruptedIsNotLocked(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(20)))
        card.overwrite(block: 4, with: bytes("0300D1") + Array(repeating: 7, count: 13))
        let before = card.memory
        #expect(throws: TagError.self) { try withTag(card, way) { tag in try tag.lock(Self.confirmation(card)) } }
        #expect(card.memory == before)
    }

    @Test(arguments: TagWay.allCases) func tornLock(_ way: TagWay) throws {
        let message = sample(120)
        func fresh() throws -> SimulatedMIFAREClassic {
            try #require(SimulatedMIFAREClassic.formatted(.mini, message: message))
        }
        let whole = try fresh()
        let commands = try count(whole, way) { tag in try tag.lock(Self.confirmation(whole)) }
        let expected = whole.memory
        var locked = 0
        for tear in tears(commands) {
            let card = try fresh()
            let torn = TornCard(card, tear)
            try? withTag(torn, way) { tag in try tag.lock(Self.confirmation(card)) }
            let after = try content(of: torn, way)
            #expect(after.ndef == .message(message), "\(tear)")
            // It is called read only when all of it is.
            if after.area?.isReadOnly == true {
                locked += 1
                #expect(card.memory == expected, "\(tear)")
            }
            torn.plan(nil)
            try withTag(torn, way) { tag in try tag.lock(Self.confirmation(card)) }
            #expect(card.memory == expected, "\(tear)")
        }
        #expect(locked > 0)
        TestReport.add(
            section: "tear",
            line: "MIFARE Classic mini, locking \(way.testDescription) | \(commands) commands, \(2 * commands) cuts | "
                + "the message always there, \(locked) locked, all locked when repeated"
        )
    }

    private func tears(_ commands: Int) -> [TornCard.Tear] {
        (0..<commands).flatMap { [TornCard.Tear($0, afterwards: false), TornCard.Tear($0, afterwards: true)] }
    }

    private func count(
        _ card: any SimulatedCard,
        _ way: TagWay,
        _ body: (inout any NDEFTag) throws -> Void
    ) throws -> Int {
        let counter = TornCard(card)
        // Powering the card anew begins the count again, so that commands are counted over all of it.
        let counting = CountingCard(counter)
        try withTag(counting, way, body)
        return counting.commands
    }
}

/// Counts the commands that reach a card, over all its activations.
final class CountingCard: SimulatedCard {
    private let card: TornCard
    private let total = Counter()

    final class Counter: Sendable {
        private let value = Mutex(0)
        func add() { value.withLock { $0 += 1 } }
        var count: Int { value.withLock { $0 } }
    }

    init(_ card: TornCard) { self.card = card }

    var uid: [UInt8] { card.uid }
    var kind: SimulatedCardKind { card.kind }
    var commands: Int { total.count }
    func powerOn() { card.powerOn() }
    func powerOff() { card.powerOff() }
    func receive(apdu: [UInt8]) -> [UInt8]? {
        total.add()
        return card.receive(apdu: apdu)
    }
    func receive(frame: RawFrame) -> RawFrame? {
        total.add()
        return card.receive(frame: frame)
    }
}
