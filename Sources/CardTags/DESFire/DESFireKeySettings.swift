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
