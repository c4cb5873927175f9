/// What a card says of the commands that it takes (ISO/IEC 7816-4, the card capabilities of tag 47 or 7x, and the
/// extended length information of tag 7F66). What it does not say is `nil`.
public struct CardCapabilities: Sendable, Hashable {
    /// Whether it takes commands in several parts.
    public var commandChaining: Bool?

    /// Whether it takes extended Lc and Le fields.
    public var extendedLengths: Bool?

    /// The longest command APDU that it takes, in bytes with header and length fields, where it says so.
    public var longestCommand: Int?

    /// The longest response APDU that it gives, in bytes with the status word, where it says so.
    public var longestResponse: Int?

    /// Capabilities; `nil` stands for what is not known.
    public init(
        commandChaining: Bool? = nil,
        extendedLengths: Bool? = nil,
        longestCommand: Int? = nil,
        longestResponse: Int? = nil
    ) {
        self.commandChaining = commandChaining
        self.extendedLengths = extendedLengths
        self.longestCommand = longestCommand
        self.longestResponse = longestResponse
    }

    /// Nothing is known.
    public static let unknown = CardCapabilities()

    /// What the facts of a card tell: the historical bytes in its ATR or ATS.
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

    /// What historical bytes tell: category 00 or 80, then compact TLV objects, of which 7x has the card capabilities.
    public init(historicalBytes bytes: [UInt8]) {
        self.init()
        guard let category = bytes.first, category == 0x00 || category == 0x80 else { return }
        // In category 00 three bytes of status end the historical bytes.
        let end = category == 0x00 ? max(1, bytes.count - 3) : bytes.count
        var offset = 1
        while offset < end {
            let length = Int(bytes[offset] & 0x0F)
            guard length <= end - offset - 1 else { return }
            if bytes[offset] >> 4 == 7 { read(functions: Array(bytes[offset + 1..<offset + 1 + length])) }
            offset += 1 + length
        }
    }

    /// What data objects tell, such as those of EF.ATR (file 2F01): 47, 7F66, and 5F52 with historical bytes.
    public init(objects: [BERTLV]) {
        self.init()
        if let historical = objects.find(0x5F52)?.value { self.init(historicalBytes: historical) }
        if let functions = objects.find(0x47)?.value { read(functions: functions) }
        guard let lengths = objects.find(0x7F66) else { return }
        let numbers = lengths.objects.filter { $0.tag == 0x02 }.map { Self.number($0.value ?? []) }
        // A number under 5 leaves no room for any command and is a fault of the card.
        if let first = numbers.first, let first, first >= 5 { longestCommand = first }
        if numbers.count > 1, let second = numbers[1], second >= 3 { longestResponse = second }
    }

    /// The third table of software functions: bit 8 command chaining, bit 7 extended Lc and Le fields.
    private mutating func read(functions: [UInt8]) {
        guard functions.count >= 3 else { return }
        commandChaining = functions[2] & 0x80 != 0
        extendedLengths = functions[2] & 0x40 != 0
    }

    private static func number(_ bytes: [UInt8]) -> Int? {
        guard (1...4).contains(bytes.count) else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
