/// A card's statement of the commands that it takes (ISO/IEC 7816-4, card capabilities). What it omits is `nil`.
public struct CardCapabilities: Sendable, Hashable {
    /// Whether it takes commands in several parts.
    public var commandChaining: Bool?

    /// Whether it takes extended Lc and Le fields.
    public var extendedLengths: Bool?

    /// The longest command APDU that it takes, in bytes with header and length fields, if stated.
    public var longestCommand: Int?

    /// The longest response APDU that it returns, in bytes with the status word, if stated.
    public var longestResponse: Int?

    /// Nothing is known.
    public static let unknown = CardCapabilities()
}

extension CardCapabilities {
    /// The capabilities in the facts of a card: the historical bytes in its ATR or ATS.
    ///
    /// The ATR of a type B card holds other bytes in their place, and that of a storage card is the reader's own.
    public init(facts: CardFacts) {
        self.init()
        if let bytes = facts.atr {
            guard let atr = try? ATR(bytes), atr.storageCard == nil, atr.technology != .iso14443b else { return }
            self.init(historicalBytes: atr.historicalBytes)
        } else if let ats = facts["ats"] {
            self.init(historicalBytes: ATSBytes.historicalBytes(of: ats))
        }
    }

    /// The capabilities in historical bytes: category 00 or 80, then compact TLV objects, of which 7x contains them.
    public init(historicalBytes bytes: [UInt8]) {
        self.init()
        guard let category = bytes.first, category == 0x00 || category == 0x80 else { return }
        // In category 00 three bytes of status end the historical bytes.
        let end = category == 0x00 ? max(1, bytes.count - 3) : bytes.count
        var offset = 1
        while offset < end {
            let length = Int(bytes[offset] & 0x0F)
            guard length <= end - offset - 1 else { return }
            if bytes[offset] >> 4 == 7, length >= 3 {
                // The third table of software functions.
                commandChaining = bytes[offset + 3] & 0x80 != 0
                extendedLengths = bytes[offset + 3] & 0x40 != 0
            }
            offset += 1 + length
        }
    }
}
