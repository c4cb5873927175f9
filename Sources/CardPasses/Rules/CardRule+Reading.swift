import CardCore
import Foundation
import NDEFCodec

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

    /// Reads a record.
    ///
    /// - Returns: `nil` if the rule is for other records.
    package func read(_ record: NDEFRecord) -> Reading? {
        let found: Reading? =
            switch (self, record.content) {
            case (.uri(let rule), .uri(let uri)), (.uri(let rule), .absoluteURI(let uri, _)): rule.read(uri)
            case (.uri(let rule), .smartPoster(let poster)): rule.read(poster.uri)
            case (.text(let rule), .text(let text)): rule.read(text.text.trimmed)
            case (.json(let rule), .text(let text)) where rule.type == nil && text.text.trimmed.first == "{":
                rule.read(Array(text.text.utf8))
            case (.json(let rule), .mime(let type, let payload)) where rule.isMeant(Self.essence(type)):
                rule.read(payload)
            case (.mime(let rule), .mime(let type, let payload)) where Self.essence(type) == rule.type.lowercased():
                String(validating: payload, as: UTF8.self).map { .id($0.trimmed, name: nil, .ndef) }
                    ?? .nobody("the record of the card is no text; write the card anew")
            default: nil
            }
        guard isToken, case .id(let text, _, _) = found else { return found }
        return .token(text)
    }

    /// A media type without its parameters.
    private static func essence(_ type: String) -> String { type.prefix { $0 != ";" }.trimmed.lowercased() }
}

extension CardRule.URI {
    fileprivate func read(_ uri: String) -> CardRule.Reading? {
        guard let address = URLComponents(string: uri),
            let rest = WebPlace(host: host, path: path ?? "").rest(of: address)
        else { return nil }
        let id: String? =
            if let parameter {
                address.queryItems?.first { $0.name == parameter }?.value
            } else {
                String(rest.prefix { $0 != "/" })
            }
        guard let id = id?.trimmed, !id.isEmpty else {
            return .nobody("the card's address names nobody; write the card anew")
        }
        return .id(id, name: nil, .ndef)
    }
}

extension CardRule.JSON {
    fileprivate func isMeant(_ type: String) -> Bool {
        self.type.map { $0.lowercased() == type } ?? (type == "application/json" || type.hasSuffix("+json"))
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
