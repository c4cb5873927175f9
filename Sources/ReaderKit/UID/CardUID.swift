/// A card's unique identifier, as it is read: most significant byte first for ISO 15693, transmission order otherwise.
public struct CardUID: Sendable, Hashable {
    /// The bytes: 4, 7 or 10 for ISO 14443 A, 4 for B, 8 for FeliCa and ISO 15693.
    public var bytes: [UInt8]

    /// The radio technology, which decides what the bytes mean.
    public var technology: Technology?

    /// An identifier.
    public init(_ bytes: [UInt8], technology: Technology?) {
        self.bytes = bytes
        self.technology = technology
    }

    /// What an identifier says of its card.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The same at every presentation, and no other card's by its maker's word. It can still be copied.
        case fixed
        /// Made anew at every presentation.
        case random
        /// The same at every presentation, and perhaps other cards' too.
        case nonUnique
    }

    /// What the identifier says of its card.
    public var kind: Kind { .fixed }

    /// Upper-case hexadecimal, in the order as read.
    public var hex: String { bytes.hex }
}
