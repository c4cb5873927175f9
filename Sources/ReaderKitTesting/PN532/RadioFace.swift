import ReaderKit

/// What a reader chip finds out of a card by itself: the technology, and the answers of anticollision.
struct RadioFace: Sendable, Hashable {
    enum Technology: Sendable, Hashable {
        case typeA, typeB, feliCa, topaz

        /// The framing bits of the registers TxMode and RxMode.
        var framing: UInt8 {
            switch self {
            case .typeA, .topaz: 0x00
            case .feliCa: 0x02
            case .typeB: 0x03
            }
        }

        var checksum: RadioChecksum {
            switch self {
            case .typeA: .typeA
            case .typeB, .topaz: .typeB
            case .feliCa: .feliCa
            }
        }
    }

    private(set) var technology: Technology
    /// ATQA of type A, most significant byte first as chips report it.
    private(set) var atqa: [UInt8] = []
    private(set) var sak: UInt8 = 0
    /// ATS of type A with its length byte, or ATQB of type B; empty for a card without ISO/IEC 14443-4.
    private(set) var activation: [UInt8] = []
    /// Whether the card is a MIFARE Classic, whose cipher is the chip's part.
    private(set) var isClassic = false
    /// Whether the card takes APDUs in the blocks of ISO/IEC 14443-4.
    private(set) var isISODEP = false

    /// Whether the card shows its identifier and answers nothing else, not even polling.
    private(set) var isIdentityOnly = false

    /// The longest block that the card takes, its two bytes of checksum included.
    var longestBlock: Int {
        switch technology {
        case .typeA: activation.count > 1 ? ISODEPCard.size(Int(activation[1] & 0x0F)) : 32
        case .typeB: activation.count > 10 ? ISODEPCard.size(Int(activation[10] >> 4)) : 32
        case .feliCa, .topaz: 32
        }
    }

    /// The face of a card with that identifier; `nil` if a PN532 cannot see such a card.
    init?(_ card: any SimulatedCard, uid: [UInt8]) {
        var card = card
        while let torn = card as? TornCard { card = torn.card }
        isIdentityOnly = card is SimulatedIdentityCard
        if let recorded = card as? RecordedCard, let technology = recorded.presentation.facts.technology {
            guard let face = RadioFace(recorded.presentation.facts, technology, uid: uid) else { return nil }
            self = face
            return
        }
        if let card = card as? SimulatedTypeB {
            technology = .typeB
            activation = card.atqb(uid: uid)
            isISODEP = true
            return
        }
        // The size of the identifier is in bits 7 and 8 of ATQA.
        let long: UInt8 = uid.count > 4 ? 0x40 : 0x00
        switch card.kind {
        case .isoDEP(let historicalBytes):
            technology = .typeA
            isISODEP = true
            sak = 0x20
            let history = Array(historicalBytes.prefix(15))
            // The DESFire family has this one historical byte, an ATQA of its own, and blocks of 64 bytes.
            let isDESFire = history == [0x80]
            atqa = [isDESFire ? 0x03 : 0x00, long | 0x04]
            let interface: [UInt8] = isDESFire ? [0x75, 0x77, 0x81, 0x02] : [0x78, 0x80, 0x71, 0x02]
            activation = [UInt8(5 + history.count)] + interface + history
        case .storage where card.kind.isFeliCa:
            technology = .feliCa
        case .storage(_, 0x002F), .storage(_, 0x0030), .storage(_, 0xF004):
            technology = .topaz
            atqa = [0x0C, 0x00]
        case .storage(_, let name) where card.kind.storageTechnology == .iso14443a:
            technology = .typeA
            (atqa, sak, isClassic) = RadioFace.storage(name, long)
        default:
            // ISO 15693 and all else: the chip has no such modulation.
            return nil
        }
    }

    /// The face that a card had when it was recorded.
    private init?(_ facts: CardFacts, _ kind: ReaderKit.Technology, uid: [UInt8]) {
        switch kind {
        case .iso14443a where facts["sak"] == nil && facts["atqa"] == [0x0C, 0x00]:
            technology = .topaz
            atqa = [0x0C, 0x00]
        case .iso14443a:
            guard let atqa = facts["atqa"], atqa.count == 2, let sak = facts["sak"]?.first else { return nil }
            technology = .typeA
            self.atqa = atqa
            self.sak = sak
            isISODEP = sak & 0x20 != 0
            isClassic = !isISODEP && ClassicSize(sak: sak) != nil
            // An ATS begins with its length, which not everybody records.
            let ats = facts["ats"] ?? [0x78, 0x80, 0x71, 0x02]
            let isWhole = ats.first == UInt8(truncatingIfNeeded: ats.count)
            if isISODEP { activation = isWhole ? ats : [UInt8(truncatingIfNeeded: ats.count + 1)] + ats }
        case .iso14443b:
            let parameters = (facts["appdata"] ?? [0, 0, 0, 0]) + (facts["protinfo"] ?? [0x00, 0x81, 0x71])
            guard uid.count == 4, parameters.count == 7 else { return nil }
            technology = .typeB
            activation = [0x50] + uid + parameters
            isISODEP = true
        case .felica: technology = .feliCa
        case .iso15693: return nil
        }
    }

    /// ATQA and SAK by NXP's AN10833, and whether the card is a MIFARE Classic.
    private static func storage(_ name: UInt16, _ long: UInt8) -> (atqa: [UInt8], sak: UInt8, isClassic: Bool) {
        switch name {
        case 0x0001, 0x0036: ([0x00, long | 0x04], 0x08, true)
        case 0x0002: ([0x00, long | 0x02], 0x18, true)
        case 0x0026: ([0x00, long | 0x04], 0x09, true)
        default: ([0x00, long | 0x04], 0x00, false)
        }
    }
}

/// A card of ISO/IEC 14443-4 that is reached by type B in place of type A, as many identity and bank cards are. It
/// hands all APDUs to the card that it is made of.
public final class SimulatedTypeB: SimulatedCard {
    /// The card that answers.
    public let card: any SimulatedCard

    /// The four bytes of application data in the card's answer to a request.
    public let applicationData: [UInt8]

    /// Presents a card of ``SimulatedCardKind/isoDEP(historicalBytes:)`` by type B, with the first four bytes of its
    /// identifier as PUPI and four bytes of application data; missing ones are zero.
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
