import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct NTAGTests {
    static let password: [UInt8] = [0x11, 0x22, 0x33, 0x44]
    static let acknowledgement: [UInt8] = [0xAB, 0xCD]

    static func protected(attempts: UInt8 = 0, reading: Bool = true) throws -> SimulatedNTAG {
        let card = try #require(SimulatedNTAG.formatted(.ntag215, message: sampleMessage(60)))
        card.protect(
            password: password,
            acknowledgement: acknowledgement,
            fromPage: 4,
            reading: reading,
            attempts: attempts
        )
        return card
    }

    @Test(arguments: SimulatedNTAG.Model.all) func version(_ model: SimulatedNTAG.Model) throws {
        for channel in [SimulatedCardChannel(SimulatedNTAG(model)), RawCardChannel(SimulatedNTAG(model))]
            as [any CardChannel]
        {
            let chip = NTAG(channel)
            if let version = model.version {
                #expect(try chip.version().bytes == version)
                #expect(try chip.version().product == model.name)
            } else {
                let error = #expect(throws: TagError.self) { try chip.version() }
                #expect(error == .unsupported(.type2, attempt: "ask the tag for its version"))
            }
        }
    }

    @Test func readerWithoutRawFrames() {
        let channel = AnsweringChannel { _ throws(ReaderError) in [0x6D, 0x00] }
        var chip = NTAG(channel)
        for attempt in 0..<4 {
            let error = #expect(throws: TagError.self) {
                switch attempt {
                case 0: _ = try chip.version()
                case 1: _ = try chip.counter()
                case 2: _ = try chip.signature()
                default: try chip.authenticate(password: Self.password)
                }
            }
            guard case .unsupported(.type2, _)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(channel.commands.isEmpty)
    }

    @Test func signature() throws {
        let signature = bytes("8B76052EE42F5567BEB53238B3E3F9950707C0DCC956B5C5EFCFDB709B2D82B3")
        let card = SimulatedNTAG(.ntag213, uid: bytes("04E10CDA993C80"), signature: signature)
        #expect(try NTAG(SimulatedCardChannel(card)).signature().bytes == signature)
    }

    /// Signatures of real tags, as others published them.
    @Test(
        arguments: [
            ("04AB87F2CA1190", "67B1750BCCEB1174F9A33BF20E0226551A6366939B31F949848C3C087350FA90", "NTAG21x"),
            ("04E10CDA993C80", "8B76052EE42F5567BEB53238B3E3F9950707C0DCC956B5C5EFCFDB709B2D82B3", "NTAG21x"),
            ("04DB0BDA993C80", "6048EFD9417CD10F6B7F1818D471A7FE5B46868D2EABDC6307A1E0AAE139D8D0", "NTAG21x"),
            (
                "04C1285A373080", "CEA2EB0B3C95D0844A95B824A7553703B3702378033BF0987899DB70151A19E7",
                "MIFARE Ultralight EV1"
            ),
            (
                "04C2285A373080", "A561506723D422D29ED9F93E60D20B9ED1E05CC1BF81DA19FE500CA0B81CC0ED",
                "MIFARE Ultralight EV1"
            ),
        ] as [(String, String, String)]
    )
    func signer(uid: String, signature: String, chips: String) throws {
        let (uid, numbers) = (bytes(uid), bytes(signature))
        #expect(OriginalitySignature(numbers)?.signer(of: uid) == chips)
        for index in uid.indices {
            var other = uid
            other[index] ^= 0x01
            #expect(OriginalitySignature(numbers)?.signer(of: other) == nil, "byte \(index)")
        }
        #expect(OriginalitySignature(numbers)?.signer(of: []) == nil)
        #expect(OriginalitySignature(numbers.reversed())?.signer(of: uid) == nil)
        #expect(OriginalitySignature([UInt8](repeating: 0, count: 32))?.signer(of: uid) == nil)
        #expect(OriginalitySignature(numbers.dropLast()) == nil && OriginalitySignature([]) == nil)
    }

    @Test func counter() throws {
        let card = SimulatedNTAG(.ntag213)
        let error = #expect(throws: TagError.self) { try NTAG(SimulatedCardChannel(card)).counter() }
        #expect(error == .protected(attempt: "read the counter of the tag", status: nil))
        card.overwrite(page: 0x2A, with: [0x10])
        for expected in 1...3 {
            let channel = SimulatedCardChannel(card)
            _ = try TagReader.readNDEF(over: channel)
            #expect(try NTAG(channel).counter() == expected)
        }
    }

    // MARK: Password

    @Test(arguments: [true, false]) func readAndWriteWithPassword(reading: Bool) throws {
        let card = try Self.protected(reading: reading)
        var closed = Type2Tag(SimulatedCardChannel(card))
        if reading { #expect(throws: TagError.self) { try closed.readNDEF() } }
        #expect(throws: TagError.self) { try closed.writeNDEF(sampleMessage(10)) }
        for channel in [SimulatedCardChannel(card), RawCardChannel(card)] as [any CardChannel] {
            var tag = Type2Tag(channel, password: Self.password, acknowledgement: Self.acknowledgement)
            #expect(try tag.readNDEF().ndef == .message(sampleMessage(60)))
            try tag.writeNDEF(sampleMessage(300))
            #expect(try tag.readNDEF().ndef == .message(sampleMessage(300)))
            try tag.writeNDEF(sampleMessage(60))
        }
    }

    @Test func proprietaryWriteAccessTakesThePassword() throws {
        let card = try Self.protected()
        card.overwrite(page: 3, with: [0xE1, 0x10, 0x3E, 0x08])
        var tag = Type2Tag(SimulatedCardChannel(card), password: Self.password)
        try tag.writeNDEF(sampleMessage(30))
        #expect(try tag.readNDEF().ndef == .message(sampleMessage(30)))
    }

    /// Counts what the card is asked.
    private final class Counting {
        var passwords = 0
    }

    private static func counted(_ card: SimulatedNTAG) -> (AnsweringChannel, Counting) {
        let counting = Counting()
        card.powerOn()
        let channel = AnsweringChannel(
            facts: CardFacts(atr: card.atr)
        ) { frame throws(ReaderError) in
            if frame.bytes.first == 0x1B { counting.passwords += 1 }
            return card.receive(frame: frame) ?? RawFrame([])
        } _: { command throws(ReaderError) in
            SimulatedReader().transmit(command, to: card) ?? []
        }
        return (channel, counting)
    }

    @Test func wrongPasswordIsSentOnce() throws {
        let card = try Self.protected(attempts: 3, reading: false)
        let (channel, counting) = Self.counted(card)
        var tag = Type2Tag(channel, password: [9, 9, 9, 9])
        let attempt = "give the tag its password"
        #expect(#expect(throws: TagError.self) { try tag.readNDEF() } == .wrongKey(attempt: attempt, attemptsLeft: 2))
        #expect(counting.passwords == 1)
        #expect(throws: TagError.self) { try tag.readNDEF() }
        #expect(throws: TagError.self) { try tag.writeNDEF([1]) }
        #expect(throws: TagError.self) { try tag.dump() }
        #expect(counting.passwords == 1)
    }

    @Test func attemptsLeft() throws {
        // AUTH0 behind CFG1, so that AUTHLIM can be read.
        let card = SimulatedNTAG(.ntag213)
        card.protect(password: Self.password, fromPage: 0x2B, reading: true, attempts: 3)
        let (channel, counting) = Self.counted(card)
        var chip = NTAG(channel)
        let attempt = "give the tag its password"
        for (wrong, left) in [(1, 2), (2, 1), (1, nil), (3, 0)] as [(UInt8, Int?)] {
            let error = #expect(throws: TagError.self) {
                try chip.authenticate(password: [wrong, wrong, wrong, wrong])
            }
            #expect(error == .wrongKey(attempt: attempt, attemptsLeft: left))
        }
        #expect(counting.passwords == 3)
        // Now the tag stays closed, and says so.
        let error = #expect(throws: TagError.self) { try chip.authenticate(password: Self.password) }
        #expect(error == .wrongKey(attempt: attempt, attemptsLeft: 0))
    }

    @Test func otherAcknowledgement() throws {
        let card = try Self.protected()
        var chip = NTAG(SimulatedCardChannel(card))
        let error = #expect(throws: TagError.self) {
            try chip.authenticate(password: Self.password, expecting: [0, 0])
        }
        #expect(error?.readerError?.kind == .invalidAnswer)
        var good = NTAG(SimulatedCardChannel(card))
        #expect(try good.authenticate(password: Self.password, expecting: Self.acknowledgement) == Self.acknowledgement)
        #expect(try good.authenticate(password: Self.password) == Self.acknowledgement)
    }

    @Test(arguments: [0, 3, 5, 16]) func lengthOfThePassword(_ length: Int) throws {
        var chip = NTAG(SimulatedCardChannel(try Self.protected()))
        let error = #expect(throws: TagError.self) {
            try chip.authenticate(password: Array(repeating: 0, count: length))
        }
        guard case .guarded? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func passwordIsNotShown() throws {
        var chip = NTAG(SimulatedCardChannel(try Self.protected()))
        let error = #expect(throws: TagError.self) { try chip.authenticate(password: [0xDE, 0xAD, 0xBE, 0xEF]) }
        #expect(error?.description.contains("DEAD") == false)
    }
}
