/// Makes the model of JSON, and reports where that is not as it should be.
struct SirenDecoder {
    var violations = ViolationList()

    mutating func root(_ object: SirenObject) -> SirenEntity {
        var rel: [String]?
        return entity(object, rel: &rel, isRoot: true)
    }

    /// - Parameter rel: the relation, of what is no root.
    private mutating func entity(_ object: SirenObject, rel: inout [String]?, isRoot: Bool) -> SirenEntity {
        var entity = SirenEntity()
        for member in object {
            let (value, before) = (member.value, violations.count)
            switch member.name {
            case "class" where !value.isEmptyArray: entity.classes = texts(value)
            case "title": entity.title = text(value)
            case "properties" where !value.isEmptyObject:
                if case .object(let properties) = value {
                    entity.properties = properties
                } else {
                    violations.add(.type, "an object")
                }
            case "entities" where !value.isEmptyArray: entity.entities = list(value) { $0.subEntity($1) }
            case "links" where !value.isEmptyArray: entity.links = list(value) { $0.link($1, isEmbedded: false) }
            case "actions" where !value.isEmptyArray:
                entity.actions = list(value) { $0.action($1) }
                tellDoubled(value, "one action of this name")
            case "rel" where !isRoot: rel = texts(value)
            case "href" where !isRoot: violations.add(.embeddedLink, "a text")
            default: entity.otherMembers.append(member)
            }
            violations.move(since: before, under: .member(member.name))
        }
        return entity
    }

    private mutating func subEntity(_ object: SirenObject) -> SirenSubEntity? {
        if object["href"]?.string != nil { return link(object, isEmbedded: true).map(SirenSubEntity.link) }
        var rel: [String]?
        let entity = entity(object, rel: &rel, isRoot: false)
        check(rel, of: object, isEmbedded: true)
        return .representation(entity, rel: rel ?? [])
    }

    private mutating func link(_ object: SirenObject, isEmbedded: Bool) -> SirenLink? {
        var link = SirenLink(rel: [], href: "")
        var (href, rel): (String?, [String]?)
        for member in object {
            let (value, before) = (member.value, violations.count)
            switch member.name {
            case "rel": rel = texts(value)
            case "href": href = reference(value)
            case "class" where !value.isEmptyArray: link.classes = texts(value)
            case "title": link.title = text(value)
            case "type":
                link.type = text(value)
                if let type = link.type, !MediaType.isOfSchema(type) { violations.add(.mediaType, "a media type") }
            default:
                if isEmbedded, ["properties", "entities", "links", "actions"].contains(member.name) {
                    violations.add(.embeddedLink, "no such member beside 'href'")
                }
                link.otherMembers.append(member)
            }
            violations.move(since: before, under: .member(member.name))
        }
        check(rel, of: object, isEmbedded: isEmbedded)
        guard let href else {
            if object["href"] == nil { violations.add(.missing, "a text", at: .member("href")) }
            return nil
        }
        link.href = href
        link.rel = rel ?? []
        return link
    }

    private mutating func check(_ rel: [String]?, of object: SirenObject, isEmbedded: Bool) {
        guard let rel else { return violations.add(.missing, "a list of relations", at: .member("rel")) }
        if object["rel"]?.isEmptyArray ?? false {
            violations.add(isEmbedded ? .emptyRelation : .relation, "at least one relation", at: .member("rel"))
        }
        for (index, relation) in rel.enumerated() where !SirenRelation.isValid(relation) {
            let before = violations.count
            violations.add(.relation, "a registered relation or a URI", at: .element(index))
            violations.move(since: before, under: .member("rel"))
        }
    }

    private mutating func action(_ object: SirenObject) -> SirenAction? {
        var action = SirenAction(name: "", href: "")
        var (name, href): (String?, String?)
        for member in object {
            let (value, before) = (member.value, violations.count)
            switch member.name {
            case "name": name = text(value)
            case "href": href = reference(value)
            case "class" where !value.isEmptyArray: action.classes = texts(value)
            case "title": action.title = text(value)
            case "type": action.type = text(value)
            case "method":
                action.method = text(value)
                if let method = action.method, !Self.methods.contains(method) {
                    violations.add(.method, "DELETE, GET, PATCH, POST or PUT")
                }
            case "fields" where !value.isEmptyArray:
                action.fields = list(value) { $0.field($1) }
                tellDoubled(value, "one field of this name")
            default: action.otherMembers.append(member)
            }
            violations.move(since: before, under: .member(member.name))
        }
        if object["name"] == nil { violations.add(.missing, "a text", at: .member("name")) }
        if object["href"] == nil { violations.add(.missing, "a text", at: .member("href")) }
        guard let name, let href else { return nil }
        action.name = name
        action.href = href
        return action
    }

    private static let methods: Set<String> = ["DELETE", "GET", "PATCH", "POST", "PUT"]

    private mutating func field(_ object: SirenObject) -> SirenField? {
        var field = SirenField(name: "")
        var name: String?
        for member in object {
            let (value, before) = (member.value, violations.count)
            switch member.name {
            case "name": name = text(value)
            case "title": field.title = text(value)
            case "type":
                field.typeName = text(value)
                if let type = field.typeName, SirenFieldType(rawValue: type) == nil {
                    violations.add(.fieldType, "one of the nineteen types of fields")
                }
            case "value": field.value = fieldValue(value)
            case "class" where !value.isEmptyArray:
                field.classes = texts(value, .constraint)
            default:
                if let kind = SirenField.constraints[member.name.lowercased()], !kind.fits(value) {
                    violations.add(.constraint, kind.rawValue)
                }
                field.otherMembers.append(member)
            }
            violations.move(since: before, under: .member(member.name))
        }
        guard let name else {
            if object["name"] == nil { violations.add(.missing, "a text", at: .member("name")) }
            return nil
        }
        field.name = name
        return field
    }

    private mutating func fieldValue(_ value: SirenValue) -> SirenFieldValue? {
        if let scalar = SirenScalar(value) { return .single(scalar) }
        guard case .array = value else {
            violations.add(.type, "a text, a number or a list of values to choose from")
            // What others send for a box that is ticked.
            return value.bool.map { .single(.text(String($0))) }
        }
        return .choices(list(value) { $0.choice($1) })
    }

    private mutating func choice(_ object: SirenObject) -> SirenChoice? {
        var choice = SirenChoice("")
        var found: SirenScalar?
        for member in object {
            let (value, before) = (member.value, violations.count)
            switch member.name {
            case "value":
                found = SirenScalar(value)
                if found == nil { violations.add(.type, "a text or a number") }
            case "title": choice.title = text(value)
            case "selected":
                choice.selected = value.bool
                if choice.selected == nil { violations.add(.type, "true or false") }
            default: choice.otherMembers.append(member)
            }
            violations.move(since: before, under: .member(member.name))
        }
        guard let found else {
            if object["value"] == nil { violations.add(.missing, "a text or a number", at: .member("value")) }
            return nil
        }
        choice.value = found
        return choice
    }

    /// Reports which of the objects in a list have the name of one before them.
    private mutating func tellDoubled(_ value: SirenValue, _ expected: String) {
        var names: Set<String> = []
        for (index, element) in (value.array ?? []).enumerated() {
            guard let name = element.object?["name"]?.string, !names.insert(name).inserted else { continue }
            let before = violations.count
            violations.add(.doubledName, expected, at: .member("name"))
            violations.move(since: before, under: .element(index))
        }
    }

    private mutating func text(_ value: SirenValue) -> String? {
        if value.string == nil { violations.add(.type, "a text") }
        return value.string
    }

    private mutating func reference(_ value: SirenValue) -> String? {
        let reference = text(value)
        if let reference, !URIReference.isValid(reference) {
            violations.add(.reference, "a reference of characters that RFC 3986 allows")
        }
        return reference
    }

    private mutating func texts(_ value: SirenValue, _ rule: SirenViolation.Rule = .type) -> [String] {
        guard case .array(let values) = value else {
            violations.add(rule, "a list of texts")
            return value.string.map { [$0] } ?? []
        }
        var texts: [String] = []
        texts.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            if case .string(let text) = value {
                texts.append(text)
            } else {
                violations.add(rule, "a text", at: .element(index))
            }
        }
        return texts
    }

    /// What becomes of the objects in a list.
    private mutating func list<Element>(
        _ value: SirenValue,
        _ element: (inout SirenDecoder, SirenObject) -> Element?
    ) -> [Element] {
        guard case .array(let values) = value else {
            violations.add(.type, "a list of objects")
            return []
        }
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            let before = violations.count
            if case .object(let object) = value {
                if let element = element(&self, object) { elements.append(element) }
            } else {
                violations.add(.type, "an object")
            }
            violations.move(since: before, under: .element(index))
        }
        return elements
    }
}

extension SirenValue {
    var isEmptyArray: Bool { array?.isEmpty ?? false }
    var isEmptyObject: Bool { object?.isEmpty ?? false }
}
