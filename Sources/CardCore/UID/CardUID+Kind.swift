extension CardUID {
    /// What an identifier says of its card. The raw values are what JSON shows.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The same at every presentation, and no other card's by its maker's word. It can still be copied.
        case fixed
        /// Made anew at every presentation, or perhaps so: it identifies nobody.
        case random
        /// Perhaps other cards' too: it identifies nobody.
        case nonUnique
    }

    /// What the identifier says of its card. In doubt it is not ``Kind/fixed``, so that nobody is taken for another.
    ///
    /// | Technology | Bytes | Kind |
    /// |---|---|---|
    /// | ISO 14443 A | 4, first `08` | random (ISO/IEC 14443-3) |
    /// | | 4, first `xF` | nonUnique (NXP AN10927: fixed, but not unique) |
    /// | | 4, first `x8` (others) | nonUnique: reserved, `88` being the cascade tag |
    /// | | 4, others | fixed (the makers' ranges of before 2010) |
    /// | | 7, 10 | fixed |
    /// | ISO 14443 B | 4 | random: a PUPI may be made anew, and nothing in it tells |
    /// | | 8 | fixed (ST SR family) |
    /// | FeliCa | 8, first `01 FE` or `02 FE` | random (NFC-DEP, emulated cards) |
    /// | | 8, others | fixed |
    /// | ISO 15693 | 8 | fixed |
    /// | not known | 4, 7, 10 | as ISO 14443 A |
    /// | | 8 | as FeliCa, which holds for ISO 15693 too |
    ///
    /// Other lengths, and bytes that are all `00` or all `FF` as on blank or cleared cards, are nonUnique.
    public var kind: Kind {
        guard bytes.contains(where: { $0 != 0x00 }), bytes.contains(where: { $0 != 0xFF }) else { return .nonUnique }
        switch (technology, bytes.count) {
        case (.iso14443a, 4), (nil, 4):
            switch bytes[0] {
            case 0x08: return .random
            case let first where first & 0x0F == 0x0F || first & 0x0F == 0x08: return .nonUnique
            default: return .fixed
            }
        case (.iso14443a, 7), (.iso14443a, 10), (nil, 7), (nil, 10): return .fixed
        case (.iso14443b, 4): return .random
        case (.iso14443b, 8), (.iso15693, 8): return .fixed
        case (.felica, 8), (nil, 8):
            return (bytes[0] == 0x01 || bytes[0] == 0x02) && bytes[1] == 0xFE ? .random : .fixed
        default: return .nonUnique
        }
    }

    /// The manufacturer's code within the identifier, or `nil` where it has none.
    ///
    /// - ISO 14443 A, 7 and 10 bytes: the first byte (ISO/IEC 7816-6). A 4-byte identifier has none.
    /// - ISO 14443 B, 8 bytes beginning with D0 (ST SR family): the second byte.
    /// - ISO 15693: the second byte, after E0.
    /// - FeliCa: the first two bytes, of a register of its own; in a random IDm they are no code.
    ///
    /// Without a technology, 7 and 10 bytes are read as type A, and 8 bytes beginning with E0 as ISO 15693.
    public var manufacturerCode: UInt16? {
        switch (technology, bytes.count) {
        case (.iso14443a, 7), (.iso14443a, 10), (nil, 7), (nil, 10): UInt16(bytes[0])
        case (.iso14443b, 8): bytes[0] == 0xD0 ? UInt16(bytes[1]) : nil
        case (.iso15693, 8), (nil, 8): bytes[0] == 0xE0 ? UInt16(bytes[1]) : nil
        case (.felica, 8): kind == .fixed ? UInt16(bytes[0]) << 8 | UInt16(bytes[1]) : nil
        default: nil
        }
    }

    /// The chip's manufacturer, "unknown (0x…)" for a code that is not in the register, or `nil` where the identifier has
    /// no code. FeliCa's register is not public, so it is `nil` there too.
    public var manufacturer: String? {
        guard technology != .felica, let code = manufacturerCode.flatMap({ UInt8(exactly: $0) }) else { return nil }
        return ICManufacturer.name(of: code) ?? "unknown (0x\(Hex.encode([code])))"
    }
}
