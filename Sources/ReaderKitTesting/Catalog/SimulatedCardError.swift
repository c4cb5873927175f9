import ReaderKit

/// A simulated card could not be made as it was asked for.
public enum SimulatedCardError: Error, Sendable, Hashable {
    /// There is no kind of that name.
    case unknownKind(String)
    /// A card of that kind has identifiers of other lengths, or that begin otherwise.
    case identifier(kind: String, rule: String)
    /// A card of that kind holds no message.
    case noMessages(kind: String)
    /// The message has so many bytes, and a card of that kind takes at most so many.
    case tooLong(kind: String, length: Int, capacity: Int)
    /// The message cannot be encoded.
    case message(NDEFError)
}

extension SimulatedCardError: CustomStringConvertible {
    /// What was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .unknownKind(let name):
            "there is no simulated card of the kind '\(name)'. Choose one of: "
                + SimulatedCardCatalog.kinds.map(\.name).joined(separator: ", ") + "."
        case .identifier(let kind, let rule):
            "could not make a card of the kind '\(kind)': its identifier has to be \(rule)."
        case .noMessages(let kind):
            "could not make a card of the kind '\(kind)' with a message: such a card holds none. Choose another kind."
        case .tooLong(let kind, let length, let capacity):
            "could not make a card of the kind '\(kind)': the message has \(length) bytes, and it holds \(capacity). "
                + "Shorten the message, or choose another kind."
        case .message(let error): "could not encode the message: \(error)"
        }
    }
}
