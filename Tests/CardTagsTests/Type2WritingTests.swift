import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type2WritingTests {
    /// The longest message of each chip as it leaves the factory: the container's size, less lock control and header.
    static func capacity(_ model: SimulatedNTAG.Model) -> Int {
        let blocks = model.factoryContent.first == 0x01 ? 5 : 0
        let bytes = Int(model.sizeByte) * 8 - blocks
        return bytes - 2 <= 254 ? bytes - 2 : bytes - 4
    }

    /// Every length of the small chips; of the large ones those around the turns.
    static func lengths(_ model: SimulatedNTAG.Model) -> [Int] {
        let capacity = capacity(model)
        if capacity <= 150 { return Array(0...capacity) }
        return [0, 1, 2, 3, 4, 5, 100, 252, 253, 254, 255, 256, 257, 258, 300] + [capacity - 3, capacity - 1, capacity]
    }

    @Test(arguments: SimulatedNTAG.Model.all) func everyLength(_ model: SimulatedNTAG.Model) throws {
        let card = SimulatedNTAG(model)
        let before = card.memory
        for length in Self.lengths(model) {
            let message = sampleMessage(length, seed: length)
            var tag = try #require(try TagReader.open(over: SimulatedCardChannel(card)))
            try tag.writeNDEF(message)
            let content = try TagReader.readNDEF(over: SimulatedCardChannel(card))
            #expect(content.ndef.bytes == message)
            #expect(!content.isInterrupted)
        }
        // Nothing but the data area was touched.
        let end = 16 + 8 * Int(model.sizeByte)
        #expect(card.memory[..<16] == before[..<16])
        #expect(card.memory[end...] == before[end...])
    }

    @Test(arguments: SimulatedNTAG.Model.all) func everyLengthByRawFrames(_ model: SimulatedNTAG.Model) throws {
        let card = SimulatedNTAG(model)
        let answers = [RawFrame([0x0A], bitsInLastByte: 4), RawFrame([0x0A]), RawFrame([])]
        for (index, length) in Self.lengths(model).enumerated() {
            let message = sampleMessage(length, seed: length)
            let channel = RawCardChannel(card)
            channel.acknowledgement = answers[index % 3]
            var tag = Type2Tag(channel)
            try tag.writeNDEF(message)
            #expect(try TagReader.readNDEF(over: RawCardChannel(card)).ndef.bytes == message)
            #expect(channel.resets == 0)
        }
    }

    @Test(arguments: SimulatedNTAG.Model.all) func tooLarge(_ model: SimulatedNTAG.Model) throws {
        let capacity = Self.capacity(model)
        let card = SimulatedNTAG(model)
        var tag = Type2Tag(SimulatedCardChannel(card))
        try tag.writeNDEF(sampleMessage(20))
        let before = card.memory
        for length in [capacity + 1, capacity + 2, capacity + 300, 70_000] {
            let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(length)) }
            #expect(error == .tooLarge(length: length, capacity: capacity))
            #expect(
                error?.description.contains("\(length)") == true && error?.description.contains("\(capacity)") == true
            )
        }
        #expect(card.memory == before)
    }

    @Test(arguments: [4, 16]) func readers(bytesPerRead: Int) throws {
        let card = SimulatedNTAG(.ntag216)
        let reader = SimulatedReader(bytesPerRead: bytesPerRead, insistsOnLength: bytesPerRead == 4)
        var tag = Type2Tag(SimulatedCardChannel(card, reader: reader))
        try tag.writeNDEF(sampleMessage(700))
        #expect(try tag.readNDEF().ndef == .message(sampleMessage(700)))
    }

    @Test func unchangedPagesAreNotWritten() throws {
        let card = try #require(SimulatedNTAG.formatted(.ntag213, message: sampleMessage(80)))
        let channel = SimulatedCardChannel(card)
        var tag = Type2Tag(channel)
        func writes() -> [String] { channel.commands.filter { $0[1] == 0xD6 }.map { String($0.hex.prefix(8)) } }
        try tag.writeNDEF(sampleMessage(80))
        #expect(writes().isEmpty)
        var message = sampleMessage(80)
        message[40] ^= 0xFF
        try tag.writeNDEF(message)
        #expect(writes() == ["FFD60004", "FFD6000E", "FFD60004"])
    }

    @Test(arguments: ["0F", "08", "FF", "8F"]) func readOnly(access: String) throws {
        let image = type2Image(container: "E11012" + access, data: "0301AAFE")
        let card = SimulatedNTAG(.ntag213, image: image)
        let before = card.memory
        var tag = Type2Tag(SimulatedCardChannel(card))
        let error = #expect(throws: TagError.self) { try tag.writeNDEF([1, 2, 3]) }
        #expect(error == .readOnly(.type2))
        #expect(card.memory == before)
    }

    @Test(arguments: ["00000000", "E1100000", "D1101200"]) func notFormatted(container: String) throws {
        let card = SimulatedNTAG(.ntag213, image: type2Image(container: container, data: "0000"))
        let before = card.memory
        var tag = Type2Tag(SimulatedCardChannel(card))
        let error = #expect(throws: TagError.self) { try tag.writeNDEF([1, 2, 3]) }
        #expect(error == .notFormatted(.type2))
        let repair = #expect(throws: TagError.self) { try tag.repairNDEF() }
        #expect(repair == .notFormatted(.type2))
        #expect(card.memory == before)
    }

    // A static lock bit on a page that the message needs is found before anything is written.
    @Test(arguments: [4, 5, 7, 8, 15]) func lockedPage(_ page: Int) throws {
        let card = try #require(SimulatedNTAG.formatted(.ntag213, message: sampleMessage(60)))
        var locks: [UInt8] = [0x72, 0x48, 0, 0]
        locks[2 + page / 8] = 1 << (page % 8)
        card.overwrite(page: 2, with: locks)
        let before = card.memory
        var tag = Type2Tag(SimulatedCardChannel(card))
        let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(60, seed: 1)) }
        #expect(error == .readOnly(.type2))
        #expect(card.memory == before)
    }

    // The container says more than the chip has: a message there would end up in lock bytes and configuration.
    @Test(
        arguments: [
            (.ultralightEV1Small, 0x07, 50), (.ntag210, 0x0A, 60), (.ntag212, 0x12, 135), (.ntag212, 0x11, 132),
            (.ntag213, 0x14, 150), (.ntag213, 0x3E, 150), (.ultralightC, 0x14, 150), (.ultralightC, 0x18, 155),
            (.ntag215, 0x42, 505), (.ntag215, 0x6D, 505), (.ntag216, 0x70, 889), (.ntag216, 0xFF, 889),
        ] as [(SimulatedNTAG.Model, UInt8, Int)]
    )
    func guardedPages(_ model: SimulatedNTAG.Model, size: UInt8, length: Int) throws {
        for isRaw in [false, true] {
            let card = SimulatedNTAG(model)
            card.overwrite(page: 3, with: [0xE1, 0x10, size, 0x00, 0x03, 0x00, 0xFE])
            let before = card.memory
            var tag = Type2Tag(isRaw ? RawCardChannel(card) as any CardChannel : SimulatedCardChannel(card))
            let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(length)) }
            switch error {
            case .guarded?, .protected?, .link?: break
            default: Issue.record("\(model.name): \(String(describing: error))")
            }
            #expect(card.memory == before)
        }
    }

    @Test func pagesAbove255() throws {
        // 2040 bytes, as an NTAG I2C might say.
        var memory = type2Image(container: "E110FF00", data: "0300FE00")
        memory += (memory.count..<2080).map { UInt8(truncatingIfNeeded: $0 / 4 &* 5) }
        var writes: [Int] = []
        let channel = AnsweringChannel { command throws(ReaderError) in
            let start = (Int(command[2]) << 8 | Int(command[3])) * 4
            guard start < memory.count else { return [0x6A, 0x82] }
            if command[1] == 0xD6 {
                writes.append(start / 4)
                memory.replaceSubrange(start..<start + 4, with: command[5..<9])
                return [0x90, 0x00]
            }
            return Array(memory[start..<min(start + 16, memory.count)]) + [0x90, 0x00]
        }
        var tag = Type2Tag(channel)
        let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(1100)) }
        #expect(error == .unsupported(.type2, attempt: "write page 256 of the tag, above page 255"))
        #expect(writes.isEmpty)
        try tag.writeNDEF(sampleMessage(900))
        #expect(try tag.readNDEF().ndef == .message(sampleMessage(900)))
    }

    @Test(
        arguments: [
            (0x6300, "protected"), (0x6982, "protected"), (0x6F01, "the link to the card failed"),
            (0x6F1B, "no answer"),
            (0x6D00, "refused"),
        ] as [(UInt16, String)]
    )
    func failedWrite(_ status: UInt16, _ meaning: String) throws {
        let card = SimulatedNTAG(.ntag213)
        let reader = SimulatedReader()
        let channel = AnsweringChannel { command throws(ReaderError) in
            command[1] == 0xD6 ? [UInt8(status >> 8), UInt8(status & 0xFF)] : reader.transmit(command, to: card) ?? []
        }
        var tag = Type2Tag(channel)
        let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(40)) }
        #expect(error?.meaning.contains(meaning) == true, "\(String(describing: error))")
        #expect(error?.attempt == "write page 6 of the tag")
    }

    @Test(arguments: [0x00, 0x04, 0x01, 0x05] as [UInt8], [4, 8]) func refusal(_ code: UInt8, bits: Int) throws {
        let card = SimulatedNTAG(.ntag213)
        let facts = CardFacts(technology: .iso14443a, values: [.init("sak", [0x00])])
        let channel = AnsweringChannel(facts: facts) { frame throws(ReaderError) in
            frame.bytes[0] == 0xA2
                ? RawFrame([code], bitsInLastByte: bits) : card.receive(frame: frame) ?? RawFrame([])
        } _: { _ throws(ReaderError) in
            [0x6E, 0x00]
        }
        var tag = Type2Tag(channel)
        let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(40)) }
        if code & 1 == 1 {
            #expect(error?.readerError?.kind == .communication)
        } else {
            #expect(error == .protected(attempt: "write page 6 of the tag", status: nil))
        }
    }

    // Dynamic lock bits are found only by trying. The old message is put back.
    @Test(arguments: [true, false], [16, 20, 23]) func pageThatRefuses(isRaw: Bool, page: Int) throws {
        let old = sampleMessage(100, seed: 1)
        let card = try #require(SimulatedNTAG.formatted(.ntag213, message: old))
        card.overwrite(page: 0x28, with: [1 << UInt8((page - 16) / 2), 0x00, 0x00, 0x00])
        let before = card.memory
        var tag = Type2Tag(isRaw ? RawCardChannel(card) as any CardChannel : SimulatedCardChannel(card))
        let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(100, seed: 2)) }
        guard case .protected? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(card.memory == before)
        #expect(try tag.readNDEF().ndef == .message(old))
    }

    // A worn-out or lying tag acknowledges and keeps what it had.
    @Test func whatIsNotKeptIsTold() throws {
        let card = SimulatedNTAG(.ntag213)
        let reader = SimulatedReader()
        let channel = AnsweringChannel { command throws(ReaderError) in
            if command[1] == 0xD6, command[3] == 0x08 { return [0x90, 0x00] }
            return reader.transmit(command, to: card) ?? []
        }
        var tag = Type2Tag(channel)
        let error = #expect(throws: TagError.self) { try tag.writeNDEF(sampleMessage(40)) }
        // Page 8 begins at byte 16 of the area, which is byte 9 of the message behind lock control and header.
        #expect(error == .notWritten(offset: 9))
        #expect(card.memory == SimulatedNTAG(.ntag213).memory)
    }

    @Test func repair() throws {
        let image = type2Image(container: "E1101200", data: "0103A00C34 0300 D1010155")
        let card = SimulatedNTAG(.ntag213, image: image)
        var tag = Type2Tag(SimulatedCardChannel(card))
        #expect(try tag.readNDEF().isInterrupted)
        #expect(try tag.repairNDEF() == .repaired)
        #expect(try tag.repairNDEF() == .notNeeded)
        #expect(Array(card.memory[16..<24]).hex == "0103A00C340300FE")
        #expect(try tag.readNDEF() == TagReader.readNDEF(over: SimulatedCardChannel(card)))
    }
}
