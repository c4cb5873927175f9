/// What was given is no message.
///
/// It never contains anything of what was given.
public struct MessageError: Error, Sendable, Hashable {
    /// What is wrong.
    public var code: Code

    /// Where, in bytes from 0, as far as there is one place.
    public var offset: Int?

    /// What is wrong and what can be done, in one sentence.
    public var message: String

    /// What can be wrong.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// It has more than ``Message/longest`` bytes.
        case tooLong
        /// It is no JSON in UTF-8.
        case malformed
        /// It is JSON, but no object.
        case notAnObject
        /// `expires` is no time.
        case invalidExpiry
    }

    init(_ code: Code, at offset: Int? = nil, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }
}

extension MessageError: CustomStringConvertible {
    /// The same as ``message``.
    public var description: String { message }
}
