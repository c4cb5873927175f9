import CardPasses
import Cryptography
import Foundation

/// Text from cards, made fit to be stored, shown and logged.
package enum PlainText {
    /// The longest line, in Unicode scalars; what follows is cut off.
    static let length = 1024

    /// Control characters, which can move a terminal's cursor, and end a text in SQLite (NUL).
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        // The general category Cc, which is fixed for ever; looking it up would be slow for every tap.
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    /// The text on one line: control characters become spaces, white space at both ends goes, the rest is cut to
    /// ``length``.
    package static func line(_ text: String) -> String {
        // What is fit already, as nearly every text is, is found so in a fraction of the time.
        let isFit = text.utf8.count <= length && text.utf8.first != 0x20 && text.utf8.last != 0x20
        if isFit, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        let plain = text.unicodeScalars.prefix(length).map { isControl($0) ? " " : $0 }
        let start = plain.firstIndex { !$0.properties.isWhitespace } ?? plain.endIndex
        let end = plain.lastIndex { !$0.properties.isWhitespace }.map { $0 + 1 } ?? start
        var line = String.UnicodeScalarView()
        line.append(contentsOf: plain[start..<end])
        return String(line)
    }

    /// An identifier for logs: its beginning, so that lines can be matched, and never the whole of it.
    package static func shortened(_ identifier: String) -> String {
        String(identifier.prefix(min(4, identifier.count / 3))) + "…"
    }
}

extension UUID {
    /// A UUID of version 8 (RFC 9562), made of the first bits of a hash: the same for the same data everywhere.
    package init(digest: [UInt8]) {
        var bytes = Array(digest.prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    package init(derivedFrom text: String) {
        self.init(digest: SHA256.hash(text.utf8))
    }
}
