/// What a field's value has to be like. The specification has no constraints yet; these are HTML's, under the names that
/// were asked for there. They are kept among ``otherMembers``; of those with the wrong type nothing is read.
extension SirenField {
    /// What a constraint's value is.
    enum ConstraintKind: String {
        case flag = "true or false"
        case scalar = "a number or a text"
        case text = "a text"
        case count = "a whole number from 0"

        func fits(_ value: SirenValue) -> Bool {
            switch self {
            case .flag: value.bool != nil
            case .scalar: value.scalarText != nil
            case .text: value.string != nil
            case .count: (value.number?.int ?? -1) >= 0
            }
        }
    }

    /// The names, in lower case. Those of two words are also written `readOnly`, `minLength` and `maxLength`.
    static let constraints: [String: ConstraintKind] = [
        "required": .flag, "readonly": .flag, "multiple": .flag, "min": .scalar, "max": .scalar, "step": .scalar,
        "pattern": .text, "placeholder": .text, "minlength": .count, "maxlength": .count,
    ]

    /// Whether a value has to be sent.
    public var isRequired: Bool {
        get { constraint("required")?.bool ?? false }
        set { constrain("required", newValue ? true : nil) }
    }

    /// Whether the value cannot be changed.
    public var isReadOnly: Bool {
        get { constraint("readonly", or: "readOnly")?.bool ?? false }
        set { constrain("readonly", or: "readOnly", newValue ? true : nil) }
    }

    /// Whether several values may be sent.
    public var allowsSeveral: Bool {
        get { constraint("multiple")?.bool ?? false }
        set { constrain("multiple", newValue ? true : nil) }
    }

    /// The least value.
    public var minimum: SirenScalar? {
        get { constraint("min").flatMap(SirenScalar.init) }
        set { constrain("min", newValue?.json) }
    }

    /// The greatest value.
    public var maximum: SirenScalar? {
        get { constraint("max").flatMap(SirenScalar.init) }
        set { constrain("max", newValue?.json) }
    }

    /// The distance between two values, from ``minimum`` on; `any` is none.
    public var step: SirenScalar? {
        get { constraint("step").flatMap(SirenScalar.init) }
        set { constrain("step", newValue?.json) }
    }

    /// A regular expression that the whole value has to match.
    public var pattern: String? {
        get { constraint("pattern")?.string }
        set { constrain("pattern", newValue.map(SirenValue.string)) }
    }

    /// A text for people, shown while there is no value.
    public var placeholder: String? {
        get { constraint("placeholder")?.string }
        set { constrain("placeholder", newValue.map(SirenValue.string)) }
    }

    /// The least length, in UTF-16 units as HTML counts them.
    public var minimumLength: Int? {
        get { constraint("minlength", or: "minLength")?.number?.int.flatMap { $0 >= 0 ? $0 : nil } }
        set { constrain("minlength", or: "minLength", newValue.map { .number(SirenNumber($0)) }) }
    }

    /// The greatest length, in UTF-16 units as HTML counts them.
    public var maximumLength: Int? {
        get { constraint("maxlength", or: "maxLength")?.number?.int.flatMap { $0 >= 0 ? $0 : nil } }
        set { constrain("maxlength", or: "maxLength", newValue.map { .number(SirenNumber($0)) }) }
    }

    private func constraint(_ name: String, or other: String? = nil) -> SirenValue? {
        otherMembers[name] ?? other.flatMap { otherMembers[$0] }
    }

    private mutating func constrain(_ name: String, or other: String? = nil, _ value: SirenValue?) {
        if let other { otherMembers[other] = nil }
        otherMembers[name] = value
    }
}
