/// Where the parts of an encoded command lie (ISO/IEC 7816-3, section 12.1).
package struct APDULayout {
    package var data: Range<Int> = 4..<4
    package var expectedLength: Int?

    /// The longest command: header, extended Lc, 65 535 bytes of data, extended Le.
    private static let longest = 4 + 3 + 65_535 + 2

    package init(_ bytes: [UInt8]) throws(APDUError) {
        let count = bytes.count
        guard count >= 4 else { throw Self.fault(.tooShort, count, "a command of \(count) bytes: its header has 4") }
        guard count <= Self.longest else {
            throw Self.fault(.tooLong, Self.longest, "a command of \(count) bytes: the longest has \(Self.longest)")
        }
        if count == 4 { return }
        guard bytes[4] == 0, count > 5 else {
            if count == 5 {
                expectedLength = Self.number(bytes[4...])
            } else {
                try take(Int(bytes[4]), from: 5, lengthBytes: 1, bytes)
            }
            return
        }
        guard count > 6 else {
            let message = "the command: 00 at byte 4 begins an extended length of 3 bytes, 2 are there"
            throw Self.fault(.lengthTruncated, 6, message)
        }
        let length = Int(bytes[5]) << 8 | Int(bytes[6])
        if count == 7 {
            expectedLength = Self.number(bytes[5...])
        } else if length > 0 {
            try take(length, from: 7, lengthBytes: 2, bytes)
        } else {
            throw Self.fault(.zeroLength, 5, "the command: its extended Lc is 0 and \(count - 7) bytes follow")
        }
    }

    /// The data, and Le if it follows.
    private mutating func take(_ length: Int, from start: Int, lengthBytes: Int, _ bytes: [UInt8]) throws(APDUError) {
        let (end, count) = (start + length, bytes.count)
        guard end <= count else {
            let message = "the command: Lc announces \(length) bytes, \(count - start) are there"
            throw Self.fault(.dataTruncated, count, message)
        }
        data = start..<end
        switch count - end {
        case 0: break
        case lengthBytes: expectedLength = Self.number(bytes[end...])
        case 1:
            let message = "the command: after extended data Le has 2 bytes, 1 is there"
            throw Self.fault(.lengthTruncated, count, message)
        case let left:
            let whole = end + lengthBytes
            let message = "the command: it ends after \(whole) bytes and \(left - lengthBytes) more follow"
            throw Self.fault(.trailingBytes, whole, message)
        }
    }

    /// Le; zeros stand for the greatest value.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        let value = bytes.reduce(0) { $0 << 8 | Int($1) }
        return value == 0 ? 1 << (8 * bytes.count) : value
    }

    private static func fault(_ code: APDUErrorCode, _ offset: Int, _ message: String) -> APDUError {
        APDUError(code, offset: offset, message: "could not read " + message)
    }
}
