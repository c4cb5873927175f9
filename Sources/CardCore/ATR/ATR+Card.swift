extension ATR {
    /// Whether a contactless reader built it: `3B 8n 80 01`, n historical bytes and TCK (PC/SC part 3, section
    /// 3.1.3.2.3). A contact card with just these interface bytes would look the same; none is known.
    public var isContactless: Bool {
        bytes.count >= 4 && bytes[0] == 0x3B && bytes[1] & 0xF0 == 0x80 && bytes[2] == 0x80 && bytes[3] == 0x01
    }

    /// The details of a storage card, or `nil` if the ATR is not a storage card's.
    public var storageCard: StorageCard? {
        isContactless ? StorageCard(historicalBytes: historicalBytes) : nil
    }

    /// How sure ``technology`` is.
    public enum Confidence: String, Sendable, Hashable, CaseIterable {
        /// The ATR says it in so many words, or its form allows nothing else.
        case certain
        /// The bytes have the shape of one technology and could by chance be another's.
        case likely
    }

    /// The radio technology, or `nil` for a contact card and where the ATR does not tell.
    ///
    /// A storage card's ATR names its standard. The ATR of an ISO 14443-4 card does not, but type B always has eight
    /// historical bytes: four of application data, three of protocol information from ATQB, and one whose high half is
    /// MBLI and whose low half is 0. Eight bytes are therefore taken for type B if
    /// - the last byte's low half is 0,
    /// - the protocol information is a valid one: bit rates without their reserved bit 4, a protocol type that says
    ///   ISO 14443-4 and has its reserved bit 4 clear, frame size code 0...12, waiting time 0...14, and
    /// - they do not parse as the compact TLV objects of a type A card's historical bytes, category 80.
    ///
    /// Any other eight bytes, and any other number of bytes, are taken for type A.
    public var technology: Technology? {
        guard isContactless else { return nil }
        if let storageCard { return storageCard.technology }
        return historicalBytesLookLikeTypeB ? .iso14443b : .iso14443a
    }

    /// How sure ``technology`` is, or `nil` where there is none.
    public var technologyConfidence: Confidence? {
        guard technology != nil else { return nil }
        return storageCard != nil || historicalBytes.count != 8 ? .certain : .likely
    }

    /// The name of the card, as far as its ATR tells.
    ///
    /// - Storage cards: the name of the table of PC/SC part 3, a maker's own name, or "unknown ISO 14443 A card (…)".
    /// - ISO 14443-4: "MIFARE DESFire" for its historical byte `80`, else "ISO 14443-4 A" or "ISO 14443-4 B". Phones and
    ///   bank cards share ATRs with each other and with many cards, so this names a kind, not a product.
    /// - Otherwise "contact card".
    public var cardName: String {
        guard isContactless else { return "contact card" }
        if let storageCard { return storageCard.displayName }
        // DESFire's ATS, 06 75 77 81 02 80, has one historical byte; some readers give the whole of it.
        if [[0x80], [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]].contains(historicalBytes) { return "MIFARE DESFire" }
        return technology == .iso14443b ? "ISO 14443-4 B" : "ISO 14443-4 A"
    }

    private var historicalBytesLookLikeTypeB: Bool {
        let bytes = historicalBytes
        guard bytes.count == 8, bytes[7] & 0x0F == 0 else { return false }
        let bitRates = bytes[4], frame = bytes[5], timing = bytes[6]
        return bitRates & 0x08 == 0 && frame & 0x09 == 0x01 && frame >> 4 <= 12 && timing >> 4 <= 14
            && !Self.isCompactTLV(bytes)
    }

    /// Whether bytes are category 80 and compact TLV objects to the end (ISO/IEC 7816-4, section 12.1.1).
    private static func isCompactTLV(_ bytes: [UInt8]) -> Bool {
        guard bytes.first == 0x80 else { return false }
        var offset = 1
        while offset < bytes.count {
            // Tag 0 is not used: padding or something else.
            guard bytes[offset] >> 4 != 0 else { return false }
            offset += 1 + Int(bytes[offset] & 0x0F)
        }
        return offset == bytes.count
    }
}
