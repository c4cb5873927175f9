import ReaderKit

/// Bytes for people: address, sixteen bytes, and what they are in ASCII.
enum HexDump {
    /// Lines of 16 bytes.
    static func lines(_ bytes: [UInt8]) -> [String] {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let address = [UInt8(truncatingIfNeeded: start >> 8), UInt8(truncatingIfNeeded: start)].hex
            return "  \(address)  \(pad(Hex.encode(row, separator: " "), to: 47))  |\(ascii(row))|"
        }
    }

    /// The printable characters; a point for each other byte.
    static func ascii(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }

    static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
