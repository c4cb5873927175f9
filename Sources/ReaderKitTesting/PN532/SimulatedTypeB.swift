import ReaderKit

/// A card of ISO/IEC 14443-4 that is reached by type B in place of type A, as many identity and bank cards are.
///
/// It hands all APDUs to the card that it is made of. A PC/SC reader shows hardly any difference; to a PN532 it is another
/// modulation with other commands.
public final class SimulatedTypeB: SimulatedCard {
    /// The card that answers.
    public let card: any SimulatedCard

    /// The four bytes of application data in the card's answer to a request.
    public let applicationData: [UInt8]

    /// Presents a card by type B.
    ///
    /// - Parameters:
    ///   - card: a card of ``SimulatedCardKind/isoDEP(historicalBytes:)``. Of its identifier the first four bytes are
    ///     shown, as PUPI.
    ///   - applicationData: the four bytes of application data; missing ones are zero.
    public init(_ card: any SimulatedCard, applicationData: [UInt8] = []) {
        self.card = card
        self.applicationData = Array((applicationData + [0, 0, 0, 0]).prefix(4))
    }

    /// The PUPI, four bytes.
    public var uid: [UInt8] { Array((card.uid + [0, 0, 0, 0]).prefix(4)) }

    /// The card's.
    public var kind: SimulatedCardKind { card.kind }

    /// The card's.
    public func powerOn() { card.powerOn() }

    /// The card's.
    public func powerOff() { card.powerOff() }

    /// The card's.
    public func receive(apdu: [UInt8]) -> [UInt8]? { card.receive(apdu: apdu) }

    /// ATQB: 106 kbit/s only, blocks of 256 bytes, ISO/IEC 14443-4 with CID, a waiting time of 39 ms.
    func atqb(uid: [UInt8]) -> [UInt8] {
        [0x50] + (uid + [0, 0, 0, 0]).prefix(4) + applicationData + [0x00, 0x81, 0x71]
    }
}
