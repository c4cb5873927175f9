/// What a value block of a MIFARE Classic holds: a number, thrice, once inverted, and a byte of its own, four times.
struct ClassicValue: Sendable, Hashable {
    var number: Int32
    /// The address byte, which the card keeps and takes no notice of.
    var address: UInt8

    init(_ number: Int32, address: UInt8) {
        self.number = number
        self.address = address
    }

    /// Reads a block; `nil` if its copies contradict each other, or it has not 16 bytes.
    init?(_ block: [UInt8]) {
        guard block.count == 16 else { return nil }
        let number = Int32(bitPattern: block[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
        self.init(number, address: block[12])
        guard bytes == block else { return nil }
    }

    /// The block, least significant byte first.
    var bytes: [UInt8] {
        let bits = UInt32(bitPattern: number)
        let plain = (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        return plain + plain.map { ~$0 } + plain + [address, ~address, address, ~address]
    }
}
