/// An entity that the published schema would refuse was not encoded.
public struct SirenEncodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the schema would refuse.
    public var violations: [SirenViolation]

    /// What was attempted, what happened, and what a person can do.
    public var description: String {
        "the entity cannot be written as Siren: \(violations.map(\.description).joined(separator: "; ")); correct it first"
    }
}

extension SirenEntity {
    /// The entity as a document, which the published schema accepts.
    ///
    /// - Returns: JSON in UTF-8 without white space.
    /// - Throws: ``SirenEncodingError`` if the schema would refuse it, for example since a sub-entity has no relation.
    public func encoded() throws(SirenEncodingError) -> [UInt8] {
        let object = json(rel: nil)
        var decoder = SirenDecoder()
        _ = decoder.root(object)
        let refused = decoder.violations.all.filter(\.rule.isOfSchema).map { violation in
            SirenViolation(path: "$" + violation.path, rule: violation.rule, expected: violation.expected)
        }
        guard refused.isEmpty else { throw SirenEncodingError(violations: refused) }
        return SirenValue.object(object).json
    }

    /// - Parameter rel: the relation, of what is no root.
    func json(rel: [String]?) -> SirenObject {
        var json = SirenObject()
        json.add("class", classes)
        json.add("title", title)
        if let rel { json["rel"] = .array(rel.map(SirenValue.string)) }
        if !properties.isEmpty { json["properties"] = .object(properties) }
        json.add("entities", entities, \.json)
        json.add("links", links, \.json)
        json.add("actions", actions, \.json)
        var others = otherMembers
        // With it the entity would be read as a link.
        if rel != nil { others["href"] = nil }
        return json.with(others)
    }
}

extension SirenSubEntity {
    var json: SirenObject {
        switch self {
        case .link(let link): link.json
        case .representation(let entity, let rel): entity.json(rel: rel)
        }
    }
}

extension SirenLink {
    var json: SirenObject {
        var json = SirenObject()
        json["rel"] = .array(rel.map(SirenValue.string))
        json.add("class", classes)
        json.add("title", title)
        json["href"] = .string(href)
        json.add("type", type)
        return json.with(otherMembers)
    }
}

extension SirenAction {
    var json: SirenObject {
        var json: SirenObject = ["name": .string(name)]
        json.add("class", classes)
        json.add("title", title)
        json.add("method", method)
        json["href"] = .string(href)
        json.add("type", type)
        json.add("fields", fields, \.json)
        return json.with(otherMembers)
    }
}

extension SirenField {
    fileprivate var json: SirenObject {
        var json: SirenObject = ["name": .string(name)]
        json.add("class", classes)
        json.add("type", typeName)
        json.add("title", title)
        switch value {
        case .single(let value): json["value"] = value.json
        case .choices(let choices): json["value"] = .array(choices.map { .object($0.json) })
        case nil: break
        }
        return json.with(otherMembers)
    }
}

extension SirenChoice {
    fileprivate var json: SirenObject {
        var json = SirenObject()
        json.add("title", title)
        json["value"] = value.json
        json["selected"] = selected.map(SirenValue.bool)
        return json.with(otherMembers)
    }
}

extension SirenObject {
    fileprivate mutating func add(_ name: String, _ text: String?) {
        if let text { self[name] = .string(text) }
    }

    fileprivate mutating func add(_ name: String, _ texts: [String]) {
        if !texts.isEmpty { self[name] = .array(texts.map(SirenValue.string)) }
    }

    fileprivate mutating func add<Element>(_ name: String, _ elements: [Element], _ json: (Element) -> SirenObject) {
        if !elements.isEmpty { self[name] = .array(elements.map { .object(json($0)) }) }
    }

    /// What the model has no place for follows; what it has a place for counts there.
    fileprivate func with(_ others: SirenObject) -> SirenObject {
        var json = self
        for member in others where self[member.name] == nil { json.append(member) }
        return json
    }
}
