extension [UInt8] {
    /// Appends a text, which must be UTF-8, in JSON's quotes; slashes and what is not ASCII as they are.
    @inlinable
    package mutating func appendJSON(quoting text: some Collection<UInt8>) {
        append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0x08: append(contentsOf: "\\b".utf8)
            case 0x09: append(contentsOf: "\\t".utf8)
            case 0x0A: append(contentsOf: "\\n".utf8)
            case 0x0C: append(contentsOf: "\\f".utf8)
            case 0x0D: append(contentsOf: "\\r".utf8)
            case 0..<0x20:
                append(contentsOf: "\\u00".utf8)
                append(UInt8(ascii: "0") + byte >> 4)
                append(byte & 0x0F < 10 ? UInt8(ascii: "0") + byte & 0x0F : UInt8(ascii: "a") - 10 + byte & 0x0F)
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}
