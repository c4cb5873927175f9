import CardCore
import Foundation
import Synchronization

/// The encoding of a file that is not in UTF-8: what Foundation knows, by the names that programs give it.
public struct TextEncoding: Sendable, Hashable {
    /// The name as it was given.
    public let name: String

    /// Bytes of a character in UTF-16, which is read unit by unit; 1 in others.
    fileprivate let unit: Int

    /// Creates an encoding; `nil` for a name that is not known. Case, blanks and hyphens make no difference:
    /// `windows-1252`, `cp1252`, `ISO-8859-15`, `latin1`, `macintosh`, `utf-16`, `shift_jis`, `gb18030`, `koi8-r`.
    public init?(_ name: String) {
        guard let unit = Charset.unit(of: name), unit < 4 else { return nil }
        (self.name, self.unit) = (name, unit)
    }

    var isUTF8: Bool { Charset.isUTF8(name) }

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
        if let text = Charset.decode(Array(bytes), as: name, isFile: true) { return Array(text.utf8) }
        let end: UInt8 = bytes.contains(0x0A) ? 0x0A : 0x0D
        let lines = bytes.split(separator: end, omittingEmptySubsequences: false)
        guard lines.count > 1 else { return bytes.map { $0 < 0x80 ? $0 : 0xFF } }
        return Array(lines.map { decoded($0, isBig: isBig) }.joined(separator: [end]))
    }

    fileprivate var isBig: Bool { name.lowercased().hasSuffix("be") }
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
