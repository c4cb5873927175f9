import CardCore
import CardPasses
import Dispatch
import Synchronization

/// Reads a file and hands it to merging: while one batch is merged, the next one is read.
package struct MemberImport {
    let source: FileSource
    let format: TransferFormat
    let options: ImportOptions
    let sink: any ImportSink
    let isCancelled: () -> Bool
    let row: ((ImportedRow) -> Void)?
    let progress: ((TransferProgress) -> Void)?

    package init(
        source: FileSource,
        format: TransferFormat,
        options: ImportOptions,
        sink: any ImportSink,
        isCancelled: @escaping () -> Bool,
        row: ((ImportedRow) -> Void)? = nil,
        progress: ((TransferProgress) -> Void)? = nil
    ) {
        self.source = source
        self.format = format
        self.options = options
        self.sink = sink
        self.isCancelled = isCancelled
        self.row = row
        self.progress = progress
    }

    /// How long merging a batch may take, in seconds, before the next ones are made smaller.
    static let longest = 1.0

    /// Records of a club's file that are merged at once.
    static let records = 2000

    package func run() throws(TransferError) -> ImportReport {
        var report = ImportReport(file: source.path, format: format, dryRun: options.dryRun)
        let result = Result { () throws(TransferError) in
            if format == .clubkit { try runRecords(&report) } else { try runRows(&report) }
        }
        do throws(ClubError) {
            try sink.finish()
        } catch {
            try result.get()
            throw TransferError(error, file: source.path)
        }
        try result.get()
        return report
    }

    private func runRows(_ report: inout ImportReport) throws(TransferError) {
        var reader = try MemberFileReader.reader(format, source, options)
        var pending: Merging<RowBatch>?
        // What has begun is waited for, whatever happens.
        defer { pending?.wait() }
        var isMore = true
        var rows = RowBatch.sizes.lowerBound
        while isMore {
            var batch = RowBatch(isUntyped: format == .csv, rows: rows)
            isMore = try reader.read(into: &batch)
            if let merged = pending.take() {
                try take(merged, &report)
                if merged.seconds < Self.longest / 2 { rows = min(2 * rows, RowBatch.sizes.upperBound) }
                if merged.seconds > Self.longest { rows = max(rows / 2, RowBatch.sizes.lowerBound) }
            }
            try checkCancelled()
            if batch.count > 0 {
                let offset = reader.offset
                let sink = sink
                pending = Merging(batch, offset) { batch throws(ClubError) in
                    batch.batch.isEmpty ? [] : try sink.apply(batch.batch)
                }
            }
        }
        if let merged = pending.take() { try take(merged, &report) }
        report.columns = reader.columns
        report.notes = reader.notes
    }

    private func take(_ merging: Merging<RowBatch>, _ report: inout ImportReport) throws(TransferError) {
        let verdicts = try verdicts(merging, merging.input.batch.count)
        let batch = merging.input.batch
        var faults = merging.input.faults[...]
        for (index, one) in batch.rows.enumerated() {
            take(&faults, before: one.row, &report)
            let verdict = verdicts[index]
            let notes = batch.notes[one.row] ?? []
            if row == nil, notes.isEmpty, verdict == .created || verdict == .kept {
                // Nobody wants to know more of it.
                report.total += 1
                if verdict == .created { report.created += 1 } else { report.kept += 1 }
            } else {
                var imported = ImportedRow(row: one.row, userId: batch.string(one.userId), verdict)
                imported.notes.insert(contentsOf: notes, at: 0)
                report.noteRaised(imported)
                add(imported, &report)
            }
        }
        take(&faults, before: .max, &report)
        progress?(TransferProgress(bytes: merging.offset, totalBytes: source.size, rows: report.total))
    }

    private func runRecords(_ report: inout ImportReport) throws(TransferError) {
        let (source, progress, isCancelled) = (source, progress, isCancelled)
        // The file is read twice, so half of the bytes are behind when it has been looked at.
        let total = source.size.map { 2 * $0 }
        var reader = try ClubFileReader(source) { bytes throws(TransferError) in
            if isCancelled() { throw TransferError(.cancelled, file: source.path) }
            progress?(TransferProgress(bytes: bytes, totalBytes: total, rows: 0))
        }
        var kept: Set<Int> = []
        while true {
            let (records, faults) = try reader.next(Self.records)
            if records.isEmpty && faults.isEmpty { break }
            try checkCancelled()
            let sink = sink
            let input = records.map(\.record)
            let merging = Merging(input, reader.offset) { input throws(ClubError) in
                input.isEmpty ? [] : try sink.apply(input)
            }
            let verdicts = try verdicts(merging, records.count)
            var rest = faults[...]
            for (index, one) in records.enumerated() {
                take(&rest, before: one.line, &report)
                add(one.line, one.record, verdicts[index], &report, kept: &kept)
            }
            take(&rest, before: .max, &report)
            progress?(
                TransferProgress(
                    bytes: (source.size ?? 0) + reader.offset,
                    totalBytes: total,
                    rows: report.total,
                    totalRows: reader.trailer.records
                )
            )
        }
    }

    /// - Parameter kept: the hashes of members of whom nothing is new so far; a card or visit of theirs may be.
    private func add(
        _ line: Int,
        _ record: TransferRecord,
        _ verdict: ImportVerdict,
        _ report: inout ImportReport,
        kept: inout Set<Int>
    ) {
        var row = ImportedRow(row: line, userId: record.userId, verdict)
        if case .member = record {
            if row.outcome == .kept, let id = row.userId { kept.insert(id.hashValue) }
            return add(row, &report)
        }
        row.record = record.kind
        report.records += 1
        if verdict == .created || verdict == .merged(changes: [], conflicts: []) {
            // Only members are created.
            row.outcome = .changed
        }
        var isOfMember = true
        if case .audit = record { isOfMember = false }
        if isOfMember, row.outcome == .changed, let id = row.userId, kept.remove(id.hashValue) != nil {
            report.kept -= 1
            report.changed += 1
        }
        if row.outcome == .skipped { return add(row, &report) }
        report.total += 1
        if row.outcome != .kept { report.newRecords += 1 }
        self.row?(row)
    }

    private func checkCancelled() throws(TransferError) {
        if isCancelled() { throw TransferError(.cancelled, file: source.path) }
    }

    private func verdicts<Input>(_ merging: Merging<Input>, _ count: Int) throws(TransferError) -> [ImportVerdict] {
        do throws(ClubError) {
            let verdicts = try merging.result()
            guard verdicts.count == count else {
                let detail = "\(verdicts.count) verdicts on \(count) rows"
                throw ClubError(.other, attempting: "merge members", detail: detail)
            }
            return verdicts
        } catch {
            throw TransferError(error, file: source.path)
        }
    }

    private func take(
        _ faults: inout ArraySlice<(row: Int, fault: RowFault)>,
        before row: Int,
        _ report: inout ImportReport
    ) {
        while let fault = faults.first, fault.row < row {
            faults.removeFirst()
            add(ImportedRow(row: fault.row, fault: fault.fault), &report)
        }
    }

    private func add(_ row: ImportedRow, _ report: inout ImportReport) {
        report.total += 1
        switch row.outcome {
        case .created: report.created += 1
        case .changed: report.changed += 1
        case .kept: report.kept += 1
        case .skipped: report.skipped += 1
        case .malformed: report.malformed += 1
        }
        if !row.conflicts.isEmpty { report.conflicting += 1 }
        if !row.notes.isEmpty { report.noted += 1 }
        if row.needsAttention {
            if report.rows.count < options.keptRows { report.rows.append(row) } else { report.omittedRows += 1 }
        }
        self.row?(row)
    }

    /// A batch that is being merged on a thread of its own.
    private final class Merging<Input: Sendable>: Sendable {
        let input: Input
        /// Bytes of the file up to its end.
        let offset: Int
        private let done = DispatchGroup()
        private let outcome = Mutex<(result: Result<[ImportVerdict], ClubError>?, seconds: Double)>((nil, 0))

        init(_ input: Input, _ offset: Int, _ work: @escaping @Sendable (Input) throws(ClubError) -> [ImportVerdict]) {
            self.input = input
            self.offset = offset
            TransferQueue.merging.async(group: done) {
                let start = ContinuousClock.now
                let result = Result { () throws(ClubError) in try work(input) }
                self.outcome.withLock { $0 = (result, (ContinuousClock.now - start).seconds) }
            }
        }

        func wait() { done.wait() }

        var seconds: Double { outcome.withLock { $0.seconds } }

        func result() throws(ClubError) -> [ImportVerdict] {
            done.wait()
            guard let outcome = outcome.withLock({ $0.result }) else {
                throw ClubError(.other, attempting: "merge members")
            }
            return try outcome.get()
        }
    }
}

extension ImportedRow {
    package init(row: Int, userId: String?, _ verdict: ImportVerdict) {
        switch verdict {
        case .created: self.init(row: row, userId: userId, outcome: .created)
        case .undone(let member): self.init(row: row, userId: member, outcome: .changed)
        case .kept: self.init(row: row, userId: userId, outcome: .kept)
        case .merged(let changes, let conflicts):
            self.init(
                row: row,
                userId: userId,
                outcome: changes.isEmpty ? .kept : .changed,
                changes: changes,
                conflicts: conflicts
            )
        case .skipped(let reason): self.init(row: row, userId: userId, outcome: .skipped, reason: reason)
        case .noted(let verdict, let notes):
            self.init(row: row, userId: userId, verdict)
            self.notes = notes
        }
    }
}

/// Threads for files, which block: never those of Swift's pool.
package enum TransferQueue {
    static let files = DispatchQueue(label: "club.transfer", attributes: .concurrent)
    static let merging = DispatchQueue(label: "club.transfer.merging", attributes: .concurrent)

    /// Runs blocking work there.
    ///
    /// - Parameter work: gets what reports whether the task was cancelled.
    package static func run<Value: Sendable>(
        _ work: @escaping @Sendable (@escaping @Sendable () -> Bool) throws(TransferError) -> Value
    ) async throws(TransferError) -> Value {
        let flag = Flag()
        let result: Result<Value, TransferError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                files.async {
                    let result = Result { () throws(TransferError) in try work { flag.isSet } }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            flag.set()
        }
        return try result.get()
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}

/// What takes in the rows of a file: the store's merging.
///
/// The methods are called one at a time, from a thread that may be blocked, each with a few thousand rows. What a call
/// was passed is on disk when it returns (or, of a dry run, is seen by the calls that follow and by nobody else).
package protocol ImportSink: Sendable {
    /// Merges rows of a file without logical times. Returns one verdict for each, in order.
    func apply(_ batch: ImportBatch) throws(ClubError) -> [ImportVerdict]

    /// Merges records of a club's file. Returns one verdict for each, in order.
    func apply(_ records: [TransferRecord]) throws(ClubError) -> [ImportVerdict]

    /// Ends the import, whether all of the file was read or not. A dry run is taken back.
    func finish() throws(ClubError)
}

/// What merging made of a row or record.
package enum ImportVerdict: Sendable, Hashable {
    case created
    /// Of a record: a visit of that member counts no more.
    case undone(String)
    /// Nothing is new.
    case kept
    /// The member was changed if there are changes; conflicts are values on which the club's stays.
    case merged(changes: [FieldDifference], conflicts: [FieldDifference])
    /// The row must not be taken; why, for a person.
    case skipped(String)
    /// One of the others, with what a person has to know besides.
    indirect case noted(ImportVerdict, [String])
}
