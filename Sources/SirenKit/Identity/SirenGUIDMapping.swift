import Foundation

/// Specifies by which value entities are known: by class, a path to it.
///
///     try SirenGUIDMapping(["order": "properties.orderNumber", "items, collection": "href"])
///
/// An entity that has all classes of several keys goes by the key with the most. One that has those of no key is known by
/// the URL of its link `self`, an embedded link by its own.
public struct SirenGUIDMapping: Sendable, Hashable {
    private struct Rule: Sendable, Hashable {
        var key: String
        var classes: Set<String>
        var path: SirenPath
    }

    /// Those with the most classes first, then by key.
    private let rules: [Rule]

    /// Every entity is known by its URL.
    public init() { rules = [] }

    /// Creates a mapping.
    ///
    /// - Parameter paths: paths by class; of several classes, in whatever order, with commas between them. The empty key is
    ///   for every entity that has no other.
    /// - Throws: ``SirenPath/Malformed`` if a path is not well formed.
    public init(_ paths: [String: String]) throws(SirenPath.Malformed) {
        var rules: [Rule] = []
        for (key, path) in paths {
            let classes = key.split(separator: ",").map { String($0.trimmingSpaces) }.filter { !$0.isEmpty }
            rules.append(Rule(key: key, classes: Set(classes), path: try SirenPath(path)))
        }
        self.rules = rules.sorted { ($1.classes.count, $0.key) < ($0.classes.count, $1.key) }
    }

    /// By what the entities of a document are known, worked out while their properties are there.
    public struct Identities: Sendable, Hashable {
        /// An entity or embedded link of the document.
        public struct Identity: Sendable, Hashable {
            /// Where it is in the document: a JSON path.
            public var path: String
            /// By what it is known; `nil` if it has neither what the mapping specifies nor a URL.
            public var guid: String?
            /// What it is: an entity, or a link to it.
            public var subject: SirenSubEntity
        }

        /// The document's entity, then those within it, each before its own.
        public internal(set) var all: [Identity] = []
        /// What did not come out as it should.
        public internal(set) var problems: [Problem] = []
    }

    /// What did not come out as it should.
    public enum Problem: Sendable, Hashable, CustomStringConvertible {
        /// At the mapping's path there is neither text nor number: the entity is not known by anything.
        case missing(at: String, path: String)
        /// Several keys fit equally well: the first in their alphabetical order counts.
        case tie(at: String, keys: [String])
        /// An entity has the GUID of one before it: an entity counts before a link, and else the first.
        case doubled(at: String, first: String, guid: String)

        /// All of it in one line.
        public var description: String {
            switch self {
            case .missing(let at, let path): "\(at): there is no text or number at '\(path)'"
            case .tie(let at, let keys): "\(at): the keys \(keys.map { "'\($0)'" }.joined(separator: ", ")) fit equally"
            case .doubled(let at, let first, _): "\(at): has the GUID of \(first)"
            }
        }
    }

    /// Works out by what the entities of a document are known.
    ///
    /// - Parameters:
    ///   - entity: the document's entity.
    ///   - base: where the document came from, against which references are resolved.
    public func identities(in entity: SirenEntity, base: URL?) -> Identities {
        var identities = Identities()
        identify(.representation(entity, rel: []), "$", base, &identities)
        // For Swift two texts may be equal that servers hold apart.
        var places: [[UInt8]: Int] = [:]
        for (index, identity) in identities.all.enumerated() {
            guard let guid = identity.guid else { continue }
            let bytes = Array(guid.utf8)
            guard let first = places[bytes] else {
                places[bytes] = index
                continue
            }
            let counts = identities.all[first].subject.entity == nil && identity.subject.entity != nil
            let (loser, winner) = counts ? (first, index) : (index, first)
            places[bytes] = winner
            let (lost, kept) = (identities.all[loser].path, identities.all[winner].path)
            identities.problems.append(.doubled(at: lost, first: kept, guid: guid))
            identities.all[loser].guid = nil
        }
        return identities
    }

    private func identify(_ subject: SirenSubEntity, _ place: String, _ base: URL?, _ identities: inout Identities) {
        let guid = guid(of: subject, place, base, &identities.problems)
        identities.all.append(Identities.Identity(path: place, guid: guid, subject: subject))
        for (index, inner) in (subject.entity?.entities ?? []).enumerated() {
            identify(inner, "\(place).entities[\(index)]", base, &identities)
        }
    }

    private func guid(of subject: SirenSubEntity, _ place: String, _ base: URL?, _ problems: inout [Problem]) -> String?
    {
        let classes = subject.facets.classes
        let fitting = rules.filter { $0.classes.isSubset(of: classes) }
        guard let rule = fitting.first else {
            let reference = subject.link?.href ?? subject.entity?.selfReference
            return reference.flatMap { SirenReference.resolve($0, against: base) }?.absoluteString
        }
        let tied = fitting.filter { $0.classes.count == rule.classes.count }.map(\.key)
        if tied.count > 1 { problems.append(.tie(at: place, keys: tied)) }
        let text =
            switch subject {
            case .link(let link): rule.path.text(in: link)
            case .representation(let entity, _): rule.path.text(in: entity)
            }
        guard let text, !text.isEmpty else {
            problems.append(.missing(at: place, path: rule.path.description))
            return nil
        }
        guard rule.path.endsAtReference else { return text }
        return SirenReference.resolve(text, against: base)?.absoluteString ?? text
    }
}

/// References of documents, which are relative to where these came from.
enum SirenReference {
    /// The absolute URL; `nil` if there is none, or the reference is not one that RFC 3986 allows.
    static func resolve(_ reference: String, against base: URL?) -> URL? {
        guard URIReference.isValid(reference) else { return nil }
        // Foundation has no URL for an empty text, which means the document itself.
        if reference.isEmpty { return base }
        let reference = escaped(reference)
        guard URL(string: reference, encodingInvalidCharacters: false) != nil else { return nil }
        let url = URL(string: reference, relativeTo: base)?.absoluteURL
        return url?.scheme == nil ? nil : url
    }

    /// Brackets in a query, as in `?filter[name]=a`, escaped: servers read both alike, and RFC 3986 allows the one.
    private static func escaped(_ reference: String) -> String {
        let start = reference.firstIndex { $0 == "?" || $0 == "#" } ?? reference.endIndex
        return String(reference[..<start]) + reference[start...].replacing("[", with: "%5B").replacing("]", with: "%5D")
    }
}
