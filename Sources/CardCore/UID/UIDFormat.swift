/// A printed form of a card's identifier, with its byte order, its width and the end that is cut off made explicit.
///
/// A form is made in three steps: ``selection`` takes bytes from the identifier as it is read, ``order`` names which of
/// them comes first, and ``notation`` writes the number that they are.
///
/// ```swift
/// uid.text(as: .hex)                                                  // 04A1B2C3D4E580
/// uid.text(as: UIDFormat(.wiegand(.h10301)))                          // from the last three bytes, D4E580
/// uid.text(as: UIDFormat(.wiegand(.h10301), selection: .first(3)))    // from the first three bytes, 04A1B2
/// ```
public struct UIDFormat: Sendable, Hashable {
    /// Which bytes are taken from the identifier as it is read, before they are put in order.
    public var selection: Selection

    /// The order of the bytes taken.
    public var order: ByteOrder

    /// How the number that they are is written.
    public var notation: Notation

    /// Which bytes are taken.
    public enum Selection: Sendable, Hashable {
        /// All of them.
        case all
        /// The first bytes, as read; an identifier with fewer has no such form. At least 1.
        case first(Int)
        /// The last bytes, as read; an identifier with fewer has no such form. At least 1.
        case last(Int)
    }

    /// Which byte is the most significant.
    public enum ByteOrder: String, Sendable, Hashable, CaseIterable {
        /// The first byte as read ("big-endian").
        case asRead
        /// The last byte as read ("little-endian").
        case reversed
    }

    /// How a number is written.
    ///
    /// A notation of fixed width takes the low-order bits of a longer number, that is the last bytes of ``ByteOrder/asRead``
    /// and the first bytes of ``ByteOrder/reversed``, and fills a shorter number with zeros on the left.
    public enum Notation: Sendable, Hashable {
        /// Two upper-case hexadecimal digits for each byte, with the separator between bytes.
        case hex(separator: String)
        /// Decimal, filled with zeros on the left to at least that many digits, 0...64. A number with more is not cut.
        case decimal(minimumDigits: Int)
        /// Three bytes as two decimal numbers, as printed on many cards: `213,02000`.
        case threePlusFive
        /// The data bits of a Wiegand format between its parity bits, in hexadecimal; see ``Wiegand/hex``.
        case wiegand(Wiegand.Format)
    }

    /// A form; by default of all bytes in the order as read.
    public init(_ notation: Notation, order: ByteOrder = .asRead, selection: Selection = .all) {
        self.selection = selection
        self.order = order
        self.notation = notation
    }

    /// `04A1B2C3`.
    public static let hex = UIDFormat(.hex(separator: ""))
    /// `04:A1:B2:C3`.
    public static let hexWithColons = UIDFormat(.hex(separator: ":"))
    /// `C3B2A104`.
    public static let hexReversed = UIDFormat(.hex(separator: ""), order: .reversed)
    /// At least ten digits: `0077705923`. Identifiers of 5 bytes and more are the plain number.
    public static let decimal = UIDFormat(.decimal(minimumDigits: 10))
    /// At least ten digits, bytes reversed: `3283263748`.
    public static let decimalReversed = UIDFormat(.decimal(minimumDigits: 10), order: .reversed)
    /// The last three bytes: `213,02000` for `00D507D0`.
    public static let threePlusFive = UIDFormat(.threePlusFive)
    /// The last three bytes in 26 bits: `3AA0FA1` for `00D507D0`.
    public static let wiegand26 = UIDFormat(.wiegand(.h10301))
    /// The last four bytes in 34 bits: `09436587` for `04A1B2C3`.
    public static let wiegand34 = UIDFormat(.wiegand(.h10306))
    /// The low-order 35 bits in 37 bits, as one card number (H10302).
    public static let wiegand37 = UIDFormat(.wiegand(.h10302))

    /// Writes an identifier; `nil` if it has no bytes or fewer than the selection takes.
    public func text(of uid: CardUID) -> String? {
        guard let selected = selection.bytes(of: uid.bytes), !selected.isEmpty else { return nil }
        let bytes = order == .asRead ? selected : selected.reversed()
        switch notation {
        case .hex(let separator): return Hex.encode(bytes, separator: separator)
        case .decimal(let digits): return Self.decimal(bytes, minimumDigits: digits)
        case .threePlusFive:
            let number = Self.lowOrder(bytes, bits: 24)
            return "\(Self.padded(number >> 16, 3)),\(Self.padded(number & 0xFFFF, 5))"
        case .wiegand(let format):
            return Wiegand(format, number: Self.lowOrder(bytes, bits: format.dataBits))?.hex
        }
    }

    /// The low-order bits, at most 63, of a number of any length.
    private static func lowOrder(_ bytes: [UInt8], bits: Int) -> UInt64 {
        bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & (1 << UInt64(bits) - 1)
    }

    private static func padded(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// The decimal digits of a number of any length, most significant byte first.
    private static func decimal(_ bytes: [UInt8], minimumDigits: Int) -> String {
        // Nine decimal digits in each limb, the lowest first: a limb times 256 and a carry is far from overflow.
        let base: UInt64 = 1_000_000_000
        var limbs: [UInt64] = [0]
        for byte in bytes {
            var carry = UInt64(byte)
            for index in limbs.indices {
                let value = limbs[index] << 8 | carry
                limbs[index] = value % base
                carry = value / base
            }
            if carry > 0 { limbs.append(carry) }
        }
        var digits = String(limbs[limbs.count - 1])
        for limb in limbs.dropLast().reversed() { digits += padded(limb, 9) }
        // No identifier needs more zeros than this; an absurd width must not become an absurd allocation.
        let width = min(max(0, minimumDigits), 64)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension UIDFormat.Selection {
    /// The bytes taken, or `nil` if there are too few.
    func bytes(of bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .all: bytes
        case .first(let count): (1...max(1, bytes.count)).contains(count) ? Array(bytes.prefix(count)) : nil
        case .last(let count): (1...max(1, bytes.count)).contains(count) ? Array(bytes.suffix(count)) : nil
        }
    }
}

extension CardUID {
    /// A printed form; `nil` if the identifier has no bytes or fewer than the form takes.
    public func text(as format: UIDFormat) -> String? {
        format.text(of: self)
    }

    /// Upper-case hexadecimal, in the order as read.
    public var hex: String { bytes.hex }

    /// Upper-case hexadecimal, last byte first.
    public var hexReversed: String { bytes.reversed().hex }

    /// The number in decimal, first byte most significant, at least ten digits; empty without bytes.
    public var decimal: String { text(as: .decimal) ?? "" }

    /// The number in decimal, last byte most significant, at least ten digits; empty without bytes.
    public var decimalReversed: String { text(as: .decimalReversed) ?? "" }

    /// The low-order three bytes (the last three as read) as `213,02000`.
    public var threePlusFive: String? { text(as: .threePlusFive) }

    /// The low-order three bytes (the last three as read) in Wiegand 26 (H10301), in hexadecimal.
    public var wiegand26: String? { text(as: .wiegand26) }

    /// The low-order four bytes (the last four as read) in Wiegand 34, in hexadecimal.
    public var wiegand34: String? { text(as: .wiegand34) }
}
