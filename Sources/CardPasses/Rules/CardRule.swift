import Foundation

/// Which records of a card name a member at a place, and where in them the id stands.
///
/// A place without rules takes what ``NDEFPassReader`` understands; one with rules takes what they say, and nothing else.
///
/// ```json
/// { "uri":  { "host": "club.example", "path": "/m" } }
/// { "uri":  { "host": "club.example", "parameter": "t", "isToken": true } }
/// { "json": { "type": "application/vnd.club+json", "id": "member.number", "name": "member.name" } }
/// { "text": { "prefix": "CLUB:" } }
/// { "mime": { "type": "application/jwt", "isToken": true } }
/// ```
public enum CardRule: Sendable, Hashable {
    /// An address.
    case uri(URI)
    /// A JSON object.
    case json(JSON)
    /// A Text.
    case text(Text)
    /// A record of a media type whose payload is the id.
    case mime(MIME)

    /// An address that names a member: by a parameter, or by what follows the path.
    public struct URI: Sendable, Hashable, Codable {
        /// The host; case does not count.
        public var host: String
        /// How the path begins, in whole segments, as `/m`; any path where it is left out.
        public var path: String?
        /// The parameter with the id; where it is left out, the id is what follows `path`, up to the next `/`.
        public var parameter: String?
        /// Whether a signed token stands in place of the id.
        public var isToken: Bool?

        /// A rule.
        public init(host: String, path: String? = nil, parameter: String? = nil, isToken: Bool? = nil) {
            self.host = host
            self.path = path
            self.parameter = parameter
            self.isToken = isToken
        }
    }

    /// A JSON object, in a record of a media type or in a Text.
    public struct JSON: Sendable, Hashable, Codable {
        /// The media type, without parameters; any JSON where it is left out.
        public var type: String?
        /// Where the id stands: names with dots between them, as `member.number`.
        public var id: String
        /// Where the member's name stands.
        public var name: String?
        /// Whether a signed token stands in place of the id.
        public var isToken: Bool?

        /// A rule.
        public init(type: String? = nil, id: String, name: String? = nil, isToken: Bool? = nil) {
            self.type = type
            self.id = id
            self.name = name
            self.isToken = isToken
        }
    }

    /// A Text.
    public struct Text: Sendable, Hashable, Codable {
        /// How the text begins; the id is what follows. Any text where it is left out.
        public var prefix: String?
        /// Whether the text is a membership text (``MembershipText``), whose second field is the id.
        public var isMembershipText: Bool?
        /// Whether a signed token stands in place of the id.
        public var isToken: Bool?

        /// A rule.
        public init(prefix: String? = nil, isMembershipText: Bool? = nil, isToken: Bool? = nil) {
            self.prefix = prefix
            self.isMembershipText = isMembershipText
            self.isToken = isToken
        }
    }

    /// A record of a media type.
    public struct MIME: Sendable, Hashable, Codable {
        /// The media type, without parameters; case does not count.
        public var type: String
        /// Whether a signed token stands in place of the id.
        public var isToken: Bool?

        /// A rule.
        public init(type: String, isToken: Bool? = nil) {
            self.type = type
            self.isToken = isToken
        }
    }

    /// Whether the rule takes a signed token.
    public var isToken: Bool {
        switch self {
        case .uri(let rule): rule.isToken ?? false
        case .json(let rule): rule.isToken ?? false
        case .text(let rule): rule.isToken ?? false
        case .mime(let rule): rule.isToken ?? false
        }
    }
}

extension CardRule: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case uri, json, text, mime
    }

    /// Reads an object with one name, that of the kind.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.allKeys.count == 1, let kind = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "one of uri, json, text, mime")
            )
        }
        self =
            switch kind {
            case .uri: .uri(try container.decode(URI.self, forKey: .uri))
            case .json: .json(try container.decode(JSON.self, forKey: .json))
            case .text: .text(try container.decode(Text.self, forKey: .text))
            case .mime: .mime(try container.decode(MIME.self, forKey: .mime))
            }
    }

    /// Writes an object with one name, that of the kind.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .uri(let rule): try container.encode(rule, forKey: .uri)
        case .json(let rule): try container.encode(rule, forKey: .json)
        case .text(let rule): try container.encode(rule, forKey: .text)
        case .mime(let rule): try container.encode(rule, forKey: .mime)
        }
    }
}
