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

    /// Whether the last two bytes are the checksum of those before (ISO/IEC 14443-3, CRC_A).
    package static func endsInCRC(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 2 else { return false }
        return Array(bytes.suffix(2)) == crc(bytes.dropLast(2))
    }

    /// CRC_A, low byte first.
    package static func crc(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var crc: UInt16 = 0x6363
        for byte in bytes {
            var value = byte ^ UInt8(truncatingIfNeeded: crc)
            value ^= value << 4
            let wide = UInt16(value)
            crc = crc >> 8 ^ wide << 8 ^ wide << 3 ^ wide >> 4
        }
        return [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }
}
