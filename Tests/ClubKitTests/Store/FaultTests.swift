import Foundation
import GRDB
import GRDBSQLite
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

/// What can happen to the files of a database, and what the club says then. Those that need nothing but a store are in
/// the tests of the store.
@Suite("Faults of files", .timeLimit(.minutes(10)))
struct FaultTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("data/club.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func club(_ path: String? = nil) -> Club {
        Club(configuration: .test(.file(path: path ?? self.path), busyTimeout: .milliseconds(50)))
    }

    /// Gives taps until one is refused.
    private func tapUntilRefused(_ club: Club) async -> (recorded: Int, error: ClubError?) {
        for index in 0..<2000 {
            do throws(ClubError) {
                _ = try await club.receive(tap("member \(index % 50)", at: 100_000 + Double(index) * 31))
            } catch {
                return (index, error)
            }
        }
        return (2000, nil)
    }

    @Test("A process that was killed while it made the database, before there was a log, does not keep it from opening")
    func killedBeforeTheLog() async throws {
        let first = club()
        try await first.open()
        let ann = try await first.receive(tap("Ann", at: 0)).member
        try await first.close()
        let (path, killed) = (path, directory.file("data/killed.sqlite"))
        try await DatabaseQueue(path: path).writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = DELETE")
            try db.inTransaction(.immediate) {
                try db.execute(sql: "UPDATE member SET username = 'torn'")
                #expect(sqlite3_db_cacheflush(db.sqliteConnection) == SQLITE_OK)
                for end in ["", "-journal"] {
                    try FileManager.default.copyItem(atPath: path + end, toPath: killed + end)
                }
                return .rollback
            }
        }
        let second = club(killed)
        try await second.open()
        let member = try #require(try await second.member(withUserID: "Ann"))
        #expect(member.username == ann?.username && member.numVisits == 1)
        try await second.close()
    }

    // MARK: A table of what happens while the club is open

    /// Something that happens, and what is to be expected.
    struct Incident: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var kinds: Set<ClubError.Kind>
        var detail: String?
        /// Makes it happen.
        var begin: @Sendable (_ path: String, _ store: MemberStore) throws -> Void
        /// Ends it.
        var end: @Sendable (_ path: String, _ store: MemberStore) throws -> Void
    }

    static let moved = "the file was deleted or moved while it was open; put it back, or open the club again"

    static let incidents: [Incident] = [
        Incident(
            testDescription: "the disk is full",
            kinds: [.diskFull],
            begin: { _, store in
                try store.database.writeWithoutTransaction { db in
                    let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                    try db.execute(sql: "PRAGMA max_page_count = \(pages + 2)")
                }
            },
            end: { _, store in
                try store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000000") }
            }
        ),
        Incident(
            testDescription: "another program holds the database",
            kinds: [.busy],
            begin: { path, _ in
                let other = try LockedDatabase(path)
                Self.other.withLock { $0 = other }
            },
            end: { _, _ in
                Self.other.withLock { other in
                    other?.release()
                    other = nil
                }
            }
        ),
        Incident(
            testDescription: "the directory is moved away",
            kinds: [.cannotOpen],
            detail: moved,
            begin: { path, _ in
                let folder = (path as NSString).deletingLastPathComponent
                try FileManager.default.moveItem(atPath: folder, toPath: folder + " elsewhere")
            },
            end: { path, _ in
                let folder = (path as NSString).deletingLastPathComponent
                try FileManager.default.moveItem(atPath: folder + " elsewhere", toPath: folder)
            }
        ),
        Incident(
            testDescription: "another file takes its place",
            kinds: [.cannotOpen],
            detail: moved,
            begin: { path, _ in
                try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                try Data().write(to: URL(fileURLWithPath: path))
            },
            end: { path, _ in
                unlink(path)
                try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
            }
        ),
        Incident(
            testDescription: "the database may not be written any more",
            kinds: [.readOnly],
            begin: { _, store in
                try store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = ON") }
            },
            end: { _, store in
                try store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = OFF") }
            }
        ),
    ]

    private static let other = Mutex<LockedDatabase?>(nil)

    @Test("An incident is told as what it is, and costs nothing that was acknowledged", arguments: incidents)
    func incident(_ incident: Incident) async throws {
        let club = club()
        try await club.open()
        for index in 0..<50 { _ = try await club.receive(tap("member \(index)")) }
        let store = try club.openStore("test")
        try incident.begin(path, store)
        let (recorded, error) = await tapUntilRefused(club)
        #expect(incident.kinds.contains(error?.kind ?? .other), "\(String(describing: error))")
        #expect(error?.detail == incident.detail)
        try incident.end(path, store)
        // A tap that was refused may have been written, and is answered when it comes again; none counts twice.
        #expect(try await club.receive(tap("member 0", at: 5_000_000)).outcome == .visit)
        let visits = try await club.members().map(\.numVisits).reduce(0, +)
        #expect((50 + recorded + 1...50 + recorded + 2).contains(visits))
        #expect(try await club.check().filter { $0.severity == .error } == [])
        try await club.close()
        try await club.open()
        #expect(try await club.members().map(\.numVisits).reduce(0, +) == visits)
        #expect(try await club.check() == [])
    }

    @Test("A tap that was refused since the file was away is not counted twice when it comes again")
    func refusedAndGivenAgain() async throws {
        let club = club()
        try await club.open()
        _ = try await club.receive(tap("A"))
        let folder = directory.file("data")
        try FileManager.default.moveItem(atPath: folder, toPath: folder + " elsewhere")
        let event = tap("A", at: 60)
        for _ in 0..<2 {
            let error = await #expect(throws: ClubError.self) { try await club.receive(event) }
            #expect(error?.kind == .cannotOpen)
        }
        try FileManager.default.moveItem(atPath: folder + " elsewhere", toPath: folder)
        #expect(try await club.receive(event).outcome == .visit)
        #expect(try await club.member(withUserID: "A")?.numVisits == 2)
    }

    // MARK: Damaged files

    private func bytes(members: Int = 80) async throws -> Data {
        let club = club()
        try await club.open()
        for index in 0..<members * 2 {
            _ = try await club.receive(tap("member \(index % members)", at: Double(index) * 31))
        }
        try await club.block("member 1", by: ActionContext(reason: "test"))
        try await club.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// Whatever happens, nothing may trap, and every error says what it is.
    private func use(_ file: String, _ seed: Int) async {
        let allowed: Set<ClubError.Kind> = [.corrupt, .notADatabase, .other, .newerSchema, .diskFull, .inputOutput]
        let club = club(file)
        do throws(ClubError) {
            try await club.open()
        } catch {
            #expect(allowed.contains(error.kind), "seed \(seed): \(error)")
            return
        }
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await club.check() }, { _ = try await club.members(sortedBy: .username) },
            { _ = try await club.receive(tap("member 7", at: 9000)) },
            { _ = try await club.receive(tap("new \(seed)", at: 9000)) }, { _ = try await club.visits(of: "member 3") },
            { _ = try await club.details(of: "member 1") }, { _ = try await club.auditLog() },
            { try await club.update("member 5") { $0.username = "X" } },
            { _ = try await club.undoVisit(UUID(), by: ActionContext()) },
            { try await club.backup(to: URL(fileURLWithPath: file + ".copy")) },
        ]
        for call in calls {
            do {
                try await call()
            } catch let error as ClubError {
                #expect(
                    allowed.union([.noSuchMember, .noSuchVisit, .memberExists]).contains(error.kind),
                    "\(seed): \(error)"
                )
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        try? await club.close()
    }

    @Test("Bytes changed all over the file, seeds 0 to 49")
    func flippedBytes() async throws {
        let original = try await bytes()
        for seed in 0..<50 {
            var random = SeededNumbers(seed: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
            var damaged = original
            for _ in 0..<(1 + Int(random.next() % 40)) {
                damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            let file = directory.file("flipped \(seed)")
            try damaged.write(to: URL(fileURLWithPath: file))
            await use(file, seed)
        }
    }

    @Test("A file that ends early, at seeded places")
    func cutOff() async throws {
        let original = try await bytes()
        var random = SeededNumbers(seed: 5 &* 0x9E37_79B9_7F4A_7C15)
        let lengths =
            [1, 15, 16, 99, 100, 512, 4095, 4096, 4097, 8192]
            + (0..<20).map { _ in Int(random.next() % UInt64(original.count)) }
        for length in lengths {
            let file = directory.file("cut \(length)")
            try original.prefix(length).write(to: URL(fileURLWithPath: file))
            await use(file, length)
        }
    }

    @Test("A log with changed bytes: what is before the damage counts, and the rest is as if it had not been")
    func damagedLog() async throws {
        let club = club()
        try await club.open()
        for index in 0..<60 { _ = try await club.receive(tap("member \(index % 9)", at: Double(index) * 31)) }
        let database = try Data(contentsOf: URL(fileURLWithPath: path))
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        try await club.close()
        #expect(log.count > 100_000)
        for seed in 0..<30 {
            var random = SeededNumbers(seed: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
            var damaged = log
            damaged[Int(random.next() % UInt64(log.count))] ^= UInt8(truncatingIfNeeded: random.next() | 1)
            let file = directory.file("log \(seed)")
            try database.write(to: URL(fileURLWithPath: file))
            try damaged.write(to: URL(fileURLWithPath: file + "-wal"))
            for name in [file, file + "-wal"] { chmod(name, 0o600) }
            let copy = Club(configuration: .test(.file(path: file)))
            try await copy.open()
            let findings = try await copy.check()
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
            #expect(try await copy.members().map(\.numVisits).reduce(0, +) <= 60)
            try await copy.close()
        }
    }

    @Test("A database without its log is an older one, and clean")
    func missingLog() async throws {
        let club = club()
        try await club.open()
        func receive(_ numbers: Range<Int>) async throws {
            for index in numbers { _ = try await club.receive(tap("member \(index % 9)", at: Double(index) * 31)) }
        }
        try await receive(0..<700)
        // A file that is copied during a checkpoint is no older one. The next one waits for more than what comes.
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        let other = try DatabaseQueue(path: path, configuration: configuration)
        // Of a checkpoint that runs already SQLite reports that it is busy, without waiting for it.
        try await until("the log is empty") {
            (try? await other.writeWithoutTransaction { try $0.checkpoint(.truncate) }) != nil
        }
        try await receive(700..<710)
        let file = directory.file("alone")
        try FileManager.default.copyItem(atPath: path, toPath: file)
        chmod(file, 0o600)
        let copy = Club(configuration: .test(.file(path: file)))
        try await copy.open()
        #expect(try await copy.check() == [])
        #expect(try await copy.members().map(\.numVisits).reduce(0, +) == 700)
        try other.close()
    }

    @Test("A copy of the database and its log, taken at any moment, is a database of that moment")
    func copiesWhileTapping() async throws {
        let club = club()
        try await club.open()
        let counter = Counter()
        let taps = Task {
            var index = 0
            while !Task.isCancelled {
                _ = try await club.receive(tap("member \(index % 40)", at: Double(index) * 31))
                counter.add()
                index += 1
            }
        }
        for round in rounds(10) {
            // The log first: what was moved from it to the database meanwhile is in both. The other way round, pages
            // that were moved would be missing.
            let file = directory.file("copy \(round)")
            let acknowledged = counter.value
            // Nothing may be moved between the two copies: no checkpoint, as with a snapshot of the file system.
            try await club.openStore("test").database.read { db in
                _ = try Int.fetchOne(db, sql: "SELECT 1 FROM member LIMIT 1")
                try FileManager.default.copyItem(atPath: path, toPath: file)
                try FileManager.default.copyItem(atPath: path + "-wal", toPath: file + "-wal")
            }
            for name in [file, file + "-wal"] { chmod(name, 0o600) }
            let copy = Club(configuration: .test(.file(path: file)))
            try await copy.open()
            let findings = try await copy.check()
            #expect(findings.isEmpty, "round \(round): \(findings)")
            #expect(try await copy.members().map(\.numVisits).reduce(0, +) >= acknowledged)
            try await copy.close()
            for end in ["", "-wal", "-shm"] { unlink(file + end) }
        }
        taps.cancel()
        _ = await taps.result
        #expect(try await club.check() == [])
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }
}
