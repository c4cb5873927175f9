/// A frame of a card's own protocol, without checksum, possibly ending in an incomplete byte.
public struct RawFrame: Sendable, Hashable {
    /// The bytes; the last may hold fewer than eight bits, in its low bits.
    public var bytes: [UInt8]

    /// How many bits of the last byte count, 1 to 8. A Type 2 acknowledgement is `0A` with 4 bits.
    public var bitsInLastByte: Int

    /// A frame of whole bytes, or one whose last byte has fewer bits.
    public init(_ bytes: [UInt8], bitsInLastByte: Int = 8) {
        self.bytes = bytes
        self.bitsInLastByte = min(max(bitsInLastByte, 1), 8)
    }
}
