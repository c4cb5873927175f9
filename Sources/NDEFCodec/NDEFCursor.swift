/// Reads the fields of a payload one after another. It never reads beyond the end and never allocates by a claimed length.
struct NDEFCursor {
    let bytes: [UInt8]
    private(set) var offset: Int
    let end: Int

    init(_ bytes: [UInt8], from start: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        self.end = min(max(end ?? bytes.count, 0), bytes.count)
        offset = min(max(start, 0), self.end)
    }

    var left: Int { end - offset }
    var isAtEnd: Bool { offset >= end }

    mutating func byte() -> UInt8? {
        guard offset < end else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func bigEndian16() -> Int? {
        guard left >= 2 else { return nil }
        defer { offset += 2 }
        return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    mutating func littleEndian16() -> Int? {
        guard left >= 2 else { return nil }
        defer { offset += 2 }
        return Int(bytes[offset + 1]) << 8 | Int(bytes[offset])
    }

    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= left else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    mutating func rest() -> [UInt8] {
        defer { offset = end }
        return Array(bytes[offset..<end])
    }
}
