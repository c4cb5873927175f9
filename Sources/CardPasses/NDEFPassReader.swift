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

    /// What a message says of the member.
    public struct Finding: Sendable, Hashable {
        /// The ids found, in the order of the records.
        public var passes: [Pass] = []
        /// Texts that are meant as a pass and are not well formed.
        public var problems: [ScanEvent.Problem] = []
    }

    /// Looks through the records, in order, for ids.
    public static func read(_ records: [NDEFRecord]) -> Finding {
        var finding = Finding()
        for record in records {
            switch record.content {
            case .text(let text):
                read(text.text, into: &finding)
            case .uri(let uri), .absoluteURI(let uri, _):
                read(uri: uri, into: &finding)
            case .smartPoster(let poster):
                read(uri: poster.uri, into: &finding)
            case .mime(let type, let payload):
                read(mime: type, payload, into: &finding)
            case .empty, .external, .androidApplication, .unknown, .handover, .handoverCarrier, .signature, .other,
                .malformed:
                break
            }
        }
        if finding.passes.isEmpty, finding.problems.isEmpty {
            for record in records {
                if case .vCard(let card) = record.media { read(card, into: &finding) }
            }
        }
        return finding
    }

    /// A member's number that cannot be one is a pass gone wrong.
    private static func read(_ card: VCard, into finding: inout Finding) {
        let name = card.name.map(MemberID.name).flatMap { $0.isEmpty ? nil : $0 }
        guard let number = card.memberNumber else { return }
        guard MemberID.isUsable(number) else {
            finding.problems.append(
                ScanEvent.Problem(
                    .invalidPass,
                    "the vCard has a member number that is too long or not printable; write the card anew"
                )
            )
            return
        }
        finding.passes.append(Pass(kind: .ndef, id: number, assurance: .identifier, name: name))
    }

    private static func read(_ text: String, into finding: inout Finding) {
        let text = text.trimmed
        if text.first == "{" {
            read(json: Array(text.utf8), into: &finding)
        } else if text.contains("|") {
            do {
                let member = try MembershipText(parsing: text)
                let name = member.name.isEmpty ? nil : member.name
                finding.passes.append(Pass(kind: .text, id: member.id, assurance: .identifier, name: name))
            } catch {
                finding.problems.append(ScanEvent.Problem(.invalidPass, error.message))
            }
        } else if MemberID.isUsable(text), !text.contains(where: \.isWhitespace) {
            finding.passes.append(Pass(kind: .ndef, id: text, assurance: .identifier))
        }
    }

    private static func read(mime type: String, _ payload: [UInt8], into finding: inout Finding) {
        let essence = type.prefix { $0 != ";" }.trimmed.lowercased()
        if essence == "application/json" || essence.hasSuffix("+json") {
            read(json: payload, into: &finding)
        } else if essence == "text/plain", let text = String(validating: payload, as: UTF8.self) {
            read(text, into: &finding)
        }
    }

    private static func read(json bytes: [UInt8], into finding: inout Finding) {
        guard let object = JSONValue.object(in: bytes) else {
            finding.problems.append(
                ScanEvent.Problem(.invalidPass, "the JSON on the card is malformed; write the card anew")
            )
            return
        }
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
        guard let id = value(idNames) else { return }
        guard MemberID.isUsable(id) else {
            finding.problems.append(
                ScanEvent.Problem(
                    .invalidPass,
                    "the JSON on the card has an id that is too long or not printable; write the card anew"
                )
            )
            return
        }
        let name = value(nameNames).map(MemberID.name)
        finding.passes.append(Pass(kind: .ndef, id: id, assurance: .identifier, name: name))
    }

    private static func read(uri text: String, into finding: inout Finding) {
        guard let uri = URLComponents(string: text) else { return }
        var id: String?
        for name in idNames where id == nil {
            id =
                uri.queryItems?.first { $0.name.lowercased() == name.lowercased() && $0.value?.isEmpty == false }?.value
        }
        if id == nil {
            let separator: Character = uri.host == nil && !uri.path.contains("/") ? ":" : "/"
            let segments = uri.path.split(separator: separator).map(String.init)
            id = zip(segments, segments.dropFirst()).first { idSegments.contains($0.0.lowercased()) }?.1
        }
        if let id = id?.trimmed, MemberID.isUsable(id) {
            finding.passes.append(Pass(kind: .ndef, id: id, assurance: .identifier))
        }
    }
}
