/// A Text record's content: a text in one language (NFC Forum Text RTD).
public struct NDEFText: Sendable, Hashable {
    /// The text.
    public var text: String

    /// The language as written: a tag of BCP 47 such as `en` or `de-CH`. Empty only where lenience let it pass.
    public var language: String

    /// How the text is encoded in the payload.
    public var encoding: Encoding

    /// The encodings of a Text record.
    public enum Encoding: String, Sendable, Hashable, CaseIterable, Codable {
        /// UTF-8.
        case utf8 = "UTF-8"
        /// UTF-16: as its byte order mark states, big endian without one; written big endian with none.
        case utf16 = "UTF-16"
    }

    /// A text in a language.
    public init(_ text: String, language: String = "en", encoding: Encoding = .utf8) {
        self.text = text
        self.language = language
        self.encoding = encoding
    }
}

/// The prefixes that a URI record abbreviates to one byte (NFC Forum URI RTD, table 3).
package enum NDEFURIPrefix {
    /// The prefixes; the code is the index. Codes over 23 hex are reserved.
    static let all: [[UInt8]] = [
        "", "http://www.", "https://www.", "http://", "https://", "tel:", "mailto:", "ftp://anonymous:anonymous@",
        "ftp://ftp.", "ftps://", "sftp://", "smb://", "nfs://", "ftp://", "dav://", "news:", "telnet://", "imap:",
        "rtsp://", "urn:", "pop:", "sip:", "sips:", "tftp:", "btspp://", "btl2cap://", "btgoep://", "tcpobex://",
        "irdaobex://", "file://", "urn:epc:id:", "urn:epc:tag:", "urn:epc:pat:", "urn:epc:raw:", "urn:epc:", "urn:nfc:",
    ].map { Array($0.utf8) }

    /// The highest code that is not reserved.
    static let lastCode: UInt8 = 0x23

    /// The prefix of a code; none for a reserved code.
    package static func prefix(_ code: UInt8) -> [UInt8] { Int(code) < all.count ? all[Int(code)] : [] }

    /// The code of the longest prefix that a URI starts with, and its length.
    static func longest(of uri: UnsafeBufferPointer<UInt8>) -> (code: UInt8, length: Int) {
        var best: (code: UInt8, length: Int) = (0, 0)
        for (index, prefix) in all.enumerated()
        where prefix.count > best.length && prefix.count <= uri.count && uri.starts(with: prefix) {
            best = (UInt8(index), prefix.count)
        }
        return best
    }
}
