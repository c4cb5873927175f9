import CardCore

/// The identifier of an application on a DESFire card: a number of 24 bits. 0 is the card itself.
public struct DESFireApplicationID: Sendable, Hashable {
    /// The number, 0...FFFFFF.
    public let number: UInt32

    /// The card itself, at whose level applications are listed and made.
    public static let card = DESFireApplicationID(trusted: 0)

    /// An identifier, or `nil` for a number above FFFFFF.
    public init?(_ number: UInt32) {
        guard number <= 0xFF_FFFF else { return nil }
        self.number = number
    }

    /// Reads six hexadecimal digits, most significant first, as ``description`` writes them; `nil` if it is none.
    public init?(text: some StringProtocol) {
        guard let bytes = try? Hex.decode(text), bytes.count == 3 else { return nil }
        self.init(trusted: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// An identifier as the card sends it: three bytes, least significant first.
    package init?(wire bytes: some Collection<UInt8>) {
        guard bytes.count == 3 else { return nil }
        self.init(trusted: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    private init(trusted number: UInt32) {
        self.number = number
    }

    /// Three bytes, least significant first.
    var wire: [UInt8] { [UInt8].littleEndian(Int(number), count: 3) }
}

extension DESFireApplicationID: CustomStringConvertible {
    /// Six hexadecimal digits, most significant first.
    public var description: String { wire.reversed().hex }
}

extension [UInt8] {
    /// The lowest `count` bytes of a number, least significant first.
    static func littleEndian(_ number: Int, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

extension Collection<UInt8> {
    /// A number, least significant byte first. At most seven bytes count, which no `Int` is too small for.
    package var littleEndianNumber: Int { prefix(7).reversed().reduce(0) { $0 << 8 | Int($1) } }
}

/// What may be done with a card or an application, and what kind of keys it has.
public struct DESFireKeySettings: Sendable, Hashable {
    /// The settings byte: `01` master key can be changed, `02` listing is free, `04` making and deleting is free, `08`
    /// these settings can be changed.
    public var options: UInt8

    /// How many keys there are, 0...14.
    public var keyCount: Int

    /// What kind of keys they are.
    public var keyType: KeyType

    /// The kinds of keys.
    public enum KeyType: String, Sendable, Hashable, CaseIterable {
        /// DES and two-key 3DES, with which cards leave the factory.
        case des
        /// Three-key 3DES.
        case tripleDES
        /// AES with 128 bits, the one that this library uses.
        case aes
    }

    /// Whether files and applications are listed without a key.
    public var listsFreely: Bool { options & 0x02 != 0 }

    /// Whether applications (on the card) or files (in an application) are made without a key.
    public var createsFreely: Bool { options & 0x04 != 0 }

    /// Two bytes, as the card sends them; `nil` if they are fewer.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return nil }
        options = bytes[0]
        keyCount = Int(bytes[1] & 0x0F)
        keyType =
            switch bytes[1] & 0xC0 {
            case 0x00: .des
            case 0x40: .tripleDES
            default: .aes
            }
    }
}
