import CardCore

/// A capture is malformed: where, and what is wrong.
public struct CaptureError: Error, Sendable, Hashable {
    /// The name of the file, or `nil` if the text did not come from one.
    public var file: String?

    /// The line, from 1.
    public var line: Int

    /// The column, from 1, counted in Unicode scalars.
    public var column: Int

    /// What is wrong, for programs.
    public var code: Code

    /// What is wrong, for people.
    public var message: String

    /// What is wrong with a capture.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The file is over ``CaptureLimits/fileLength``.
        case fileTooLong
        /// The line is over ``CaptureLimits/lineLength``.
        case lineTooLong
        case invalidUTF8
        /// The first line is not `capture 1`.
        case notACapture
        case unsupportedVersion
        /// A header line is not `key: value`, or its value cannot be used.
        case invalidHeader
        case duplicateHeader
        case headerAfterCard
        case unknownStatement
        /// A number of a reader is missing, malformed or not in the header.
        case unknownReader
        case invalidTime
        /// A time is before one that stands above it.
        case timeBackwards
        case unknownFact
        case duplicateFact
        case missingBytes
        case oddHex
        case invalidHex
        /// The number of bits of a raw frame is not 1 to 8, or its last byte holds more.
        case invalidBits
        /// A command, an answer or an ATR is too short or too long.
        case wrongLength
        case invalidControlCode
        case unknownFault
        /// Something that belongs to a card stands where there is none.
        case noCard
        case missingAnswer
        /// An answer has no command, or is the second one to it.
        case unexpectedAnswer
        /// The answer is of another kind than the command: `<<` to `>`, or `<` to `>>`.
        case answerKind
        /// Something stands after the end of a statement.
        case trailingText
        /// A line beside a capture, of the taps that are expected of it, is not a JSON object.
        case malformedExpectation
    }

    /// An error at a place.
    public init(file: String?, line: Int, column: Int, code: Code, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.code = code
        self.message = message
    }

    /// What a person can do about it.
    public var hint: String {
        switch code {
        case .fileTooLong, .lineTooLong: "Split the recording into several files."
        case .invalidUTF8: "Save the file as UTF-8."
        case .notACapture: "Begin the file with 'capture \(CaptureLimits.version)'."
        case .unsupportedVersion: "Use a newer version of this program."
        case .invalidHeader, .duplicateHeader: "Write one 'key: value' a line, 'started' as 2026-01-31T09:00:00Z."
        case .headerAfterCard: "Move the line above the first card."
        case .unknownStatement, .trailingText: "Put a '#' before a comment."
        case .unknownReader: "Name each reader in the header as 'reader N: NAME' and each card as 'card N at T'."
        case .invalidTime: "Write seconds since the start, such as 1.250."
        case .timeBackwards: "Put the lines into the order of their times."
        case .unknownFact: "Use atr, or a technology with its facts, such as 'iso14443a atqa HEX sak HEX uid HEX'."
        case .duplicateFact: "Keep one of the two."
        case .missingBytes, .oddHex, .invalidHex: "Write two hexadecimal digits for each byte."
        case .malformedExpectation: "Make the file anew with 'readerctl replay --json'."
        case .invalidBits: "Write an incomplete last byte as HEX/bits, such as 0A/4."
        case .wrongLength: "Write the whole command or answer, the answer with its status word."
        case .invalidControlCode: "Write the code as 0x42000001 or in decimal."
        case .unknownFault: "Use removed, reset, timeout or comm-error."
        case .noCard: "Begin with 'card at T'."
        case .missingAnswer: "Add the answer ('<'), or the fault in its place ('! timeout')."
        case .unexpectedAnswer: "Write one answer after each command."
        case .answerKind: "Answer '>' and 'control' with '<', and '>>' with '<<'."
        }
    }
}

extension CaptureError: CustomStringConvertible {
    /// `FILE:LINE:COLUMN: message`, as compilers write it. ``hint`` describes what to do.
    public var description: String { "\(file ?? "capture"):\(line):\(column): \(message)" }
}

/// Limits that hold for capture files, which may come from anybody.
public enum CaptureLimits {
    /// The newest version of the format that this package reads, and the one that it writes.
    public static let version = 1

    /// The longest file, in bytes: 16 MiB.
    public static let fileLength = 16 * 1024 * 1024

    /// The longest line, in bytes: 256 KiB. The longest answer takes 196 614 with a space between its bytes.
    public static let lineLength = 256 * 1024

    /// The largest number of header lines.
    public static let headers = 1000

    /// The shortest command APDU, in bytes: its header.
    public static let shortestCommand = 4

    /// The longest command APDU, in bytes: an extended one with 65 535 bytes of data.
    public static let longestCommand = 65_544

    /// The shortest answer to a command APDU, in bytes: its status word.
    public static let shortestAnswer = 2

    /// The largest number of a reader.
    public static let readerNumber = 999
}
