/// What an identifier tells, as one JSON object with the keys `kind`, `manufacturer`, `hex`, `hexReversed`, `decimal`,
/// `decimalReversed`, `wiegand26` and `wiegand34`. All keys are always there; what does not apply is `null`.
///
/// The decimal forms have at least ten digits. The Wiegand forms are made from the low-order three and four bytes of the
/// identifier as read, its last ones, whatever its length: for `00D507D0` from `D507D0`, for `04A1B2C3D4E580` from
/// `D4E580` and `C3D4E580`. ``UIDFormat`` makes them from the other end or in the other order.
public struct UIDSummary: Sendable, Hashable, Encodable {
    /// ``CardUID/kind``.
    public var kind: CardUID.Kind
    /// ``CardUID/manufacturer``.
    public var manufacturer: String?
    /// ``CardUID/hex``.
    public var hex: String
    /// ``CardUID/hexReversed``.
    public var hexReversed: String
    /// ``CardUID/decimal``.
    public var decimal: String
    /// ``CardUID/decimalReversed``.
    public var decimalReversed: String
    /// ``CardUID/wiegand26``.
    public var wiegand26: String?
    /// ``CardUID/wiegand34``.
    public var wiegand34: String?

    /// The summary of an identifier.
    public init(_ uid: CardUID) {
        kind = uid.kind
        manufacturer = uid.manufacturer
        hex = uid.hex
        hexReversed = uid.hexReversed
        decimal = uid.decimal
        decimalReversed = uid.decimalReversed
        wiegand26 = uid.wiegand26
        wiegand34 = uid.wiegand34
    }

    /// The keys, which are a contract.
    private enum CodingKeys: String, CodingKey {
        case kind, manufacturer, hex, hexReversed, decimal, decimalReversed, wiegand26, wiegand34
    }

    /// Writes all keys, `null` included.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(manufacturer, forKey: .manufacturer)
        try container.encode(hex, forKey: .hex)
        try container.encode(hexReversed, forKey: .hexReversed)
        try container.encode(decimal, forKey: .decimal)
        try container.encode(decimalReversed, forKey: .decimalReversed)
        try container.encode(wiegand26, forKey: .wiegand26)
        try container.encode(wiegand34, forKey: .wiegand34)
    }
}
