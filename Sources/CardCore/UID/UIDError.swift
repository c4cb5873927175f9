/// A text or a sequence of bytes is not a card's identifier.
public struct UIDError: Error, Sendable, Hashable {
    /// What is wrong, for programs.
    public var code: Code

    /// Where: the offset in bytes (of the text's UTF-8, or of the bytes given) of what is wrong.
    public var offset: Int

    /// What was attempted and what is wrong, for people.
    public var message: String

    /// What can be wrong with an identifier.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A character that is no hexadecimal digit, or an odd number of digits.
        case notHexadecimal
        /// No bytes.
        case empty
        /// More bytes than any identifier has.
        case tooLong
        /// The check byte (BCC) of a cascade level is wrong.
        case wrongCheckByte
        /// The cascade levels are not one to three of five bytes, each but the last beginning with the cascade tag 88.
        case wrongCascade
    }

    /// An error of that code at that offset.
    public init(_ code: Code, offset: Int, message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    /// What a person can do about it.
    public var hint: String {
        switch code {
        case .notHexadecimal: "Write two digits 0-9 or A-F for each byte, as 04A1B2C3 or 04:A1:B2:C3."
        case .empty: "Write at least one byte, as 04A1B2C3."
        case .tooLong: "An identifier has 4, 7, 8 or 10 bytes; check that nothing else was copied with it."
        case .wrongCheckByte: "Read the card again; the check byte is the exclusive or of the four before it."
        case .wrongCascade: "Give each level as four bytes and their check byte."
        }
    }
}

extension UIDError: CustomStringConvertible {
    /// One line: what is wrong, where, and what to do.
    public var description: String {
        "\(message) (\(code.rawValue) at byte \(offset)). \(hint)"
    }
}
