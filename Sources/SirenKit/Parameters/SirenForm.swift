import Foundation

/// What is sent with an action, checked and in the order of its fields.
public struct SirenForm: Sendable, Hashable {
    /// A field's name, and what is sent for it. A name comes again for each of several values.
    public struct Entry: Sendable, Hashable {
        /// The field's name.
        public var name: String
        /// The value, which is no list.
        public var value: SirenInput

        /// Creates an entry.
        public init(_ name: String, _ value: SirenInput) {
            self.name = name
            self.value = value
        }
    }

    /// A value that was given and is not sent.
    public struct Dropped: Sendable, Hashable {
        /// Why it is not sent.
        public enum Reason: String, Sendable, Hashable {
            /// The action has no field of that name.
            case noField
            /// The field is hidden: the server's value stands.
            case hidden
            /// The field cannot be changed: the server's value stands.
            case readOnly
        }

        /// The name under which it was given.
        public var name: String
        /// Why it is not sent.
        public var reason: Reason
    }

    /// What is sent.
    public var entries: [Entry]
    /// The names of fields that may have several values: encodings with lists make a list of them.
    public var several: Set<String>
    /// What was given and is not sent, by name.
    public var dropped: [Dropped]

    /// Creates a form.
    public init(_ entries: [Entry], several: Set<String> = [], dropped: [Dropped] = []) {
        self.entries = entries
        self.several = several
        self.dropped = dropped
    }
}

extension SirenAction {
    /// Fills the action's form.
    ///
    /// A field for which nothing is given has its own value, if it has one: of values to choose from those that are
    /// selected, of a single box to tick none. A truth value for a box is sent as the box's value, or not at all. Of two
    /// fields of one name the first counts.
    ///
    /// - Parameter parameters: values by the names of fields. What has no field, and what would override a hidden field or
    ///   one that is read-only, is not sent.
    /// - Throws: ``SirenRequestError/fieldTypeMismatch(_:)`` for the first value that is not of its field's type, or
    ///   ``SirenRequestError/fieldsRefused(_:)`` with every value that breaks a constraint.
    public func form(_ parameters: [String: SirenInput] = [:]) throws(SirenRequestError) -> SirenForm {
        var form = SirenForm([])
        var problems: [SirenFieldProblem] = []
        var names: Set<String> = []
        for field in fields where names.insert(field.name).inserted {
            var input = parameters[field.name]
            if input != nil, let reason = field.isFixed {
                form.dropped.append(SirenForm.Dropped(name: field.name, reason: reason))
                input = nil
            }
            let initial = input == nil ? field.initial : nil
            if let input {
                field.problem(with: input).map { problems.append($0) }
            } else if initial == nil, field.isFixed == nil, let problem = field.problem(with: nil) {
                problems.append(problem)
            }
            if field.allowsSeveral || field.type == .checkbox && field.choices != nil {
                form.several.insert(field.name)
            }
            for value in (input ?? initial)?.each ?? [] {
                field.sent(value).map { form.entries.append(SirenForm.Entry(field.name, $0)) }
            }
        }
        for name in parameters.keys.sorted() where !names.contains(name) {
            form.dropped.append(SirenForm.Dropped(name: name, reason: .noField))
        }
        if let mismatch = problems.first(where: { $0.rule == .typeMismatch }) { throw .fieldTypeMismatch(mismatch) }
        guard problems.isEmpty else { throw .fieldsRefused(problems) }
        return form
    }
}

extension SirenField {
    /// Why its value cannot be changed; `nil` if it can.
    fileprivate var isFixed: SirenForm.Dropped.Reason? { type == .hidden ? .hidden : isReadOnly ? .readOnly : nil }

    /// What is sent if nothing is given.
    fileprivate var initial: SirenInput? {
        switch value {
        case .single(let value): type == .checkbox || type == .radio ? nil : SirenInput(value)
        case .choices(let choices):
            choices.contains { $0.selected == true }
                ? .list(choices.filter { $0.selected == true }.map { SirenInput($0.value) }) : nil
        case nil: nil
        }
    }

    /// What is sent for a value that was given.
    fileprivate func sent(_ input: SirenInput) -> SirenInput? {
        guard case .bool(let isTicked) = input, case .single(let value) = value else { return input }
        return isTicked ? SirenInput(value) : nil
    }
}
