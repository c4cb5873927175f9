import ReaderKit

/// What a simulated card is, as far as a reader finds out without asking it anything.
public enum SimulatedCardKind: Sendable, Hashable {
    /// A card without ISO/IEC 14443-4: the standard and the card name that PC/SC part 3 gives it (`03 0003` is an
    /// Ultralight or NTAG).
    case storage(standard: UInt8, name: UInt16)

    /// A card that takes APDUs (ISO/IEC 14443-4 type A), with the historical bytes of its ATS, at most 15.
    case isoDEP(historicalBytes: [UInt8])

    /// MIFARE Ultralight and NTAG.
    public static let ultralight = SimulatedCardKind.storage(standard: 0x03, name: 0x0003)
    /// MIFARE Mini.
    public static let classicMini = SimulatedCardKind.storage(standard: 0x03, name: 0x0026)
    /// MIFARE Classic with 1 KiB.
    public static let classic1K = SimulatedCardKind.storage(standard: 0x03, name: 0x0001)
    /// MIFARE Classic with 4 KiB.
    public static let classic4K = SimulatedCardKind.storage(standard: 0x03, name: 0x0002)
    /// Topaz.
    public static let topaz = SimulatedCardKind.storage(standard: 0x03, name: 0x0030)
    /// FeliCa.
    public static let feliCa = SimulatedCardKind.storage(standard: 0x11, name: 0x003B)
    /// ICODE SLI, a card of ISO 15693.
    public static let icodeSLI = SimulatedCardKind.storage(standard: 0x0B, name: 0x0014)

    /// The answer to reset that a PC/SC reader makes up for such a card.
    public var atr: [UInt8] {
        let body: [UInt8]
        switch self {
        case .storage(let standard, let name):
            body =
                [0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, standard]
                + [UInt8(name >> 8), UInt8(name & 0xFF), 0, 0, 0, 0]
        case .isoDEP(let historicalBytes):
            let kept = historicalBytes.prefix(15)
            body = [0x80 | UInt8(kept.count), 0x80, 0x01] + kept
        }
        return [0x3B] + body + [body.reduce(0, ^)]
    }
}
