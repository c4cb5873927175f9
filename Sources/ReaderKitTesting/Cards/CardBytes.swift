import ReaderKit

extension [UInt8] {
    /// The first so many bytes, with zeros for those that are missing.
    func padded(to count: Int) -> [UInt8] { Array((self + Array(repeating: 0, count: count)).prefix(count)) }

    /// Puts bytes at a place in memory; what does not fit is left out.
    mutating func overwrite(at start: Int, with bytes: [UInt8]) {
        guard indices.contains(start) else { return }
        let kept = bytes.prefix(count - start)
        replaceSubrange(start..<start + kept.count, with: kept)
    }

    /// The lowest bytes of a number, the most significant first.
    static func bigEndian(_ number: Int, _ count: Int) -> [UInt8] { littleEndian(number, count).reversed() }

    /// The lowest bytes of a number, the least significant first.
    static func littleEndian(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// The data area of a formatted tag: the message as a data object, and a terminator where there is room for one.
    ///
    /// - Returns: `nil` if the message is too long for the area.
    static func dataArea(_ message: [UInt8], size: Int) -> [UInt8]? {
        let length = message.count < 255 ? [UInt8(message.count)] : [0xFF] + bigEndian(message.count, 2)
        let content = [0x03] + length + message
        guard message.count < 65_535, content.count <= size else { return nil }
        return content.count < size ? content + [0xFE] : content
    }
}
