import Foundation
import RecordsTestSupport
import Synchronization
import Testing

@testable import ClubRecords

@Suite struct MemberImportTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    func run(
        _ path: String,
        _ options: ImportOptions = ImportOptions(),
        sink: NotingSink = NotingSink(),
        isCancelled: @escaping () -> Bool = { false },
        row: ((ImportedRow) -> Void)? = nil,
        progress: ((TransferProgress) -> Void)? = nil
    ) throws -> ImportReport {
        let source = try FileSource(path)
        let format = try options.format ?? TransferFormat.detect(path: path, start: source.peek(4096))
        return try MemberImport(
            source: source,
            format: format,
            options: options,
            sink: sink,
            isCancelled: isCancelled,
            row: row,
            progress: progress
        ).run()
    }

    /// A file of so many members, of which each hundredth row is wrong.
    func file(_ count: Int) throws -> String {
        var text = "userId,username,numVisits\n"
        for number in 1...count { text += number.isMultiple(of: 100) ? "U\(number)\n" : "U\(number),Ann,\(number)\n" }
        return try directory.write(text, to: "members.csv")
    }

    @Test func handsOverAllRowsInOrderAndCounts() throws {
        let path = try file(23_000)
        let sink = NotingSink()
        var rows: [ImportedRow] = []
        var states: [TransferProgress] = []
        let report = try run(path, sink: sink, row: { rows.append($0) }, progress: { states.append($0) })
        #expect(report.total == 23_000)
        #expect(report.malformed == 230)
        #expect(report.created == 22_770)
        #expect(report.kept == 0)
        #expect(report.rows.count == 230)
        #expect(report.omittedRows == 0)
        #expect(report.rows.first?.row == 101)
        #expect(rows.map(\.row) == Array(2...23_001))
        let notes = sink.notes.withLock { $0 }
        #expect(notes.members.map(\.row) == (2...23_001).filter { !($0 - 1).isMultiple(of: 100) })
        #expect(notes.batches.allSatisfy { $0 <= RowBatch.sizes.upperBound })
        #expect(notes.isFinished)
        let size = try content(of: path).count
        #expect(states.last == TransferProgress(bytes: size, totalBytes: size, rows: 23_000))
        #expect(states.count > 1)
        #expect(states.map(\.rows) == states.map(\.rows).sorted())
    }

    @Test func keepsOnlySoManyRowsInTheReport() throws {
        let report = try run(file(1000), ImportOptions(keptRows: 3))
        #expect(report.rows.map(\.row) == [101, 201, 301])
        #expect(report.omittedRows == 7)
        #expect(report.malformed == 10)
    }

    @Test func tellsVerdicts() throws {
        let path = try directory.write(
            #"[{"userId":"A"},{"userId":"B"},{"userId":"C"},{"userId":"D"}, 7]"#,
            to: "x.musrl"
        )
        let change = FieldDifference("username", stored: .string("Ann"), imported: .string("Anna"))
        let conflict = FieldDifference("level", stored: .int(2), imported: .int(1))
        let sink = NotingSink { member in
            switch member.userId {
            case "A": .kept
            case "B": .merged(changes: [change], conflicts: [])
            case "C": .merged(changes: [], conflicts: [conflict])
            default: .skipped("erased")
            }
        }
        var rows: [ImportedRow] = []
        let report = try run(path, sink: sink, row: { rows.append($0) })
        #expect(
            rows.dropLast() == [
                ImportedRow(row: 1, userId: "A", outcome: .kept),
                ImportedRow(row: 2, userId: "B", outcome: .changed, changes: [change]),
                ImportedRow(row: 3, userId: "C", outcome: .kept, conflicts: [conflict]),
                ImportedRow(row: 4, userId: "D", outcome: .skipped, reason: "erased"),
            ]
        )
        #expect((report.total, report.changed, report.kept) == (5, 1, 2))
        #expect((report.conflicting, report.skipped, report.malformed) == (1, 1, 1))
        #expect(report.rows == Array(rows[2...]))
        #expect(rows.map(\.needsAttention) == [false, false, true, true, true])
    }

    @Test func neverTouchesTheFile() throws {
        let path = try file(500)
        let before = try content(of: path)
        let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        _ = try run(path)
        #expect(try content(of: path) == before)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date == date)
        #expect(try directory.names() == ["members.csv"])
    }

    @Test func endsWhenItIsCancelled() throws {
        let path = try file(23_000)
        let sink = NotingSink()
        #expect {
            _ = try run(path, sink: sink, isCancelled: { sink.notes.withLock { !$0.batches.isEmpty } })
        } throws: { error in
            (error as? TransferError)?.kind == .cancelled
        }
        #expect(sink.notes.withLock { $0.members.count } < 23_000)
        #expect(sink.notes.withLock { $0.isFinished })
    }

    @Test func tellsWhatTheStoreSaid() throws {
        let path = try file(23_000)
        let full = ClubError(.diskFull, attempting: "merge members")
        let sink = NotingSink(failing: (batch: 1, error: full))
        #expect {
            _ = try run(path, sink: sink)
        } throws: { error in
            let error = error as? TransferError
            return error?.kind == .club && error?.cause == full && error?.hint == full.hint
        }
        #expect(sink.notes.withLock { $0.isFinished })
    }

    static let forms: [(String, String, TransferFormat?)] = [
        ("x.musrl", "[]", .userList), ("X.MUSRL", "[]", .userList), ("x.mucsv", "userId", .csv),
        ("x.MUCSV", "userId", .csv), ("x.Csv", "userId", .csv), ("x.clubkit", "", .clubkit),
        // The extension says nothing.
        ("x.json", " \n[{}]", .userList), ("x", "\u{FEFF}[", .userList), ("x.txt", "userId;username", .csv),
        ("x.txt", "\"username\",\"passId\"\nAnn,U1", .csv), ("x.txt", "sep=;\na;b", .csv),
        ("x.bak", #"{"device":"…","format":"clubkit","version":1}"#, .clubkit), ("x", "name,level\nAnn,1", nil),
        ("x", "", nil), ("x.json", #"{"a":1}"#, nil), (".csv", "a", nil), ("x.d/y", "memberId\nA", .csv),
    ]

    @Test(arguments: forms) func findsTheForm(_ name: String, _ start: String, _ format: TransferFormat?) {
        let found = try? TransferFormat.detect(path: "/a.csv/" + name, start: Array(start.utf8))
        if name == ".csv" {
            // A name that begins with its only dot has no extension by convention, and is taken by it all the same.
            #expect(found == .csv)
        } else {
            #expect(found == format)
        }
    }

    @Test func readsAFileWhoseFormItHadToFindFromItsBeginning() throws {
        let path = try directory.write("userId\n" + (1...3000).map { "U\($0)\n" }.joined(), to: "members.txt")
        #expect(try run(path).created == 3000)
    }

    @Test func readsAPipe() throws {
        let path = directory.file("pipe.csv")
        try #require(mkfifo(path, 0o600) == 0)
        let text = "userId\n" + (1...30_000).map { "U\($0)\n" }.joined()
        Thread.detachNewThread {
            // Opening waits for the reader.
            try? Data(text.utf8).write(to: URL(fileURLWithPath: path), options: [])
        }
        let states = Mutex<[TransferProgress]>([])
        let report = try run(path, progress: { state in states.withLock { $0.append(state) } })
        #expect(report.created == 30_000)
        #expect(states.withLock { $0.last?.totalBytes } == .some(nil))
    }

    @Test func saysWhyAFileCannotBeRead() throws {
        let table: [(String, TransferError.Kind)] = [
            (directory.file("nothing.csv"), .notFound), (directory.path, .notReadable),
            (try directory.write("", to: "empty.csv"), .noHeader),
            (try directory.write("", to: "empty"), .unknownFormat),
            (try directory.write("x", to: "x.musrl"), .malformed),
            (try directory.write("", to: "x.clubkit"), .truncated),
        ]
        for (path, kind) in table {
            #expect {
                _ = try run(path)
            } throws: { error in
                let error = error as? TransferError
                return error?.kind == kind && error?.file == path && error?.description.contains(path) == true
            }
        }
    }

    @Test func givesMembersToProgramsThatLookAtThemFirst() throws {
        let path = try directory.write("userId,username\nU1,Ann\nx\nU2,Bob", to: "x.csv")
        var reader = try MemberFileReader(path)
        #expect(reader.format == .csv)
        let batch = try #require(try reader.next())
        #expect(batch.members.map(\.userId) == ["U1", "U2"])
        #expect(batch.malformed.map(\.row) == [3])
        #expect(try reader.next() == nil)
        let club = try directory.write("{}", to: "x.clubkit")
        #expect(throws: TransferError.self) { try MemberFileReader(club) }
    }

    @Test(arguments: TransferError.Kind.allCases) func everyErrorSaysThreeThings(_ kind: TransferError.Kind) {
        let error = TransferError(kind, file: "/m.csv", line: 3, column: 2, detail: "expected 'x'")
        #expect(error.description == "/m.csv:3:2: \(kind.meaning): expected 'x'. \(kind.hint)")
        #expect(!kind.meaning.isEmpty && kind.hint.hasSuffix("."))
    }
}

/// A sink that takes notes, and gives verdicts that a test can foresee: a member is created once and kept from then on.
final class NotingSink: ImportSink {
    struct Notes {
        var members: [ImportedMember] = []
        var records: [TransferRecord] = []
        var batches: [Int] = []
        var isFinished = false
    }

    let notes = Mutex(Notes())
    /// Thrown by the batch of that number, from 0.
    private let failure: (batch: Int, error: ClubError)?
    private let verdict: (@Sendable (ImportedMember) -> ImportVerdict?)?
    private let known = Mutex<Set<String>>([])

    init(
        failing failure: (batch: Int, error: ClubError)? = nil,
        verdict: (@Sendable (ImportedMember) -> ImportVerdict?)? = nil
    ) {
        self.failure = failure
        self.verdict = verdict
    }

    func apply(_ batch: ImportBatch) throws(ClubError) -> [ImportVerdict] {
        let number = notes.withLock { $0.batches.count }
        if let failure, failure.batch == number { throw failure.error }
        let members = batch.rows.map { batch.member($0) }
        notes.withLock {
            $0.members += members
            $0.batches.append(members.count)
        }
        return members.map { member in
            if let verdict = verdict?(member) { return verdict }
            return known.withLock { $0.insert(member.userId).inserted } ? .created : .kept
        }
    }

    func apply(_ records: [TransferRecord]) throws(ClubError) -> [ImportVerdict] {
        notes.withLock {
            $0.records += records
            $0.batches.append(records.count)
        }
        return records.map { _ in .created }
    }

    func finish() throws(ClubError) {
        notes.withLock { $0.isFinished = true }
    }
}
