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
/// | URI, or a line of `text/uri-list`, `https://club.example/member?id=U1` | `U1` |
/// | URI `https://club.example/m/U1` | `U1` |
/// | URI `https://club.example/m/94%2F1` | `94/1`: a path is split before it is decoded |
/// | URI `urn:club:member:94:1` | `94:1`: all that follows, where there is no hierarchy |
/// | Text `https://club.example/m/U1` | `U1`, as of a URI |
/// | vCard with `X-MEMBER-NUMBER:U1` and `FN:Ann` | `U1`, name `Ann` |
///
/// A URI without such a part, or a Text of several words, names nobody; it may be an advertisement. A vCard counts only
/// with a member's number (``VCard/memberNumberNames``), and where no other record names a member or was meant to. Its
/// `UID` names nobody: any program makes one up, and the same contact may be written to many cards.
///
/// Media types count by their registered and usual names, and their texts by the character set that they state. What comes
/// under one of them and cannot be read is a pass gone wrong.
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
        /// What could not be read besides the ids: a name.
        public var remarks: [ScanEvent.Problem] = []
    }

    /// Looks through the records, in order, for ids.
    public static func read(_ records: [NDEFRecord]) -> Finding {
        var finding = Finding()
        for record in records {
            switch record.content {
            case .text(let text): finding.read(text.text)
            case .uri(let uri), .absoluteURI(let uri, _): finding.read(uri: uri)
            case .smartPoster(let poster): finding.read(uri: poster.uri)
            default: finding.read(mime: record)
            }
        }
        if finding.passes.isEmpty, finding.problems.isEmpty { records.forEach { finding.readCards($0) } }
        return finding
    }
}

extension NDEFPassReader.Finding {
    /// What a text has where something could not be decoded when it was written.
    private static let lost: Unicode.Scalar = "\u{FFFD}"

    private mutating func add(_ id: String, kind: Pass.Kind = .ndef, name: String? = nil) {
        guard !id.unicodeScalars.contains(Self.lost) else { return refuse("the id on the card has lost characters") }
        var name = name
        if name?.unicodeScalars.contains(Self.lost) == true {
            name = nil
            remark("the name on the card has lost characters")
        }
        passes.append(Pass(kind: kind, id: id, assurance: .identifier, name: name?.isEmpty == true ? nil : name))
    }

    /// A member's number that cannot be one is a pass gone wrong.
    private mutating func add(_ id: String, name: String?, orSay what: String) {
        if MemberID.isUsable(id) { add(id, name: name) } else { refuse("\(what) that is too long or not printable") }
    }

    private mutating func refuse(_ fault: String) {
        problems.append(ScanEvent.Problem(.invalidPass, "\(fault); write the card anew"))
    }

    private mutating func remark(_ fault: String) {
        remarks.append(ScanEvent.Problem(.invalidPass, "\(fault) and is left out; write the card anew"))
    }

    fileprivate mutating func readCards(_ record: NDEFRecord) {
        do throws(NDEFError) {
            for card in try record.vCards() ?? [] { read(card) }
        } catch {
            refuse("the vCard on the card cannot be read: \(error.code.fact)")
        }
    }

    private mutating func read(_ card: VCard) {
        if card.hasUnreadableNumber {
            return refuse("the member's number in the vCard is no text in the character set that is stated for it")
        }
        guard let number = card.memberNumber else { return }
        if card.hasUnreadableName {
            remark("the name in the vCard is no text in the character set that is stated for it,")
        }
        add(number, name: card.name.map(MemberID.name), orSay: "the vCard has a member number")
    }

    fileprivate mutating func read(_ text: String) {
        let text = text.trimmed
        // A vCard, which counts last.
        if text.prefix(11).uppercased() == "BEGIN:VCARD" { return }
        if text.first == "{" {
            read(json: Array(text.utf8))
        } else if text.contains("|") {
            do {
                let member = try MembershipText(parsing: text)
                add(member.id, kind: .text, name: member.name)
            } catch {
                problems.append(ScanEvent.Problem(.invalidPass, error.message))
            }
        } else if !text.contains(where: \.isWhitespace) {
            let isAddress = ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
            if isAddress { read(uri: text) } else if MemberID.isUsable(text) { add(text) }
        }
    }

    /// Reads a record of a media type, but for vCards.
    fileprivate mutating func read(mime record: NDEFRecord) {
        guard let kind = record.mediaType?.kind else { return }
        switch kind {
        case .vCard, .directory, .token: return
        case .otherCard: return refuse("the vCard is in JSON or XML, of which only 'text/vcard' is read")
        case .json, .text, .addresses: break
        }
        guard let text = record.mediaText else {
            return refuse("the text on the card is none in the character set that is stated for it")
        }
        switch kind {
        case .json: read(json: Array(text.utf8))
        case .addresses:
            for line in text.split(whereSeparator: \.isNewline) where line.first != "#" { read(uri: line.trimmed) }
        default: read(text)
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
        let isHierarchical = uri.authority != nil || uri.path.hasPrefix("/") || uri.scheme.isEmpty
        let segments = isHierarchical ? uri.segments.filter { !$0.isEmpty } : uri.path.split(separator: ":")
        func isWord(_ segment: Substring) -> Bool {
            NDEFPassReader.idSegments.contains(URIParts.decoded(segment)?.lowercased() ?? "")
        }
        // Of several words in a row the last one counts: `/user/member/94`.
        var word = segments.firstIndex(where: isWord)
        while let index = word, index + 2 < segments.count, isWord(segments[index + 1]) { word = index + 1 }
        let following = word.flatMap { index -> Substring? in
            guard index + 1 < segments.count else { return nil }
            // Without a hierarchy all that follows is the name, `:` and `/` included (RFC 8141, section 2.2).
            return isHierarchical ? segments[index + 1] : uri.path[segments[index].endIndex...].dropFirst()
        }
        guard let written = named.first ?? following else { return }
        guard let id = URIParts.decoded(written)?.trimmed else {
            return refuse("the address on the card cannot be decoded where it names somebody")
        }
        if id.isEmpty { return refuse("the address on the card has an empty id") }
        add(id, name: nil, orSay: "the address on the card has an id")
    }
}
