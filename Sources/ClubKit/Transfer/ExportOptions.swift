/// How members are exported.
public struct ExportOptions: Sendable, Hashable {
    /// The form of the file.
    public var format: TransferFormat

    /// The columns of a CSV file, or the keys of a user list, in order. Without them these are the five base values and
    /// every custom field that any member has, by name. A club's file always holds everything.
    public var columns: [String]?

    /// Whether a file that is there may be replaced.
    public var overwrite: Bool

    /// Options.
    public init(format: TransferFormat, columns: [String]? = nil, overwrite: Bool = false) {
        self.format = format
        self.columns = columns
        self.overwrite = overwrite
    }
}
