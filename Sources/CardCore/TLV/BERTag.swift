/// The tag of a BER-TLV data object (ISO/IEC 8825-1), as the number that its 1 to 4 bytes make: `0x50`, `0x9F26`,
/// `0xBF0C`, `0x7F66`.
public struct BERTag: RawRepresentable, Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// The tag's bytes as a big-endian number.
    public var rawValue: UInt32

    /// A tag of that number. Whether it is one that can be written, ``isValid`` tells.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A tag of that number, such as `0x9F26`.
    public init(integerLiteral value: UInt32) {
        rawValue = value
    }

    /// The bytes, 1 to 4.
    public var bytes: [UInt8] {
        let all = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) }
        return Array(all.drop { $0 == 0 }.isEmpty ? all.suffix(1) : all.drop { $0 == 0 })
    }

    /// Whether the object's value is made of objects (bit 6 of the first byte).
    public var isConstructed: Bool {
        bytes[0] & 0x20 != 0
    }

    /// Whether the bytes are one whole tag: not the padding byte 00, and going on exactly as long as they say.
    public var isValid: Bool {
        let bytes = bytes
        guard bytes[0] != 0 else { return false }
        guard bytes[0] & 0x1F == 0x1F else { return bytes.count == 1 }
        // Bit 8 says that another byte follows; a first byte of 80 would be a leading zero of the number.
        guard bytes.count > 1, bytes[1] != 0x80 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 & 0x80 != 0 } && bytes[bytes.count - 1] & 0x80 == 0
    }
}

extension BERTag: CustomStringConvertible {
    /// The bytes in hexadecimal, as `9F26`.
    public var description: String { bytes.hex }
}
