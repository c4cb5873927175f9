/// What an ATR tells, as one JSON object with the keys `valid`, `card`, `technology`, `protocols`, `historicalBytes` and
/// `tckValid`. All keys are always there; what does not apply is `null`.
public struct ATRSummary: Sendable, Hashable, Encodable {
    /// Whether the structure is an ATR's. A wrong checksum is told by ``tckValid`` and does not make it invalid.
    public var valid: Bool
    /// ``ATR/cardName``.
    public var card: String
    /// ``ATR/technology``.
    public var technology: Technology?
    /// ``ATR/protocols``.
    public var protocols: [Int]
    /// ``ATR/historicalBytes``, in upper-case hexadecimal.
    public var historicalBytes: String
    /// ``ATR/isTCKValid``.
    public var tckValid: Bool?

    /// The summary of a readable ATR.
    public init(_ atr: ATR) {
        valid = true
        card = atr.cardName
        technology = atr.technology
        protocols = atr.protocols
        historicalBytes = atr.historicalBytes.hex
        tckValid = atr.isTCKValid
    }

    /// The keys, which are a contract.
    private enum CodingKeys: String, CodingKey {
        case valid, card, technology, protocols, historicalBytes, tckValid
    }

    /// Writes all keys, `null` included.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(valid, forKey: .valid)
        try container.encode(card, forKey: .card)
        try container.encode(technology, forKey: .technology)
        try container.encode(protocols, forKey: .protocols)
        try container.encode(historicalBytes, forKey: .historicalBytes)
        try container.encode(tckValid, forKey: .tckValid)
    }
}
