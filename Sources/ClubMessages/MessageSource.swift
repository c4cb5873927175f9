import ClubRecords

/// The source of a message. In JSON an object with `kind` and, if present, `name`.
public struct MessageSource: Sendable, Hashable, Codable {
    /// The kind of source.
    public var kind: Kind

    /// The name of the source, such as that of the reader or of the file, if any.
    public var name: String?

    /// The kinds of sources.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A record on a card. Anybody can write a card, so a processor accepts these only explicitly.
        case card
        /// A line on a ``MessageSocket``.
        case socket
        /// A file in a ``MessageFolder``.
        case directory
        /// The hub that connects several kiosks. The hub's client passes each of its messages to
        /// ``MessageRouter/accept(_:)`` with this source and the hub's identifier of the message as ``Message/id``;
        /// once that returns, the hub may remove the message. A repeated message is a duplicate.
        case hub
        /// A command that a person typed.
        case command
        /// The application itself.
        case application
    }

    /// Creates a source.
    public init(_ kind: Kind, name: String? = nil) {
        self.kind = kind
        self.name = name
    }
}

extension MessageSource.Kind {
    /// All kinds but ``card``: those that require an account on this machine, or the hub's key.
    public static let allButCard = Set(allCases).subtracting([.card])
}

extension MessageSource: CustomStringConvertible {
    /// The kind, and the name if there is one: `card (ACS ACR1252U)`.
    public var description: String { kind.rawValue + (name.map { " (\(PlainText.line($0)))" } ?? "") }
}
