/// A path from an entity to one of its values, such as `properties.orderNumber` or `links[@rel~self].href`.
///
/// A step is a name: a member of the document at that place, or one of the original library's names `sirenLinks`,
/// `sirenActions`, `sirenEntities` and `sirenFields`. Behind it stand any number of selectors, applied one after the
/// other: `[0]` is the element at that place, `[@name=value]` are the elements of which that member is the value as a
/// whole, and `[@name~value]` those of which it is a list that has the value, or a text that contains it. So
/// `"rel": ["this", "self"]` is selected by `[@rel~self]` and `[@rel=this, self]`, not by `[@rel=self]`. Relations are
/// compared as RFC 8288 specifies. A name behind a list is one of its first element.
public struct SirenPath: Sendable, Hashable, CustomStringConvertible {
    /// The path as it was written.
    public let description: String
    private let steps: [Step]

    private struct Step: Sendable, Hashable {
        var name: String
        var selectors: [Selector] = []
    }

    fileprivate enum Selector: Sendable, Hashable {
        case index(Int)
        case whole(attribute: String, value: String)
        case part(attribute: String, value: String)
    }

    /// A path that is not well formed.
    public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
        /// The path.
        public var path: String
        /// Where, in characters from 0.
        public var offset: Int
        /// What should be there.
        public var expected: String

        /// What was attempted, what happened, and what a person can do.
        public var description: String {
            "the path '\(path)' cannot be used: expected \(expected) at character \(offset + 1); correct it"
        }
    }

    /// Reads a path.
    ///
    /// - Throws: ``Malformed`` if it is not well formed.
    public init(_ text: String) throws(Malformed) {
        description = text
        var rest = text[...]
        func malformed(_ expected: String) -> Malformed {
            Malformed(path: text, offset: text.distance(from: text.startIndex, to: rest.startIndex), expected: expected)
        }
        var steps: [Step] = []
        repeat {
            let name = rest.prefix { $0 != "." && $0 != "[" }
            guard !name.isEmpty else { throw malformed("a name") }
            rest = rest[name.endIndex...]
            var step = Step(name: Self.familiar[String(name)] ?? String(name))
            while rest.first == "[" {
                rest.removeFirst()
                guard let end = rest.firstIndex(of: "]") else { throw malformed("a selector that ends with ']'") }
                guard let selector = Self.selector(rest[..<end]) else {
                    throw malformed("a number, '@name=value' or '@name~value'")
                }
                step.selectors.append(selector)
                rest = rest[end...].dropFirst()
            }
            steps.append(step)
            guard let next = rest.first else { break }
            guard next == "." else { throw malformed("'.' or '['") }
            rest.removeFirst()
        } while true
        self.steps = steps
    }

    /// The original library's names of what an entity has.
    private static let familiar = [
        "sirenLinks": "links", "sirenActions": "actions", "sirenEntities": "entities", "sirenFields": "fields",
    ]

    private static func selector(_ text: Substring) -> Selector? {
        guard text.first == "@" else {
            let isNumber = !text.isEmpty && text.utf8.allSatisfy { $0 ^ 0x30 < 10 }
            return isNumber ? Int(text).map(Selector.index) : nil
        }
        guard let sign = text.firstIndex(where: { $0 == "=" || $0 == "~" }) else { return nil }
        let attribute = String(text[..<sign].dropFirst())
        let value = String(text[sign...].dropFirst())
        guard !attribute.isEmpty else { return nil }
        return text[sign] == "="
            ? .whole(attribute: attribute, value: value) : .part(attribute: attribute, value: value)
    }

    /// The text at the path; a number is its decimal text. `nil` if nothing is there, or something else.
    public func text(in entity: SirenEntity) -> String? { value { entity.member($0) }?.scalarText }

    /// The text at the path; a number is its decimal text. `nil` if nothing is there, or something else.
    public func text(in link: SirenLink) -> String? { value { link.json[$0] }?.scalarText }

    /// Whether it ends at a reference, which has to be resolved before two are compared.
    var endsAtReference: Bool { steps.last?.name == "href" && (steps.count == 1 || steps.first?.name != "properties") }

    private func value(_ member: (String) -> SirenValue?) -> SirenValue? {
        var value: SirenValue?
        for (index, step) in steps.enumerated() {
            value = index == 0 ? member(step.name) : (value?.array?.first ?? value)?.object?[step.name]
            for selector in step.selectors { value = selector.apply(to: value) }
            if value == nil { return nil }
        }
        return value
    }
}

extension SirenPath.Selector {
    fileprivate func apply(to value: SirenValue?) -> SirenValue? {
        guard let elements = value?.array else { return nil }
        switch self {
        case .index(let index): return index < elements.count ? elements[index] : nil
        case .whole(let attribute, let value):
            return .array(
                elements.filter { Self.whole($0.object?[attribute]).map { isSame(attribute, $0, value) } ?? false }
            )
        case .part(let attribute, let value):
            return .array(
                elements.filter { element in
                    switch element.object?[attribute] {
                    case .array(let parts): parts.contains { isSame(attribute, $0.scalarText ?? "", value) }
                    case let text?: text.scalarText?.contains(value) ?? false
                    case nil: false
                    }
                }
            )
        }
    }

    /// A list of texts is one text, as the original library writes it.
    private static func whole(_ value: SirenValue?) -> String? {
        value?.array.map { $0.map { $0.scalarText ?? "" }.joined(separator: ", ") } ?? value?.scalarText
    }
}

private func isSame(_ attribute: String, _ one: String, _ other: String) -> Bool {
    attribute == "rel" ? SirenRelation.isSame(one, other) : one == other
}

extension SirenEntity {
    /// The member of that name as JSON, without making JSON of the others.
    fileprivate func member(_ name: String) -> SirenValue? {
        switch name {
        case "class": .array(classes.map(SirenValue.string))
        case "title": title.map(SirenValue.string)
        case "properties": .object(properties)
        case "entities": .array(entities.map { .object($0.json) })
        case "links": .array(links.map { .object($0.json) })
        case "actions": .array(actions.map { .object($0.json) })
        default: otherMembers[name]
        }
    }
}
