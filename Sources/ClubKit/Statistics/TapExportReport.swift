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

    /// Why the export is not in the audit log, such as a full disk; `nil` if it is there.
    public var auditFailure: String?

    /// A report of nothing yet.
    public init(file: String) {
        self.file = file
    }
}
