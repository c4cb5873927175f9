import Foundation
import GRDB
import ReaderKit
import TestSupport
import Testing

@testable import ClubKit

/// Linux's own call, which Glibc's module does not have: whose rights the calling thread has on files.
@_silgen_name("setfsuid")
private func setfsuid(_ user: UInt32) -> Int32

@Suite("The store")
struct MemberStoreTests {
    private let bench: StoreBench
    private var directory: TemporaryDirectory { bench.directory }

    init() throws {
        bench = try StoreBench()
    }

    private func openStore(
        _ path: String? = nil,
        busyTimeout: Duration = .seconds(5),
        clock: @escaping @Sendable () -> Date = { start }
    ) throws(ClubError) -> MemberStore {
        try bench.openStore(path, busyTimeout: busyTimeout, clock: clock)
    }

    private func receive(_ event: ScanEvent, in store: MemberStore) async throws -> Receipt {
        try await bench.receive(event, in: store)
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

    @Test("A damaged database is a typed error or a finding, never a trap", arguments: Array(0..<24).oneIn(3))
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
                    rules: TapRules(cooldown: 0),
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
                _ = try await store.receive(event, rules: TapRules(cooldown: 0), unknown: .create, committed: { _ in })
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
}
