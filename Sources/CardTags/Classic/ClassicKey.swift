import CardCore

/// A key of a MIFARE Classic sector: six bytes.
///
/// Its text never shows them. Classic's cipher is broken, so a key keeps nobody out for long; it is a secret of its owner
/// all the same.
public struct ClassicKey: Sendable, Hashable {
    /// The six bytes.
    public let bytes: [UInt8]

    /// A key.
    ///
    /// - Returns: `nil` unless there are exactly six bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 6 else { return nil }
        self.bytes = bytes
    }

    private init(_ number: UInt64) {
        bytes = (0..<6).map { UInt8(truncatingIfNeeded: number >> (8 * (5 - UInt64($0)))) }
    }

    /// The public key A of the application directory (NXP AN10787): `A0A1A2A3A4A5`.
    public static let directory = ClassicKey(0xA0A1_A2A3_A4A5)

    /// The public key A of sectors that hold an NDEF message (NXP AN1305): `D3F7D3F7D3F7`.
    public static let ndef = ClassicKey(0xD3F7_D3F7_D3F7)

    /// The key with which cards leave the factory: `FFFFFFFFFFFF`.
    public static let factory = ClassicKey(0xFFFF_FFFF_FFFF)

    /// Whether the key is one of the three that everybody knows.
    public var isPublic: Bool { self == .directory || self == .ndef || self == .factory }

    /// One of the two keys of a sector.
    public enum Side: UInt8, Sendable, Hashable, CaseIterable {
        /// Key A; its authentication command is `60`.
        case a = 0x60
        /// Key B; its authentication command is `61`.
        case b = 0x61
    }
}

extension ClassicKey: Secret {
    /// That it is a key, not which.
    public var description: String { "MIFARE Classic key" }
}

/// The keys with which the sectors of a MIFARE Classic are tried.
///
/// The public keys are always among them, others only if specified here. No key is ever guessed.
public struct ClassicKeys: Sendable, Hashable {
    private var given: [Place: ClassicKey] = [:]

    private struct Place: Hashable {
        var sector: Int
        var side: ClassicKey.Side
    }

    /// The key B that formatting assigns to the sectors.
    ///
    /// It is needed to change the directory, to lock the card and to take it back. With the default, the factory key,
    /// anybody can do so.
    public var newKeyB: ClassicKey

    /// The public keys alone.
    ///
    /// - Parameter newKeyB: the key B that formatting assigns to the sectors.
    public init(newKeyB: ClassicKey = .factory) {
        self.newKeyB = newKeyB
    }

    /// The public keys alone, and the factory key as key B of formatted cards.
    public static let publicKeys = ClassicKeys()

    /// The key specified for a side of a sector; it is tried before the public ones.
    public subscript(sector: Int, side: ClassicKey.Side) -> ClassicKey? {
        get { given[Place(sector: sector, side: side)] }
        set { given[Place(sector: sector, side: side)] = newValue }
    }

    /// The keys to try for a side of a sector, in order: the one specified, the one of its use, the factory's.
    func candidates(_ sector: Int, _ side: ClassicKey.Side) -> [ClassicKey] {
        var keys: [ClassicKey] = []
        func add(_ key: ClassicKey?) {
            if let key, !keys.contains(key) { keys.append(key) }
        }
        add(self[sector, side])
        switch side {
        case .a: add(sector == 0 || sector == 16 ? .directory : .ndef)
        case .b: add(newKeyB)
        }
        add(.factory)
        return keys
    }
}

extension ClassicKeys: Secret {
    /// How many keys were specified, not which.
    public var description: String { "public MIFARE Classic keys and \(given.count) others" }
}
