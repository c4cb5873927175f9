/// The two bytes that end every answer of a card or a reader (SW1 and SW2 of ISO/IEC 7816-4).
///
/// A status word other than `9000` is an answer, not an error. What some of them mean depends on who is asked: `6100`
/// and `6287` are results of their own in a mobile pass's answer, so nothing here acts on them.
public struct StatusWord: RawRepresentable, Sendable, Hashable {
    /// SW1 in the high byte, SW2 in the low byte.
    public var rawValue: UInt16

    /// A status word of that number, such as `0x9000`.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A status word of that number, such as `0x9000`.
    public init(_ rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A status word of two bytes.
    public init(sw1: UInt8, sw2: UInt8) {
        rawValue = UInt16(sw1) << 8 | UInt16(sw2)
    }

    /// The first byte.
    public var sw1: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }

    /// The second byte.
    public var sw2: UInt8 { UInt8(truncatingIfNeeded: rawValue) }

    /// Whether it is `9000`, the one normal end without anything more to fetch.
    public var isSuccess: Bool { rawValue == 0x9000 }

    /// What kind of result it is, by the ranges of ISO/IEC 7816-4.
    public enum Classification: Sendable, Hashable {
        /// `9000`.
        case success
        /// `61xx`: normal end; `count` more bytes, 1...256, can be fetched with GET RESPONSE (`6100`: 256 or more).
        case moreData(count: Int)
        /// `6Cxx`: the same command succeeds with `correct` as expected length, 1...256.
        case wrongLength(correct: Int)
        /// `62xx` and `63xx`: done, with a reservation; data may have come.
        case warning
        /// `64xx` to `66xx`: the card could not carry the command out.
        case executionError
        /// `67xx` to `6Fxx` but `6Cxx`: the card did not accept the command.
        case checkingError
        /// `90xx` (but `9000`) to `9Fxx`: given a meaning by the card's or the reader's maker.
        case proprietary
        /// `60xx` and whatever begins with neither 6 nor 9: not a status word of the standard.
        case invalid
    }

    /// What kind of result it is.
    public var classification: Classification {
        let count = sw2 == 0 ? 256 : Int(sw2)
        return switch sw1 {
        case _ where isSuccess: .success
        case 0x61: .moreData(count: count)
        case 0x62, 0x63: .warning
        case 0x64...0x66: .executionError
        case 0x6C: .wrongLength(correct: count)
        case 0x67...0x6F: .checkingError
        case 0x90...0x9F: .proprietary
        default: .invalid
        }
    }

    /// The tries left, 0...15, that `63Cx` tells after a failed verification; otherwise `nil`.
    public var triesLeft: Int? {
        rawValue & 0xFFF0 == 0x63C0 ? Int(rawValue & 0x000F) : nil
    }

    /// The vendor's own status (STA) in a SpringCore reader's `6Fxx` and `90xx`, or `nil` for `6F00`, `9000` and others.
    ///
    /// A card may send `6Fxx` too; only an answer to a pseudo-APDU of class FF is certainly the reader's.
    public var readerStatus: UInt8? {
        (sw1 == 0x6F || sw1 == 0x90) && sw2 != 0 ? sw2 : nil
    }
}

extension StatusWord: CustomStringConvertible {
    /// The four digits and the name, as `9000 success`.
    public var description: String {
        "\([sw1, sw2].hex) \(name)"
    }
}
