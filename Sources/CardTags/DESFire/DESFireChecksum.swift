/// The checksum that DESFire EV1 puts behind encrypted data: CRC-32 as in Ethernet, without the final inversion.
package enum DESFireChecksum {
    /// Its length, in bytes.
    package static let length = 4

    /// The checksum, least significant byte first.
    package static func bytes(of data: [UInt8]) -> [UInt8] {
        var remainder: UInt32 = 0xFFFF_FFFF
        for byte in data {
            remainder ^= UInt32(byte)
            for _ in 0..<8 {
                remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0xEDB8_8320
            }
        }
        return [UInt8].littleEndian(Int(remainder), count: length)
    }
}
