/// What an export of taps wrote.
public struct TapExportReport: Sendable, Hashable, Encodable {
    /// The file.
    public var file: String

    /// How many taps and visits are in it, those that do not count too.
    public var rows = 0

    /// How many of them count.
    public var counted = 0

    /// The size of the file.
    public var bytes = 0

    /// A report of nothing yet.
    public init(file: String) {
        self.file = file
    }
}
