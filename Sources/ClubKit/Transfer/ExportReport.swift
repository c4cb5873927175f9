/// What an export wrote.
public struct ExportReport: Sendable, Hashable, Encodable {
    /// The file.
    public var file: String

    /// Its form.
    public var format: TransferFormat

    /// How many members are in it.
    public var members: Int

    /// Rows in all: members, and the other records of a club's file.
    public var rows: Int

    /// The size of the file.
    public var bytes: Int

    /// The columns of a CSV file, the keys of a user list.
    public var columns: [String]

    /// Those of ``columns`` that were asked for and that no member has.
    public var emptyColumns: [String] = []

    /// Whose records in a club's file are longer than one may be, so that whoever imports it skips them.
    public var tooLong: [String] = []

    /// Why the export is not in the audit log, such as a full disk; `nil` if it is there.
    public var auditFailure: String?

    /// A report.
    public init(file: String, format: TransferFormat, members: Int, rows: Int, bytes: Int, columns: [String]) {
        self.file = file
        self.format = format
        self.members = members
        self.rows = rows
        self.bytes = bytes
        self.columns = columns
    }
}
