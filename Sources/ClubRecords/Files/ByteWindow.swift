/// The part of a source that is being looked at: filled from the end, emptied from the beginning, so that its size does
/// not depend on that of the source.
struct ByteWindow: Sendable {
    /// How much is read at once.
    static let piece = 256 * 1024

    private let source: any ByteSource
    private(set) var bytes: [UInt8]

    /// The first byte that was not taken yet.
    private(set) var start = 0

    /// Behind the last byte that was read.
    private(set) var end = 0

    /// Whether the source has no more.
    private(set) var isAtEnd = false

    /// The offset in the source of ``start``.
    var offset: Int { base + start }

    /// The offset in the source of the window's first byte.
    private(set) var base = 0

    init(_ source: any ByteSource) {
        self.source = source
        bytes = [UInt8](repeating: 0, count: Self.piece)
    }

    var path: String { source.path }
    var totalBytes: Int? { source.size }

    /// Reads on, behind what is there. Afterwards there is more, or ``isAtEnd``.
    mutating func fill() throws(TransferError) {
        guard !isAtEnd else { return }
        if start > 0 {
            let (first, last) = (start, end)
            bytes.withUnsafeMutableBytes { all in
                all.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[first..<last]))
            }
            base += start
            end -= start
            start = 0
        }
        if bytes.count - end < Self.piece / 2 {
            bytes.append(contentsOf: repeatElement(0, count: max(bytes.count, Self.piece)))
        }
        let (source, end) = (source, end)
        var failure: TransferError?
        let count = bytes.withUnsafeMutableBytes { all -> Int in
            do throws(TransferError) {
                return try source.read(into: UnsafeMutableRawBufferPointer(rebasing: all[end...]))
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        self.end += count
        isAtEnd = count == 0
    }

    /// Reads on until there are so many bytes, or the source is at its end.
    mutating func fill(upTo count: Int) throws(TransferError) {
        while end - start < count, !isAtEnd { try fill() }
    }

    /// Takes bytes away from the beginning.
    mutating func take(_ count: Int) {
        start = min(start + max(count, 0), end)
    }

    /// Changes the bytes in place, from ``start`` to ``end``.
    mutating func withBytes<Result>(_ body: (UnsafeMutableBufferPointer<UInt8>) -> Result) -> Result {
        let (start, end) = (start, end)
        return bytes.withUnsafeMutableBufferPointer { body(UnsafeMutableBufferPointer(rebasing: $0[start..<end])) }
    }
}

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
