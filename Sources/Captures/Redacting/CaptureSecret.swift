/// Something in a capture that identifies a person or opens a card.
public struct CaptureSecret: Sendable, Hashable {
    /// What it is.
    public var kind: Kind

    /// The line of the command of the exchange that holds it, or of the card, where the file is known.
    public var line: Int?

    /// What can be personal or secret in a capture.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// The identifier of a card, or a part of it.
        case identifier
        /// A key or a password.
        case key
        /// What a card and a terminal said to prove that they have a key.
        case authentication
        /// What a pass on a phone answered.
        case pass
        /// What is written on a card.
        case content
    }
}
