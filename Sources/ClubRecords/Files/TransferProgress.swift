/// How far an import or export is.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes read or written so far.
    public var bytes: Int

    /// The size of the file that is read; `nil` where it is not known, as for a pipe or a file that is being written.
    public var totalBytes: Int?

    /// Rows dealt with so far: lines below the header of a CSV file, elements of a user list, records of a club's file.
    public var rows: Int

    /// The number of rows that there will be, where it is known.
    public var totalRows: Int?

    /// A state.
    public init(bytes: Int, totalBytes: Int? = nil, rows: Int, totalRows: Int? = nil) {
        self.bytes = bytes
        self.totalBytes = totalBytes
        self.rows = rows
        self.totalRows = totalRows
    }

    /// The part that is done, from 0 to 1, or `nil` if the whole is not known.
    public var fraction: Double? {
        if let totalRows, totalRows > 0 { return min(Double(rows) / Double(totalRows), 1) }
        if let totalBytes, totalBytes > 0 { return min(Double(bytes) / Double(totalBytes), 1) }
        return nil
    }
}
