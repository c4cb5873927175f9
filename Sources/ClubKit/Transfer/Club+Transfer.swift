import Foundation
import GRDB

extension Club {
    /// Merges the members of a file into the club.
    ///
    /// The file is read in pieces and never changed. A row that cannot be read or imported is in the report and does
    /// not affect other rows. Importing the same file again changes nothing. Rows are committed some thousand at a
    /// time: rows merged before an error or a cancellation stay, and importing the file again merges the rest.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - options: the format, the meaning of the columns, and whether it is a dry run.
    ///   - context: who imports it, and why, for the audit log.
    ///   - row: called for every row, in the file's order, on a thread of the import's own.
    ///   - progress: called at intervals on that thread.
    /// - Throws: ``TransferError``, if the file as a whole cannot be read or merged.
    @discardableResult
    public func importMembers(
        from path: String,
        options: ImportOptions = ImportOptions(),
        by context: ActionContext = ActionContext(),
        row: (@Sendable (ImportedRow) -> Void)? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> ImportReport {
        let store = try openStore("import members", path)
        let report = try await TransferQueue.run { isCancelled throws(TransferError) in
            let source = try FileSource(path, isCancelled: isCancelled)
            let known = try TransferFormat.detect(source, options.format)
            let name = PlainText.line((path as NSString).lastPathComponent)
            let sink = try TransferError.of(path) { () throws(ClubError) in
                try StoreImportSink(
                    store,
                    mode: options.mode,
                    dryRun: options.dryRun,
                    context,
                    detail: ["file": .string(name), "format": .string(known.rawValue)],
                    changed: { self.publish(merged: $0) }
                )
            }
            return try MemberImport(
                source: source,
                format: known,
                options: options,
                sink: sink,
                isCancelled: isCancelled,
                row: row,
                progress: progress
            ).run()
        }
        if !options.dryRun { publish(.imported(report, at: configuration.clock())) }
        return report
    }

    /// Writes all members to a file, of mode 0600, which replaces `path` only once it is complete and on disk.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - progress: called at intervals on a thread of the export's own.
    /// - Throws: ``TransferError``, ``TransferError/Kind/exists`` unless the file may be replaced. No unfinished file
    ///   is left.
    @discardableResult
    public func exportMembers(
        to path: String,
        options: ExportOptions,
        by context: ActionContext = ActionContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> ExportReport {
        let store = try openStore("export members", path)
        let export = StoreExport(options: options, isUnique: false, context: context, progress: progress)
        return try await TransferQueue.run { isCancelled throws(TransferError) in
            try export.write(store, to: path, isCancelled)
        }
    }

    /// Writes all members to a new file with a unique name, such as
    /// `exported_membership_users_September-01-2026-10-00-00.mucsv`, with the suffix `-2`, `-3` and so on if it exists.
    ///
    /// - Parameters:
    ///   - directory: the directory; by default `$XDG_DOCUMENTS_DIR`, else `$XDG_DATA_HOME/clubkit/exports`. It is
    ///     created, with mode 0700, if missing.
    ///   - progress: called at intervals on a thread of the export's own.
    @discardableResult
    public func exportMembers(
        intoDirectory directory: String? = nil,
        options: ExportOptions,
        by context: ActionContext = ActionContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> ExportReport {
        let folder = directory ?? ExportName.directory()
        let store = try openStore("export members", folder)
        let path = folder + "/" + ExportName.name(at: configuration.clock(), options.format)
        let export = StoreExport(options: options, isUnique: true, context: context, progress: progress)
        return try await TransferQueue.run { isCancelled throws(TransferError) in
            try ExportName.makeDirectory(folder)
            return try export.write(store, to: path, isCancelled)
        }
    }

    /// Writes all members to a new file with a name of its own, as the class sees them, on the calling thread.
    func exportMembersNow(
        ofType type: MembershipUser.Type,
        format: TransferFormat,
        intoDirectory directory: String? = nil
    ) throws(TransferError) -> ExportReport {
        let folder = directory ?? ExportName.directory()
        let store = try openStore("export members", folder)
        try ExportName.makeDirectory(folder)
        var export = StoreExport(options: ExportOptions(format: format), isUnique: true, context: ActionContext())
        // The base class has nothing that the record has not.
        if type != MembershipUser.self {
            export.options.columns = type.columnNames
            export.record = { try type.init(from: RecordDecoder($0.record)).record(attempting: "export members") }
        }
        return try export.write(store, to: folder + "/" + ExportName.name(at: configuration.clock(), format)) { false }
    }

    func openStore(_ attempt: String, _ file: String) throws(TransferError) -> MemberStore {
        try TransferError.of(file) { () throws(ClubError) in try openStore(attempt) }
    }
}

extension TransferError {
    /// Does something for a file, whose error the club's becomes.
    fileprivate static func of<Value>(
        _ file: String,
        _ work: () throws(ClubError) -> Value
    ) throws(TransferError) -> Value {
        do throws(ClubError) {
            return try work()
        } catch {
            throw TransferError(error, file: file)
        }
    }
}
