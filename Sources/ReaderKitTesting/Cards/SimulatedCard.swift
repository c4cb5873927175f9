import ReaderKit

/// A card that is simulated: its memory and its state, and how it answers what a reader sends it.
///
/// It is the card alone. What a reader adds (the answer to reset, the commands of class `FF`) is the part of
/// ``SimulatedReader``. One card can be presented in this process (``SimulatedCardChannel``, ``SimulatedBackend``), to
/// the real pcscd (``VirtualCardReader``), and to whatever else calls the two `receive` methods.
///
/// A card may be read by one thread and inspected by another; the cards of this module lock their state.
public protocol SimulatedCard: AnyObject, Sendable {
    /// The identifier that the card shows in anticollision, most significant byte first for ISO 15693. It may differ
    /// each time that the card is powered.
    var uid: [UInt8] { get }

    /// What the card is, as far as a reader finds out by itself.
    var kind: SimulatedCardKind { get }

    /// The answer to reset that a PC/SC reader makes up for the card (PC/SC part 3, ISO/IEC 7816-3); by default that of
    /// its kind.
    var atr: [UInt8] { get }

    /// The card enters the field, or its field comes back.
    func powerOn()

    /// The card loses its power, and with it all that it does not keep in memory.
    func powerOff()

    /// Answers a command APDU; `nil` is silence. Only cards of ``SimulatedCardKind/isoDEP(historicalBytes:)`` are
    /// asked.
    func receive(apdu: [UInt8]) -> [UInt8]?

    /// Answers a raw frame of the card's own protocol, without checksum; `nil` is silence.
    func receive(frame: RawFrame) -> RawFrame?
}

extension SimulatedCard {
    /// Nothing happens by default.
    public func powerOn() {}

    /// Nothing happens by default.
    public func powerOff() {}

    /// Silence by default.
    public func receive(apdu: [UInt8]) -> [UInt8]? { nil }

    /// Silence by default.
    public func receive(frame: RawFrame) -> RawFrame? { nil }

    /// The answer to reset of such a card.
    public var atr: [UInt8] { kind.atr }
}

/// What a simulated card is, as far as a reader finds out without asking it anything.
public enum SimulatedCardKind: Sendable, Hashable {
    /// A card without ISO/IEC 14443-4: the standard and the card name that PC/SC part 3 assigns to it (`03 0003` is an
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

/// The status words that simulated cards and readers return.
enum Status {
    static let success: [UInt8] = [0x90, 0x00]
    static let endOfData: [UInt8] = [0x62, 0x82]
    static let failed: [UInt8] = [0x63, 0x00]
    static let wrongLength: [UInt8] = [0x67, 0x00]
    static let wrongCard: [UInt8] = [0x69, 0x81]
    static let security: [UInt8] = [0x69, 0x82]
    static let notAllowed: [UInt8] = [0x69, 0x86]
    static let wrongData: [UInt8] = [0x6A, 0x80]
    static let unsupported: [UInt8] = [0x6A, 0x81]
    static let notFound: [UInt8] = [0x6A, 0x82]
    static let wrongP1P2: [UInt8] = [0x6A, 0x86]
    static let wrongParameters: [UInt8] = [0x6B, 0x00]
    static let unknownInstruction: [UInt8] = [0x6D, 0x00]
    static let unknownClass: [UInt8] = [0x6E, 0x00]
    static let mute: [UInt8] = [0x6F, 0x01]
}
