import Foundation

/// What a reader says that it read by itself, as one in Smart Reader mode does: a card that cannot be talked to.
public struct ReaderReport: Sendable, Hashable {
    /// The reader.
    public var reader: ReaderInfo

    /// Tells this report from the others of the same reader.
    public var number: Int

    /// When it came.
    public var at: Date

    /// The line that the reader sent, without its end. It is personal.
    public var line: String

    /// A report.
    public init(reader: ReaderInfo, number: Int, at: Date, line: String) {
        self.reader = reader
        self.number = number
        self.at = at
        self.line = line
    }
}

extension ReaderReport: CustomStringConvertible, CustomDebugStringConvertible {
    /// Which report of which reader it is. What the line says is left out, so that it does not end up in a log by accident.
    public var description: String { "report \(number) of \(reader.name) at \(ISO8601.text(at))" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
