import CardCore
import Foundation
import Synchronization

/// The encoding of a file that is not in UTF-8: what Foundation knows, by the names that programs give it.
public struct TextEncoding: Sendable, Hashable {
    /// The name as it was given.
    public let name: String

    private let encoding: String.Encoding

    /// Creates an encoding; `nil` for a name that is not known. Case, blanks and hyphens make no difference:
    /// `windows-1252`, `cp1252`, `ISO-8859-15`, `latin1`, `macintosh`, `utf-16`, `shift_jis`, `gb18030`, `koi8-r`.
    public init?(_ name: String) {
        var key = name.lowercased().filter { $0.isLetter || $0.isNumber }
        for prefix in ["windows", "xmac", "cp", "ibm", "dos", "cs"] where key.hasPrefix(prefix) && key != prefix {
            key.removeFirst(prefix.count)
        }
        guard let number = Self.table[key] else { return nil }
        self.name = name
        let raw = number < 0x100 ? number : 0x8000_0000 | (number & 0xFFFF)
        encoding = number == 11 ? .utf16BigEndian : String.Encoding(rawValue: raw)
    }

    /// Foundation's numbers up to 0xFF (11 stands for the long one of UTF-16BE), and above 0x10000 those of Core Foundation behind them.
    private static let table: [String: UInt] = {
        var table: [String: UInt] = [
            "utf8": 4, "utf16": 10, "ucs2": 10, "unicode": 10, "utf16le": 10, "utf16be": 11, "ascii": 1, "usascii": 1,
            "ansi": 0x1_0500, "roman": 0x1_0000, "macroman": 0x1_0000, "macintosh": 0x1_0000, "mac": 0x1_0000,
            "maccyrillic": 0x1_0007, "macgreek": 0x1_0006, "macce": 0x1_001D, "macturkish": 0x1_0023,
            "437": 0x1_0400, "850": 0x1_0410, "852": 0x1_0412, "866": 0x1_0419, "koi8r": 0x1_0A02, "koi8u": 0x1_0A08,
            "932": 0x1_0420, "shiftjis": 0x1_0420, "sjis": 0x1_0420, "31j": 0x1_0420,
            "936": 0x1_0421, "gbk": 0x1_0421, "gb2312": 0x1_0421, "gb18030": 0x1_0632, "949": 0x1_0422,
            "euckr": 0x1_0422, "950": 0x1_0423, "big5": 0x1_0423,
        ]
        // In the order of Core Foundation.
        for (index, page) in [1252, 1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258].enumerated() {
            table["\(page)"] = 0x1_0500 + UInt(index)
        }
        for part in 1...16 where part != 12 { table["iso8859\(part)"] = 0x1_0200 + UInt(part) }
        for (name, part) in [("latin1", 1), ("latin2", 2), ("latin5", 9), ("latin9", 15), ("latin10", 16)] {
            table[name] = 0x1_0200 + UInt(part)
        }
        return table
    }()

    var isUTF8: Bool { encoding == .utf8 }

    /// Bytes of a character in UTF-16, which is read unit by unit; 1 in others.
    fileprivate var unit: Int { encoding == .unicode || encoding == .utf16BigEndian ? 2 : 1 }

    /// The text in UTF-8. What is none has bytes that are none.
    fileprivate func decoded(_ bytes: ArraySlice<UInt8>, isBig: Bool) -> [UInt8] {
        if unit == 2 {
            let (high, low) = isBig ? (0, 1) : (1, 0)
            let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { at -> UInt16 in
                UInt16(bytes[at + high]) << 8 | UInt16(bytes[at + low])
            }
            // Half a character, and one that was lost before.
            return String(decoding: units, as: UTF16.self).unicodeScalars.flatMap { scalar -> [UInt8] in
                scalar == "\u{FFFD}" ? [0xFF] : Array(String(scalar).utf8)
            }
        }
        if let text = String(bytes: bytes, encoding: encoding) { return Array(text.utf8) }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count > 1 else { return bytes.map { $0 < 0x80 ? $0 : 0xFF } }
        return Array(lines.map { decoded($0, isBig: isBig) }.joined(separator: [0x0A]))
    }

    fileprivate var isBig: Bool { encoding == .utf16BigEndian }
}

/// Reads a file of another encoding as UTF-8, in pieces that end with a line.
final class DecodedSource: ByteSource {
    let path: String
    /// The text has another size than the file.
    let size: Int? = nil

    private let source: any ByteSource
    private let encoding: TextEncoding
    private let state: Mutex<State>

    private struct State {
        var raw: [UInt8] = []
        var text: ArraySlice<UInt8> = []
        var isBig: Bool
        var isFirst = true
        var isAtEnd = false
    }

    private static let piece = 64 * 1024

    init(_ source: any ByteSource, _ encoding: TextEncoding) {
        self.source = source
        self.encoding = encoding
        path = source.path
        state = Mutex(State(isBig: encoding.isBig))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        let bytes = try next(most: buffer.count)
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    private func next(most: Int) throws(TransferError) -> ArraySlice<UInt8> {
        try state.withLock { state throws(TransferError) in
            while state.text.isEmpty, !state.isAtEnd { try decode(&state) }
            let part = state.text.prefix(most)
            state.text = state.text.dropFirst(part.count)
            return part
        }
    }

    private func decode(_ state: inout State) throws(TransferError) {
        var piece = [UInt8](repeating: 0, count: Self.piece)
        let count = try piece.withUnsafeMutableBufferPointer { all throws(TransferError) in
            try source.read(into: UnsafeMutableRawBufferPointer(all))
        }
        state.raw += piece[..<count]
        state.isAtEnd = count == 0
        if state.isFirst, state.raw.count > 1 || state.isAtEnd {
            state.isFirst = false
            // The mark says which byte comes first.
            if encoding.unit == 2, state.raw.starts(with: [0xFE, 0xFF]) { state.isBig = true }
            if encoding.unit == 2, state.raw.starts(with: [0xFF, 0xFE]) { state.isBig = false }
        }
        guard !state.isFirst else { return }
        let end = state.isAtEnd ? state.raw.count : Self.end(of: state.raw, encoding.unit, state.isBig)
        state.text = encoding.decoded(state.raw[..<end], isBig: state.isBig)[...]
        state.raw.removeFirst(end)
    }

    /// Behind the last line, which ends in what was read last; of one that is longer than any row, behind what is there.
    private static func end(of raw: [UInt8], _ unit: Int, _ isBig: Bool) -> Int {
        if raw.count > 32 * 1024 * 1024 { return raw.count / unit * unit }
        let start = max(0, raw.count - piece - unit)
        let last = raw[start...]
        guard unit == 2 else { return (last.lastIndex(of: 0x0A) ?? last.lastIndex(of: 0x0D)).map { $0 + 1 } ?? 0 }
        var at = raw.count / 2 * 2
        while at > max(1, start), raw[at - (isBig ? 1 : 2)] != 0x0A || raw[at - (isBig ? 2 : 1)] != 0 { at -= 2 }
        return at > max(1, start) ? at : 0
    }
}
