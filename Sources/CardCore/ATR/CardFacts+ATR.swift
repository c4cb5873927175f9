extension CardFacts {
    /// The answer to reset: the reader's, or else the one that a PC/SC reader makes up for a card of these facts.
    ///
    /// A contactless card has no answer to reset. PC/SC part 3 (sections 3.1.3.2.3.1 and .2) specifies the one that a
    /// reader builds from anticollision, so that any other library can report it as well, and a card is reported alike
    /// whatever the way in. `nil` without any facts.
    package var effectiveATR: [UInt8]? { atr ?? historicalBytes.map(Self.madeUp) }

    /// Whether they are those of something with contacts (``ATR/isOfContacts``).
    package var areOfContacts: Bool { technology == nil && (atr.flatMap { try? ATR($0) }?.isOfContacts ?? false) }

    /// `3B 8n 80 01`, the historical bytes and their check byte.
    private static func madeUp(_ historicalBytes: [UInt8]) -> [UInt8] {
        let kept = historicalBytes.prefix(15)
        let body = [0x80 | UInt8(kept.count), 0x80, 0x01] + kept
        return [0x3B] + body + [body.reduce(0, ^)]
    }

    private var historicalBytes: [UInt8]? {
        switch technology {
        case .iso14443a:
            guard let sak = self["sak"]?.first else { return isType1 ? Self.storage(0x03, 0x0030) : nil }
            guard sak & 0x20 == 0 else { return ATSBytes.historicalBytes(of: self["ats"] ?? []) }
            return Self.storage(0x03, Self.name(sak: sak))
        case .iso14443b:
            // Application data and protocol information of ATQB; the last byte is MBLI of the answer to ATTRIB, which
            // libnfc does not report.
            guard let data = self["appdata"], let info = self["protinfo"], data.count == 4, info.count == 3 else {
                return nil
            }
            return data + info + [0x00]
        case .felica: return Self.storage(0x11, 0x003B)
        case .iso15693: return Self.storage(0x0B, 0x0000)
        case nil: return nil
        }
    }

    /// Jewel and Topaz are not selected, so they show no SAK; this is their ATQA (NFC Forum, Type 1 Tag).
    package var isType1: Bool { self["sak"] == nil && self["atqa"] == [0x0C, 0x00] }

    private static func storage(_ standard: UInt8, _ name: UInt16) -> [UInt8] {
        let application: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x06]
        let body = application + [standard, UInt8(name >> 8), UInt8(name & 0xFF), 0, 0, 0, 0]
        return [0x80, 0x4F, UInt8(body.count)] + body
    }

    /// The name that PC/SC part 3 assigns to a card of that SAK (NXP AN10833); 0 if it assigns none.
    private static func name(sak: UInt8) -> UInt16 {
        switch sak {
        case 0x00: 0x0003
        case 0x10: 0x0038
        case 0x11: 0x0039
        default: ClassicSize(sak: sak)?.standing.code ?? 0x0000
        }
    }
}

/// The answer to select of an ISO 14443-4 A card: TL, T0, the interface bytes that T0 announces, historical bytes.
package enum ATSBytes {
    /// The historical bytes; none if the bytes are no ATS.
    ///
    /// libnfc shows an ATS without TL, and so do captures that were made of its log.
    package static func historicalBytes(of ats: [UInt8]) -> [UInt8] {
        if let first = ats.first, Int(first) > ats.count, first & 0x80 == 0 {
            return historicalBytes(of: [UInt8(truncatingIfNeeded: ats.count + 1)] + ats)
        }
        guard ats.count >= 2, Int(ats[0]) >= 2 else { return [] }
        let interface = (4...6).count { ats[1] >> $0 & 1 != 0 }
        return Array(ats.prefix(Int(ats[0])).dropFirst(2 + interface))
    }
}
