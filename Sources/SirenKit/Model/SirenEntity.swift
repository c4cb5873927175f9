/// An entity of an API: what is known of it, what it is related to, where one can go, and what one can do with it.
public struct SirenEntity: Sendable, Hashable {
    /// The media type of documents.
    public static let mediaType = "application/vnd.siren+json"

    /// `class`: what the entity is; the names are the API's own.
    public var classes: [String]
    /// A text for people.
    public var title: String?
    /// What is known of it.
    public var properties: SirenObject
    /// Entities to which it is related.
    public var entities: [SirenSubEntity]
    /// Where one can go.
    public var links: [SirenLink]
    /// What one can do.
    public var actions: [SirenAction]
    /// Members that the specification does not know, and those that are there and empty.
    public var otherMembers: SirenObject

    /// Creates an entity.
    public init(
        classes: [String] = [],
        title: String? = nil,
        properties: SirenObject = [:],
        entities: [SirenSubEntity] = [],
        links: [SirenLink] = [],
        actions: [SirenAction] = [],
        otherMembers: SirenObject = [:]
    ) {
        self.classes = classes
        self.title = title
        self.properties = properties
        self.entities = entities
        self.links = links
        self.actions = actions
        self.otherMembers = otherMembers
    }

    /// The reference to the entity itself, as it is written.
    public var selfReference: String? { links.first(rel: "self")?.href }
}

/// An entity to which another is related: all of it, or a link to it.
public enum SirenSubEntity: Sendable, Hashable {
    /// A link to the entity.
    case link(SirenLink)
    /// The entity, and its relation to the one that has it.
    case representation(SirenEntity, rel: [String])

    /// Its relation to the entity that has it.
    public var rel: [String] {
        switch self {
        case .link(let link): link.rel
        case .representation(_, let rel): rel
        }
    }

    /// The entity, if it is not only linked.
    public var entity: SirenEntity? {
        if case .representation(let entity, _) = self { entity } else { nil }
    }

    /// The link, if it is nothing else.
    public var link: SirenLink? {
        if case .link(let link) = self { link } else { nil }
    }
}

/// A way to another resource, or to a related entity.
public struct SirenLink: Sendable, Hashable {
    /// What the other is to this one: registered names or URIs (RFC 8288).
    public var rel: [String]
    /// Where it is: a reference that is resolved against where the document came from.
    public var href: String
    /// `class`: what it is; the names are the API's own.
    public var classes: [String]
    /// A text for people.
    public var title: String?
    /// The media type of what is there.
    public var type: String?
    /// Members that the specification does not know, and those that are there and empty.
    public var otherMembers: SirenObject

    /// Creates a link.
    public init(
        rel: [String],
        href: String,
        classes: [String] = [],
        title: String? = nil,
        type: String? = nil,
        otherMembers: SirenObject = [:]
    ) {
        self.rel = rel
        self.href = href
        self.classes = classes
        self.title = title
        self.type = type
        self.otherMembers = otherMembers
    }
}
