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
    package static func prefix(_ code: UInt8) -> [UInt8] {
        Int(code) < all.count ? all[Int(code)] : []
    }

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
