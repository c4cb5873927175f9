/// The NDEF message of a card. All three cases are states of a card in good order, not errors.
public enum TagNDEF: Sendable, Hashable {
    /// There is no place for NDEF on this card: it is unformatted, has no NDEF application, or is of a kind that is not
    /// read.
    case absent
    /// The tag is formatted and holds a message of length 0.
    case empty
    /// An encoded message of at least one byte, not yet decoded.
    case message([UInt8])

    /// The encoded message: empty when the tag holds none, `nil` when there is no place for one.
    public var bytes: [UInt8]? {
        switch self {
        case .absent: nil
        case .empty: []
        case .message(let bytes): bytes
        }
    }
}
