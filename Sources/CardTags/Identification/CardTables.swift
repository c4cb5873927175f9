import CardCore

/// The products as the makers' data sheets and application notes describe them: the one place for tables, but
/// for the versions of Type 2 chips, which stand with their layouts (``Type2Version``).
package enum CardTables {
    // MARK: - Type 2

    /// The chip that answers GET VERSION (60) so.
    package static func type2(version answer: [UInt8]) -> CardProduct? {
        Type2Version(answer: answer).map {
            CardProduct($0.type == 0x03 ? .ultralight : .ntag2, $0.name, memory: $0.memory)
        }
    }

    /// What the size byte of a Type 2 capability container is usual for.
    static func type2(containerSize size: UInt8) -> (product: CardProduct, certainty: Card.Certainty) {
        if let only = [Type2Product.ntag215, .ntag216].first(where: { $0.sizeByte == size }) {
            return (CardProduct(.ntag2, only), .likely)
        }
        let usual =
            switch size {
            case 0x06: " (Ultralight, NTAG210 or alike)"
            case 0x10: " (Ultralight EV1 or NTAG212)"
            case 0x12: " (NTAG213, NTAG203 or Ultralight C)"
            default: ""
            }
        let memory = Int(size) * 8
        return (CardProduct(.type2, "Type 2 tag of \(memory) bytes" + usual, memory: memory), .possible)
    }

    // MARK: - ISO 14443-4: GET VERSION (90 60), the seven bytes of the hardware

    /// The card whose hardware is of that version: vendor, type, subtype, major, minor, size, protocol.
    static func iso14443a4(version: [UInt8]) -> CardProduct? {
        guard version.count >= 7, version[0] == 0x04 else { return nil }
        let memory = storage(version[5])
        let size = memory.map { $0 >= 1024 ? " \($0 / 1024)K" : "" } ?? ""
        // The high half of the type describes the chip under the program, such as a Java card.
        switch (version[1] & 0x0F, version[3]) {
        case (0x01, 0x00): return CardProduct(.desfire, "MIFARE DESFire" + size, memory: memory)
        case (0x01, 0x01): return CardProduct(.desfire, "MIFARE DESFire EV1" + size, memory: memory)
        case (0x01, 0x12), (0x01, 0x22): return CardProduct(.desfire, "MIFARE DESFire EV2" + size, memory: memory)
        case (0x01, 0x33), (0x01, 0x42): return CardProduct(.desfire, "MIFARE DESFire EV3" + size, memory: memory)
        case (0x01, _): return CardProduct(.desfire, "MIFARE DESFire" + size, memory: memory)
        case (0x02, 0x11): return CardProduct(.plus, "MIFARE Plus EV1" + size, memory: memory)
        case (0x02, 0x22): return CardProduct(.plus, "MIFARE Plus EV2" + size, memory: memory)
        case (0x02, _): return CardProduct(.plus, "MIFARE Plus" + size, memory: memory)
        case (0x08, _): return CardProduct(.desfire, "MIFARE DESFire Light", memory: 640)
        case (0x04, 0x10): return CardProduct(.ntag4, "NTAG 413 DNA", memory: 160)
        case (0x04, 0x30) where version[2] == 0x08:
            return CardProduct(.ntag4, "NTAG 424 DNA TagTamper", memory: 416)
        case (0x04, _): return CardProduct(.ntag4, "NTAG 424 DNA", memory: 416)
        default: return nil
        }
    }

    /// The size in bytes that the storage byte states: a power of two, or `nil` where it lies between two.
    private static func storage(_ byte: UInt8) -> Int? { byte & 1 == 0 && byte >> 1 < 30 ? 1 << Int(byte >> 1) : nil }

    // MARK: - ISO 14443-4: historical bytes

    /// The card with those historical bytes, where they are usual for one.
    static func iso14443a4(historicalBytes bytes: [UInt8]) -> (product: CardProduct, certainty: Card.Certainty)? {
        // Some readers report the whole of DESFire's ATS.
        if bytes == [0x80] || bytes == [0x06, 0x75, 0x77, 0x81, 0x02, 0x80] {
            return (CardProduct(.desfire, "MIFARE DESFire or NTAG 4xx"), .likely)
        }
        if bytes.starts(with: [0xC1, 0x05]) {
            let rest = Array(bytes.dropFirst(2))
            switch rest {
            case [0x2F, 0x2F, 0x00, 0x35, 0xC7]: return (CardProduct(.plus, "MIFARE Plus S"), .likely)
            case [0x2F, 0x2F, 0x01, 0xBC, 0xD6]: return (CardProduct(.plus, "MIFARE Plus X"), .likely)
            case _ where rest.starts(with: [0x21, 0x30]):
                return (CardProduct(.plus, "MIFARE Plus SE", memory: 1024), .likely)
            case _ where rest.starts(with: [0x2F, 0x2F]): return (CardProduct(.plus, "MIFARE Plus"), .likely)
            default: break
            }
        }
        guard let start = bytes.firstRange(of: Array("JCOP".utf8))?.lowerBound else { return nil }
        let name = bytes[start...].prefix { (0x20...0x7E).contains($0) }
        return (CardProduct(.jcop, String(decoding: name, as: UTF8.self)), .certain)
    }

    // MARK: - ISO 14443 A: SAK and ATQA (NXP AN10833)

    /// The card with that SAK and, where it is known, ATQA. Both are configurable in newer cards and copied by others.
    package static func iso14443a(sak: UInt8, atqa: [UInt8]?) -> (product: CardProduct, certainty: Card.Certainty)? {
        // The bytes come in either order.
        let numbers = atqa.flatMap { $0.count == 2 ? [[$0[0], $0[1]], [$0[1], $0[0]]] : nil } ?? []
        func has(_ high: UInt8, _ low: UInt8) -> Bool { numbers.contains([high, low]) }
        switch sak {
        case 0x00 where has(0x0C, 0x00): return (CardProduct(.topaz, "Topaz or Jewel"), .likely)
        case 0x00: return (CardProduct(.type2, "MIFARE Ultralight or NTAG"), .possible)
        case 0x01: return (CardProduct(.iso14443a, "TNP3xxx"), .likely)
        case 0x10: return (CardProduct(.plus, "MIFARE Plus 2K (security level 2)", memory: 2048), .likely)
        case 0x11: return (CardProduct(.plus, "MIFARE Plus 4K (security level 2)", memory: 4096), .likely)
        case 0x20 where has(0x03, 0x44): return (CardProduct(.desfire, "MIFARE DESFire or NTAG 4xx"), .likely)
        case 0x20 where has(0x00, 0x48): return (CardProduct(.jcop, "SmartMX or JCOP"), .possible)
        case 0x28 where has(0x03, 0x04): return (CardProduct(.jcop, "JCOP31 with MIFARE Classic 1K"), .likely)
        case 0x28: return (CardProduct(.jcop, "SmartMX with MIFARE Classic 1K"), .likely)
        case 0x38: return (CardProduct(.jcop, "SmartMX with MIFARE Classic 4K"), .likely)
        case 0x60: return (CardProduct(.phone, "phone or watch"), .possible)
        case _ where sak & 0x20 != 0: return (CardProduct(.iso14443a4, "ISO 14443-4 A card"), .possible)
        default:
            guard let size = ClassicSize(sak: sak) else { return nil }
            return (CardProduct(.classic, size.standing.name, memory: size.blocks * 16), .likely)
        }
    }

    // MARK: - Storage cards: the names of PC/SC part 3

    /// The card that a reader names so. Readers name copies like what they copy, and NTAG as Ultralight.
    static func storage(_ card: StorageCard) -> (product: CardProduct, certainty: Card.Certainty) {
        switch card.nameCode {
        case 0x0001: return (CardProduct(.classic, "MIFARE Classic 1K", memory: 1024), .likely)
        case 0x0002: return (CardProduct(.classic, "MIFARE Classic 4K", memory: 4096), .likely)
        case 0x0026: return (CardProduct(.classic, "MIFARE Mini", memory: 320), .likely)
        case 0x0003: return (CardProduct(.type2, "MIFARE Ultralight or NTAG"), .possible)
        case 0x003A: return (CardProduct(.ultralight, "MIFARE Ultralight C", memory: 144), .likely)
        case 0x003D: return (CardProduct(.ultralight, "MIFARE Ultralight EV1"), .likely)
        case 0x0036: return (CardProduct(.plus, "MIFARE Plus 2K (security level 1)", memory: 2048), .likely)
        case 0x0037: return (CardProduct(.plus, "MIFARE Plus 4K (security level 1)", memory: 4096), .likely)
        case 0x0038: return (CardProduct(.plus, "MIFARE Plus 2K (security level 2)", memory: 2048), .likely)
        case 0x0039: return (CardProduct(.plus, "MIFARE Plus 4K (security level 2)", memory: 4096), .likely)
        case 0x002F, 0x0030, 0xF004: return (CardProduct(.topaz, "Topaz or Jewel"), .likely)
        case 0x003B, 0xF011, 0xF012: return (CardProduct(.felica, "FeliCa"), .likely)
        case 0x0014, 0x0035: return (CardProduct(.icode, "ICODE SLI", memory: 112), .possible)
        case 0x0016, 0x0022, 0x0023: return (CardProduct(.icode, card.displayName), .likely)
        case 0x0013, 0x0021, 0x0024, 0x0025, 0xFFD2, 0xFFD3: return (CardProduct(.st25, card.displayName), .likely)
        default: break
        }
        if let sak = card.sak, let known = iso14443a(sak: sak, atqa: nil) { return known }
        let family = card.technology.flatMap { CardFamily(rawValue: $0.rawValue) } ?? .unknown
        return (CardProduct(family, card.displayName), card.name == nil ? .possible : .likely)
    }

    // MARK: - Topaz

    /// The Topaz with those header ROM bytes: a high half of 1 states that it can hold NDEF, a low half of 1 that it
    /// has 96 bytes.
    static func topaz(header: UInt8) -> CardProduct? {
        switch header {
        case 0x11: CardProduct(.topaz, "Topaz 96", memory: 96)
        case 0x12: CardProduct(.topaz, "Topaz 512", memory: 454)
        case 0x10...0x1F: CardProduct(.topaz, "Topaz")
        default: nil
        }
    }

    // MARK: - FeliCa: the IC code, second byte of PMm

    /// The FeliCa card with that IC code.
    static func feliCa(code: UInt8) -> CardProduct {
        switch code {
        case 0xF0: CardProduct(.felica, "FeliCa Lite", memory: 224)
        case 0xF1: CardProduct(.felica, "FeliCa Lite-S", memory: 224)
        case 0xF2: CardProduct(.felica, "FeliCa Link (as Lite-S)", memory: 224)
        case 0xE0, 0xE1: CardProduct(.felica, "FeliCa Link or Plug")
        case 0x06, 0x07, 0x10...0x1F: CardProduct(.felica, "Mobile FeliCa")
        case 0x00...0x05, 0x08...0x0F, 0x20...0x4F: CardProduct(.felica, "FeliCa Standard")
        default: CardProduct(.felica, "FeliCa")
        }
    }

    // MARK: - ISO 15693: the identifier

    /// The chip that an identifier names: E0, maker, then for NXP and ST a product.
    static func iso15693(uid: [UInt8]) -> (product: CardProduct, certainty: Card.Certainty)? {
        guard uid.count == 8, uid[0] == 0xE0 else { return nil }
        switch uid[1] {
        case 0x04: return (icode(uid), .likely)
        case 0x02:
            if let row = st[uid[2]] { return (row, .likely) }
            return (CardProduct(.st25, "STMicroelectronics ISO 15693 tag"), .possible)
        default:
            let maker = ICManufacturer.name(of: uid[1]) ?? "unknown"
            return (CardProduct(.iso15693, "ISO 15693 tag by \(maker)"), .possible)
        }
    }

    /// NXP: the third byte is the kind, and bits 37 and 36 (counted from 1) of its first kind distinguish generations.
    private static func icode(_ uid: [UInt8]) -> CardProduct {
        switch (uid[2], uid[3] >> 3 & 0x03) {
        case (0x01, 0b00): CardProduct(.icode, "ICODE SLI", memory: 112)
        case (0x01, 0b10): CardProduct(.icode, "ICODE SLIX", memory: 112)
        case (0x01, 0b01): CardProduct(.icode, "ICODE SLIX2", memory: 316)
        case (0x01, _): CardProduct(.icode, "ICODE DNA", memory: 252)
        case (0x02, _): CardProduct(.icode, "ICODE SLI-S or SLIX-S", memory: 160)
        case (0x03, _): CardProduct(.icode, "ICODE SLI-L or SLIX-L", memory: 32)
        default: CardProduct(.icode, "ICODE")
        }
    }

    /// STMicroelectronics: the third byte is the product code.
    private static let st: [UInt8: CardProduct] = [
        0x23: CardProduct(.st25, "ST25TV02K or ST25TV512"),
        0x24: CardProduct(.st25, "ST25DV04K", memory: 512),
        0x26: CardProduct(.st25, "ST25DV16K or ST25DV64K"),
        0x2C: CardProduct(.st25, "M24LR64-R", memory: 8192),
        0x4E: CardProduct(.st25, "M24LR16E-R", memory: 2048),
        0x5A: CardProduct(.st25, "M24LR04E-R", memory: 512),
        0x5E: CardProduct(.st25, "M24LR64E-R", memory: 8192),
    ]
}

extension CardProduct {
    init(_ family: CardFamily, _ product: Type2Product) {
        self.init(family, product.name, memory: product.memory)
    }
}
