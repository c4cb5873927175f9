/// A card's unique identifier, as it is read: most significant byte first for ISO 15693, transmission order otherwise.
///
/// It is no credential: every identifier can be copied. Its text for people (``description``) does not show it; use
/// ``hex`` or ``text(as:)`` where it is wanted.
public struct CardUID: Sendable, Hashable {
    /// The bytes: 4, 7 or 10 for ISO 14443 A, 4 for B, 8 for FeliCa and ISO 15693.
    public var bytes: [UInt8]

    /// The radio technology, which decides what the bytes mean.
    public var technology: Technology?

    /// An identifier.
    public init(_ bytes: [UInt8], technology: Technology?) {
        self.bytes = bytes
        self.technology = technology
    }

    /// An identifier as a reader answered it to `FF CA 00 00 00`.
    ///
    /// An ISO 15693 identifier begins with E0. Most readers return it so, some in transmission order, which ends with
    /// E0 and is turned round here.
    public init(readerBytes: [UInt8], technology: Technology?) {
        let isReversed =
            technology == .iso15693 && readerBytes.count == 8 && readerBytes.first != 0xE0 && readerBytes.last == 0xE0
        self.init(isReversed ? readerBytes.reversed() : readerBytes, technology: technology)
    }

    /// Whether a card of the technology has so many bytes: 4, 7 or 10 for ISO 14443 A, 4 for B or 8 for its older memory
    /// cards, 8 for FeliCa and ISO 15693; any of these where the technology is not known.
    public var hasKnownLength: Bool {
        switch technology {
        case .iso14443a: [4, 7, 10].contains(bytes.count)
        case .iso14443b: [4, 8].contains(bytes.count)
        case .felica, .iso15693: bytes.count == 8
        case nil: Self.lengths.contains(bytes.count)
        }
    }

    /// The longest identifier of a standard has 10.
    private static let longestText = 16

    /// Reads hexadecimal text of 1...16 bytes, of either case, with `:`, `-` or spaces between bytes or without, and
    /// with or without `0x` before it.
    ///
    /// - Throws: ``UIDError`` with `notHexadecimal`, `empty` or `tooLong`.
    public init(text: some StringProtocol, technology: Technology? = nil) throws(UIDError) {
        let prefix = text.hasPrefix("0x") || text.hasPrefix("0X") ? 2 : 0
        let bytes: [UInt8]
        func fault(_ code: UIDErrorCode, _ offset: Int, _ message: String) -> UIDError {
            UIDError(code, offset: offset, message: "could not read the identifier: " + message)
        }
        do {
            bytes = try Hex.decode(text.dropFirst(prefix))
        } catch {
            throw fault(.notHexadecimal, prefix + error.offset, "\(error)")
        }
        guard !bytes.isEmpty else { throw fault(.empty, text.utf8.count, "it has no bytes") }
        guard bytes.count <= Self.longestText else {
            throw fault(.tooLong, text.utf8.count, "it has \(bytes.count) bytes, more than \(Self.longestText)")
        }
        self.init(bytes, technology: technology)
    }
}

extension CardUID: Redacted {
    /// Its length and kind, without the identifier itself, so that logs and error texts do not show it.
    public var description: String { "\(kind.rawValue) UID of \(bytes.count) \(bytes.count == 1 ? "byte" : "bytes")" }
}

// MARK: - The card at hand

extension CardUID {
    /// The identifier in the facts of a card: from anticollision (type A), polling (FeliCa), or the PUPI of type B.
    package init?(facts: CardFacts) {
        guard let bytes = ["uid", "idm", "pupi"].lazy.compactMap({ facts[$0] }).first(where: { !$0.isEmpty }) else {
            return nil
        }
        self.init(readerBytes: bytes, facts: facts)
    }

    fileprivate init(readerBytes: [UInt8], facts: CardFacts) {
        let technology = facts.technology ?? facts.effectiveATR.flatMap { try? ATR($0) }?.technology
        self.init(readerBytes: readerBytes, technology: technology)
    }

    /// The lengths that identifiers have: ISO 14443 A 4, 7 and 10 bytes, B 4 or 8, FeliCa and ISO 15693 8.
    package static let lengths = [4, 7, 8, 10]
}

extension CardChannel {
    /// The identifier in the facts of the card, else in the reader's answer to `FF CA 00 00 00`; `nil` if in neither.
    ///
    /// A random identifier is one too: ``CardUID/kind-swift.property`` describes what it is worth.
    ///
    /// - Throws: ``ReaderError`` if the link to the card fails.
    package func identifier() throws(ReaderError) -> CardUID? {
        guard let uid = try anyIdentifier(), uid.hasKnownLength else { return nil }
        return uid
    }

    /// The same, also one of a length that no card has, for who reports that.
    package func anyIdentifier() throws(ReaderError) -> CardUID? {
        if let uid = CardUID(facts: facts) { return uid }
        guard capabilities.hasPseudoAPDUs else {
            return (facts["uid"] ?? facts["idm"] ?? facts["pupi"]).map { CardUID($0, technology: facts.technology) }
        }
        do throws(ReaderError) {
            let answer = try send(.getUID)
            // PC/SC part 3 (section 3.2.2.1.3): status 6282 means that the end was reached before the length asked for, and
            // the data are whole. With any other warning they are not to be relied on.
            guard answer.isSuccess || answer.statusWord == .endReached else { return nil }
            return CardUID(readerBytes: answer.data, facts: facts)
        } catch {
            // A way to cards without a reader that answers this.
            if error.kind == .unsupported { return nil }
            throw error
        }
    }
}

// The identifier as anticollision transmits it (ISO/IEC 14443-3, section 6.5).
extension CardUID {
    /// The byte that states that more of the identifier follows on the next cascade level.
    public static let cascadeTag: UInt8 = 0x88

    /// The check byte BCC of a cascade level: the exclusive or of its four bytes, the cascade tag included.
    public static func checkByte(of bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0, ^) }

    /// The cascade levels of a type A identifier of 4, 7 or 10 bytes: five bytes each, the last being the check byte.
    /// `nil` for other lengths.
    ///
    /// ```text
    /// 4 bytes    u0 u1 u2 u3 BCC
    /// 7 bytes    88 u0 u1 u2 BCC   u3 u4 u5 u6 BCC
    /// 10 bytes   88 u0 u1 u2 BCC   88 u3 u4 u5 BCC   u6 u7 u8 u9 BCC
    /// ```
    public var cascadeLevels: [[UInt8]]? {
        guard [4, 7, 10].contains(bytes.count) else { return nil }
        var levels: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count > 4 {
            levels.append([Self.cascadeTag] + rest.prefix(3))
            rest = rest.dropFirst(3)
        }
        levels.append(Array(rest))
        return levels.map { $0 + [Self.checkByte(of: $0)] }
    }
}

extension CardUID {
    /// How far an identifier identifies its card. The raw values are those in JSON.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The same at every presentation, and no other card's by its maker's word. It can still be copied.
        case fixed
        /// Made anew at every presentation, or perhaps so: it identifies nobody.
        case random
        /// Perhaps other cards' too: it identifies nobody.
        case nonUnique
    }

    /// How far it identifies its card. In doubt it is not ``Kind/fixed``, so that nobody is taken for another.
    ///
    /// | Technology | Bytes | Kind |
    /// |---|---|---|
    /// | ISO 14443 A | 4, first `08` | random (ISO/IEC 14443-3) |
    /// | | 4, first `xF` | nonUnique (NXP AN10927: fixed, but not unique) |
    /// | | 4, first `x8` (others) | nonUnique: reserved, `88` being the cascade tag |
    /// | | 4, others | fixed (the makers' ranges of before 2010) |
    /// | | 7, 10 | fixed |
    /// | ISO 14443 B | 4 | random: a PUPI may be made anew, and nothing in it shows whether it was |
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

/// The register of integrated-circuit manufacturers (ISO/IEC 7816-6; kept by ISO/IEC JTC 1/SC 17 as standing document 5,
/// here as of March 2023, up to 7E).
///
/// 00, 6E and 6F are not assigned; the codes above 7E were private ones for long, and an identifier of ISO 14443-3 must
/// not begin with 81 to FE.
public enum ICManufacturer {
    /// The manufacturer of that code, or `nil` if the code is not assigned here. Names drift as companies are bought.
    public static func name(of code: UInt8) -> String? { names[code] }

    private static let names: [UInt8: String] = [
        0x01: "Motorola", 0x02: "STMicroelectronics", 0x03: "Hitachi", 0x04: "NXP", 0x05: "Infineon",
        0x06: "Cylink", 0x07: "Texas Instruments", 0x08: "Fujitsu", 0x09: "Matsushita", 0x0A: "NEC", 0x0B: "Oki",
        0x0C: "Toshiba", 0x0D: "Mitsubishi", 0x0E: "Samsung", 0x0F: "Hynix", 0x10: "LG", 0x11: "Emosyn-EM",
        0x12: "INSIDE", 0x13: "ORGA", 0x14: "Sharp", 0x15: "Atmel", 0x16: "EM Microelectronic-Marin",
        0x17: "KSW (SMARTRAC)", 0x18: "ZMD", 0x19: "Xicor", 0x1A: "Sony", 0x1B: "Malaysia Microelectronic",
        0x1C: "Emosyn", 0x1D: "Fudan", 0x1E: "Magellan", 0x1F: "Melexis", 0x20: "Renesas", 0x21: "TAGSYS",
        0x22: "Transcore", 0x23: "Shanghai Belling", 0x24: "Masktech", 0x25: "Innovision", 0x26: "Hitachi ULSI",
        0x27: "Yubico (Cypak)", 0x28: "Ricoh", 0x29: "ASK", 0x2A: "Unicore", 0x2B: "Dallas/Maxim",
        0x2C: "Impinj", 0x2D: "RightPlug", 0x2E: "Broadcom", 0x2F: "MStar", 0x30: "BeeDar", 0x31: "RFIDsec",
        0x32: "Schweizer Electronic", 0x33: "AMIC", 0x34: "Mikron", 0x35: "Fraunhofer", 0x36: "IDS Microchip",
        0x37: "Kovio", 0x38: "HMT", 0x39: "Silicon Craft", 0x3A: "Advanced Film Device", 0x3B: "Nitecrest",
        0x3C: "Verayo", 0x3D: "HID Global", 0x3E: "Productivity Engineering", 0x3F: "austriamicrosystems",
        0x40: "Gemalto", 0x41: "Renesas Electronics", 0x42: "3ALogics", 0x43: "Top TroniQ Asia", 0x44: "Gentag",
        0x45: "Invengo", 0x46: "Guangzhou Sysur", 0x47: "CEITEC", 0x48: "Quanray", 0x49: "MediaTek",
        0x4A: "Angstrem", 0x4B: "Celisic", 0x4C: "LEGIC", 0x4D: "Balluff", 0x4E: "Oberthur", 0x4F: "SilTerra",
        0x50: "DELTA", 0x51: "Giesecke & Devrient", 0x52: "Shenzhen China Vision", 0x53: "Shanghai Feiju",
        0x54: "Intel", 0x55: "microsensys", 0x56: "Sonix", 0x57: "Qualcomm", 0x58: "Realtek", 0x59: "Freevision",
        0x5A: "Giantec", 0x5B: "Angstrem-T", 0x5C: "STARCHIP", 0x5D: "SPIRTECH", 0x5E: "GANTNER", 0x5F: "Nordic",
        0x60: "Verisiti", 0x61: "Wearlinks", 0x62: "Userstar", 0x63: "Pragmatic", 0x64: "LSI-TEC",
        0x65: "Tendyron", 0x66: "MUTO Smart", 0x67: "ON Semiconductor", 0x68: "TÜBİTAK BİLGEM", 0x69: "Huada",
        0x6A: "SEVENEY", 0x6B: "ISSM (Thales)", 0x6C: "Wisesec", 0x6D: "NM-Teh", 0x70: "ifm electronic",
        0x71: "Sichuan Kiloway", 0x72: "Ford", 0x73: "Tsingteng", 0x74: "Huada EverCore", 0x75: "Smartchip",
        0x76: "Tongxin", 0x77: "Ningbo IOT", 0x78: "AU Optronics", 0x79: "Cubic", 0x7A: "Abbott Diabetes Care",
        0x7B: "Nation RFID", 0x7C: "DB HiTek", 0x7D: "SATO Vicinity", 0x7E: "Holtek",
    ]
}

/// A text is not a card's identifier.
public typealias UIDError = InputError<UIDErrorCode>

/// What can be wrong with an identifier.
public enum UIDErrorCode: String, InputErrorCode {
    /// A character that is no hexadecimal digit, or an odd number of digits.
    case notHexadecimal
    /// No bytes.
    case empty
    /// More bytes than any identifier has.
    case tooLong
    /// A number that is not printed so, or as no card's.
    case otherForm
    /// A form that shows only a part of the identifier.
    case onlyPart

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .notHexadecimal: "Write two digits 0-9 or A-F for each byte, as 04A1B2C3 or 04:A1:B2:C3."
        case .empty: "Write at least one byte, as 04A1B2C3."
        case .tooLong: "An identifier has 4, 7, 8 or 10 bytes; check that nothing else was copied with it."
        case .otherForm: "'readerctl uid --from NUMBER' lists the forms that fit."
        case .onlyPart: "Read the card itself for all of it."
        }
    }
}
