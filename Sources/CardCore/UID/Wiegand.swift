/// A number as an access controller's Wiegand line carries it: data bits between two parity bits.
///
/// ```text
///           parity   data                        parity
/// h10301    even 12  facility 8    card 16       odd 12     26 bits
/// h10306    even 16  facility 16   card 16       odd 16     34 bits
/// h10302    even 18  card 35                     odd 18     37 bits
/// h10304    even 18  facility 16   card 19       odd 18     37 bits
/// ```
///
/// The first parity bit makes the number of ones among itself and that many first data bits even, the last makes that of
/// itself and that many last data bits odd. In the 37-bit formats the middle data bit counts for both.
public struct Wiegand: Sendable, Hashable {
    /// The format.
    public let format: Format

    /// The data bits without parity: the facility code, if the format has one, then the card number.
    public let number: UInt64

    /// The usual formats, by HID's names.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// 26 bits: facility code 0...255, card number 0...65 535.
        case h10301
        /// 34 bits: facility code and card number 0...65 535, or one number of 32 bits.
        case h10306
        /// 37 bits: card number of 35 bits.
        case h10302
        /// 37 bits: facility code 0...65 535, card number 0...524 287.
        case h10304

        /// The number of bits of the facility code, 0 if the format has none.
        public var facilityBits: Int {
            switch self {
            case .h10301: 8
            case .h10306, .h10304: 16
            case .h10302: 0
            }
        }

        /// The number of bits of the card number.
        public var cardBits: Int {
            switch self {
            case .h10301, .h10306: 16
            case .h10302: 35
            case .h10304: 19
            }
        }

        /// The number of data bits: 24, 32 or 35.
        public var dataBits: Int { facilityBits + cardBits }

        /// The number of bits with parity: 26, 34 or 37.
        public var totalBits: Int { dataBits + 2 }

        /// How many data bits each parity bit covers.
        var coveredBits: Int { (dataBits + 1) / 2 }
    }

    /// A number in a format; `nil` if it has more bits than the format.
    public init?(_ format: Format, number: UInt64) {
        guard number >> format.dataBits == 0 else { return nil }
        self.format = format
        self.number = number
    }

    /// The facility code, 0 if the format has none.
    public var facilityCode: Int { Int(truncatingIfNeeded: number >> format.cardBits) }

    /// The card number.
    public var cardNumber: Int { Int(truncatingIfNeeded: number & (1 << format.cardBits - 1)) }

    /// What the line carries, first bit highest, parity included.
    public var frame: UInt64 {
        let covered = format.coveredBits
        let first = number >> (format.dataBits - covered)
        let last = number & (1 << covered - 1)
        let even = UInt64(first.nonzeroBitCount % 2)
        let odd = UInt64(1 - last.nonzeroBitCount % 2)
        return even << (format.dataBits + 1) | number << 1 | odd
    }

    /// The frame in upper-case hexadecimal, right-aligned: 7 digits for 26 bits, 10 for 37, and for 34 bits 8 digits, or
    /// 9 when the first parity bit is set.
    public var hex: String {
        let digits = String(frame, radix: 16, uppercase: true)
        let width = format.totalBits == 34 ? 8 : (format.totalBits + 3) / 4
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
