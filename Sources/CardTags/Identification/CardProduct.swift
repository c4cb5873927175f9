/// A product, or a family of products if nothing distinguishes them.
public struct CardProduct: Sendable, Hashable, Encodable {
    /// The family.
    public var family: CardFamily

    /// The name, such as "NTAG213" or "MIFARE DESFire EV2 4K".
    public var name: String

    /// The size of the user memory in bytes, or `nil` where it is not known or means nothing. For MIFARE
    /// Classic and cards with a file system it is the whole memory.
    public var memory: Int?

    /// A product.
    public init(_ family: CardFamily, _ name: String, memory: Int? = nil) {
        self.family = family
        self.name = name
        self.memory = memory
    }
}

extension CardProduct: CustomStringConvertible {
    /// The name, and the memory where it is known.
    public var description: String { memory.map { "\(name) (\($0) bytes)" } ?? name }
}

/// A family of cards that are spoken to in the same way. The raw values are what JSON shows.
public enum CardFamily: String, Sendable, Hashable, Encodable, CaseIterable {
    /// MIFARE Ultralight in all its kinds.
    case ultralight
    /// NTAG 203 and 21x.
    case ntag2
    /// Other Type 2 tags.
    case type2
    /// MIFARE Classic, and chips that behave like it.
    case classic
    /// MIFARE Plus.
    case plus
    /// MIFARE DESFire.
    case desfire
    /// NTAG 4xx DNA.
    case ntag4
    /// Topaz and Jewel (Type 1).
    case topaz
    /// Sony FeliCa.
    case felica
    /// NXP ICODE.
    case icode
    /// STMicroelectronics ST25 and LRI.
    case st25
    /// Other ISO 15693 cards.
    case iso15693
    /// NXP JCOP and SmartMX.
    case jcop
    /// Phones and watches.
    case phone
    /// Payment cards.
    case payment
    /// Passports and identity cards.
    case identityDocument
    /// Another ISO 14443-4 card of type A.
    case iso14443a4
    /// Another ISO 14443 A card.
    case iso14443a
    /// An ISO 14443 B card.
    case iso14443b
    /// A card with contacts.
    case contact
    /// Nothing is known.
    case unknown
}
