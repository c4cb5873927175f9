/// Rows that were read, and those between them that could not be.
struct RowBatch: Sendable {
    var batch: ImportBatch
    /// In the file's order, as ``batch`` is; both together tell of all rows.
    var faults: [(row: Int, fault: RowFault)] = []

    /// Rows up to which are read at once.
    let rows: Int

    /// The fewest and the most rows that are merged in one transaction. Each transaction writes anew every page of the
    /// database's indexes that it touches, and with members in no order that is soon all of them: so the more the
    /// faster. But taps wait for it, for some tenths of a second.
    static let sizes = 5000...20_000

    /// Bytes of texts up to which rows are read at once.
    static let bytes = 4 * 1024 * 1024

    init(isUntyped: Bool, rows: Int = sizes.lowerBound) {
        batch = ImportBatch(isUntyped: isUntyped)
        self.rows = rows
    }

    var count: Int { batch.count + faults.count }

    var isFull: Bool { count >= rows || batch.bytes.count >= Self.bytes }
}

/// Reads the members of a file without logical times.
protocol RowReader {
    var columns: [ImportReport.Column] { get }
    var notes: [String] { get }
    /// Bytes that were read so far.
    var offset: Int { get }
    var totalBytes: Int? { get }

    /// Appends rows until the batch is full, or the file is at its end.
    ///
    /// - Returns: false at the end.
    mutating func read(into batch: inout RowBatch) throws(TransferError) -> Bool
}
