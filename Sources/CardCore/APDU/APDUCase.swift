/// The seven ways to encode a command APDU (ISO/IEC 7816-3, section 12.1).
///
/// ```text
///                   4 bytes          1 or 3      0...65535    1, 2 or 3
/// case1             CLA INS P1 P2
/// case2Short        CLA INS P1 P2                             Le
/// case3Short        CLA INS P1 P2    Lc          data
/// case4Short        CLA INS P1 P2    Lc          data         Le
/// case2Extended     CLA INS P1 P2                             00 Le Le
/// case3Extended     CLA INS P1 P2    00 Lc Lc    data
/// case4Extended     CLA INS P1 P2    00 Lc Lc    data         Le Le
/// ```
///
/// - Lc is the number of data bytes, 1...255 or 1...65 535; it is left out when there is no data.
/// - Le is the greatest number of bytes expected in the answer, 1...256 or 1...65 536; the greatest is written as zeros.
/// - The byte 00 in the place of a short Lc states that the lengths are extended.
public enum APDUCase: String, Sendable, Hashable, CaseIterable {
    /// Neither data nor an answer beyond the status word.
    case case1
    /// No data; up to 256 bytes of answer.
    case case2Short
    /// Up to 255 bytes of data; no answer beyond the status word.
    case case3Short
    /// Up to 255 bytes of data and up to 256 bytes of answer.
    case case4Short
    /// No data; up to 65 536 bytes of answer. Le takes three bytes, the first being 00.
    case case2Extended
    /// Up to 65 535 bytes of data; no answer beyond the status word.
    case case3Extended
    /// Up to 65 535 bytes of data and up to 65 536 bytes of answer. Le takes two bytes.
    case case4Extended

    /// The form of its length fields. Case 1 has none and counts as short.
    public var form: CommandAPDU.Form {
        switch self {
        case .case1, .case2Short, .case3Short, .case4Short: .short
        case .case2Extended, .case3Extended, .case4Extended: .extended
        }
    }

    /// The case of an encoded command.
    ///
    /// - Throws: ``APDUError`` if the bytes are none of the seven.
    public init(bytes: [UInt8]) throws(APDUError) {
        self = try APDULayout(bytes).apduCase
    }
}

/// Where the parts of an encoded command lie.
package struct APDULayout {
    var apduCase: APDUCase
    package var data: Range<Int> = 4..<4
    package var expectedLength: Int?

    /// The longest command: header, extended Lc, 65 535 bytes of data, extended Le.
    static let longest = 4 + 3 + 65_535 + 2

    package init(_ bytes: [UInt8]) throws(APDUError) {
        let count = bytes.count
        guard count >= 4 else {
            throw APDUError(
                .tooShort,
                offset: count,
                message: "could not read a command of \(count) bytes: its header has 4"
            )
        }
        guard count <= Self.longest else {
            throw APDUError(
                .tooLong,
                offset: Self.longest,
                message: "could not read a command of \(count) bytes: the longest has \(Self.longest)"
            )
        }
        switch count {
        case 4:
            apduCase = .case1
        case 5:
            apduCase = .case2Short
            expectedLength = bytes[4] == 0 ? 256 : Int(bytes[4])
        case _ where bytes[4] != 0:
            let end = 5 + Int(bytes[4])
            data = try Self.dataRange(from: 5, to: end, count: count)
            switch count - end {
            case 0:
                apduCase = .case3Short
            case 1:
                apduCase = .case4Short
                expectedLength = bytes[end] == 0 ? 256 : Int(bytes[end])
            default:
                throw Self.trailing(after: end + 1, count: count)
            }
        case 6:
            throw APDUError(
                .lengthTruncated,
                offset: 6,
                message: "could not read the command: 00 at byte 4 begins an extended length of 3 bytes, 2 are there"
            )
        case 7:
            apduCase = .case2Extended
            expectedLength = Self.extendedLe(bytes[5], bytes[6])
        default:
            let length = Int(bytes[5]) << 8 | Int(bytes[6])
            guard length > 0 else {
                throw APDUError(
                    .zeroLength,
                    offset: 5,
                    message: "could not read the command: its extended Lc is 0 and \(count - 7) bytes follow"
                )
            }
            let end = 7 + length
            data = try Self.dataRange(from: 7, to: end, count: count)
            switch count - end {
            case 0:
                apduCase = .case3Extended
            case 1:
                throw APDUError(
                    .lengthTruncated,
                    offset: count,
                    message: "could not read the command: after extended data Le has 2 bytes, 1 is there"
                )
            case 2:
                apduCase = .case4Extended
                expectedLength = Self.extendedLe(bytes[end], bytes[end + 1])
            default:
                throw Self.trailing(after: end + 2, count: count)
            }
        }
    }

    private static func extendedLe(_ high: UInt8, _ low: UInt8) -> Int {
        let value = Int(high) << 8 | Int(low)
        return value == 0 ? 65_536 : value
    }

    private static func dataRange(from start: Int, to end: Int, count: Int) throws(APDUError) -> Range<Int> {
        guard end <= count else {
            throw APDUError(
                .dataTruncated,
                offset: count,
                message: "could not read the command: Lc announces \(end - start) bytes, \(count - start) are there"
            )
        }
        return start..<end
    }

    private static func trailing(after end: Int, count: Int) -> APDUError {
        APDUError(
            .trailingBytes,
            offset: end,
            message: "could not read the command: it ends after \(end) bytes and \(count - end) more follow"
        )
    }
}
