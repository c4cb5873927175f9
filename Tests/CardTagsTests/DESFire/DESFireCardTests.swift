import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Conversations with the simulated card, whose side of the secure messaging is written independently.
@Suite struct DESFireCardTests {
    struct Way: Sendable, CustomTestStringConvertible {
        var model: SimulatedDESFire.Model
        var generation: DESFireSession.Generation?
        var communication: DESFireCommunication

        var testDescription: String { "\(model) \(generation?.rawValue ?? "free") \(communication)" }

        static let all: [Way] = SimulatedDESFire.Model.allCases.filter { $0 != .light && $0 != .ntag424 }
            .flatMap { model in
                DESFireCommunication.allCases.flatMap { communication in
                    ([nil, .ev1, .ev2] as [DESFireSession.Generation?])
                        .filter { model != .ev1 || $0 != .ev2 }
                        .map { Way(model: model, generation: $0, communication: communication) }
                }
            }
    }

    @Test(arguments: Way.all)
    func readsEveryKindOfFile(way: Way) throws {
        let isFree = way.generation == nil
        let simulated = DESFireSamples.card(way.model, communication: way.communication, isFree: isFree)
        var card = DESFireSamples.open(SimulatedCardChannel(simulated))
        try card.enter(way.generation)
        #expect(try card.fileIDs() == [0, 1, 2, 3, 4, 5, 6, 7])
        for (file, length) in [(0, 300), (1, 16), (6, 1), (7, 2500)] as [(UInt8, Int)] {
            #expect(try card.readFile(file) == DESFireSamples.pattern(length), "file \(file)")
        }
        let mode = try card.fileSettings(0).readingCommunication(keyNumber: card.session?.keyNumber)
        #expect(mode == (isFree ? .plain : way.communication))
        #expect(try card.readData(file: 0, communication: mode) == DESFireSamples.pattern(300))
        #expect(try card.readData(file: 0, offset: 290, communication: mode) == DESFireSamples.pattern(300).suffix(10))
        for length in 1...70 {
            let data = try card.readData(file: 0, offset: 3, length: length, communication: mode)
            #expect(data == Array(DESFireSamples.pattern(300)[3..<3 + length]), "\(length) bytes")
        }
        #expect(try card.value(file: 2, communication: mode) == -1234)
        let records = try card.readRecords(3)
        #expect(records.map(\.first) == (0..<40).map { UInt8($0) })
        #expect(records.allSatisfy { $0.count == 30 })
        #expect(try card.readRecords(4).count == 3)
        #expect(
            try card.readRecords(file: 3, offset: 1, count: 2, size: 30, communication: mode).map(\.first) == [37, 38]
        )
        #expect(try card.readRecords(file: 3, offset: 38, size: 30, communication: mode).map(\.first) == [0, 1])
        #expect(try card.fileSettings(5).content == .transactionMAC(keyOptions: 2, keyVersion: 7))
        #expect(try card.keyVersion(1) == 0)
        #expect(try card.keySettings().keyCount == 2)
        #expect(try card.keySettings().keyType == .aes)
        #expect(try card.version().product?.rawValue.contains("\(way.model)".uppercased()) == true)
        #expect(try card.freeMemory() > 0)
        if isFree {
            #expect(card.session == nil)
            #expect(throws: DESFireError.refused(attempt: "read the card's fixed identifier", status: .init(0x91AE))) {
                try card.cardUID()
            }
        } else {
            #expect(card.session?.generation == way.generation)
            #expect(try card.cardUID().bytes == simulated.uid)
        }
    }

    @Test(arguments: [SimulatedDESFire.Model.light, .ntag424], DESFireCommunication.allCases)
    func readsLightCards(model: SimulatedDESFire.Model, communication: DESFireCommunication) throws {
        var card = DESFireSamples.open(SimulatedCardChannel(DESFireSamples.card(model, communication: communication)))
        #expect(try card.version().hasLightCommands)
        #expect(card.commandSet == .light)
        try card.enter(.ev2)
        #expect(try card.readFile(0) == DESFireSamples.pattern(300))
        #expect(try card.readFile(7) == DESFireSamples.pattern(2500))
        #expect(throws: DESFireError.self) { try card.fileIDs() }
        #expect(card.session == nil)
    }

    @Test func listsMoreApplicationsThanOneFrameHolds() throws {
        var configuration = SimulatedDESFire.Configuration()
        configuration.applications = (1...60).map { SimulatedDESFireApplication(id: $0 * 0x1234) }
        let channel = SimulatedCardChannel(SimulatedDESFire(configuration))
        var card = DESFireCard(channel)
        #expect(try card.applicationIDs().map(\.number) == (1...60).map { $0 * 0x1234 })
        #expect(channel.commands.map { $0[1] } == [0x6A, 0xAF, 0xAF, 0xAF])
    }

    @Test func showsNothingOfItselfButItsRandomIdentifier() throws {
        var configuration = DESFireSamples.card().configuration
        configuration.showsRandomUID = true
        let simulated = SimulatedDESFire(configuration)
        var card = DESFireSamples.open(SimulatedCardChannel(simulated))
        #expect(simulated.uid.count == 4 && simulated.uid.first == 0x08)
        #expect(try card.version().uid == nil)
        try card.enter(.ev2)
        #expect(try card.cardUID().bytes == configuration.uid)
    }

    // MARK: Keys

    @Test(arguments: [DESFireSession.Generation.ev1, .ev2])
    func triesAWrongKeyOnce(generation: DESFireSession.Generation) throws {
        let simulated = DESFireSamples.card()
        let channel = SimulatedCardChannel(simulated)
        var card = DESFireSamples.open(channel)
        #expect(throws: DESFireError.wrongKey(attempt: "authenticate with key 1")) {
            try card.enter(generation, DESFireSamples.otherKey)
        }
        #expect(simulated.failedAuthentications == 1)
        #expect(channel.commands.count == 3)
        #expect(card.session == nil)
    }

    @Test func tellsAKeyThatIsNotThere() throws {
        var card = DESFireSamples.open(SimulatedCardChannel(DESFireSamples.card()))
        try card.select(DESFireSamples.application)
        #expect(throws: DESFireError.refused(attempt: "authenticate with key 9", status: StatusWord(0x9140))) {
            try card.authenticateAES(key: .factory, number: 9)
        }
    }

    /// A card that does not know the key takes any proof of ours, and shows none of its own.
    @Test(arguments: [DESFireSession.Generation.ev1, .ev2])
    func trustsNoCardThatDoesNotKnowTheKey(generation: DESFireSession.Generation) throws {
        let length = generation == .ev1 ? 16 : 32
        var isFirst = true
        let channel = AnsweringChannel { _ in
            defer { isFirst = false }
            return isFirst
                ? [UInt8](repeating: 0x11, count: 16) + [0x91, 0xAF]
                : [UInt8](repeating: 0x22, count: length) + [0x91, 0x00]
        }
        var card = DESFireSamples.open(channel)
        #expect(throws: DESFireError.forged(attempt: "authenticate with key 0")) {
            switch generation {
            case .ev1: try card.authenticateAES(key: DESFireSamples.key, number: 0)
            case .ev2: try card.authenticateEV2First(key: DESFireSamples.key, number: 0)
            }
        }
        #expect(card.session == nil)
    }

    @Test func needsAWholeChallenge() {
        let channel = SimulatedCardChannel(DESFireSamples.card())
        var card = DESFireCard(channel) { [1, 2, 3] }
        #expect(throws: DESFireError.self) { try card.authenticateAES(key: .factory, number: 0) }
        #expect(channel.commands.isEmpty)
    }

    @Test func challengesDiffer() throws {
        let channel = SimulatedCardChannel(DESFireSamples.card())
        var sent: [[UInt8]] = []
        for _ in 0..<2 {
            var card = DESFireCard(channel)
            try card.enter(.ev2)
            sent.append(try #require(channel.commands.last))
            // The card's challenges repeat with its configuration, ours do not.
        }
        #expect(sent[0] != sent[1])
    }

    // MARK: The end of a session

    @Test(arguments: [DESFireSession.Generation.ev1, .ev2])
    func endsWithAnyError(generation: DESFireSession.Generation) throws {
        let simulated = DESFireSamples.card(communication: .encrypted)
        let channel = SimulatedCardChannel(simulated)
        var card = DESFireSamples.open(channel)
        try card.enter(generation)
        #expect(throws: DESFireError.refused(attempt: "read the settings of file 30", status: StatusWord(0x91F0))) {
            try card.fileSettings(30)
        }
        #expect(card.session == nil && !simulated.isAuthenticated)

        try card.enter(generation)
        try card.select(DESFireSamples.application)
        #expect(card.session == nil)

        try card.enter(generation)
        try card.reset()
        #expect(card.session == nil && card.selected == .card)

        try card.enter(generation)
        channel.faults = [SimulatedFault(.communication, atExchange: channel.exchanges, afterCommand: true)]
        #expect(throws: DESFireError.self) { try card.readFile(0) }
        #expect(card.session == nil)
    }

    @Test func refusesWithoutAKey() throws {
        var card = DESFireSamples.open(SimulatedCardChannel(DESFireSamples.card()))
        try card.enter(nil)
        #expect(throws: DESFireError.refused(attempt: "read file 0", status: StatusWord(0x91AE))) {
            try card.readFile(0)
        }
        try card.authenticateEV2First(key: .factory, number: 0)
        // Key 0 may read and write.
        #expect(try card.readFile(0) == DESFireSamples.pattern(300))
    }

    // MARK: What is not sent

    @Test func asksForNothingThatCannotBe() {
        let channel = SimulatedCardChannel(DESFireSamples.card())
        var card = DESFireCard(channel)
        #expect(throws: DESFireError.self) { try card.fileSettings(32) }
        #expect(throws: DESFireError.self) { try card.readData(file: 32) }
        #expect(throws: DESFireError.self) { try card.readData(file: 1, offset: -1) }
        #expect(throws: DESFireError.self) { try card.readData(file: 1, length: 0x100_0000) }
        #expect(throws: DESFireError.self) { try card.readRecords(file: 1, size: 0) }
        #expect(throws: DESFireError.self) { try card.readRecords(file: 1, count: 0xFF_FFFF, size: 0xFF_FFFF) }
        #expect(throws: DESFireError.self) { try card.value(file: 255) }
        #expect(throws: DESFireError.self) { try card.select(name: []) }
        #expect(throws: DESFireError.self) { try card.select(name: [UInt8](repeating: 1, count: 17)) }
        #expect(channel.commands.isEmpty)
    }

    @Test func refusesTheWrongKindOfFile() throws {
        var card = DESFireSamples.open(SimulatedCardChannel(DESFireSamples.card(isFree: true)))
        try card.enter(nil)
        #expect(throws: DESFireError.invalidRequest(attempt: "read file 2", detail: "it is a value file")) {
            try card.readFile(2)
        }
        #expect(
            throws: DESFireError.invalidRequest(
                attempt: "read the records of file 0",
                detail: "it is a standard data file"
            )
        ) {
            try card.readRecords(0)
        }
    }

    // MARK: Writing

    @Test(arguments: Way.all)
    func writesInFrames(way: Way) throws {
        let isFree = way.generation == nil
        var configuration = SimulatedDESFire.Configuration()
        configuration.model = way.model
        configuration.applications = [
            SimulatedDESFireApplication(
                id: DESFireSamples.application.number,
                keys: [.factory, DESFireSamples.key],
                files: [
                    SimulatedDESFireFile(
                        0,
                        .standard([UInt8](repeating: 0, count: 400)),
                        communication: way.communication,
                        rights: isFree ? DESFireAccessRights(0xEEEE) : DESFireAccessRights(0x1111)
                    )
                ]
            )
        ]
        let simulated = SimulatedDESFire(configuration)
        var card = DESFireSamples.open(SimulatedCardChannel(simulated))
        try card.enter(way.generation)
        let mode = isFree ? .plain : way.communication
        var expected = [UInt8](repeating: 0, count: 400)
        for length in [1, 3, 15, 16, 17, 47, 48, 49, 55, 56, 110, 300, 397] {
            let data = DESFireSamples.pattern(length).map { $0 ^ UInt8(truncatingIfNeeded: length) }
            try card.writeData(data, file: 0, offset: 3, communication: mode)
            expected.replaceSubrange(3..<3 + length, with: data)
            #expect(simulated.data(of: 0, in: DESFireSamples.application.number) == expected, "\(length) bytes")
        }
        #expect(throws: DESFireError.refused(attempt: "write file 0", status: StatusWord(0x91BE))) {
            try card.writeData([1, 2], file: 0, offset: 399, communication: mode)
        }
        #expect(simulated.data(of: 0, in: DESFireSamples.application.number) == expected)
    }

    @Test(arguments: [nil, .ev1, .ev2] as [DESFireSession.Generation?])
    func changesRights(generation: DESFireSession.Generation?) throws {
        var configuration = DESFireSamples.card().configuration
        configuration.applications[0].files[0].rights.change = generation == nil ? .free : .key(1)
        configuration.applications[0].files[0].sdm = bytes("C1 F121 200000 430000 430000")
        configuration.applications[0].files[0].communication = .authenticated
        let simulated = SimulatedDESFire(configuration)
        var card = DESFireSamples.open(SimulatedCardChannel(simulated))
        try card.enter(generation)
        let settings = try card.fileSettings(0)
        try card.changeRights(DESFireAccessRights(0xEFFF), of: 0, with: settings)
        let file = try #require(simulated.applications.first?.files.first)
        #expect(file.rights == DESFireAccessRights(0xEFFF))
        #expect(file.communication == .authenticated)
        #expect(file.sdm == configuration.applications[0].files[0].sdm)
    }
}
