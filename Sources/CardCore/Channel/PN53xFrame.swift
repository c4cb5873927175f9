/// Frames between a host and a PN53x chip.
package enum PN53xFrame {
    /// The command or answer in some bytes: what follows the direction (`D4` from the host, `D5` from the chip), or `nil`.
    ///
    /// The bytes are a frame (`00 00 FF LEN LCS …`, extended or not) behind whatever else, such as an acknowledgement, or
    /// a CCID message of the ACR122.
    package static func payload(_ bytes: [UInt8], direction: UInt8) -> [UInt8]? {
        if let inner = ccid(bytes, direction: direction) { return inner }
        var place = 0
        while place + 5 <= bytes.count {
            guard bytes[place] == 0x00, bytes[place + 1] == 0x00, bytes[place + 2] == 0xFF else {
                place += 1
                continue
            }
            if let inner = frame(Array(bytes[(place + 3)...]), direction: direction) { return inner }
            // An acknowledgement is `00 00 FF 00 FF 00`; its end may be the beginning of the next frame.
            place += 3
        }
        // Drivers of USB readers write the answer without its frame.
        return nil
    }

    /// A frame behind its start code.
    private static func frame(_ bytes: [UInt8], direction: UInt8) -> [UInt8]? {
        guard bytes.count >= 2 else { return nil }
        var (start, length) = (2, Int(bytes[0]))
        if bytes[0] == 0xFF, bytes[1] == 0xFF {
            guard bytes.count >= 5, (bytes[2] &+ bytes[3] &+ bytes[4]) == 0 else { return nil }
            (start, length) = (5, Int(bytes[2]) << 8 | Int(bytes[3]))
        } else if bytes[0] &+ bytes[1] != 0 {
            return nil
        }
        guard length >= 2, bytes.count > start + length, bytes[start] == direction else { return nil }
        let data = bytes[start..<(start + length)]
        guard data.reduce(bytes[start + length], &+) == 0 else { return nil }
        return Array(data.dropFirst())
    }

    /// A CCID message (`6F` to the reader, `80` from it) or its content alone, as the drivers for the ACR122 write them.
    private static func ccid(_ bytes: [UInt8], direction: UInt8) -> [UInt8]? {
        var content = bytes[...]
        if let first = bytes.first, first == 0x6F || first == 0x6B || first == 0x80 || first == 0x83, bytes.count > 10 {
            content = bytes.dropFirst(10)
        }
        if direction == 0xD4 {
            guard content.starts(with: [0xFF, 0x00, 0x00, 0x00]), content.count > 6 else { return nil }
            let inner = content.dropFirst(5)
            return inner.first == direction ? Array(inner.dropFirst()) : nil
        }
        guard content.first == direction, content.count >= 4, content.suffix(2).elementsEqual([0x90, 0x00]) else {
            return nil
        }
        return Array(content.dropFirst().dropLast(2))
    }
}

/// The checksums of the radio protocols, as they follow a frame on air.
package enum RadioChecksum: Sendable {
    /// CRC_A of ISO/IEC 14443-3, least significant byte first.
    case typeA
    /// CRC_B of ISO/IEC 14443-3, also of Type 1 tags, least significant byte first.
    case typeB
    /// FeliCa's, most significant byte first.
    case feliCa

    /// The two bytes that follow the frame.
    package func bytes(of frame: some Sequence<UInt8>) -> [UInt8] {
        switch self {
        case .typeA, .typeB:
            let sum = self == .typeA ? Self.reflected(frame, from: 0x6363) : ~Self.reflected(frame, from: 0xFFFF)
            return [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)]
        case .feliCa:
            let sum = frame.reduce(UInt16(0)) { sum, byte in
                (0..<8).reduce(sum ^ UInt16(byte) << 8) { value, _ in
                    value & 0x8000 != 0 ? value << 1 ^ 0x1021 : value << 1
                }
            }
            return [UInt8(sum >> 8), UInt8(sum & 0xFF)]
        }
    }

    /// The frame without its checksum, or `nil` if that is wrong.
    package func strip(_ frame: [UInt8]) -> [UInt8]? {
        guard frame.count > 2 else { return nil }
        let content = frame.dropLast(2)
        return bytes(of: content).elementsEqual(frame.suffix(2)) ? Array(content) : nil
    }

    private static func reflected(_ frame: some Sequence<UInt8>, from start: UInt16) -> UInt16 {
        frame.reduce(start) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte)) { value, _ in
                value & 1 != 0 ? value >> 1 ^ 0x8408 : value >> 1
            }
        }
    }
}
