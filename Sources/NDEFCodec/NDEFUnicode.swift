/// Well-formedness of UTF-8 and UTF-16 in place, without making a string.
enum NDEFUnicode {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Where the first ill-formed sequence begins, or `nil`.
    static func firstFaultInUTF8(_ bytes: Bytes) -> Int? {
        let raw = UnsafeRawBufferPointer(bytes)
        let count = bytes.count
        func isASCII(_ index: Int) -> Bool {
            raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        }
        var index = 0
        while index < count {
            // Eight ASCII characters at a time; the last eight may overlap those before.
            while count - index >= 8, isASCII(index) { index += 8 }
            if count >= 8, count - index < 8, isASCII(count - 8) { return nil }
            while index < count, bytes[index] < 0x80 { index += 1 }
            guard index < count else { return nil }
            let length = lengthOfCharacter(in: bytes, at: index)
            if length == 0 { return index }
            index += length
        }
        return nil
    }

    /// The number of bytes of the character at an index, which must be in the buffer; 0 if it is ill-formed (Unicode
    /// Standard, table 3-7).
    static func lengthOfCharacter(in bytes: Bytes, at index: Int) -> Int {
        let first = bytes[index]
        if first < 0x80 { return 1 }
        let left = bytes.count - index
        func isContinuation(_ offset: Int) -> Bool { bytes[index + offset] & 0xC0 == 0x80 }
        switch first {
        case 0xC2...0xDF:
            return left >= 2 && isContinuation(1) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3, isContinuation(1), isContinuation(2) else { return 0 }
            if first == 0xE0, bytes[index + 1] < 0xA0 { return 0 }  // overlong
            if first == 0xED, bytes[index + 1] > 0x9F { return 0 }  // surrogates
            return 3
        case 0xF0...0xF4:
            guard left >= 4, isContinuation(1), isContinuation(2), isContinuation(3) else { return 0 }
            if first == 0xF0, bytes[index + 1] < 0x90 { return 0 }  // overlong
            if first == 0xF4, bytes[index + 1] > 0x8F { return 0 }  // over U+10FFFF
            return 4
        default:
            return 0
        }
    }

    /// Whether a text in UTF-16 is little endian, and where it begins: a byte order mark decides, and without one it is
    /// big endian. Programs of Windows leave the mark out of little-endian texts too, in which each second byte of Latin
    /// letters is zero; no big-endian text of several characters is such.
    static func byteOrder(_ bytes: Bytes) -> (isLittleEndian: Bool, start: Int) {
        guard bytes.count >= 2 else { return (false, 0) }
        switch (bytes[0], bytes[1]) {
        case (0xFE, 0xFF): return (false, 2)
        case (0xFF, 0xFE): return (true, 2)
        default:
            let isLatin = stride(from: 0, to: bytes.count & ~1, by: 2).allSatisfy {
                bytes[$0 + 1] == 0 && bytes[$0] != 0
            }
            return (isLatin && bytes.count >= 4, 0)
        }
    }

    /// Where the first ill-formed sequence begins (a lone surrogate or half a unit), or `nil`.
    static func firstFaultInUTF16(_ bytes: Bytes) -> Int? {
        let (isLittleEndian, start) = byteOrder(bytes)
        let end = bytes.count & ~1
        var index = start
        while index < end {
            let unit = unit(in: bytes, at: index, isLittleEndian)
            if unit & 0xF800 != 0xD800 {
                index += 2
            } else if unit & 0x0400 == 0, index + 2 < end,
                Self.unit(in: bytes, at: index + 2, isLittleEndian) >> 10 == 0x37
            {
                index += 4
            } else {
                return index
            }
        }
        return end < bytes.count ? end : nil
    }

    /// The text of well-formed UTF-16.
    static func decodeUTF16(_ bytes: Bytes) -> String {
        let (isLittleEndian, start) = byteOrder(bytes)
        let units = stride(from: start, to: bytes.count & ~1, by: 2).map { unit(in: bytes, at: $0, isLittleEndian) }
        return String(decoding: units, as: UTF16.self)
    }

    /// The unit at an index, which must not be over the count minus 2.
    private static func unit(in bytes: Bytes, at index: Int, _ isLittleEndian: Bool) -> UInt16 {
        let first = UInt16(bytes[index])
        let second = UInt16(bytes[index + 1])
        return isLittleEndian ? second << 8 | first : first << 8 | second
    }
}
