/// The contents of a storage card's ATR: a card without a processor, for which the reader answers (PC/SC part 3,
/// section 3.1.3.2.3.1).
///
/// ```text
/// 3B 8F 80 01 80 4F 0C A0 00 00 03 06 SS NN NN 00 00 00 00 TCK
/// ```
public struct StorageCard: Sendable, Hashable {
    /// The standard, byte SS.
    public var standard: UInt8

    /// The number of the card's name, bytes NN.
    public var nameCode: UInt16

    package init(standard: UInt8, nameCode: UInt16) { (self.standard, self.nameCode) = (standard, nameCode) }
}

extension StorageCard {
    /// Reads the historical bytes of an ATR; `nil` if they are not a storage card's. Some readers leave out the four zeros at
    /// the end.
    public init?(historicalBytes bytes: [UInt8]) {
        // Category indicator, the tag and length of an application identifier, the PC/SC workgroup.
        guard bytes.count >= 11, bytes.starts(with: [0x80, 0x4F]),
            bytes[3...].starts(with: [0xA0, 0x00, 0x00, 0x03, 0x06])
        else { return nil }
        self.init(standard: bytes[8], nameCode: UInt16(bytes[9]) << 8 | UInt16(bytes[10]))
    }

    /// The radio technology, or `nil` for a standard that has none or none of ours.
    ///
    /// A name that has a technology of its own counts before the standard, which readers of the ACR122 family leave at 03
    /// for FeliCa too (ACR122T API 7.3).
    public var technology: Technology? {
        if let technology = Self.technology(ofName: nameCode) { return technology }
        return switch standard {
        case 0x01...0x03: .iso14443a
        case 0x05...0x07: .iso14443b
        case 0x09...0x0C: .iso15693
        case 0x11: .felica
        default: nil
        }
    }

    /// The SAK of a card that a reader knows no name for, which some makers put into the name as `FFxx`.
    public var sak: UInt8? {
        guard technology == .iso14443a, nameCode >> 8 == 0xFF, Self.names[nameCode] == nil else { return nil }
        return UInt8(truncatingIfNeeded: nameCode)
    }

    /// Whether the card may be of Type 2 for all that the reader tells: it names no product, and no technology but type A.
    ///
    /// Memory cards with contacts (standards 0D to 10) and cards of low frequency (40) are other kinds.
    package var mayBeType2: Bool {
        let isOther = (0x0D...0x10).contains(standard) || standard == 0x40
        return isUnnamed && (technology == .iso14443a || technology == nil && !isOther)
    }

    /// Whether the reader names no product.
    private var isUnnamed: Bool { nameCode == 0xFFA0 || name == nil && sak == nil }

    /// The name of the card, or `nil` for an unassigned number.
    ///
    /// NTAG21x tags come as "MIFARE Ultralight" from nearly every reader, and copies come as what they copy.
    public var name: String? {
        if let name = Self.names[nameCode] { return name }
        guard let sak else { return nil }
        switch sak {
        case 0x20: return "ISO 14443-4 A (SAK 20)"
        case 0x28: return "ISO 14443-4 A with MIFARE Classic 1K (SAK 28)"
        case 0x40: return "NFC-DEP target (SAK 40)"
        case 0x88: return "MIFARE Classic 1K (SAK 88)"
        default: return nil
        }
    }

    /// The name of the card or, if it has none, what is known of it.
    public var displayName: String {
        if let name { return name }
        let family =
            switch technology {
            case .iso14443a: "ISO 14443 A card"
            case .iso14443b: "ISO 14443 B card"
            case .felica: "FeliCa card"
            case .iso15693: "ISO 15693 card"
            case nil: "storage card"
            }
        if nameCode == 0 { return "unknown \(family)" }
        if let sak { return "unknown \(family) (SAK \(Hex.encode([sak])))" }
        let code = Hex.encode([UInt8(truncatingIfNeeded: nameCode >> 8), UInt8(truncatingIfNeeded: nameCode)])
        return "unknown \(family) (name \(code))"
    }
}

extension StorageCard {
    /// The technology of the cards of a name; `nil` for names of several (PicoPass), of none of ours, and for SAKs.
    private static func technology(ofName code: UInt16) -> Technology? {
        switch code {
        case 0x0001...0x0004, 0x0026...0x002A, 0x002F, 0x0030, 0x0036...0x003A, 0x003D, 0xF004, 0xFFA0, 0xFFA1:
            .iso14443a
        case 0x0006...0x000D, 0x0031...0x0034, 0xFFB0...0xFFB8: .iso14443b
        case 0x000E...0x0015, 0x0021, 0x0024, 0x0025, 0x002B, 0x0035, 0x003C, 0xFFD0...0xFFD3: .iso15693
        case 0x003B, 0xF011, 0xF012: .felica
        default: nil
        }
    }

    /// The assigned numbers (PC/SC part 3, supplemental document), SpringCard's own (FFxx) and other makers' (F0xx).
    static let names: [UInt16: String] = [
        0x0001: "MIFARE Classic 1K", 0x0002: "MIFARE Classic 4K", 0x0003: "MIFARE Ultralight", 0x0004: "SLE55R",
        0x0006: "SR176", 0x0007: "SRIX4K", 0x0008: "AT88RF020", 0x0009: "AT88SC0204CRF", 0x000A: "AT88SC0808CRF",
        0x000B: "AT88SC1616CRF", 0x000C: "AT88SC3216CRF", 0x000D: "AT88SC6416CRF", 0x000E: "SRF55V10P",
        0x000F: "SRF55V02P", 0x0010: "SRF55V10S", 0x0011: "SRF55V02S", 0x0012: "Tag-it", 0x0013: "LRI512",
        0x0014: "ICODE SLI", 0x0015: "TEMPSENS", 0x0016: "ICODE1", 0x0017: "PicoPass 2K", 0x0018: "PicoPass 2KS",
        0x0019: "PicoPass 16K", 0x001A: "PicoPass 16KS", 0x001B: "PicoPass 16K (8x2)",
        0x001C: "PicoPass 16KS (8x2)", 0x001D: "PicoPass 32KS (16+16)", 0x001E: "PicoPass 32KS (16+8x2)",
        0x001F: "PicoPass 32KS (8x2+16)", 0x0020: "PicoPass 32KS (8x2+8x2)", 0x0021: "LRI64",
        0x0022: "ICODE UID", 0x0023: "ICODE EPC", 0x0024: "LRI12", 0x0025: "LRI128", 0x0026: "MIFARE Mini",
        0x0027: "my-d move", 0x0028: "my-d NFC", 0x0029: "my-d proximity 2", 0x002A: "my-d proximity enhanced",
        0x002B: "my-d light", 0x002C: "PJM stack tag", 0x002D: "PJM item tag", 0x002E: "PJM light", 0x002F: "Jewel",
        0x0030: "Topaz", 0x0031: "AT88SC0104CRF", 0x0032: "AT88SC0404CRF", 0x0033: "AT88RF01C",
        0x0034: "AT88RF04C", 0x0035: "ICODE SL2", 0x0036: "MIFARE Plus SL1 2K", 0x0037: "MIFARE Plus SL1 4K",
        0x0038: "MIFARE Plus SL2 2K", 0x0039: "MIFARE Plus SL2 4K", 0x003A: "MIFARE Ultralight C",
        0x003B: "FeliCa", 0x003C: "MLX90129", 0x003D: "MIFARE Ultralight EV1",
        // ACS, of the ACR122 family alone.
        0xF004: "Topaz", 0xF011: "FeliCa 212 kbit/s", 0xF012: "FeliCa 424 kbit/s",
        // SpringCard.
        0xFFA0: "unknown ISO 14443 A card", 0xFFA1: "Kovio", 0xFFB0: "unknown ISO 14443 B card",
        0xFFB1: "ASK CTS256", 0xFFB2: "ASK CTS512", 0xFFB3: "SRI4K", 0xFFB4: "SRIX512", 0xFFB5: "SRI512",
        0xFFB6: "SRT512", 0xFFB7: "PicoTag", 0xFFB8: "AT88", 0xFFC0: "Calypso Innovatron",
        0xFFD0: "unknown ISO 15693 card", 0xFFD1: "EM or Legic", 0xFFD2: "ST ISO 15693 card",
        0xFFD3: "ST ISO 15693 card", 0xFFE1: "ICODE UID-OTP", 0xFFE2: "EPC", 0xFFFF: "virtual card",
    ]
}
