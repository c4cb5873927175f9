import ClubRecords

/// The source of a message.
public struct MessageSource: Sendable, Hashable {
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

    /// A card on a reader.
    public static func card(_ reader: String? = nil) -> MessageSource { MessageSource(.card, name: reader) }

    /// A line on a socket.
    public static func socket(_ name: String? = nil) -> MessageSource { MessageSource(.socket, name: name) }

    /// A file in a directory.
    public static func directory(_ file: String? = nil) -> MessageSource { MessageSource(.directory, name: file) }

    /// The hub.
    public static func hub(_ name: String? = nil) -> MessageSource { MessageSource(.hub, name: name) }

    /// A command that a person typed.
    public static func command(_ user: String? = nil) -> MessageSource { MessageSource(.command, name: user) }

    /// The application itself.
    public static func application(_ part: String? = nil) -> MessageSource { MessageSource(.application, name: part) }
}

extension MessageSource.Kind {
    /// All kinds but ``card``: those that require an account on this machine, or the hub's key.
    public static let allButCard = Set(allCases).subtracting([.card])
}

extension MessageSource: CustomStringConvertible {
    /// The kind, and the name if there is one: `card (ACS ACR1252U)`.
    public var description: String {
        kind.rawValue + (name.map { " (\(PlainText.line($0)))" } ?? "")
    }
}

extension MessageSource: Codable {
    private enum CodingKeys: String, CodingKey {
        case kind, name
    }

    /// Decodes the object of ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try container.decode(Kind.self, forKey: .kind)
        name = try container.decodeIfPresent(String.self, forKey: .name)
    }

    /// Encodes an object with `kind` and, if present, `name`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(name, forKey: .name)
    }
}
