// The forms in which readers and software print identifiers.
extension CardUID {
    /// Upper-case hexadecimal, in the order as read: `04A1B2C3`.
    public var hex: String { bytes.hex }

    /// Upper-case hexadecimal, last byte first: `C3B2A104`.
    public var hexReversed: String { bytes.reversed().hex }

    /// The number in decimal, first byte most significant, at least ten digits: `0077705923`; empty without bytes.
    public var decimal: String { Self.decimal(bytes, width: 10) }

    /// The number in decimal, last byte most significant, at least ten digits: `3283263748`; empty without bytes.
    public var decimalReversed: String { Self.decimal(bytes.reversed(), width: 10) }

    /// The low-order three bytes (the last three as read) as two decimal numbers: `213,02000` for `00D507D0`.
    public var threePlusFive: String? {
        let number = lowOrder(bits: 24)
        return bytes.isEmpty ? nil : "\(Self.padded(number >> 16, 3)),\(Self.padded(number & 0xFFFF, 5))"
    }

    /// The low-order three bytes (the last three as read) in Wiegand 26 (H10301), in hexadecimal: `3AA0FA1` for `00D507D0`.
    public var wiegand26: String? { wiegand(.h10301) }

    /// The low-order four bytes (the last four as read) in Wiegand 34, in hexadecimal: `09436587` for `04A1B2C3`.
    public var wiegand34: String? { wiegand(.h10306) }

    private func wiegand(_ format: Wiegand.Format) -> String? {
        bytes.isEmpty ? nil : Wiegand(format, number: lowOrder(bits: format.dataBits))?.hex
    }

    /// The low-order bits, at most 63.
    private func lowOrder(bits: Int) -> UInt64 {
        bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & (1 << UInt64(bits) - 1)
    }

    static func padded(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// The decimal digits, at least that many, of a number of any length, most significant byte first.
    static func decimal(_ bytes: [UInt8], width: Int) -> String {
        guard !bytes.isEmpty else { return "" }
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
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
