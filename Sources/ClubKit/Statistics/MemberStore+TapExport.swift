import Foundation
import GRDB
import ReaderKit

extension MemberStore {
    /// The columns of an export of taps.
    static let tapColumns = ["time", "userId", "username", "reader", "source", "counted", "reason", "id"]

    /// Writes taps to a CSV file, on the calling thread.
    func exportTaps(
        from: Date?,
        to: Date?,
        file path: String,
        overwrite: Bool,
        _ context: ActionContext,
        _ isCancelled: @escaping () -> Bool,
        progress: ((TransferProgress) -> Void)?
    ) throws(TransferError) -> TapExportReport {
        let output = try OutputFile(path, overwrite: overwrite, beside: self.path, isCancelled: isCancelled)
        var report = TapExportReport(file: path)
        var failure: TransferError?
        do throws(ClubError) {
            try readNow("list the taps") { db in
                do {
                    var csv = CSVWriter()
                    try output.write { bytes in
                        csv.beginRow(&bytes)
                        for column in Self.tapColumns { csv.text(column, marksEmpty: false, &bytes) }
                    }
                    try Self.eachTap(from: from, to: to, in: db) { record in
                        try output.write { csv.append(record, &$0) }
                        report.rows += 1
                        if record.isCounted { report.counted += 1 }
                        if report.rows.isMultiple(of: 2000) {
                            if isCancelled() { throw TransferError(.cancelled, file: path) }
                            progress?(TransferProgress(bytes: output.count, rows: report.rows))
                        }
                    }
                    try output.write { $0.append(0x0A) }
                } catch let error as TransferError {
                    failure = error
                }
            }
        } catch {
            throw TransferError(error, file: path)
        }
        if let failure { throw failure }
        if isCancelled() { throw TransferError(.cancelled, file: path) }
        report.file = try output.finish(overwrite: overwrite)
        report.bytes = output.count
        report.auditFailure = auditExport(["format": .string("visits"), "rows": .int(report.rows)], context)
        return report
    }
}

extension CSVWriter {
    /// A row of ``MemberStore/tapColumns``. What is not known is an empty cell.
    fileprivate mutating func append(_ record: TapRecord, _ bytes: inout [UInt8]) {
        beginRow(&bytes)
        text(ISO8601.text(record.at), marksEmpty: false, &bytes)
        text(record.userId ?? "", marksEmpty: false, &bytes)
        text(record.username ?? "", marksEmpty: false, &bytes)
        text(record.reader, marksEmpty: false, &bytes)
        text(record.source.rawValue, marksEmpty: false, &bytes)
        text(record.isCounted ? "yes" : record.standing.rawValue, marksEmpty: false, &bytes)
        text(record.reason ?? "", marksEmpty: false, &bytes)
        text(record.id.uuidString, marksEmpty: false, &bytes)
    }
}
