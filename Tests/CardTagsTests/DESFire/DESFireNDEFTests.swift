import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Making and locking the NDEF application.
@Suite struct DESFireNDEFTests {
    private static let message = bytes("D1011255046578616D706C652E636F6D2F6D2F3432")

    private func lock(
        _ card: SimulatedDESFire,
        uid: [UInt8]? = nil,
        key: SecretKey? = .factory
    ) throws(TagError) {
        let uid = CardUID(uid ?? card.configuration.uid, technology: .iso14443a)
        try DESFireNDEF.lock(PermanentLock(ofCardWith: uid), over: SimulatedCardChannel(card), key: key)
    }

    @Test(arguments: [SimulatedDESFire.Model.ev1, .ev2, .ev3])
    func formatsABlankCard(model: SimulatedDESFire.Model) throws {
        var configuration = SimulatedDESFire.Configuration()
        configuration.model = model
        let simulated = SimulatedDESFire(configuration)
        try DESFireNDEF.format(over: SimulatedCardChannel(simulated), capacity: 500)
        let empty = readType4(over: SimulatedCardChannel(simulated)).content
        #expect(empty?.ndef == .empty && empty?.isInterrupted == false)
        #expect(empty?.area?.capacity == 500 && empty?.area?.isReadOnly == false)
        var tag = Type4Tag(SimulatedCardChannel(simulated))
        try tag.writeNDEF(Self.message)
        #expect(readType4(over: SimulatedCardChannel(simulated)).content?.ndef == .message(Self.message))
        // A second time it would be somebody's.
        #expect(throws: TagError.cannotFormat(.type4, reason: "it has an NDEF application already")) {
            try DESFireNDEF.format(over: SimulatedCardChannel(simulated), capacity: 500)
        }
        #expect(readType4(over: SimulatedCardChannel(simulated)).content?.ndef == .message(Self.message))
    }

    @Test func leavesOtherApplicationsAlone() throws {
        var configuration = DESFireSamples.card().configuration
        configuration.applications.append(SimulatedDESFireApplication(id: 1, keys: [DESFireSamples.key]))
        let simulated = SimulatedDESFire(configuration)
        try DESFireNDEF.format(over: SimulatedCardChannel(simulated))
        #expect(simulated.applications.map(\.id) == [0xF4_8120, 1, 2])
        for (before, after) in zip(configuration.applications, simulated.applications) {
            #expect(before.keys == after.keys)
            #expect(before.files.map(\.content) == after.files.map(\.content))
        }
    }

    @Test func takesTheMasterKeyOnlyIfItIsGiven() throws {
        var configuration = SimulatedDESFire.Configuration()
        configuration.masterKey = DESFireSamples.key
        configuration.options = 0x08
        let simulated = SimulatedDESFire(configuration)
        #expect(
            throws: TagError.cannotFormat(.type4, reason: "making an application on it takes the card's master key")
        ) {
            try DESFireNDEF.format(over: SimulatedCardChannel(simulated))
        }
        #expect(throws: TagError.wrongKey(attempt: "authenticate with key 0", attemptsLeft: nil)) {
            try DESFireNDEF.format(over: SimulatedCardChannel(simulated), masterKey: .factory)
        }
        #expect(simulated.failedAuthentications == 1)
        #expect(simulated.applications.isEmpty)
        try DESFireNDEF.format(over: SimulatedCardChannel(simulated), masterKey: DESFireSamples.key)
        #expect(readType4(over: SimulatedCardChannel(simulated)).content?.ndef == .empty)
    }

    @Test func needsRoom() throws {
        var configuration = SimulatedDESFire.Configuration()
        configuration.memory = 1000
        let simulated = SimulatedDESFire(configuration)
        #expect(throws: TagError.cannotFormat(.type4, reason: "1000 bytes are free on it, 1280 are needed")) {
            try DESFireNDEF.format(over: SimulatedCardChannel(simulated))
        }
        #expect(simulated.applications.isEmpty)
        for capacity in [0, -1, 32_766] {
            #expect(throws: TagError.self) {
                try DESFireNDEF.format(over: SimulatedCardChannel(simulated), capacity: capacity)
            }
        }
    }

    @Test func refusesOtherCards() {
        for card in [SimulatedNTAG424.card(), SimulatedDESFire()] as [SimulatedDESFire]
        where card.configuration.model == .ntag424 {
            #expect(throws: TagError.self) { try DESFireNDEF.format(over: SimulatedCardChannel(card)) }
        }
        #expect(throws: TagError.self) { try DESFireNDEF.format(over: SimulatedCardChannel(SimulatedType4Tag())) }
        #expect(throws: TagError.self) {
            try DESFireNDEF.format(over: SimulatedCardChannel(SimulatedIdentityCard.desFire()))
        }
    }

    /// Taken away at any command, before or after it, twice in a row: formatting again finishes it, and meanwhile it is
    /// never a tag with something else in it.
    @Test func canBeTornAnywhere() throws {
        let whole = SimulatedCardChannel(SimulatedDESFire())
        try DESFireNDEF.format(over: whole)
        #expect(whole.exchanges > 12)
        for first in 0..<whole.exchanges {
            for afterwards in [false, true] {
                for second in stride(from: 0, to: whole.exchanges, by: 3) {
                    let simulated = SimulatedDESFire()
                    for exchange in [first, second] {
                        let fault = SimulatedFault(.removed, atExchange: exchange, afterCommand: afterwards)
                        let channel = SimulatedCardChannel(simulated, faults: [fault])
                        try? DESFireNDEF.format(over: channel)
                    }
                    try? DESFireNDEF.format(over: SimulatedCardChannel(simulated))
                    let content = readType4(over: SimulatedCardChannel(simulated)).content
                    #expect(
                        content?.ndef == .empty && content?.isInterrupted == false,
                        "\(first) \(afterwards) \(second)"
                    )
                    #expect(simulated.applications.count == 1)
                }
            }
        }
    }

    /// A Type 4 tag formats and locks such cards by itself, where that takes no key.
    @Test func isReachedThroughTheTag() throws {
        let simulated = SimulatedDESFire()
        var tag = Type4Tag(SimulatedCardChannel(simulated))
        #expect(try tag.readNDEF().ndef == .absent)
        try tag.formatNDEF()
        try tag.writeNDEF(Self.message)
        let confirmation = PermanentLock(ofCardWith: CardUID(simulated.uid, technology: .iso14443a))
        #expect(
            throws: TagError.guarded(attempt: "lock the tag", reason: "it takes the key 0 of its NDEF application")
        ) {
            try tag.lock(confirmation)
        }
        #expect(try tag.readNDEF().area?.writeAccess == .free)

        var free = Self.cards[1]().configuration
        free.applications[0].files[0].rights = DESFireAccessRights(0xEEEE)
        free.applications[0].files[1].rights = DESFireAccessRights(0xEEEE)
        let open = SimulatedDESFire(free)
        try lock(open, key: nil)
        #expect(open.applications[0].files[1].rights == DESFireAccessRights(0xEFFF))
        #expect(open.failedAuthentications == 0)
    }

    // MARK: Locking

    static let cards: [@Sendable () -> SimulatedDESFire] = [
        {
            var configuration = SimulatedDESFire.Configuration()
            configuration.model = .ev1
            configuration.applications = [.ndef(message: DESFireNDEFTests.message)]
            return SimulatedDESFire(configuration)
        },
        { SimulatedNTAG424.card(message: DESFireNDEFTests.message) },
    ]

    @Test(arguments: [0, 1])
    func locksForEver(card: Int) throws {
        let simulated = Self.cards[card]()
        try lock(simulated)
        let content = readType4(over: SimulatedCardChannel(simulated)).content
        #expect(content?.ndef == .message(Self.message))
        #expect(content?.area?.writeAccess == .never)
        for file in try #require(simulated.applications.first).files.prefix(2) {
            #expect(file.rights == DESFireAccessRights(read: .free, write: .never, readWrite: .never, change: .never))
        }
        var tag = Type4Tag(SimulatedCardChannel(simulated))
        #expect(throws: TagError.readOnly(.type4)) { try tag.writeNDEF([1]) }
        // Once more does nothing, whatever the key.
        try lock(simulated, key: DESFireSamples.key)
        #expect(simulated.failedAuthentications == 0)
    }

    @Test(arguments: [0, 1])
    func locksNoOtherCard(card: Int) throws {
        let simulated = Self.cards[card]()
        #expect(throws: TagError.self) { try lock(simulated, uid: bytes("04112233445566")) }
        #expect(throws: TagError.wrongKey(attempt: "authenticate with key 0", attemptsLeft: nil)) {
            try lock(simulated, key: DESFireSamples.key)
        }
        #expect(simulated.failedAuthentications == 1)
        #expect(
            throws: TagError.guarded(attempt: "lock the tag", reason: "it takes the key 0 of its NDEF application")
        ) {
            try lock(simulated, key: nil)
        }
        let content = readType4(over: SimulatedCardChannel(simulated)).content
        #expect(content?.area?.writeAccess == .free)
        #expect(simulated.applications.first?.files[1].rights.isFreeToWrite == true)
    }

    @Test func locksByTheFixedIdentifier() throws {
        let simulated = SimulatedNTAG424.card(message: Self.message, showsRandomUID: true)
        #expect(throws: TagError.self) { try lock(simulated, uid: bytes("04112233445566")) }
        #expect(simulated.applications.first?.files[1].rights.isFreeToWrite == true)
        try lock(simulated)
        #expect(simulated.applications.first?.files[1].rights.isFreeToWrite == false)
    }

    /// At any moment the message is the same, and locking again finishes it.
    @Test(arguments: [0, 1])
    func canBeTornWhileLocking(card: Int) throws {
        let whole = SimulatedCardChannel(Self.cards[card]())
        let uid = CardUID(whole.card.uid, technology: .iso14443a)
        try DESFireNDEF.lock(PermanentLock(ofCardWith: uid), over: whole, key: .factory)
        for exchange in 0..<whole.exchanges {
            for afterwards in [false, true] {
                let simulated = Self.cards[card]()
                let fault = SimulatedFault(.removed, atExchange: exchange, afterCommand: afterwards)
                let channel = SimulatedCardChannel(simulated, faults: [fault])
                #expect(throws: TagError.self) {
                    try DESFireNDEF.lock(PermanentLock(ofCardWith: uid), over: channel, key: .factory)
                }
                let torn = readType4(over: SimulatedCardChannel(simulated)).content
                #expect(torn?.ndef == .message(Self.message), "\(exchange) \(afterwards)")
                try lock(simulated)
                let locked = readType4(over: SimulatedCardChannel(simulated)).content
                #expect(locked?.ndef == .message(Self.message) && locked?.area?.writeAccess == .never)
                #expect(simulated.applications.first?.files[1].rights.isFreeToWrite == false)
            }
        }
    }

    @Test func keepsSecureDynamicMessaging() throws {
        var configuration = SimulatedNTAG424.card(message: Self.message).configuration
        configuration.applications[0].files[1].sdm = bytes("C1 F121 200000 430000 430000")
        let simulated = SimulatedDESFire(configuration)
        try lock(simulated)
        #expect(simulated.applications.first?.files[1].sdm == configuration.applications[0].files[1].sdm)
    }

    @Test(arguments: [0, 1])
    func locksNoInterruptedMessage(card: Int) throws {
        var configuration = Self.cards[card]().configuration
        guard case .standard(var file) = configuration.applications[0].files[1].content else {
            Issue.record("no such file")
            return
        }
        file.replaceSubrange(0..<2, with: [0, 0])
        configuration.applications[0].files[1].content = .standard(file)
        let simulated = SimulatedDESFire(configuration)
        let reason = "writing it was interrupted: write or repair it first"
        #expect(throws: TagError.guarded(attempt: "lock the tag", reason: reason)) { try lock(simulated) }
        #expect(simulated.applications.first?.files.map(\.rights) == configuration.applications[0].files.map(\.rights))
        #expect(readType4(over: SimulatedCardChannel(simulated)).content?.area?.writeAccess == .free)
        var tag = Type4Tag(SimulatedCardChannel(simulated))
        #expect(try tag.repairNDEF() == .repaired)
        try lock(simulated)
    }

    @Test(arguments: [0, 1])
    func locksNothingThatWouldBecomeUnreadable(file: Int) throws {
        var configuration = Self.cards[0]().configuration
        configuration.applications[0].files[file].rights.read = .never
        configuration.applications[0].files[file].rights.readWrite = .key(0)
        let simulated = SimulatedDESFire(configuration)
        #expect(throws: TagError.self) { try lock(simulated) }
        #expect(simulated.applications.first?.files.map(\.rights) == configuration.applications[0].files.map(\.rights))
        #expect(
            simulated.applications.first?.files.map(\.content) == configuration.applications[0].files.map(\.content)
        )
    }

    @Test func locksNoFileThatTheContainerDoesNotName() throws {
        var configuration = Self.cards[0]().configuration
        guard case .standard(var container) = configuration.applications[0].files[0].content else {
            Issue.record("no such file")
            return
        }
        container[10] = 0x05
        configuration.applications[0].files[0].content = .standard(container)
        let simulated = SimulatedDESFire(configuration)
        let reason = "its files are not laid out as this library knows it"
        #expect(throws: TagError.guarded(attempt: "lock the tag", reason: reason)) { try lock(simulated) }
        #expect(simulated.applications.first?.files.map(\.rights) == configuration.applications[0].files.map(\.rights))
    }

    @Test func locksNothingThatItDoesNotKnow() throws {
        #expect(throws: TagError.notFormatted(.type4)) { try lock(SimulatedDESFire()) }
        var configuration = Self.cards[0]().configuration
        configuration.applications[0].files[0].rights.change = .never
        #expect(throws: TagError.self) { try lock(SimulatedDESFire(configuration)) }
        configuration = Self.cards[0]().configuration
        configuration.applications[0].files[1].content = .standard([0, 0, 0, 0])
        #expect(throws: TagError.self) { try lock(SimulatedDESFire(configuration)) }
        configuration = Self.cards[0]().configuration
        configuration.applications[0].files[1].rights.change = .key(3)
        #expect(throws: TagError.self) { try lock(SimulatedDESFire(configuration)) }
    }
}
