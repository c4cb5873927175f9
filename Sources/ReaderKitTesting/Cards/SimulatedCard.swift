import ReaderKit

/// A card that is simulated: its memory and its state, and how it answers what a reader sends it.
///
/// It is the card alone. What a reader adds (the answer to reset, the commands of class `FF` that a reader answers in
/// the card's stead) is the part of ``SimulatedReader``. One card can be presented in three ways: in this process
/// (``SimulatedCardChannel``, ``SimulatedBackend``), to the real pcscd (``VirtualCardReader``), and to whatever else
/// calls the two `receive` methods.
///
/// A card may be read by one thread and inspected by another, so it is `Sendable`; the cards of this module lock their
/// state.
public protocol SimulatedCard: AnyObject, Sendable {
    /// The identifier that the card shows in anticollision, most significant byte first for ISO 15693.
    ///
    /// It may differ each time that the card is powered.
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

    /// Answers a command APDU; `nil` is silence.
    ///
    /// Only cards of ``SimulatedCardKind/isoDEP(historicalBytes:)`` are asked.
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
