import CardCore

/// Who may do what with the blocks of a MIFARE Classic sector: the three access bytes of its trailer, 6 to 8.
///
/// Each of four groups has three bits, C1 to C3, and each bit stands in the bytes twice, once inverted. A card whose bits
/// contradict each other blocks the sector for ever, so bytes are checked before they are written.
public struct AccessConditions: Sendable, Hashable {
    /// The conditions of the three groups of data blocks: one block each, or five each in a sector of 16 blocks.
    public let data: [DataAccess]

    /// The conditions of the trailer.
    public let trailer: TrailerAccess

    /// Conditions for the three groups of data blocks and the trailer.
    public init(_ first: DataAccess, _ second: DataAccess, _ third: DataAccess, trailer: TrailerAccess) {
        data = [first, second, third]
        self.trailer = trailer
    }

    /// Reads the three access bytes.
    ///
    /// - Throws: ``ClassicFormatError`` if there are not three, or a bit contradicts its inverted copy.
    public init(bytes: [UInt8]) throws(ClassicFormatError) {
        guard bytes.count == 3 else { throw .length(bytes.count, expected: 3) }
        let c1 = bytes[1] >> 4
        let c2 = bytes[2] & 0x0F
        let c3 = bytes[2] >> 4
        guard bytes[0] & 0x0F == ~c1 & 0x0F, bytes[0] >> 4 == ~c2 & 0x0F, bytes[1] & 0x0F == ~c3 & 0x0F else {
            throw .contradictoryAccessBits
        }
        func bits(_ group: UInt8) -> UInt8 { (c1 >> group & 1) << 2 | (c2 >> group & 1) << 1 | c3 >> group & 1 }
        data = (0..<3).map { DataAccess(bits: bits($0)) }
        trailer = TrailerAccess(bits: bits(3))
    }

    private init(data: UInt8, trailer: UInt8) {
        self.data = Array(repeating: DataAccess(bits: data), count: 3)
        self.trailer = TrailerAccess(bits: trailer)
    }

    /// The three access bytes.
    public var bytes: [UInt8] {
        let groups = data.map(\.bits) + [trailer.bits]
        func nibble(_ shift: UInt8) -> UInt8 { groups.reversed().reduce(0) { $0 << 1 | ($1 >> shift & 1) } }
        let (c1, c2, c3) = (nibble(2), nibble(1), nibble(0))
        return [(~c2 & 0x0F) << 4 | ~c1 & 0x0F, c1 << 4 | ~c3 & 0x0F, c3 << 4 | c2]
    }

    /// As cards leave the factory, `FF0780`: key A does everything, and key B is readable data.
    public static let transport = AccessConditions(data: 0, trailer: 0b001)

    /// Of a sector with an NDEF message, `7F0788`: either key reads and writes, key B changes the trailer.
    public static let ndef = AccessConditions(data: 0, trailer: 0b011)

    /// Of a directory, `787788`: either key reads, key B writes and changes the trailer.
    public static let directory = AccessConditions(data: 0b100, trailer: 0b011)

    /// Of a locked sector, `078F0F`: either key reads, nobody ever writes or changes the trailer.
    public static let locked = AccessConditions(data: 0b010, trailer: 0b110)

    /// Whether key B may be used for authentication. It may not where it can be read.
    public var keyBAuthenticates: Bool { trailer.keyBRead.isEmpty }

    /// The group of a block: 0 to 2 for data, 3 for the trailer.
    ///
    /// - Parameters:
    ///   - index: the block's place within its sector.
    ///   - count: how many blocks the sector has, 4 or 16.
    public static func group(ofBlock index: Int, of count: Int) -> Int {
        count == 16 ? min(index / 5, 3) : min(index, 3)
    }
}

extension AccessConditions {
    /// The keys that allow something.
    public struct Keys: OptionSet, Sendable, Hashable {
        /// Bit 0 is key A, bit 1 key B.
        public let rawValue: UInt8

        /// A set of keys.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Key A.
        public static let a = Keys(rawValue: 1)
        /// Key B.
        public static let b = Keys(rawValue: 2)
        /// Either key.
        public static let either: Keys = [.a, .b]

        /// Whether authentication with that key is enough.
        public func contains(_ side: ClassicKey.Side) -> Bool { contains(side == .a ? Keys.a : .b) }
    }

    /// What each key may do with a data block.
    public struct DataAccess: Sendable, Hashable {
        /// C1, C2 and C3, C1 as bit 2: 0...7.
        public let bits: UInt8

        /// The conditions with those three bits; higher ones are ignored.
        public init(bits: UInt8) { self.bits = bits & 7 }

        /// Everything with either key: `000`.
        public static let open = DataAccess(bits: 0)

        private static let rights: [(read: Keys, write: Keys, increment: Keys, decrement: Keys)] = [
            (.either, .either, .either, .either), (.either, [], [], .either), (.either, [], [], []), (.b, .b, [], []),
            (.either, .b, [], []), (.b, [], [], []), (.either, .b, .b, .either), ([], [], [], []),
        ]

        /// Who may read the block.
        public var read: Keys { Self.rights[Int(bits)].read }

        /// Who may write the block.
        public var write: Keys { Self.rights[Int(bits)].write }

        /// Who may increment the value in the block.
        public var increment: Keys { Self.rights[Int(bits)].increment }

        /// Who may decrement, transfer and restore the value in the block.
        public var decrement: Keys { Self.rights[Int(bits)].decrement }
    }

    /// What each key may do with the trailer. Key A can never be read.
    public struct TrailerAccess: Sendable, Hashable {
        /// C1, C2 and C3, C1 as bit 2: 0...7.
        public let bits: UInt8

        /// The conditions with those three bits; higher ones are ignored.
        public init(bits: UInt8) { self.bits = bits & 7 }

        private static let rights: [(keys: Keys, accessRead: Keys, accessWrite: Keys, keyBRead: Keys)] = [
            (.a, .a, [], .a), (.a, .a, .a, .a), ([], .a, [], .a), (.b, .either, .b, []),
            (.b, .either, [], []), ([], .either, .b, []), ([], .either, [], []), ([], .either, [], []),
        ]

        /// Who may change key A.
        public var keyAWrite: Keys { Self.rights[Int(bits)].keys }

        /// Who may read the access bits.
        public var accessRead: Keys { Self.rights[Int(bits)].accessRead }

        /// Who may change the access bits.
        public var accessWrite: Keys { Self.rights[Int(bits)].accessWrite }

        /// Who may read key B, which then is data and no key.
        public var keyBRead: Keys { Self.rights[Int(bits)].keyBRead }

        /// Who may change key B.
        public var keyBWrite: Keys { keyAWrite }

        /// Who may change the whole trailer.
        public var write: Keys { keyAWrite.intersection(accessWrite) }
    }
}

extension AccessConditions: CustomStringConvertible {
    /// The access bytes as `7F0788`.
    public var description: String { bytes.hex }
}
