import CardCore
import Foundation
import NDEFCodec

/// Which records of a card name a member at a place, and where in them the id stands.
///
/// A place without rules takes what ``NDEFPassReader`` understands; one with rules takes only what they specify.
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
        /// The parameter with the id; where it is left out, the id is the segment that follows `path`. It is decoded once it
        /// is found, so that `/m/94%2F1` names `94/1`.
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
        /// The media type, by any of its usual names and without parameters; any JSON where it is left out.
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
        /// The media type, by any of its usual names and without parameters; case does not count.
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

extension CardRule {
    /// What a rule finds in a record that it is for.
    package enum Reading: Equatable {
        /// The id as it stands there, and the name.
        case id(String, name: String?, Pass.Kind)
        /// A token that has to be checked.
        case token(String)
        /// The record is meant and names nobody, and why.
        case nobody(String)
    }

    /// Reads a record; `nil` if the rule is for other records.
    package func read(_ record: NDEFRecord) -> Reading? {
        let found: Reading? =
            switch (self, record.content) {
            case (.uri(let rule), .uri(let uri)), (.uri(let rule), .absoluteURI(let uri, _)): rule.read(uri)
            case (.uri(let rule), .smartPoster(let poster)): rule.read(poster.uri)
            case (.text(let rule), .text(let text)): rule.read(text.text.trimmed)
            case (.json(let rule), .text(let text)) where rule.type == nil && text.text.trimmed.first == "{":
                rule.read(Array(text.text.utf8))
            case (.json(let rule), _) where record.mediaType.map(rule.isMeant) == true:
                record.mediaText.map { rule.read(Array($0.utf8)) } ?? Self.noText
            case (.mime(let rule), _) where record.mediaType?.isSame(as: MediaType(rule.type)) == true:
                record.mediaText.map { .id($0.trimmed, name: nil, .ndef) } ?? Self.noText
            default: nil
            }
        guard isToken, case .id(let text, _, _) = found else { return found }
        return .token(text)
    }

    private static let noText = Reading.nobody(
        "the record of the card is no text in the character set that is stated for it; write the card anew"
    )
}

extension CardRule.URI {
    fileprivate func read(_ uri: String) -> CardRule.Reading? {
        guard let rest = WebPlace(host: host, path: path ?? "").rest(of: uri) else { return nil }
        let written =
            if let parameter { URIParts(uri).parameters.first { $0.name == parameter }?.value } else { rest.first }
        guard let id = URIParts.decoded(written ?? "")?.trimmed else {
            return .nobody("the card's address cannot be decoded where it names somebody; write the card anew")
        }
        guard !id.isEmpty else { return .nobody("the card's address names nobody; write the card anew") }
        return .id(id, name: nil, .ndef)
    }
}

extension CardRule.JSON {
    fileprivate func isMeant(_ type: MediaType) -> Bool {
        self.type.map { type.isSame(as: MediaType($0)) } ?? (type.kind == .json)
    }

    fileprivate func read(_ bytes: [UInt8]) -> CardRule.Reading {
        guard let object = JSONValue.object(in: bytes) else {
            return .nobody("the JSON on the card is malformed; write the card anew")
        }
        guard let id = JSONValue.value(at: id, in: object)?.name?.trimmed, !id.isEmpty else {
            return .nobody("the JSON on the card has no id where one has to be; write the card anew")
        }
        return .id(id, name: name.flatMap { JSONValue.value(at: $0, in: object)?.name }, .ndef)
    }
}

extension CardRule.Text {
    fileprivate func read(_ text: String) -> CardRule.Reading? {
        guard text.hasPrefix(prefix ?? "") else { return nil }
        let rest = text.dropFirst(prefix?.count ?? 0).trimmed
        guard isMembershipText == true else { return .id(rest, name: nil, .ndef) }
        do {
            let member = try MembershipText(parsing: rest)
            return .id(member.id, name: member.name.isEmpty ? nil : member.name, .text)
        } catch {
            return .nobody(error.message)
        }
    }
}

/// A place in the web: a host, and how the path begins.
struct WebPlace {
    /// Case does not count.
    var host: String
    /// Whole segments: `/t` is the beginning of `/t` and `/t/7`, not of `/tags`.
    var path: String

    /// The segments that follow the path in an address of the place, as they are written; `nil` for an address elsewhere.
    func rest(of url: String) -> ArraySlice<Substring>? {
        let address = URIParts(url)
        guard ["https", "http"].contains(address.scheme), let place = URIParts("//\(host)").host, place == address.host
        else { return nil }
        var wanted = URIParts.segments(of: path[...])
        let found = address.segments
        // Behind a `/` at the end of the path something has to follow.
        if wanted.last?.isEmpty == true {
            wanted.removeLast()
            guard found.count > wanted.count else { return nil }
        }
        guard found.count >= wanted.count,
            zip(wanted, found).allSatisfy({ left, right in
                URIParts.decoded(left).map { $0 == URIParts.decoded(right) } ?? false
            })
        else { return nil }
        return found.dropFirst(wanted.count)
    }
}
