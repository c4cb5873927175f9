/// An input cut into parts, as OpenSC's virtual reader cuts it: two bytes with the length of a part, low byte first, then
/// the part. The last part has what is left.
struct FuzzInput {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next part; `nil` when there is none.
    mutating func next() -> [UInt8]? {
        guard bytes.count - position >= 2 else { return nil }
        let length = Int(bytes[position]) | Int(bytes[position + 1]) << 8
        position += 2
        let end = min(position + length, bytes.count)
        defer { position = end }
        return Array(bytes[position..<end])
    }

    /// All that is left, uncut.
    var rest: [UInt8] { Array(bytes[position...]) }
}
