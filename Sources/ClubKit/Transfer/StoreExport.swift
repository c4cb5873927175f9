import Foundation
import GRDB

struct StoreExport: Sendable {
    var options: ExportOptions
    /// Makes the values of a member, where a class of the application has its own idea of them.
    var record: (@Sendable (Member) throws -> [String: FieldValue])?
    /// Whether the name gets a number where there is a file already.
    let isUnique: Bool
    let context: ActionContext
    var progress: (@Sendable (TransferProgress) -> Void)?

    func write(
        _ store: MemberStore,
        to path: String,
        _ isCancelled: @escaping () -> Bool
    ) throws(TransferError) -> ExportReport {
        let output = try OutputFile(
            path,
            overwrite: options.overwrite || isUnique,
            beside: store.path,
            hashed: options.format == .clubkit,
            isCancelled: isCancelled
        )
        let progress: (TransferProgress) throws -> Void = { state in
            if isCancelled() { throw TransferError(.cancelled, file: path) }
            self.progress?(state)
        }
        var report = ExportReport(file: path, format: options.format, members: 0, rows: 0, bytes: 0, columns: [])
        try store.readNow("export members", for: path) { db in
            if options.format == .clubkit {
                let now = store.clock()
                let export = ClubFileExport(device: store.deviceID, at: now, output: output, progress: progress)
                (report.members, report.rows) = try export.write(db, tooLong: &report.tooLong)
            } else {
                let export = MemberExport(
                    format: options.format,
                    columns: options.columns,
                    spreadsheet: options.spreadsheet,
                    isOriginal: options.spreadsheet == nil && TransferFormat.isOriginal(path),
                    record: record,
                    output: output,
                    progress: progress
                )
                (report.members, report.columns) = try export.write(db)
                report.rows = report.members
                if let asked = options.columns, record == nil {
                    let known = try Set(FieldKey.baseNames + MemberExport.fieldNames(db))
                    report.emptyColumns = asked.filter { !known.contains($0) }
                }
            }
        }
        report.file = try output.finish(overwrite: options.overwrite && !isUnique, unique: isUnique)
        report.bytes = output.count
        report.auditFailure = store.auditExport(
            ["format": .string(report.format.rawValue), "members": .int(report.members)],
            context
        )
        return report
    }
}

extension MemberStore {
    /// Reads for a file, on the calling thread.
    func readNow(_ attempt: String, for file: String, _ body: (Database) throws -> Void) throws(TransferError) {
        do {
            try database.read(body)
        } catch {
            throw error as? TransferError ?? TransferError(ClubError(error, attempting: attempt), file: file)
        }
    }

    /// Writes down who exported how much. An export stands without it: what is in a database that cannot be written can
    /// be saved all the same. Returns why it is not in the audit log, if it is not.
    func auditExport(_ detail: [String: FieldValue], _ context: ActionContext) -> String? {
        do {
            try database.write { try transaction($0).audit(.exported, of: nil, context, detail: detail) }
            return nil
        } catch {
            return ClubError(error, attempting: "write the audit log").description
        }
    }
}
