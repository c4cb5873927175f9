import CardCore
import CardTags
import Foundation
import NDEFCodec

/// Finds the member's id in the records of a tag.
///
/// Understood are, in this order within a record: the four-field text (``MembershipText``), a JSON object with an id, a
/// Text that is a single word, and a URI that names a member:
///
/// | what is written | the id |
/// | --- | --- |
/// | Text `4\|U1\|x\|Ann` | `U1`, name `Ann` |
/// | Text `U1` | `U1` |
/// | Text or `application/json` `{"userId":"U1","username":"Ann"}` | `U1`, name `Ann` |
/// | URI `https://club.example/member?id=U1` | `U1` |
/// | URI `https://club.example/m/U1` | `U1` |
/// | URI `https://club.example/m/94%2F1` | `94/1`: a path is split before it is decoded |
/// | vCard with `X-MEMBER-NUMBER:U1` and `FN:Ann` | `U1`, name `Ann` |
///
/// A URI without such a part, or a Text of several words, names nobody; it may be an advertisement. A vCard counts only
/// with a member's number (``VCard/memberNumberNames``), and where no other record names a member or was meant to. Its
/// `UID` names nobody: any program makes one up, and the same contact may be written to many cards.
public enum NDEFPassReader {
    /// The names under which a JSON object or a URI's query holds the id, the first found counts. Case does not count.
    public static let idNames = ["userId", "memberId", "member", "passId", "id", "user", "card"]

    /// The names under which a JSON object holds the member's name.
    public static let nameNames = ["username", "name"]

    /// The path segments after which the next segment of a URI is the id.
    public static let idSegments: Set<String> = [
        "m", "member", "members", "u", "user", "users", "p", "pass", "passes", "c", "card", "cards",
    ]

    /// What a message contains about the member.
    public struct Finding: Sendable, Hashable {
        /// The ids found, in the order of the records.
        public var passes: [Pass] = []
        /// Texts and addresses that are meant as a pass and are not well formed.
        public var problems: [ScanEvent.Problem] = []
    }

    /// Looks through the records, in order, for ids.
    public static func read(_ records: [NDEFRecord]) -> Finding {
        var finding = Finding()
        for record in records {
            switch record.content {
            case .text(let text): finding.read(text.text)
            case .uri(let uri), .absoluteURI(let uri, _): finding.read(uri: uri)
            case .smartPoster(let poster): finding.read(uri: poster.uri)
            case .mime(let type, let payload): finding.read(mime: type, payload)
            default: break
            }
        }
        if finding.passes.isEmpty, finding.problems.isEmpty {
            for record in records { if case .vCard(let card) = record.media { finding.read(card) } }
        }
        return finding
    }
}

extension NDEFPassReader.Finding {
    private mutating func add(_ id: String, kind: Pass.Kind = .ndef, name: String? = nil) {
        passes.append(Pass(kind: kind, id: id, assurance: .identifier, name: name))
    }

    /// A member's number that cannot be one is a pass gone wrong.
    private mutating func add(_ id: String, name: String?, orSay what: String) {
        if MemberID.isUsable(id) { add(id, name: name) } else { refuse("\(what) that is too long or not printable") }
    }

    private mutating func refuse(_ fault: String) {
        problems.append(ScanEvent.Problem(.invalidPass, "\(fault); write the card anew"))
    }

    fileprivate mutating func read(_ card: VCard) {
        guard let number = card.memberNumber else { return }
        let name = card.name.map(MemberID.name).flatMap { $0.isEmpty ? nil : $0 }
        add(number, name: name, orSay: "the vCard has a member number")
    }

    fileprivate mutating func read(_ text: String) {
        let text = text.trimmed
        if text.first == "{" {
            read(json: Array(text.utf8))
        } else if text.contains("|") {
            do {
                let member = try MembershipText(parsing: text)
                add(member.id, kind: .text, name: member.name.isEmpty ? nil : member.name)
            } catch {
                problems.append(ScanEvent.Problem(.invalidPass, error.message))
            }
        } else if MemberID.isUsable(text), !text.contains(where: \.isWhitespace) {
            add(text)
        }
    }

    fileprivate mutating func read(mime type: String, _ payload: [UInt8]) {
        let essence = type.prefix { $0 != ";" }.trimmed.lowercased()
        if essence == "application/json" || essence.hasSuffix("+json") {
            read(json: payload)
        } else if essence == "text/plain", let text = String(validating: payload, as: UTF8.self) {
            read(text)
        }
    }

    private mutating func read(json bytes: [UInt8]) {
        guard let object = JSONValue.object(in: bytes) else { return refuse("the JSON on the card is malformed") }
        func value(_ names: [String]) -> String? {
            for name in names {
                // Keys may differ in case alone: the name as it stands counts first, then in the order of the keys.
                let keys = object.keys.filter { $0.lowercased() == name.lowercased() }
                for key in keys.sorted(by: { ($0 != name ? 1 : 0, $0) < ($1 != name ? 1 : 0, $1) }) {
                    if let text = object[key]?.name?.trimmed, !text.isEmpty { return text }
                }
            }
            return nil
        }
        guard let id = value(NDEFPassReader.idNames) else { return }
        add(id, name: value(NDEFPassReader.nameNames).map(MemberID.name), orSay: "the JSON on the card has an id")
    }

    fileprivate mutating func read(uri text: String) {
        let uri = URIParts(text)
        let parameters = uri.parameters
        let named = NDEFPassReader.idNames.lazy.compactMap { name in
            parameters.first { $0.name.lowercased() == name.lowercased() && !$0.value.isEmpty }?.value
        }
        let isHierarchical = uri.authority != nil || uri.path.contains("/")
        let segments = isHierarchical ? uri.segments.filter { !$0.isEmpty } : uri.path.split(separator: ":")
        let following = zip(segments, segments.dropFirst()).first { segment, _ in
            NDEFPassReader.idSegments.contains(URIParts.decoded(segment)?.lowercased() ?? "")
        }
        guard let written = named.first ?? following?.1 else { return }
        guard let id = URIParts.decoded(written)?.trimmed else {
            return refuse("the address on the card cannot be decoded where it names somebody")
        }
        if !id.isEmpty { add(id, name: nil, orSay: "the address on the card has an id") }
    }
}
