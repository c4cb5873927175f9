/// Checks of text that was read from files.
enum UTF8Check {
    /// Whether all bytes are ASCII and none is zero.
    static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var at = 0
        while at + 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            // Of ASCII bytes, only zero borrows into its highest bit.
            guard (word | word &- 0x0101_0101_0101_0101) & 0x8080_8080_8080_8080 == 0 else { return false }
            at += 8
        }
        while at < raw.count {
            guard raw[at] > 0, raw[at] < 0x80 else { return false }
            at += 1
        }
        return true
    }

    /// Whether the bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
    static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var at = 0
        let end = bytes.count
        while at < end {
            let first = bytes[at]
            if first < 0x80 {
                at += 1
                continue
            }
            let (length, low, high): (Int, UInt8, UInt8)
            switch first {
            case 0xC2...0xDF: (length, low, high) = (2, 0x80, 0xBF)
            case 0xE0: (length, low, high) = (3, 0xA0, 0xBF)
            case 0xED: (length, low, high) = (3, 0x80, 0x9F)
            case 0xE1...0xEF: (length, low, high) = (3, 0x80, 0xBF)
            case 0xF0: (length, low, high) = (4, 0x90, 0xBF)
            case 0xF1...0xF3: (length, low, high) = (4, 0x80, 0xBF)
            case 0xF4: (length, low, high) = (4, 0x80, 0x8F)
            default: return false
            }
            guard at + length <= end, bytes[at + 1] >= low, bytes[at + 1] <= high else { return false }
            for index in at + 2..<max(at + length, at + 2) where bytes[index] & 0xC0 != 0x80 { return false }
            at += length
        }
        return true
    }
}
