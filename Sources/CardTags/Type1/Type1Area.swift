/// The data area of a Type 1 tag as one run of addresses: without the blocks that the tag keeps for itself, and without
/// what its control blocks reserve.
struct Type1Area: TagMemory {
    let unit = 8

    var usesRawFrames: Bool { memory.usesRawFrames }

    private var memory: Type1Memory
    private let addresses: [Int]

    /// How many bytes there are.
    var size: Int { addresses.count }

    /// The first byte behind the capability container.
    private static let start = 12
    /// Blocks D and E hold reserved bytes, the static lock bits and one-time-programmable bytes on every tag.
    private static let reserved = 104..<120

    /// Looks for control blocks and leaves out what they reserve.
    ///
    /// - Parameter end: the address behind the memory, as the capability container states it.
    init(_ memory: inout Type1Memory, end: Int) throws(TagError) {
        var cursor = TLVCursor(start: Type1Area.start, end: end)
        cursor.exclude(Type1Area.reserved)
        let area = try Type1Area.readControls(&memory, cursor)
        var walk = area
        var addresses: [Int] = []
        while let address = walk.advance() { addresses.append(address) }
        self.addresses = addresses
        self.memory = memory
    }

    /// The control blocks come before the message; whatever else comes ends the search.
    private static func readControls(_ memory: inout Type1Memory, _ area: TLVCursor) throws(TagError) -> TLVCursor {
        var area = area
        var cursor = area
        var found: [UInt8] = []
        func next() throws(TagError) -> UInt8? {
            guard let address = cursor.advance() else { return nil }
            return try memory.byte(at: address)
        }
        while let tag = try next() {
            if tag == TLVArea.Block.null { continue }
            guard tag == TLVArea.Block.lockControl || tag == TLVArea.Block.memoryControl else { break }
            guard try next() == 3 else { break }
            found = []
            while found.count < 3, let byte = try next() { found.append(byte) }
            let range = TLVArea.controlledBytes(found, locks: tag == TLVArea.Block.lockControl)
            area.exclude(range)
            cursor.exclude(range)
        }
        return area
    }

    mutating func byte(at address: Int) throws(TagError) -> UInt8 {
        guard addresses.indices.contains(address) else {
            throw .protected(attempt: "read behind the end of the tag", status: nil)
        }
        return try memory.byte(at: addresses[address])
    }

    mutating func write(_ bytes: [UInt8], atUnit number: Int) throws(TagError) {
        throw .unsupported(.type1, attempt: "write a block of the tag")
    }
}
