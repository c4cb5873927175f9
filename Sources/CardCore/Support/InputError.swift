/// Bytes or a text break a rule: which one, where, and what a person can do about it.
public struct InputError<Rule: InputErrorCode>: Error, Sendable, Hashable {
    /// What can be wrong.
    public typealias Code = Rule

    /// What is wrong, for programs.
    public var code: Code

    /// The offset of the first byte that is wrong, missing or too much: in the input, or in the UTF-8 of a text. For
    /// values that do not fit it is the offset at which their field would begin.
    public var offset: Int

    /// What was attempted and what is wrong, for people.
    public var message: String

    /// An error of that code at that offset.
    public init(_ code: Code, offset: Int, message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    /// What a person can do about it.
    public var hint: String { code.hint }
}

extension InputError: CustomStringConvertible {
    /// One line: what is wrong, where, and what to do.
    public var description: String { "\(message) (\(code.rawValue) at byte \(offset)). \(hint)" }
}

/// What can be wrong with some input: its raw value is the name for programs.
public protocol InputErrorCode: RawRepresentable<String>, Sendable, Hashable, CaseIterable {
    /// What a person can do about it.
    var hint: String { get }
}
