/// What one can do with an entity.
public struct SirenAction: Sendable, Hashable {
    /// Which action it is; no other of the entity has that name.
    public var name: String
    /// Where it is sent: a reference that is resolved against where the document came from.
    public var href: String
    /// `class`: what it is; the names are the API's own.
    public var classes: [String]
    /// The HTTP method as it is written; absent is ``httpMethod``'s GET.
    public var method: String?
    /// A text for people.
    public var title: String?
    /// The encoding of what is sent, as it is written; absent is ``encoding``'s.
    public var type: String?
    /// What may be sent.
    public var fields: [SirenField]
    /// Members that the specification does not know, and those that are there and empty.
    public var otherMembers: SirenObject

    /// Creates an action.
    public init(
        name: String,
        href: String,
        classes: [String] = [],
        method: String? = nil,
        title: String? = nil,
        type: String? = nil,
        fields: [SirenField] = [],
        otherMembers: SirenObject = [:]
    ) {
        self.name = name
        self.href = href
        self.classes = classes
        self.method = method
        self.title = title
        self.type = type
        self.fields = fields
        self.otherMembers = otherMembers
    }

    /// The HTTP method: GET unless the action specifies otherwise.
    public var httpMethod: String { method ?? "GET" }

    /// The media type of what is sent: the action's, or `application/x-www-form-urlencoded` if it has fields.
    public var encoding: String? {
        type ?? (fields.isEmpty && otherMembers["fields"] == nil ? nil : "application/x-www-form-urlencoded")
    }
}

/// A value that may be sent with an action.
public struct SirenField: Sendable, Hashable {
    /// Which field it is; no other of the action has that name.
    public var name: String
    /// `class`: what it is; the names are the API's own.
    public var classes: [String]
    /// The type as it is written; ``type`` is what it means.
    public var typeName: String?
    /// A text for people.
    public var title: String?
    /// The value that is sent if none is given, or those to choose from.
    public var value: SirenFieldValue?
    /// Members that the specification does not know, the constraints among them, and those that are there and empty.
    public var otherMembers: SirenObject

    /// Creates a field.
    public init(
        name: String,
        type: SirenFieldType? = nil,
        classes: [String] = [],
        title: String? = nil,
        value: SirenFieldValue? = nil,
        otherMembers: SirenObject = [:]
    ) {
        self.name = name
        self.classes = classes
        self.title = title
        self.value = value
        self.otherMembers = otherMembers
        typeName = type?.rawValue
    }

    /// The type: text if the field has none, or none of the nineteen.
    public var type: SirenFieldType { typeName.flatMap(SirenFieldType.init) ?? .text }
}

/// The types of fields, which are input types of HTML 5.
public enum SirenFieldType: String, Sendable, Hashable, CaseIterable {
    /// Sent as it is, and not shown.
    case hidden
    /// One line of text.
    case text
    /// One line of text to look for.
    case search
    /// A telephone number, in whatever form.
    case tel
    /// An absolute URL.
    case url
    /// An electronic mail address.
    case email
    /// A text that is not shown.
    case password
    /// A date and a time with its zone.
    case datetime
    /// A date.
    case date
    /// A month of a year.
    case month
    /// A week of a year, as ISO 8601 counts them.
    case week
    /// A time of day.
    case time
    /// A date and a time without a zone.
    case datetimeLocal = "datetime-local"
    /// A number.
    case number
    /// A number of which the exact value is not important.
    case range
    /// A colour.
    case color
    /// Some of several values, or yes and no.
    case checkbox
    /// One of several values.
    case radio
    /// Files.
    case file
}

/// A field's value: one, or those to choose from.
public enum SirenFieldValue: Sendable, Hashable {
    /// One value.
    case single(SirenScalar)
    /// Values to choose from.
    case choices([SirenChoice])
}

/// A text or a number.
public enum SirenScalar: Sendable, Hashable, CustomStringConvertible {
    /// A text.
    case text(String)
    /// A number.
    case number(SirenNumber)

    init?(_ value: SirenValue) {
        switch value {
        case .string(let text): self = .text(text)
        case .number(let number): self = .number(number)
        case .null, .bool, .array, .object: return nil
        }
    }

    var json: SirenValue {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .number(number)
        }
    }

    /// The text, or the decimal text of the number.
    public var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): number.text
        }
    }
}

/// One of the values of a field.
public struct SirenChoice: Sendable, Hashable {
    /// What is sent.
    public var value: SirenScalar
    /// A text for people.
    public var title: String?
    /// Whether it is chosen at first, as it is written; absent is no.
    public var selected: Bool?
    /// Members that the specification does not know.
    public var otherMembers: SirenObject

    /// Creates a choice.
    public init(
        _ value: SirenScalar,
        title: String? = nil,
        selected: Bool? = nil,
        otherMembers: SirenObject = [:]
    ) {
        self.value = value
        self.title = title
        self.selected = selected
        self.otherMembers = otherMembers
    }
}

extension SirenScalar: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// A ``text(_:)``.
    public init(stringLiteral value: String) { self = .text(value) }

    /// A ``number(_:)``.
    public init(integerLiteral value: Int) { self = .number(SirenNumber(value)) }
}

extension SirenFieldValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral {
    /// A text.
    public init(stringLiteral value: String) { self = .single(.text(value)) }

    /// A number.
    public init(integerLiteral value: Int) { self = .single(.number(SirenNumber(value))) }

    /// Values to choose from.
    public init(arrayLiteral elements: SirenChoice...) { self = .choices(elements) }
}
