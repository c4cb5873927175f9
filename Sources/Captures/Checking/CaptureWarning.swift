import CardCore

/// Something in a capture that a reviewer would ask about. The capture is well formed all the same.
public struct CaptureWarning: Sendable, Hashable, Codable {
    /// What it is, for programs.
    public var code: Code

    /// The line of the card or the command, where the file is known.
    public var line: Int?

    /// The presentation, from 1, or `nil` if the warning is of the whole capture.
    public var presentation: Int?

    /// What it is, for people.
    public var message: String

    /// What a reviewer asks about.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// There is no `source`: nobody knows whether a real card is in it.
        case noSource
        /// There is no `license`: nobody knows whether it may be passed on.
        case noLicense
        /// There is no `reader`.
        case noReader
        /// Nothing is presented.
        case empty
        /// An answer to an APDU does not end in a status word (`61xx` to `6Fxx`, `9xxx`).
        case noStatusWord
        /// It is not told that a card left.
        case notRemoved
        /// A time is before one that stands above it. Only a capture made in a program can have it.
        case timeBackwards
        /// The ATR is malformed.
        case malformedATR
        /// The check byte of the ATR is wrong.
        case wrongTCK
        /// A check byte of the identifier in pages 0 to 2 is wrong.
        case wrongBCC
        /// Two places of a presentation tell different identifiers.
        case differentUID
        /// The length of the identifier is not what ATQA says.
        case wrongUIDLength
        /// The technology is not the one that the ATR tells.
        case differentTechnology
        /// The identifier of a card that is perhaps a real one.
        case identifier
        /// A key or password that is perhaps a real one.
        case key
        /// What a card and a terminal said to prove that they have a key.
        case authentication
        /// What a pass on somebody's phone answered.
        case passPayload
        /// There is no file of expected taps beside the capture.
        case noExpectation
        /// The file of expected taps has a line that is no JSON object.
        case malformedExpectation
        /// The expected taps are not as many as the presentations.
        case expectationCount
    }

    /// A warning.
    public init(_ code: Code, line: Int? = nil, presentation: Int? = nil, _ message: String) {
        self.code = code
        self.line = line
        self.presentation = presentation
        self.message = message
    }
}

extension CaptureWarning: CustomStringConvertible {
    /// `line 12: message`.
    public var description: String {
        (line.map { "line \($0): " } ?? "") + message
    }
}
