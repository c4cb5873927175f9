import ClubRecords

/// Where a message came from.
public struct MessageSource: Sendable, Hashable {
    /// By which way.
    public var kind: Kind

    /// Which one of that way, such as the name of the reader or of the file, or `nil`.
    public var name: String?

    /// The ways by which messages come.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A record on a card. Anybody can write a card, so a processor takes these only if it says so.
        case card
        /// A line on a ``MessageSocket``.
        case socket
        /// A file in a ``MessageFolder``.
        case directory
        /// The hub that joins several kiosks. Whoever talks to the hub gives each of its messages to
        /// ``MessageRouter/accept(_:)`` with this source and the hub's identifier of the message as ``Message/id``; when
        /// that returns, the hub may forget the message. A message that is given again is a duplicate.
        case hub
        /// Somebody who typed a command.
        case command
        /// The application itself.
        case application
    }

    /// A source.
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

    /// Somebody who typed a command.
    public static func command(_ user: String? = nil) -> MessageSource { MessageSource(.command, name: user) }

    /// The application itself.
    public static func application(_ part: String? = nil) -> MessageSource { MessageSource(.application, name: part) }
}

extension MessageSource.Kind {
    /// All ways but ``card``: those that need an account on this machine, or the hub's key.
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

    /// Reads the object that ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try container.decode(Kind.self, forKey: .kind)
        name = try container.decodeIfPresent(String.self, forKey: .name)
    }

    /// An object with `kind` and, where there is one, `name`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(name, forKey: .name)
    }
}
