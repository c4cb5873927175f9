/// The sizes of MIFARE Classic cards, by the number of their sectors, and where these lie.
public enum ClassicSize: Int, Sendable, Hashable, CaseIterable {
    /// MIFARE Mini: 5 sectors, 320 bytes.
    case mini = 5
    /// MIFARE Classic 1K: 16 sectors, 1024 bytes.
    case oneK = 16
    /// MIFARE Plus with 2 KiB in security level 1: 32 sectors of 4 blocks.
    case twoK = 32
    /// MIFARE Classic 4K: 32 sectors of 4 blocks and 8 of 16, 4096 bytes.
    case fourK = 40

    /// How many sectors there are.
    public var sectors: Int { rawValue }

    /// How many blocks of 16 bytes there are.
    public var blocks: Int { Self.blocks(ofSector: sectors - 1).upperBound }

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
    public static func sector(ofBlock block: Int) -> Int { block < 128 ? block / 4 : 32 + (block - 128) / 16 }

    /// Whether the block is its sector's trailer, which holds the keys and the access bits.
    public static func isTrailer(_ block: Int) -> Bool { trailer(ofSector: sector(ofBlock: block)) == block }

    /// The sectors of the application directory, MAD1 behind the manufacturer's block and MAD2 (NXP AN10787): no part of
    /// an application's data lies in them.
    package static let directorySectors: Set<Int> = [0, 16]

    /// Where a block lies among the data blocks of all applications, in bytes from sector 1 on; `nil` for sector trailers,
    /// for the sectors of the directory, and for blocks that no card has.
    package static func dataAddress(ofBlock block: Int) -> Int? {
        let sector = sector(ofBlock: block)
        guard blocks(ofSector: sector).contains(block), !isTrailer(block), !directorySectors.contains(sector) else {
            return nil
        }
        // Each sector before it has a trailer, each directory three blocks more.
        return 16 * (block - sector - (sector > 16 ? 6 : 3))
    }

    /// The end of those data blocks on the largest card.
    package static let endOfData = 16 * 210

    /// The size of the card with that answer to SELECT; `nil` for a card that is no MIFARE Classic and has none inside.
    ///
    /// NXP AN10833 reads it bit by bit: bit 4 is the Classic's, bit 2 reserved, bits 5 and 1 are the size. Without bit 4,
    /// `01` is a TNP3xxx (a toy's figure) and `10`, `11` are MIFARE Plus in security level 2: no Classic to a reader.
    public init?(sak: UInt8) {
        guard sak & 0x0A == 0x08 else { return nil }
        switch sak & 0x11 {
        case 0x00: self = .oneK
        case 0x01: self = .mini
        case 0x10: self = .fourK
        default: self = .twoK
        }
    }

    /// The name of a card of this size, and the number that PC/SC part 3 assigns to it.
    package var standing: (name: String, code: UInt16) {
        switch self {
        case .mini: ("MIFARE Mini", 0x0026)
        case .oneK: ("MIFARE Classic 1K", 0x0001)
        case .twoK: ("MIFARE Classic 2K", 0x0036)
        case .fourK: ("MIFARE Classic 4K", 0x0002)
        }
    }

    /// The size that a reader reports: by the name in the ATR, or by the answer to SELECT. `nil` if it reports none.
    public init?(facts: CardFacts) {
        if let bytes = facts.atr, let card = (try? ATR(bytes))?.storageCard {
            // A MIFARE Plus of 4 KiB in security level 1 has a name of its own.
            let code = card.nameCode == 0x0037 ? 0x0002 : card.nameCode
            guard
                let size = Self.allCases.first(where: { $0.standing.code == code }) ?? card.sak.flatMap(Self.init(sak:))
            else { return nil }
            self = size
            return
        }
        guard let sak = facts["sak"]?.first else { return nil }
        self.init(sak: sak)
    }
}
