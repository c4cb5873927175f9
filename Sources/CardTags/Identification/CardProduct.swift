/// A product, or a family of products where nothing tells them apart.
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
