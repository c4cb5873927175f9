/// Rows that were read, and those between them that could not be.
struct RowBatch: Sendable {
    var batch: ImportBatch
    /// In the file's order, as ``batch`` is; both together tell of all rows.
    var faults: [(row: Int, fault: RowFault)] = []

    /// Rows up to here are read at once.
    static let rows = 5000

    /// Bytes of texts up to which rows are read at once.
    static let bytes = 4 * 1024 * 1024

    init(isUntyped: Bool) {
        batch = ImportBatch(isUntyped: isUntyped)
    }

    var count: Int { batch.count + faults.count }

    var isFull: Bool { count >= Self.rows || batch.bytes.count >= Self.bytes }
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
