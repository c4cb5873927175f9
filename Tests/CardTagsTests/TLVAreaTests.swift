import CardCore
import Testing
import TestSupport

@testable import CardTags

@Suite struct TLVAreaTests {
    /// A memory in an array, which is taken away after so many writes.
    struct Memory: TagMemory {
        var bytes: [UInt8]
        let unit: Int
        var writesLeft = Int.max
        var writes: [Int] = []
        var guarded: Range<Int> = 0..<0

        mutating func byte(at address: Int) throws(TagError) -> UInt8 {
            guard bytes.indices.contains(address) else {
                throw .protected(attempt: "read byte \(address)", status: nil)
            }
            return bytes[address]
        }

        mutating func checkWritable(unit number: Int) throws(TagError) {
            if guarded.contains(number) { throw .guarded(attempt: "write unit \(number)", reason: "it is guarded") }
        }

        mutating func write(_ new: [UInt8], atUnit number: Int) throws(TagError) {
            guard writesLeft > 0 else { throw .link(ReaderError(.cardRemoved, attempting: "write unit \(number)")) }
            writesLeft -= 1
            #expect(new.count == unit)
            bytes.replaceSubrange(number * unit..<(number + 1) * unit, with: new)
            writes.append(number)
        }
    }

    static func area(_ memory: Memory, start: Int = 0, type: TagType = .type5) -> TLVArea {
        TLVArea(type: type, start: start, end: memory.bytes.count)
    }

    static func memory(_ text: String, unit: Int = 4, size: Int = 32) -> Memory {
        let content = TestSupport.bytes(text)
        return Memory(bytes: content + Array(repeating: 0, count: max(0, size - content.count)), unit: unit)
    }

    struct Write: CustomTestStringConvertible, Sendable {
        var name: String
        var before: String
        var message: String
        var after: String
        var writes: [Int]
        var testDescription: String { name }

        init(_ name: String, _ before: String, _ message: String, _ after: String, _ writes: [Int]) {
            (self.name, self.before, self.message, self.after, self.writes) = (name, before, message, after, writes)
        }
    }

    // Units of four bytes, an area of 16.
    static let cases: [Write] = [
        Write("one unit is one write", "0301AAFE 00000000 00000000 00000000", "BB", "0301BBFE" + zeros(12), [0]),
        Write("the same again is none", "0301AAFE 00000000 00000000 00000000", "AA", "0301AAFE" + zeros(12), []),
        Write(
            "data, then length",
            "0300FE00 00000000 00000000 00000000",
            "AABBCC",
            "0303AABB CCFE0000" + zeros(8),
            [1, 0]
        ),
        Write(
            "length 0 first",
            "0303AABB CCFE0000 00000000 00000000",
            "112233",
            "03031122 33FE0000" + zeros(8),
            [0, 1, 0]
        ),
        Write("to empty", "0303AABB CCFE0000 00000000 00000000", "", "0300FEBB CCFE0000" + zeros(8), [0]),
        Write(
            "terminator in the next unit",
            "00000301 AAFE0000 00000000 00000000",
            "",
            "00000300 FEFE0000" + zeros(8),
            [0, 1]
        ),
        Write(
            "to the end, without terminator",
            "0300FE00 00000000 00000000 00000000",
            "0102030405060708090A0B0C0D0E",
            "030E0102 03040506 0708090A 0B0C0D0E",
            [1, 2, 3, 0]
        ),
        Write(
            "bytes before are kept",
            "FD01AA00 0300FE00 00000000 00000000",
            "AABBCC",
            "FD01AA00 0303AABB CCFE0000 00000000",
            [2, 1]
        ),
        Write(
            "a proprietary block behind is kept",
            "0303AABB CCFD0277 88FE0000 00000000",
            "11",
            "03011100 00FD0277 88FE0000 00000000",
            [0, 1, 0]
        ),
        Write(
            "a proprietary block behind an empty message is kept",
            "03000000 00FD0277 88FE0000 00000000",
            "112233",
            "03031122 33FD0277 88FE0000 00000000",
            [1, 0]
        ),
        Write(
            "what is no run of blocks is free",
            "0303AABB CC770277 88FE0000 00000000",
            "11223344",
            "03041122 3344FE77 88FE0000 00000000",
            [0, 1, 0]
        ),
        Write(
            "an interrupted message is free",
            "0300AABB CCFD0277 88FE0000 00000000",
            "11223344",
            "03041122 3344FE77 88FE0000 00000000",
            [1, 0]
        ),
        // The byte behind the length would be 00 or FE without the mark.
        Write(
            "a first byte 00 is marked",
            "030300BB CCFE0000 00000000 00000000",
            "D12233",
            "0303D122 33FE0000 00000000 00000000",
            [0, 1, 0]
        ),
    ]

    private static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }

    @Test(arguments: cases) func writing(_ example: Write) throws {
        var memory = Self.memory(example.before, size: 16)
        let area = Self.area(memory)
        try area.write(bytes(example.message), to: &memory)
        #expect(memory.bytes.hex == example.after.filter { $0 != " " })
        #expect(memory.writes == example.writes)
        let content = try area.read(from: &memory, limit: 100)
        #expect(content.ndef.bytes == bytes(example.message))
        #expect(!content.isInterrupted)
    }

    @Test(arguments: [
        ("0303AABB CCFD0277 88FE0000 00000000", 3, 4), ("0300FD02 7788FE00 00000000 00000000", 0, 1),
        ("0303AABB CC000000 00000000 00000000", 14, 15), ("0303AABB CC0300FE 00000000 00000000", 3, 4),
    ])
    func room(_ before: String, capacity: Int, tooMany: Int) throws {
        var memory = Self.memory(before, size: 16)
        let area = Self.area(memory)
        let error = #expect(throws: TagError.self) { try area.write(sampleMessage(tooMany), to: &memory) }
        #expect(error == .tooLarge(length: tooMany, capacity: capacity))
        #expect(memory.bytes == Self.memory(before, size: 16).bytes)
        try area.write(sampleMessage(capacity), to: &memory)
        #expect(try area.read(from: &memory, limit: 100).ndef.bytes == sampleMessage(capacity))
    }

    @Test(arguments: [
        ("0300FE", false), ("03000000", false), ("0300D101", true), ("0300FF", true), ("0301AAFE", false),
        ("0300FD02AABBFE", false), ("0300FD40AABBFE", true), ("0300FD02AABB77", true),
    ])
    func interruption(_ text: String, _ isInterrupted: Bool) throws {
        var memory = Self.memory(text)
        let area = Self.area(memory)
        let content = try area.read(from: &memory, limit: 100)
        #expect(content.isInterrupted == isInterrupted)
        #expect(try area.repair(&memory) == (isInterrupted ? .repaired : .notNeeded))
        #expect(memory.writes.count == (isInterrupted ? 1 : 0))
        #expect(memory.bytes.starts(with: isInterrupted ? [0x03, 0x00, 0xFE] : bytes(text)))
        #expect(try !area.read(from: &memory, limit: 100).isInterrupted)
    }

    @Test func emptyAtTheEndOfTheArea() throws {
        var memory = Self.memory("FD0CAAAA AAAAAAAA AAAAAAAA AAAA0300", size: 16)
        let area = Self.area(memory)
        #expect(try !area.read(from: &memory, limit: 100).isInterrupted)
        #expect(try area.repair(&memory) == .notNeeded)
        try area.write([], to: &memory)
        #expect(memory.writes.isEmpty)
    }

    @Test func noPlace() {
        for text in ["FE", "", "FD01AAFE"] {
            var memory = Self.memory(text)
            let before = memory.bytes
            let area = Self.area(memory)
            let write = #expect(throws: TagError.self) { try area.write([1], to: &memory) }
            let repair = #expect(throws: TagError.self) { try area.repair(&memory) }
            #expect(write == .notFormatted(.type5) && repair == .notFormatted(.type5))
            #expect(memory.bytes == before)
        }
    }

    @Test func nothingIsWrittenBeforeAGuardedUnit() {
        var memory = Self.memory("0303AABBCCFE")
        memory.guarded = 3..<4
        let area = Self.area(memory)
        let error = #expect(throws: TagError.self) { try area.write(sampleMessage(14), to: &memory) }
        #expect(error == .guarded(attempt: "write unit 3", reason: "it is guarded"))
        #expect(memory.writes.isEmpty)
    }

    @Test func nothingIsWrittenToAMemoryThatEndsEarly() {
        var memory = Self.memory("0303AABBCCFE", size: 16)
        let area = TLVArea(type: .type5, start: 0, end: 64)
        #expect(throws: TagError.self) { try area.write(sampleMessage(30), to: &memory) }
        #expect(memory.writes.isEmpty)
    }

    @Test func controlBlocksExcludeOnType2Only() throws {
        // 4 bytes from byte 8 on are reserved on a Type 2 tag.
        let text = "0203080400 0300FE"
        var memory = Self.memory(text, size: 24)
        let area = Self.area(memory, type: .type2)
        try area.write(sampleMessage(9), to: &memory)
        #expect(Array(memory.bytes[8..<12]) == [0, 0, 0, 0])
        #expect(try area.read(from: &memory, limit: 100).ndef.bytes == sampleMessage(9))
        var other = Self.memory(text, size: 24)
        try Self.area(other).write(sampleMessage(9), to: &other)
        #expect(Array(other.bytes[8..<12]) == Array(sampleMessage(9)[1..<5]))
    }

    // Seed 0x544C_5601: random areas, messages and cuts, twice in a row.
    @Test(arguments: [2, 3, 4, 8, 16, 32]) func cuts(unit: Int) throws {
        var random = SeededNumbers(seed: 0x544C_5601)
        for _ in 0..<20 {
            let start = Int.random(in: 0...9, using: &random)
            let size = (start + 300 + unit) / unit * unit
            let lengths = [0, 1, 2, 3, 5, 20, 60, 200, 253, 254, 255, 256, 270]
            let (old, new) = (
                sampleMessage(lengths.randomElement(using: &random) ?? 0, seed: 1),
                sampleMessage(lengths.randomElement(using: &random) ?? 0, seed: 2)
            )
            var memory = Memory(bytes: Array(repeating: 0x5A, count: size), unit: unit)
            let area = TLVArea(type: .type5, start: start, end: size - 2)
            try area.format(&memory)
            try area.write(old, to: &memory)
            let foreign = (Array(memory.bytes[..<start]), Array(memory.bytes.suffix(2)))
            memory.writes = []
            var whole = memory
            try area.write(new, to: &whole)
            #expect(try area.read(from: &whole, limit: 300).ndef.bytes == new)
            // All cuts of short writes, every few of long ones.
            for cut in stride(from: 0, to: whole.writes.count, by: max(1, whole.writes.count / 9)) {
                for second in Set([
                    0, 1, whole.writes.count - 1, Int.random(in: 0...whole.writes.count, using: &random),
                ]) {
                    var torn = memory
                    for writesLeft in [cut, second] {
                        torn.writesLeft = writesLeft
                        try? area.write(new, to: &torn)
                    }
                    torn.writesLeft = .max
                    let content = try area.read(from: &torn, limit: 300)
                    let isExpected =
                        content.ndef.bytes == new || content.ndef.bytes == old
                        || content.ndef == .empty && content.isInterrupted
                    if !isExpected {
                        Issue.record("\(old.count) to \(new.count) bytes at \(start), \(cut): \(content)")
                    }
                    try area.write(new, to: &torn)
                    let written = try area.read(from: &torn, limit: 300).ndef.bytes
                    #expect(written == new)
                    #expect(Array(torn.bytes[..<start]) == foreign.0 && Array(torn.bytes.suffix(2)) == foreign.1)
                }
            }
        }
    }

    @Test func longMessages() throws {
        var memory = Memory(bytes: Array(repeating: 0, count: 66_000), unit: 8)
        let area = TLVArea(type: .type5, start: 4, end: 66_000)
        try area.format(&memory)
        #expect(area.capacity == 65_534)
        for length in [0xFDFF, 0xFE00, 65_534] {
            try area.write(sampleMessage(length), to: &memory)
            let isWhole = try area.read(from: &memory, limit: 70_000).ndef.bytes == sampleMessage(length)
            #expect(isWhole)
        }
        let error = #expect(throws: TagError.self) { try area.write(sampleMessage(65_535), to: &memory) }
        #expect(error == .tooLarge(length: 65_535, capacity: 65_534))
    }
}

extension TLVArea {
    fileprivate func read(from memory: inout some TagMemory, limit: Int) throws(TagError) -> TagContent {
        let place = TagArea(capacity: capacity, version: .init(major: 1, minor: 0))
        return try read(from: &memory, into: place, limit: limit)
    }
}
