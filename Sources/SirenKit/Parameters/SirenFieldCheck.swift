import Foundation

/// Why a value cannot be sent for a field.
public struct SirenFieldProblem: Sendable, Hashable, CustomStringConvertible {
    /// What is broken; the names are those of HTML's form validation.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// The value is of another kind, or does not have the form of the field's type.
        case typeMismatch
        /// There is none, and the field needs one.
        case valueMissing
        /// It is none of those to choose from.
        case notAChoice
        /// It does not match the pattern.
        case patternMismatch
        /// It is longer than the greatest length.
        case tooLong
        /// It is shorter than the least length.
        case tooShort
        /// It is less than the least value.
        case rangeUnderflow
        /// It is more than the greatest value.
        case rangeOverflow
        /// It is not a whole number of steps from the least value.
        case stepMismatch
    }

    /// The field's name.
    public var field: String
    /// The field's type.
    public var type: SirenFieldType
    /// What is broken.
    public var rule: Rule
    /// The kind of the value that was given, such as "text"; "nothing" if there was none.
    public var given: String
    /// What should be there.
    public var expected: String

    /// All of it in one line, without the value.
    public var description: String {
        "the field '\(field)' of type \(type.rawValue) needs \(expected), not this \(given)"
    }
}

extension SirenField {
    /// Why the value cannot be sent; `nil` if it can.
    ///
    /// Kinds: `number` and `range` take a number, `url` a URL with a scheme, `file` a file, `checkbox` a truth value or
    /// some of the values to choose from, `radio` one of them, every other type a text or a number. The types of dates,
    /// times, colours and addresses take a text of HTML's form. Several values need `multiple`, or a checkbox with values to
    /// choose from. A `pattern` that is no regular expression, has more than 1000 characters or takes too long to check is
    /// passed over: the server has to check it.
    ///
    /// - Parameter input: the value; `nil` is none.
    public func problem(with input: SirenInput?) -> SirenFieldProblem? {
        guard let input, !input.each.isEmpty, input != .text("") else {
            return isRequired ? problem(.valueMissing, "a value", nil) : nil
        }
        let isSeveral = if case .list = input { true } else { false }
        guard !isSeveral || allowsSeveral || type == .checkbox && choices != nil else {
            return problem(.typeMismatch, "one value", input)
        }
        if isRequired, type == .checkbox, input == .bool(false) { return problem(.valueMissing, "a tick", input) }
        for value in input.each {
            if let problem = typeProblem(value) ?? textProblem(value) ?? rangeProblem(value) { return problem }
        }
        return nil
    }

    private func problem(_ rule: SirenFieldProblem.Rule, _ expected: String, _ input: SirenInput?) -> SirenFieldProblem
    {
        let given = input?.kind ?? "nothing"
        return SirenFieldProblem(field: name, type: type, rule: rule, given: given, expected: expected)
    }

    /// The values to choose from, if there are any.
    var choices: [SirenChoice]? {
        if case .choices(let choices) = value { choices } else { nil }
    }

    private func typeProblem(_ input: SirenInput) -> SirenFieldProblem? {
        func mismatch(_ expected: String) -> SirenFieldProblem { problem(.typeMismatch, expected, input) }
        switch type {
        case .number, .range:
            if case .number = input { return nil }
            return mismatch("a number")
        case .url:
            if case .url(let url) = input, url.scheme != nil { return nil }
            return mismatch("a URL with a scheme")
        case .file:
            if case .file = input { return nil }
            return mismatch("a file")
        case .checkbox, .radio:
            if case .bool = input, type == .checkbox, choices == nil { return nil }
            guard let text = scalarText(input) else {
                return mismatch(type == .checkbox && choices == nil ? "yes or no" : "one of its values")
            }
            let allowed: [String]? =
                switch value {
                case .choices(let choices): choices.map(\.value.description)
                case .single(let value): [value.description]
                case nil: nil
                }
            return allowed?.contains(text) ?? true ? nil : problem(.notAChoice, "one of its values", input)
        case .hidden, .text, .search, .tel, .password, .email, .color, .datetime, .date, .month, .week, .time,
            .datetimeLocal:
            guard let text = scalarText(input) else { return mismatch("a text") }
            let isOfForm =
                switch type {
                case .email: FieldFormat.isEmail(text)
                case .color: FieldFormat.isColor(text)
                case .hidden: true
                case .text, .search, .tel, .password: !text.unicodeScalars.contains { $0 == "\n" || $0 == "\r" }
                default: FieldFormat.number(text, type) != nil
                }
            return isOfForm ? nil : mismatch(Self.forms[type] ?? "a text of one line")
        }
    }

    private static let forms: [SirenFieldType: String] = [
        .email: "an address such as ada@club.example", .color: "a colour such as #00ff7f",
        .datetime: "a time such as 2026-11-25T08:30:00Z", .date: "a date such as 2026-11-25",
        .month: "a month such as 2026-11", .week: "a week such as 2026-W48", .time: "a time such as 08:30",
        .datetimeLocal: "a time such as 2026-11-25T08:30",
    ]

    private func scalarText(_ input: SirenInput) -> String? {
        switch input {
        case .text, .number: input.formText
        case .bool, .url, .file, .list: nil
        }
    }

    /// Length and pattern, of the types that are texts.
    private func textProblem(_ input: SirenInput) -> SirenFieldProblem? {
        guard [.text, .search, .tel, .url, .email, .password].contains(type), let text = input.formText else {
            return nil
        }
        let length = text.utf16.count
        if let least = minimumLength, length < least {
            return problem(.tooShort, "\(least) characters at least", input)
        }
        if let most = maximumLength, length > most { return problem(.tooLong, "\(most) characters at most", input) }
        if let pattern, Self.matches(text, pattern) == false {
            return problem(.patternMismatch, title.map { "what '\($0)' says" } ?? "a text of another form", input)
        }
        return nil
    }

    /// No pattern of a form is longer, in UTF-16 units.
    private static let longestPattern = 1000
    /// How often a search may report that it goes on, each time after some ten thousand steps.
    private static let mostReports = 100

    /// Whether the pattern matches the whole text; `nil` if the pattern is none, or the search takes too long: a server may
    /// send `(a+)+`.
    private static func matches(_ text: String, _ pattern: String) -> Bool? {
        guard pattern.utf16.count <= longestPattern,
            let expression = try? NSRegularExpression(pattern: "^(?:\(pattern))$")
        else { return nil }
        var result: Bool?
        var reports = 0
        let options: NSRegularExpression.MatchingOptions = [.reportProgress, .reportCompletion]
        let all = NSRange(location: 0, length: text.utf16.count)
        expression.enumerateMatches(in: text, options: options, range: all) { match, flags, stop in
            if match != nil {
                result = true
            } else if flags.contains(.completed), !flags.contains(.internalError) {
                result = result ?? false
            }
            if flags.contains(.progress) { reports += 1 }
            if reports == mostReports { stop.pointee = true }
        }
        return result
    }

    private func rangeProblem(_ input: SirenInput) -> SirenFieldProblem? {
        guard let text = scalarText(input), let value = measure(text) else { return nil }
        let least = minimum.flatMap { measure($0.description) }
        if let least, value < least { return problem(.rangeUnderflow, "\(minimum?.description ?? "") at least", input) }
        if let most = maximum.flatMap({ measure($0.description) }), value > most {
            return problem(.rangeOverflow, "\(maximum?.description ?? "") at most", input)
        }
        guard let step = step.flatMap({ Decimal(string: $0.description) }), step > 0 else { return nil }
        let unit = step * Decimal(FieldFormat.unit(of: type) ?? 1)
        // Weeks begin with Mondays, and 1970 with a Thursday.
        let start = least ?? (type == .week ? .exact(Decimal(-259_200_000)) : .exact(0))
        // Each step leads there from itself, also one too large to compute with.
        guard case .exact(let value) = value, case .exact(let start) = start, value != start else { return nil }
        var (steps, whole) = ((value - start) / unit, Decimal())
        NSDecimalRound(&whole, &steps, 0, .plain)
        guard whole * unit == value - start else { return problem(.stepMismatch, "steps of \(step)", input) }
        return nil
    }

    /// A value on the scale of the field's type; `nil` if the type has none, or the text is none of it.
    private func measure(_ text: String) -> Measure? {
        if FieldFormat.unit(of: type) != nil { return FieldFormat.number(text, type).map { .exact(Decimal($0)) } }
        guard type == .number || type == .range, let number = SirenNumber(text), let nearest = Double(number.text)
        else {
            return nil
        }
        // Within these bounds a Decimal has room for 17 digits behind the point at least.
        let isExact = abs(nearest) < 1e20 && number.text.utf8.count <= 38 && (nearest == 0 || abs(nearest) > 1e-17)
        return isExact ? Decimal(string: number.text).map(Measure.exact) : .near(nearest)
    }

    private enum Measure: Comparable {
        case exact(Decimal)
        /// Of a number that is beyond what is exact.
        case near(Double)

        private var double: Double {
            switch self {
            case .exact(let value): NSDecimalNumber(decimal: value).doubleValue
            case .near(let value): value
            }
        }

        static func < (one: Measure, other: Measure) -> Bool {
            if case .exact(let one) = one, case .exact(let other) = other {
                one < other
            } else {
                one.double < other.double
            }
        }
    }
}
