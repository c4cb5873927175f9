import Foundation
import GRDB
import ReaderKit
import Testing

@testable import ClubKit

/// Linux's own call, which Glibc's module does not have: whose rights the calling thread has on files.
@_silgen_name("setfsuid")
private func setfsuid(_ user: UInt32) -> Int32

@Suite("The store")
struct MemberStoreTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func openStore(
        _ path: String? = nil,
        busyTimeout: Duration = .seconds(5),
        clock: @escaping @Sendable () -> Date = { start }
    ) throws(ClubError) -> MemberStore {
        try MemberStore(
            .file(path: path ?? directory.file()),
            busyTimeout: busyTimeout,
            clock: clock,
            makeUUID: { UUIDSource.uuid(77) }
        )
    }

    private func receive(_ event: ScanEvent, in store: MemberStore) async throws -> Receipt {
        try #require(try await store.receive(event, cooldown: 30_000_000, unknown: .create, committed: { _ in }))
    }

    private func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]) as? Int
    }

    // MARK: Durability and files

    @Test("Commits are written through to the disk: the writer of the pool says FULL")
    func synchronous() async throws {
        let store = try openStore()
        #expect(store.database is DatabasePool)
        #expect(try await store.synchronousMode() == 2)
        let journal = try await store.database.writeWithoutTransaction {
            try String.fetchOne($0, sql: "PRAGMA journal_mode")
        }
        #expect(journal == "wal")
        // It is still so after a commit and for a store that is opened again.
        _ = try await receive(tap("A"), in: store)
        #expect(try await store.synchronousMode() == 2)
        try store.close()
        #expect(try await openStore().synchronousMode() == 2)
    }

    @Test("The check says so when commits are not durable")
    func notDurable() async throws {
        let store = try openStore()
        try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        #expect(try await store.check().map(\.code) == [.notDurable])
    }

    @Test("Files are for their owner only, and so are directories that are made for them")
    func modes() async throws {
        let path = directory.path + "/new/deeper/club.sqlite"
        let store = try openStore(path)
        _ = try await receive(tap("A"), in: store)
        for file in [path, path + "-wal", path + "-shm"] { #expect(mode(file) == 0o600, "\(file)") }
        #expect(mode(directory.path + "/new") == 0o700)
        #expect(mode(directory.path + "/new/deeper") == 0o700)
        #expect(try await store.check() == [])
        // The check says so when somebody opens them to others, and does not count that as damage.
        chmod(path, 0o644)
        let findings = try await store.check()
        #expect(findings.map(\.code) == [.permissions])
        #expect(findings.map(\.severity) == [.warning])
    }

    @Test("The device keeps its identifier")
    func deviceID() throws {
        let store = try openStore()
        #expect(store.deviceID == UUIDSource.uuid(77))
        try store.close()
        let again = try MemberStore(.file(path: directory.file()), clock: { start }, makeUUID: { UUIDSource.uuid(78) })
        #expect(again.deviceID == UUIDSource.uuid(77))
    }

    @Test("The standard place follows the base directory specification")
    func standardPlace() {
        let standard = { DatabaseLocation.standard(environment: $0) }
        #expect(standard(["XDG_DATA_HOME": "/data", "HOME": "/home/a"]) == .file(path: "/data/clubkit/club.sqlite"))
        let home = DatabaseLocation.file(path: "/home/a/.local/share/clubkit/club.sqlite")
        #expect(standard(["HOME": "/home/a"]) == home)
        #expect(standard(["XDG_DATA_HOME": "", "HOME": "/home/a"]) == home)
        #expect(standard(["XDG_DATA_HOME": "relative", "HOME": "/home/a"]) == home)
    }

    @Test("After closing, the file is whole by itself")
    func closedFile() async throws {
        let store = try openStore()
        _ = try await receive(tap("A"), in: store)
        try store.close()
        let log = try? FileManager.default.attributesOfItem(atPath: directory.file() + "-wal")[.size] as? Int
        #expect((log ?? 0) == 0)
        try FileManager.default.copyItem(atPath: directory.file(), toPath: directory.file("copy"))
        #expect(try await openStore(directory.file("copy")).member(withUserID: "A")?.numVisits == 1)
    }

    // MARK: What cannot be opened

    @Test("A file that is no database is left alone")
    func notADatabase() throws {
        let text = Data(String(repeating: "This is a letter.\n", count: 100).utf8)
        try text.write(to: URL(fileURLWithPath: directory.file()))
        let error = #expect(throws: ClubError.self) { try openStore() }
        #expect(error?.kind == .notADatabase)
        #expect(error?.code?.name == "SQLITE_NOTADB")
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file())) == text)
    }

    @Test("Another program's database is left alone")
    func foreign() throws {
        let queue = try DatabaseQueue(path: directory.file())
        try queue.write { try $0.execute(sql: "CREATE TABLE song (title TEXT)") }
        try queue.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        let error = #expect(throws: ClubError.self) { try openStore() }
        #expect(error?.kind == .notADatabase)
        #expect(error?.detail == "it belongs to another program")
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file())) == before)
    }

    @Test("A newer schema is left alone")
    func newerSchema() async throws {
        let store = try openStore()
        _ = try await receive(tap("A"), in: store)
        try await store.database.write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('9 what is yet to come')")
        }
        try store.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        let error = #expect(throws: ClubError.self) { try openStore() }
        #expect(error?.kind == .newerSchema)
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file())) == before)
    }

    @Test("A damaged database is a typed error or a finding, never a trap", arguments: 0..<24)
    func corrupt(seed: Int) async throws {
        let store = try openStore()
        for index in 0..<60 { _ = try await receive(tap("member \(index)", at: Double(index)), in: store) }
        try store.close()
        let url = URL(fileURLWithPath: directory.file())
        var bytes = try Data(contentsOf: url)
        // A whole page of noise, not the first, so that it still is a database.
        let pages = bytes.count / 4096
        let place = (1 + seed % (pages - 1)) * 4096
        for index in 0..<4096 { bytes[place + index] = UInt8(truncatingIfNeeded: (index &* 167) ^ (seed &* 29)) }
        try bytes.write(to: url)
        do {
            let damaged = try openStore()
            let findings = try await damaged.check()
            #expect(findings.contains { $0.severity == .error })
            #expect(!findings.contains { $0.message.contains("member \(seed)") })
            do {
                _ = try await damaged.receive(
                    tap("member 7", at: 100),
                    cooldown: 0,
                    unknown: .create,
                    committed: { _ in }
                )
            } catch {
                #expect([.corrupt, .other].contains(error.kind), "\(error)")
            }
        } catch {
            #expect([.corrupt, .notADatabase, .other].contains(error.kind), "\(error)")
        }
    }

    @Test("A truncated database is found damaged")
    func truncated() async throws {
        let store = try openStore()
        for index in 0..<60 { _ = try await receive(tap("member \(index)", at: Double(index)), in: store) }
        try store.close()
        let url = URL(fileURLWithPath: directory.file())
        let bytes = try Data(contentsOf: url)
        try bytes.prefix(bytes.count / 2 / 4096 * 4096).write(to: url)
        do {
            #expect(try await openStore().check().contains { $0.code == .damaged })
        } catch {
            #expect(error.kind == .corrupt)
        }
    }

    @Test(
        "Places where no file can be",
        arguments: [
            ("/proc/club/club.sqlite", .cannotCreate), ("/dev/null/club.sqlite", .cannotCreate), ("/", .cannotOpen),
        ] as [(String, ClubError.Kind)]
    )
    func impossiblePlace(path: String, kind: ClubError.Kind) {
        let error = #expect(throws: ClubError.self) { try openStore(path) }
        #expect(error?.kind == kind)
    }

    @Test("A link to nothing is not followed into a file that others can read")
    func danglingLink() throws {
        try FileManager.default.createSymbolicLink(
            atPath: directory.file(),
            withDestinationPath: directory.file("elsewhere")
        )
        #expect(throws: ClubError.self) { try openStore() }
        #expect(mode(directory.file("elsewhere")) == nil)
    }

    @Test("A directory that may not be written: nothing can be created, and nothing recorded")
    func readOnlyDirectory() async throws {
        chmod(directory.path, 0o555)
        defer { chmod(directory.path, 0o755) }
        let error = asUnprivileged { () -> ClubError? in
            do throws(ClubError) {
                _ = try openStore()
                return nil
            } catch {
                return error
            }
        }
        #expect(error?.kind == .cannotCreate)
        #expect(error?.code?.name == "EACCES")
    }

    @Test("A database that may not be written")
    func readOnlyFile() async throws {
        let store = try openStore()
        _ = try await receive(tap("A"), in: store)
        try store.close()
        chmod(directory.file(), 0o444)
        chmod(directory.path, 0o555)
        defer { chmod(directory.path, 0o755) }
        let error = asUnprivileged { () -> ClubError? in
            do throws(ClubError) {
                _ = try openStore()
                return nil
            } catch {
                return error
            }
        }
        #expect([.readOnly, .cannotOpen].contains(error?.kind))
    }

    /// Runs on this thread without root's right to write everywhere. `setfsuid` concerns the calling thread only.
    private func asUnprivileged<Value>(_ body: () -> Value) -> Value {
        guard geteuid() == 0 else { return body() }
        _ = setfsuid(65534)
        defer { _ = setfsuid(0) }
        return body()
    }

    @Test("A full disk is a typed error that loses nothing")
    func diskFull() async throws {
        let store = try openStore()
        _ = try await receive(tap("A"), in: store)
        try await store.database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        var recorded = 1
        var failure: ClubError?
        for index in 1..<1000 {
            do {
                let event = tap("A", at: Double(index) * 30)
                _ = try await store.receive(event, cooldown: 0, unknown: .create, committed: { _ in })
                recorded += 1
            } catch {
                failure = error
                break
            }
        }
        #expect(failure?.kind == .diskFull)
        #expect(failure?.code?.name == "SQLITE_FULL")
        #expect(try await store.member(withUserID: "A")?.numVisits == recorded)
        #expect(try await store.check() == [])
    }

    @Test("A database that another program holds is waited for, then a typed error")
    func busy() async throws {
        let store = try openStore(busyTimeout: .milliseconds(50))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: directory.file(), configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: ClubError.self) { try await receive(tap("A"), in: store) }
        do {
            _ = try await receive(tap("A"), in: store)
        } catch let error as ClubError {
            #expect(error.kind == .busy)
            #expect(error.code?.name == "SQLITE_BUSY")
        }
        // Reading goes on meanwhile, and writing afterwards.
        #expect(try await store.memberCount() == 0)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try await receive(tap("A"), in: store).outcome == .created)
    }

    @Test("A cancelled task commits nothing that it was not told of")
    func cancelled() async throws {
        let store = try openStore()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await receive(tap("A"), in: store)
        }
        let error = await #expect(throws: ClubError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(try await store.memberCount() == 0)
    }

    @Test("A closed store says so")
    func closed() async throws {
        let store = try openStore()
        try store.close()
        let error = await #expect(throws: ClubError.self) { try await receive(tap("A"), in: store) }
        #expect(error?.kind == .notOpen)
        #expect(throws: ClubError.self) { try store.memberNow(withUserID: "A") }
        await #expect(throws: ClubError.self) { try await store.memberCount() }
    }

    // MARK: The ledger

    @Test(
        "The ledger cannot be changed, unless the same transaction allows it",
        arguments: [
            "UPDATE visit SET at = at + 1", "DELETE FROM visit", "REPLACE INTO visit SELECT * FROM visit",
            "UPDATE OR REPLACE visit SET id = id",
        ]
    )
    func appendOnly(sql: String) async throws {
        let store = try openStore()
        _ = try await receive(tap("A"), in: store)
        await #expect(throws: DatabaseError.self) { try await store.database.write { try $0.execute(sql: sql) } }
        #expect(try await store.check() == [])
        try await store.database.write { db in
            try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')")
            try db.execute(sql: sql)
            try db.execute(sql: "DELETE FROM ledger_permit")
        }
    }

    @Test("A member with visits cannot be deleted from under them")
    func memberWithVisits() async throws {
        let store = try openStore()
        _ = try await receive(tap("A"), in: store)
        await #expect(throws: DatabaseError.self) {
            try await store.database.write { try $0.execute(sql: "DELETE FROM member") }
        }
    }

    @Test(
        "The check finds what contradicts itself",
        arguments: [
            ("UPDATE member SET num_visits = num_visits + 1", [.totalsDiffer]),
            ("UPDATE member SET last_visit_at = NULL WHERE user_id = 'A'", [.totalsDiffer]),
            ("DELETE FROM receipt WHERE outcome = 'visit'", [.receiptMismatch]),
            ("UPDATE receipt SET outcome = 'repeat' WHERE outcome = 'visit'", [.receiptMismatch]),
            ("UPDATE receipt SET outcome = 'visit' WHERE outcome = 'repeat'", [.receiptMismatch]),
            ("UPDATE receipt SET member_id = 2 WHERE outcome = 'visit'", [.receiptMismatch]),
            ("UPDATE visit SET hlc = -hlc WHERE id = 3", [.clockOrder]),
            ("UPDATE member SET fields = '[]'", [.malformedFields]),
            ("UPDATE member SET fields = '{'", [.malformedFields]),
            ("DELETE FROM member WHERE user_id = 'B'", [.danglingReference, .visitWithoutMember]),
        ] as [(String, [IntegrityFinding.Code])]
    )
    func contradictions(sql: String, codes: [IntegrityFinding.Code]) async throws {
        let store = try openStore()
        for (key, seconds) in [("A", 0), ("B", 1), ("A", 2), ("A", 30), (nil, 40)] as [(String?, Double)] {
            _ = try await receive(tap(key, at: seconds), in: store)
        }
        #expect(try await store.check() == [])
        try await store.database.writeWithoutTransaction { db in
            // As a damaged disk or another program would, past all that guards the tables.
            try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')")
            try db.execute(sql: sql)
            try db.execute(sql: "DELETE FROM ledger_permit")
            try db.execute(sql: "PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF")
        }
        let found = try await store.check()
        // SQLite's own check looks at the constraints of the tables too.
        #expect(Set(found.map(\.code)).subtracting([.damaged]) == Set(codes))
        #expect(found.allSatisfy { $0.severity == .error })
    }

    @Test("A permit that was left is found")
    func permitLeft() async throws {
        let store = try openStore()
        try await store.database.write { try $0.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')") }
        #expect(try await store.check().map(\.code) == [.ledgerUnlocked])
    }

    @Test("The logical clock goes on where the file left it, also when the physical one was set back")
    func logicalClock() async throws {
        var store = try openStore(clock: { start.addingTimeInterval(1000) })
        _ = try await receive(tap("A"), in: store)
        try store.close()
        store = try openStore(clock: { start })
        for index in 1...3 { _ = try await receive(tap("A", at: Double(index) * 30), in: store) }
        let times = try await store.database.read { try Int64.fetchAll($0, sql: "SELECT hlc FROM visit ORDER BY id") }
        let first = HybridTimestamp(milliseconds: Int64(start.timeIntervalSince1970 + 1000) * 1000, counter: 0).rawValue
        #expect(times == (0..<4).map { first + $0 })
        #expect(try await store.check() == [])
    }

    // MARK: Several users of one file

    @Test("Two clubs on one file count every tap once")
    func twoClubs() async throws {
        let first = try openStore()
        let second = try openStore()
        #expect(first.deviceID == second.deviceID)
        let taps = (0..<100).map { tap("member \($0 % 3)", at: Double($0) * 30) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, event) in taps.enumerated() {
                // Every fifth one reaches both.
                if index % 5 == 0 || index % 2 == 0 { group.addTask { _ = try await receive(event, in: first) } }
                if index % 5 == 0 || index % 2 == 1 { group.addTask { _ = try await receive(event, in: second) } }
            }
            try await group.waitForAll()
        }
        #expect(try await first.members(sortedBy: .userId).map(\.numVisits) == [34, 33, 33])
        #expect(try await first.members(sortedBy: .userId) == second.members(sortedBy: .userId))
        #expect(try await first.check() == [])
        try first.close()
        #expect(try await second.check() == [])
    }

    @Test("A new file can be opened by many at once")
    func openAtOnce() async throws {
        let path = directory.file()
        let ids = try await withThrowingTaskGroup(of: UUID.self) { group in
            for number in 0..<8 as Range<UInt64> {
                group.addTask {
                    let club = Club(configuration: .test(.file(path: path)))
                    try await club.open()
                    let id = try club.openStore("test").deviceID
                    _ = try await club.receive(tap("A", at: Double(number) * 30))
                    return id
                }
            }
            return try await group.reduce(into: Set<UUID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(try await openStore().member(withUserID: "A")?.numVisits == 8)
    }
}
