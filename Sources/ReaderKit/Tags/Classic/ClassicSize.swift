/// The sizes of MIFARE Classic cards, and where their sectors lie.
public enum ClassicSize: Sendable, Hashable, CaseIterable {
    /// MIFARE Mini: 5 sectors, 320 bytes.
    case mini
    /// MIFARE Classic 1K: 16 sectors, 1024 bytes.
    case oneK
    /// MIFARE Plus with 2 KiB in security level 1: 32 sectors of 4 blocks.
    case twoK
    /// MIFARE Classic 4K: 32 sectors of 4 blocks and 8 of 16, 4096 bytes.
    case fourK

    /// How many sectors there are.
    public var sectors: Int {
        switch self {
        case .mini: 5
        case .oneK: 16
        case .twoK: 32
        case .fourK: 40
        }
    }

    /// How many blocks of 16 bytes there are.
    public var blocks: Int {
        switch self {
        case .mini: 20
        case .oneK: 64
        case .twoK: 128
        case .fourK: 256
        }
    }

    /// The blocks of a sector, its trailer last. A sector that no card has, has no blocks.
    public static func blocks(ofSector sector: Int) -> Range<Int> {
        switch sector {
        case 0..<32: sector * 4..<sector * 4 + 4
        case 32..<40: 128 + (sector - 32) * 16..<128 + (sector - 31) * 16
        default: 0..<0
        }
    }

    /// The sector trailer's block.
    public static func trailer(ofSector sector: Int) -> Int { blocks(ofSector: sector).upperBound - 1 }

    /// The sector in which a block lies.
    public static func sector(ofBlock block: Int) -> Int {
        block < 128 ? block / 4 : 32 + (block - 128) / 16
    }

    /// Whether the block is its sector's trailer, which holds the keys and the access bits.
    public static func isTrailer(_ block: Int) -> Bool { trailer(ofSector: sector(ofBlock: block)) == block }

    /// The size of the card with that answer to SELECT; `nil` for a card that is no MIFARE Classic. The 2K size has no
    /// answer of its own.
    public init?(sak: UInt8) {
        switch sak & 0x7F {
        case 0x09: self = .mini
        case 0x08, 0x28, 0x01: self = .oneK
        case 0x18, 0x38: self = .fourK
        default: return nil
        }
    }

    /// The size that a reader tells: by the name in the ATR, or by the answer to SELECT. `nil` if it tells none.
    public init?(facts: CardFacts) {
        if let bytes = facts.atr, let card = (try? ATR(bytes))?.storageCard {
            switch card.nameCode {
            case 0x0001: self = .oneK
            case 0x0002, 0x0037: self = .fourK
            case 0x0026: self = .mini
            case 0x0036: self = .twoK
            default:
                guard let sak = card.sak else { return nil }
                self.init(sak: sak)
            }
            return
        }
        guard let sak = facts["sak"]?.first else { return nil }
        self.init(sak: sak)
    }
}
