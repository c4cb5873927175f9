import Crypto

/// The lines of a club's file, with the checksum of those before the one that was read last.
struct ClubFileLines {
    private var window: ByteWindow
    private var digest = SHA256()
    /// The line that was read last, which is not in the checksum yet.
    private var last: [UInt8] = []
    /// How many lines were read.
    private(set) var count = 0

    enum Line {
        /// A line with its end.
        case bytes([UInt8])
        /// One of more than ``ClubFile/longestLine`` bytes, which was passed over.
        case overlong
    }

    init(_ source: FileSource) throws(TransferError) {
        try source.rewind()
        window = ByteWindow(source)
    }

    var offset: Int { window.offset }

    /// The SHA-256 of all lines before the one that was read last.
    var sumBefore: [UInt8] { Array(digest.finalize()) }

    /// The SHA-256 of all lines that were read.
    var sum: [UInt8] {
        var digest = digest
        digest.update(data: last)
        return Array(digest.finalize())
    }

    /// The next line, or `nil` behind the last one. A line without an end was cut off.
    mutating func next() throws(TransferError) -> Line? {
        var length = 0
        while true {
            let end = window.withBytes { bytes in bytes.firstIndex(of: 0x0A) }
            if let end, length == 0, end < ClubFile.longestLine {
                let line = window.withBytes { Array($0[...end]) }
                window.take(line.count)
                digest.update(data: last)
                last = line
                count += 1
                return .bytes(line)
            }
            let isAtEnd = window.isAtEnd
            if end == nil, isAtEnd {
                if length == 0, window.start == window.end { return nil }
                let detail = "the last line has no end"
                throw TransferError(.truncated, file: window.path, line: count + 1, detail: detail)
            }
            // Only what is longer than it may be is taken before its end is known.
            if length > 0 || end != nil || window.end - window.start > ClubFile.longestLine {
                if length == 0 {
                    digest.update(data: last)
                    last = []
                }
                let taken = end.map { $0 + 1 } ?? (window.end - window.start)
                window.withBytes { digest.update(data: UnsafeBufferPointer(rebasing: $0[..<taken])) }
                window.take(taken)
                length += taken
                if end != nil {
                    count += 1
                    return .overlong
                }
            }
            if end == nil { try window.fill() }
        }
    }
}
