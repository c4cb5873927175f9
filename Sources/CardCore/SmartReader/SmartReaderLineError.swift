/// A line of a reader in Smart Reader mode is not what it should be.
///
/// It never holds any content of the line, which is personal.
public struct SmartReaderLineError: Error, Sendable, Hashable {
    /// What is wrong.
    public var code: Code

    /// The first byte that is wrong, counted from 0 in the line's UTF-8. For something missing it is the place where it
    /// should be, which may be one past the last byte.
    public var offset: Int

    /// What can be wrong with a line.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// There is nothing in it.
        case empty
        /// It is longer than ``SmartReaderLimits/lineLength``.
        case tooLong
        /// A character that no line may have.
        case notPrintable
        /// A `$` line that is none of a tag, or a line that does not begin as its format requires.
        case wrongBeginning
        /// A `$SCRDR` line with more or fewer fields than nine, without `*` and two hexadecimal digits, or with others than
        /// those of the characters between `$` and `*`.
        case fieldCount, noCheckByte, wrongCheckByte
        /// A field or value is not what its place asks for, or the JSON is malformed.
        case invalidField, invalidJSON
        /// There is neither an identifier nor data.
        case noIdentifier
        /// The format cannot hold that character; only when a line is made.
        case notEncodable
    }

    /// An error at a place.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// What was attempted and what happened.
    public var message: String {
        switch code {
        case .notEncodable: "could not make the reader's line: \(code.fact)"
        default: "could not read the reader's line: \(code.fact) at byte \(offset)"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch code {
        case .wrongCheckByte, .noCheckByte, .fieldCount, .invalidJSON, .notPrintable, .wrongBeginning, .empty:
            "Hold the card to the reader again; if it happens often, check the line's speed and cable."
        case .tooLong, .invalidField, .noIdentifier:
            "Hold the card to the reader again; if it happens each time, check the reader's templates."
        case .notEncodable: "Choose another format, or leave that character out."
        }
    }
}

extension SmartReaderLineError: CustomStringConvertible {
    /// One line: what was attempted, what happened, what to do.
    public var description: String { "\(message). \(hint)" }
}

extension SmartReaderLineError.Code {
    /// What is wrong, in words.
    public var fact: String {
        switch self {
        case .empty: "it is empty"
        case .tooLong: "it is longer than \(SmartReaderLimits.lineLength) bytes"
        case .notPrintable: "a character that is not printable"
        case .wrongBeginning: "it does not begin as it should"
        case .fieldCount: "it has not nine fields"
        case .noCheckByte: "the check byte is missing"
        case .wrongCheckByte: "the check byte is wrong"
        case .invalidField: "a field is not well formed"
        case .invalidJSON: "the JSON is malformed"
        case .noIdentifier: "it has neither an identifier nor data"
        case .notEncodable: "the format has no way to write a character of it"
        }
    }
}
