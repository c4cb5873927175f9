/// By what one of several is found.
public struct SirenFacets: Sendable, Hashable {
    var classes: [String] = []
    var relations: [String] = []
    var name: String?
    var title: String?
    var type: String?
}

/// What is found among others by class, relation, name, title or type.
public protocol SirenSelectable {
    /// By what it is found.
    var facets: SirenFacets { get }
}

extension SirenLink: SirenSelectable {
    /// By what it is found.
    public var facets: SirenFacets { SirenFacets(classes: classes, relations: rel, title: title, type: type) }
}

extension SirenSubEntity: SirenSelectable {
    /// By what it is found: as a link, or as an entity with a relation.
    public var facets: SirenFacets {
        switch self {
        case .link(let link): link.facets
        case .representation(let entity, let rel):
            SirenFacets(classes: entity.classes, relations: rel, title: entity.title)
        }
    }
}

extension SirenAction: SirenSelectable {
    /// By what it is found.
    public var facets: SirenFacets { SirenFacets(classes: classes, name: name, title: title, type: encoding) }
}

extension SirenField: SirenSelectable {
    /// By what it is found.
    public var facets: SirenFacets {
        SirenFacets(classes: classes, name: name, title: title, type: typeName ?? type.rawValue)
    }
}

extension Sequence where Element: SirenSelectable {
    /// All that have all of these classes, that relation, name, title and type, as far as they are specified.
    ///
    /// - Parameters:
    ///   - classes: classes that it has, among others.
    ///   - rel: a relation that it has, among others, compared as RFC 8288 specifies.
    ///   - type: a media type, compared without its parameters and in whatever case, or the type of a field.
    public func all(
        class classes: String...,
        rel: String? = nil,
        name: String? = nil,
        title: String? = nil,
        type: String? = nil
    ) -> [Element] {
        filter { $0.facets.match(classes, rel, name, title, type) }
    }

    /// The first that has all of these classes, that relation, name, title and type, as far as they are specified.
    ///
    /// - Parameters:
    ///   - classes: classes that it has, among others.
    ///   - rel: a relation that it has, among others, compared as RFC 8288 specifies.
    ///   - type: a media type, compared without its parameters and in whatever case, or the type of a field.
    public func first(
        class classes: String...,
        rel: String? = nil,
        name: String? = nil,
        title: String? = nil,
        type: String? = nil
    ) -> Element? {
        first { $0.facets.match(classes, rel, name, title, type) }
    }
}

extension SirenFacets {
    fileprivate func match(
        _ classes: [String],
        _ rel: String?,
        _ name: String?,
        _ title: String?,
        _ type: String?
    ) -> Bool {
        guard name == nil || self.name == name, title == nil || self.title == title else { return false }
        if let rel, !relations.contains(where: { SirenRelation.isSame($0, rel) }) { return false }
        if let type, self.type.map({ MediaType.essence($0) != MediaType.essence(type) }) ?? true { return false }
        return classes.allSatisfy(self.classes.contains)
    }
}
