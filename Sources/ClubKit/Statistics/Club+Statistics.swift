import Foundation

extension Club {
    /// Returns statistics of a period, by the days and hours of a time zone.
    ///
    /// - Parameters:
    ///   - from: the beginning; `nil` for the first day on which a member came or joined.
    ///   - to: the end, exclusive.
    ///   - timeZone: the time zone of days and hours.
    /// - Throws: ``ClubError/Kind/invalidValue`` if the end is before the beginning, or more than 36 525 days after it.
    public func statistics(
        from: Date? = nil,
        to: Date,
        in timeZone: TimeZone = .current
    ) async throws(ClubError) -> ClubStatistics {
        try await openStore("count visits").statistics(from: from, to: to, in: timeZone)
    }

    /// Returns statistics of the day of that time.
    public func statistics(
        ofDayAt date: Date,
        in timeZone: TimeZone = .current
    ) async throws(ClubError) -> ClubStatistics {
        let start = LocalDays.start(of: date, in: timeZone)
        return try await statistics(from: start, to: LocalDays.end(of: date, in: timeZone), in: timeZone)
    }

    /// Calls the closure for every tap and every visit by hand in a period, in the order of their times: counted ones,
    /// and repeats, undone visits, ignored and rejected taps with the reason.
    ///
    /// Few are in memory at a time. The closure sees one consistent state of the club while taps go on; it must not
    /// call the club.
    ///
    /// - Parameters:
    ///   - from: the beginning; `nil` for no limit.
    ///   - to: the end, exclusive; `nil` for no limit.
    ///   - body: the closure. An error ends the iteration.
    /// - Throws: ``ClubError``, or what the closure throws.
    public func forEachTap(
        from: Date? = nil,
        to: Date? = nil,
        _ body: @escaping @Sendable (TapRecord) throws -> Void
    ) async throws {
        try await openStore("list the taps").forEachTap(from: from, to: to, body)
    }

    /// Writes every tap and every visit by hand in a period to a CSV file, of mode 0600, which replaces `path` only
    /// once it is complete and on disk.
    ///
    /// The columns are `time` (ISO 8601, UTC), `userId`, `username`, `reader`, `source` (`card`, `manual`), `counted`
    /// (`yes`, or why not: ``TapRecord/Standing``), `reason` and `id`. Texts that a spreadsheet would take for formulas
    /// have an apostrophe in front, as in exports of members.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - from: the beginning; `nil` for no limit.
    ///   - to: the end, exclusive; `nil` for no limit.
    ///   - overwrite: whether an existing file may be replaced.
    ///   - context: who exports them, for the audit log.
    ///   - progress: called at intervals on a thread of the export's own.
    /// - Throws: ``TransferError``, ``TransferError/Kind/exists`` unless the file may be replaced.
    @discardableResult
    public func exportTaps(
        to path: String,
        from: Date? = nil,
        until to: Date? = nil,
        overwrite: Bool = false,
        by context: ActionContext = ActionContext(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(TransferError) -> TapExportReport {
        let store = try openStore("export the taps", path)
        return try await TransferQueue.run { isCancelled throws(TransferError) in
            let output = try OutputFile(path, overwrite: overwrite, beside: store.path, isCancelled: isCancelled)
            var report = TapExportReport(file: path)
            try store.readNow("list the taps", for: path) { db in
                var csv = CSVWriter()
                try output.write { csv.append(TapRecord.columns, &$0) }
                try db.receipts.eachTap(from: from, to: to) { record in
                    try output.write { csv.append(record.cells, &$0) }
                    report.rows += 1
                    if record.isCounted { report.counted += 1 }
                    if report.rows.isMultiple(of: 2000) {
                        if isCancelled() { throw TransferError(.cancelled, file: path) }
                        progress?(TransferProgress(bytes: output.count, rows: report.rows))
                    }
                }
                try output.write { $0.append(0x0A) }
            }
            if isCancelled() { throw TransferError(.cancelled, file: path) }
            report.file = try output.finish(overwrite: overwrite)
            report.bytes = output.count
            report.auditFailure = store.auditExport(["format": .string("visits"), "rows": .int(report.rows)], context)
            return report
        }
    }
}
