import Foundation

/// The part of a source that is being looked at: filled from the end, emptied from the beginning, so that its size does
/// not depend on that of the source.
struct ByteWindow: Sendable {
    static let piece = 256 * 1024

    private let source: any ByteSource
    private(set) var bytes: [UInt8]

    /// The first byte that was not taken yet.
    private(set) var start = 0

    /// Behind the last byte that was read.
    private(set) var end = 0
    private(set) var isAtEnd = false

    /// The offset in the source of ``start``.
    var offset: Int { base + start }

    /// The offset in the source of the window's first byte.
    private(set) var base = 0

    init(_ source: any ByteSource) {
        self.source = source
        bytes = Self.widened([], by: Self.piece)
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
            bytes = Self.widened(bytes, by: max(bytes.count, Self.piece))
        }
        let (source, end) = (source, end)
        let count = try bytes.withUnsafeMutableBufferPointer { all throws(TransferError) in
            try source.read(into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: all[end...])))
        }
        self.end += count
        isAtEnd = count == 0
    }

    /// The bytes and so many zeros behind them, which `append` would look at one by one.
    private static func widened(_ bytes: [UInt8], by count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count + count) { all, initialized in
            guard let first = all.baseAddress else { return }
            UnsafeMutableRawBufferPointer(all).copyBytes(from: bytes)
            memset(first + bytes.count, 0, count)
            initialized = bytes.count + count
        }
    }

    /// Reads on until there are so many bytes, or the source is at its end.
    mutating func fill(upTo count: Int) throws(TransferError) {
        while end - start < count, !isAtEnd { try fill() }
    }

    /// Takes a byte order mark of UTF-8 away from the beginning of the source.
    ///
    /// - Parameter isWide: whether the first four bytes are of another encoding.
    /// - Throws: ``TransferError/Kind/wrongEncoding``.
    mutating func skipMark(unless isWide: ([UInt8]) -> Bool) throws(TransferError) {
        try fill(upTo: 4)
        let start = withBytes { Array($0.prefix(4)) }
        if start.starts(with: [0xEF, 0xBB, 0xBF]) {
            take(3)
        } else if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) || isWide(start) {
            throw TransferError(.wrongEncoding, file: path, line: 1, detail: "it seems to be UTF-16 or UTF-32")
        }
    }

    mutating func take(_ count: Int) {
        start = min(start + max(count, 0), end)
    }

    /// Changes the bytes in place, from ``start`` to ``end``.
    mutating func withBytes<Result, Failure>(
        _ body: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (start, end) = (start, end)
        return try bytes.withUnsafeMutableBufferPointer { all throws(Failure) in
            try body(UnsafeMutableBufferPointer(rebasing: all[start..<end]))
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
    var isUTF8: Bool { (try? UTF8Span(validating: span)) != nil }
}
