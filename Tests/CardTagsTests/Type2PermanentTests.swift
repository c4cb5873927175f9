import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Formatting, locking, dumping: what touches more than the data area, or shows it.
@Suite struct Type2PermanentTests {
    static func confirmation(_ card: SimulatedNTAG) -> PermanentLock {
        PermanentLock(ofCardWith: CardUID(card.uid, technology: .iso14443a))
    }

    @Test(arguments: SimulatedNTAG.Model.all, [true, false])
    func format(_ model: SimulatedNTAG.Model, isRaw: Bool) throws {
        let card = SimulatedNTAG.unformatted(model)
        #expect(try TagReader.readNDEF(over: SimulatedCardChannel(card)).ndef == .absent)
        var tag = Type2Tag(isRaw ? RawCardChannel(card) as any CardChannel : SimulatedCardChannel(card))
        try tag.formatNDEF()
        #expect(card.memory == SimulatedNTAG(model).memory)
        #expect(try tag.readNDEF().ndef == .empty)
        try tag.writeNDEF(sampleMessage(40))
        #expect(try TagReader.readNDEF(over: SimulatedCardChannel(card)).ndef == .message(sampleMessage(40)))
    }

    // Nothing is lost to formatting, and what was interrupted is left to repair.
    @Test(arguments: ["0302D101FE", "0300FE", "0300D101"]) func formatLeavesAFormattedTag(data: String) throws {
        for container in ["E1101200", "E110120F"] {
            let card = SimulatedNTAG(.ntag213, image: type2Image(container: container, data: data))
            let before = card.memory
            var tag = Type2Tag(SimulatedCardChannel(card))
            try tag.formatNDEF()
            #expect(card.memory == before)
            #expect(try tag.readNDEF().isInterrupted == (data == "0300D101"))
        }
    }

    // An Ultralight Nano, to a reader that cannot ask for its version, lacks the page that an Ultralight lacks.
    @Test(arguments: [14, 15]) func formatRefusesASmallerChip(pages: Int) throws {
        let channel = AnsweringChannel { command throws(ReaderError) in
            let page = Int(command[3])
            guard command[0] == 0xFF, command[1] == 0xB0, page < pages else { return [0x63, 0x00] }
            let memory = type2Image(container: "00000000", data: "")
            let addresses = (0..<16).map { (page * 4 + $0) % (pages * 4) }
            return addresses.map { $0 < memory.count ? memory[$0] : 0x11 } + [0x90, 0x00]
        }
        var tag = Type2Tag(channel)
        let error = #expect(throws: TagError.self) { try tag.formatNDEF() }
        #expect(error?.meaning.contains("not known") == true, "\(String(describing: error))")
        #expect(channel.commands.allSatisfy { $0[1] == 0xB0 })
    }

    // Without raw frames the size alone must tell.
    @Test(arguments: SimulatedNTAG.Model.all) func formatBySize(_ model: SimulatedNTAG.Model) throws {
        let card = SimulatedNTAG.unformatted(model)
        let reader = SimulatedReader()
        card.powerOn()
        let channel = AnsweringChannel { command throws(ReaderError) in reader.transmit(command, to: card) ?? [] }
        var tag = Type2Tag(channel)
        try tag.formatNDEF()
        #expect(card.memory == SimulatedNTAG(model).memory)
    }

    @Test(arguments: ["00000001", "E2101200", "0F000000", "D1101200", "00E11012"])
    func formatRefusesOtherContainers(_ container: String) throws {
        let card = SimulatedNTAG(.ntag213, image: type2Image(container: container, data: "00"))
        let before = card.memory
        var tag = Type2Tag(SimulatedCardChannel(card))
        guard
            case .cannotFormat(.type2, let reason)? = #expect(
                throws: TagError.self,
                performing: { try tag.formatNDEF() }
            )
        else {
            Issue.record("no refusal")
            return
        }
        #expect(reason.contains(container))
        #expect(card.memory == before)
    }

    @Test func formatRefusesLockedAndUnknown() throws {
        let locked = SimulatedNTAG.unformatted(.ntag213)
        locked.overwrite(page: 2, with: [0x72, 0x48, 0x00, 0x10])
        // The size of an NTAG203, which has no version either.
        let unknown = AnsweringChannel { command throws(ReaderError) in
            let page = Int(command[3])
            guard command[0] == 0xFF, command[1] == 0xB0, page < 42 else { return [0x63, 0x00] }
            let memory = type2Image(container: "00000000", data: "")
            let addresses = (0..<16).map { (page * 4 + $0) % (42 * 4) }
            return addresses.map { $0 < memory.count ? memory[$0] : 0x11 } + [0x90, 0x00]
        }
        for channel in [SimulatedCardChannel(locked), unknown] as [any CardChannel] {
            var tag = Type2Tag(channel)
            let error = #expect(throws: TagError.self) { try tag.formatNDEF() }
            guard case .cannotFormat? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(unknown.commands.allSatisfy { $0[1] == 0xB0 })
    }

    @Test(arguments: [
        ("E1101200", "FE", "0103A00C340300FE"), ("E1101200", "0000", "0103A00C340300FE"),
        ("E1101200", "0380", "0103A00C340300FE"),
        ("E1101200", "03FFFFFE", "0103A00C340300FE"),
    ])
    func formatMendsTheDataArea(container: String, data: String, after: String) throws {
        var image = type2Image(container: container, data: data)
        image += Array(repeating: 0, count: 160 - image.count)
        if data == "0380" { image[17] = 0xFE }
        let card = SimulatedNTAG(.ntag213, image: image)
        var tag = Type2Tag(SimulatedCardChannel(card))
        try tag.formatNDEF()
        #expect(Array(card.memory[16...]).hex.hasPrefix(after))
        #expect(Array(card.memory[12..<16]).hex == container)
        #expect(try tag.readNDEF().ndef == .empty)
    }

    @Test func formatRefusesAContainerLargerThanTheChip() throws {
        let card = SimulatedNTAG(.ntag213, image: type2Image(container: "E1103E00", data: "FE"))
        let before = card.memory
        var tag = Type2Tag(SimulatedCardChannel(card))
        guard case .cannotFormat? = #expect(throws: TagError.self, performing: { try tag.formatNDEF() }) else {
            Issue.record("no refusal")
            return
        }
        #expect(card.memory == before)
    }

    // MARK: Locking

    @Test(arguments: SimulatedNTAG.Model.all, [true, false])
    func lock(_ model: SimulatedNTAG.Model, isRaw: Bool) throws {
        let card = try #require(SimulatedNTAG.formatted(model, message: sampleMessage(30)))
        let channel: any CardChannel = isRaw ? RawCardChannel(card) : SimulatedCardChannel(card)
        var tag = Type2Tag(channel)
        try tag.lock(Self.confirmation(card))
        #expect(card.memory[15] == 0x0F && card.memory[10] == 0xFF && card.memory[11] == 0xFF)
        let content = try TagReader.readNDEF(over: SimulatedCardChannel(card))
        #expect(content.ndef == .message(sampleMessage(30)))
        #expect(content.area?.writeAccess == .never)
        // The chip itself refuses every page of user memory from now on.
        card.powerOn()
        for page in 3...model.lastUserPage {
            let answer = card.receive(frame: RawFrame([0xA2, UInt8(page), 1, 2, 3, 4]))
            #expect(answer == RawFrame([0x00], bitsInLastByte: 4), "page \(page)")
        }
        let locked = card.memory
        try tag.lock(Self.confirmation(card))
        #expect(card.memory == locked)
        let error = #expect(throws: TagError.self) { try tag.writeNDEF([1]) }
        #expect(error == .readOnly(.type2))
        // Configuration, password and counter stay as they were.
        let first = (model.dynamicLockPage ?? model.lastUserPage) + 1
        #expect(card.memory[(first * 4)...] == SimulatedNTAG(model).memory[(first * 4)...])
    }

    @Test func lockOrder() throws {
        let card = try #require(SimulatedNTAG.formatted(.ntag213, message: sampleMessage(30)))
        let channel = SimulatedCardChannel(card)
        var tag = Type2Tag(channel)
        try tag.lock(Self.confirmation(card))
        let page2 = "FFD6000204" + Array(card.memory[8..<10]).hex
        #expect(
            channel.commands.filter { $0[1] == 0xD6 }.map(\.hex) == [
                "FFD6000304E110120F", "FFD6002804FF0F0000", page2 + "F8FF", "FFD6002804FF0F3F00", page2 + "FFFF",
            ]
        )
    }

    @Test func lockRefusals() throws {
        let other = PermanentLock(ofCardWith: CardUID([1, 2, 3, 4, 5, 6, 7], technology: .iso14443a))
        let message = sampleMessage(30)
        let formatted = try #require(SimulatedNTAG.formatted(.ntag213, message: message))
        let unformatted = SimulatedNTAG.unformatted(.ntag213)
        let interrupted = SimulatedNTAG(.ntag213, image: type2Image(container: "E1101200", data: "0300D101"))
        let otherSize = SimulatedNTAG(.ntag213, image: type2Image(container: "E1100600", data: "0300FE"))
        let lockedContainer = SimulatedNTAG(.ntag213)
        lockedContainer.overwrite(page: 2, with: [0x72, 0x48, 0x08, 0x00])
        let cases: [(SimulatedNTAG, PermanentLock, String)] = [
            (formatted, other, "another than the one"),
            (unformatted, Self.confirmation(unformatted), "no place"),
            (interrupted, Self.confirmation(interrupted), "interrupted"),
            (otherSize, Self.confirmation(otherSize), "another size"),
            (lockedContainer, Self.confirmation(lockedContainer), "container is locked"),
        ]
        for (card, confirmation, meaning) in cases {
            let before = card.memory
            var tag = Type2Tag(SimulatedCardChannel(card))
            let error = #expect(throws: TagError.self) { try tag.lock(confirmation) }
            #expect(error?.meaning.contains(meaning) == true, "\(String(describing: error))")
            #expect(card.memory == before)
        }
        // A chip whose version is not known.
        let version = [0x00, 0x04, 0x04, 0x05, 0x02, 0x01, 0x13, 0x03] as [UInt8]
        let channel = AnsweringChannel(
            facts: CardFacts(atr: formatted.atr)
        ) { frame throws(ReaderError) in
            frame.bytes == [0x60] ? RawFrame(version) : formatted.receive(frame: frame) ?? RawFrame([])
        } _: { command throws(ReaderError) in
            SimulatedReader().transmit(command, to: formatted) ?? []
        }
        var tag = Type2Tag(channel)
        let error = #expect(throws: TagError.self) { try tag.lock(Self.confirmation(formatted)) }
        #expect(error?.meaning.contains("not known") == true)
        #expect(channel.commands.allSatisfy { $0[1] != 0xD6 })
    }

    // MARK: Dump

    @Test(arguments: SimulatedNTAG.Model.all, [true, false])
    func dump(_ model: SimulatedNTAG.Model, isRaw: Bool) throws {
        let card = try #require(SimulatedNTAG.formatted(model, message: sampleMessage(40)))
        card.protect(password: [0xAA, 0xBB, 0xCC, 0xDD], fromPage: 0xFF, reading: false)
        var tag = Type2Tag(isRaw ? RawCardChannel(card) as any CardChannel : SimulatedCardChannel(card))
        let dump = try tag.dump()
        #expect(dump.type == .type2)
        #expect(dump.parts.map(\.name) == (0..<model.pages).map { "page \($0)" })
        for (page, part) in dump.parts.enumerated() {
            let isSecret =
                model.configurationPage.map { page >= $0 + 2 } ?? (model == .ultralightC && page >= 0x2C)
            #expect(part.bytes == (isSecret ? nil : Array(card.memory[4 * page..<4 * page + 4])), "page \(page)")
            if isSecret { #expect(part.note?.contains("never shown") == true) }
        }
        #expect(dump.parts[3].note == "capability container")
        #expect(dump.parts[4].note == "data")
        if let page = model.dynamicLockPage { #expect(dump.parts[page].note == "dynamic lock bytes") }
        if let page = model.configurationPage { #expect(dump.parts[page + 1].note == "configuration") }
    }

    @Test func dumpOfAProtectedTag() throws {
        let card = try #require(SimulatedNTAG.formatted(.ntag213, message: sampleMessage(40)))
        card.protect(password: [1, 2, 3, 4], fromPage: 0x10, reading: true)
        var tag = Type2Tag(SimulatedCardChannel(card))
        let parts = try tag.dump().parts
        #expect(parts.count == 45)
        #expect(parts[0x0F].bytes != nil)
        #expect(parts[0x10].bytes == nil && parts[0x10].note == "protected")
        var open = Type2Tag(SimulatedCardChannel(card), password: [1, 2, 3, 4])
        #expect(try open.dump().parts[0x10].bytes == Array(card.memory[64..<68]))
    }
}
