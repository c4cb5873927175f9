/// A dump of a card's memory cannot be used.
public enum CardImageError: Error, Sendable, Hashable {
    /// No known card, or not the one that was named, has a memory of so many bytes.
    case size(Int, product: CardImage.Product?)
    /// A line of a text form says nothing that belongs there.
    case line(Int, String)
    /// A text form is of a card that is not simulated from its memory, or has none.
    case content(String)
}

extension CardImageError: CustomStringConvertible {
    /// What was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .size(let count, nil):
            "\(count) bytes are no memory of a known card. Known sizes: \(CardImageError.sizes)."
        case .size(let count, let product?):
            "\(count) bytes are no memory of a card of the kind \(product.name), which has \(product.size)."
        case .line(let number, let reason): "line \(number): \(reason)."
        case .content(let reason): "\(reason). Take a raw dump, of one of these sizes: \(CardImageError.sizes)."
        }
    }

    /// Each size with the cards that have it.
    private static var sizes: String {
        Set(CardImage.Product.all.map(\.size)).sorted().map { size in
            let names = CardImage.Product.all.filter { $0.size == size }.map(\.name)
            return "\(size) (\(names.joined(separator: " or ")))"
        }.joined(separator: ", ")
    }
}
