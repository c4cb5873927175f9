import Foundation
import GRDB
import Testing

@testable import ClubKit

@Suite("Upgrading a database before the kiosk opens it", .timeLimit(.minutes(10)))
struct UpgradeTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }
    private var configuration: ClubConfiguration { .test(.file(path: path)) }
    private let kept = "club.sqlite.before-upgrade-20260901T100000Z"

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A database of the first schema.
    private func putFirstSchema() throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Fixtures/databases/version-1.sqlite").standardizedFileURL
        try FileManager.default.copyItem(atPath: fixture.path, toPath: path)
        chmod(path, 0o600)
    }

    private func bytes(_ file: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file)) }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    private func visits() async throws -> Int {
        let store = try MemberStore(configuration)
        defer { try? store.close() }
        #expect(try await store.check() == [])
        return try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM visit") ?? 0 }
    }

    @Test("The upgraded database takes the place of the former, which is kept as it was; once is enough")
    func upgrades() async throws {
        try putFirstSchema()
        let before = try bytes(path)
        let report = try await MemberStore.upgrade(configuration)
        #expect(report.steps.count == 4)
        #expect((report.members, report.visits) == (34, 84))
        #expect(report.keptFile == directory.file(kept))
        #expect(try files() == ["club.sqlite", kept])
        #expect(try bytes(directory.file(kept)) == before)
        for file in [path, directory.file(kept)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let after = try bytes(path)
        // What a killed process left.
        let leftover = directory.file(".clubkit-work-aBcDeF")
        #expect(mkdir(leftover, 0o700) == 0)
        #expect(try await MemberStore.upgrade(configuration).steps.isEmpty)
        #expect(try bytes(path) == after && !FileManager.default.fileExists(atPath: leftover))
        #expect(try await visits() == 84)
    }

    @Test("What is in the log is upgraded and kept too")
    func log() async throws {
        try putFirstSchema()
        let other = try DatabasePool(path: path)
        try await other.write { try $0.execute(sql: "UPDATE member SET username = 'In the log' WHERE user_id = 'U1'") }
        // As a kiosk that was killed leaves it.
        for end in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + end, toPath: path + ".killed" + end) }
        try other.close()
        for end in ["", "-wal"] {
            unlink(path + end)
            try FileManager.default.moveItem(atPath: path + ".killed" + end, toPath: path + end)
        }
        _ = try await MemberStore.upgrade(configuration)
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        for file in [path, directory.file(kept)] {
            let queue = try DatabaseQueue(path: file)
            let name = try await queue.read {
                try String.fetchOne($0, sql: "SELECT username FROM member WHERE user_id = 'U1'")
            }
            #expect(name == "In the log")
        }
    }

    enum Hindrance: CaseIterable {
        case contradiction, damage, use, newer
    }

    @Test("Whatever fails, the database is as it was", arguments: Hindrance.allCases)
    func fails(_ hindrance: Hindrance) async throws {
        try putFirstSchema()
        let kind: ClubError.Kind
        switch hindrance {
        case .contradiction:
            // One visit more than the ledger has.
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "UPDATE member SET num_visits = num_visits + 1 WHERE id = 1") }
            try queue.close()
            kind = .corrupt
        case .damage:
            try DamagedFile.destroyTrees(["visit"], of: path)
            kind = .corrupt
        case .use:
            kind = .busy
        case .newer:
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 of tomorrow')") }
            try queue.close()
            kind = .newerSchema
        }
        let before = try bytes(path)
        // Not before the file is read: to close it ends the locks that SQLite has on it in this process.
        var user: DatabaseQueue?
        if hindrance == .use {
            var open = Configuration()
            open.allowsUnsafeTransactions = true
            user = try DatabaseQueue(path: path, configuration: open)
            try await user?.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        }
        let error = await #expect(throws: ClubError.self) { _ = try await MemberStore.upgrade(configuration) }
        #expect(error?.kind == kind, "\(error.map { "\($0)" } ?? "")")
        if hindrance == .contradiction { #expect(error?.description.contains("totals") == true) }
        #expect(try bytes(path) == before)
        #expect(try !files().contains { $0.hasPrefix("club.sqlite.") || $0.hasPrefix(".clubkit") })
        withExtendedLifetime(user) {}
    }

    @Test("A replacement that was cut off is finished, with the former database kept")
    func cutOff() async throws {
        try putFirstSchema()
        let before = try bytes(path)
        _ = try await MemberStore.upgrade(configuration)
        // As it is before the file takes its place, without the copy.
        try FileManager.default.moveItem(atPath: path, toPath: path + ".repaired")
        unlink(directory.file(kept))
        try before.write(to: URL(fileURLWithPath: path))
        #expect(try await MemberStore.upgrade(configuration).steps.isEmpty)
        #expect(try bytes(directory.file(kept)) == before)
        #expect(try await visits() == 84)
    }

    @Test("Only this device's latest former database is kept, and none where there is nothing to do")
    func latest() async throws {
        try putFirstSchema()
        let former =
            (0...3).map { "club.sqlite.before-upgrade-2025010\($0 + 1)T000000Z" } + [
                "club.sqlite.before-upgrade-by-hand"
            ]
        try FileManager.default.copyItem(atPath: path, toPath: directory.file(former[4]))
        for name in former[...1] + ["\(former[0]).part"] {
            try FileManager.default.copyItem(atPath: path, toPath: directory.file(name))
        }
        try Data().write(to: URL(fileURLWithPath: directory.file(former[0] + "-wal")))
        // Another device's members may be nowhere else: so it is where a new club took the place of a lost one.
        let queue = try DatabaseQueue(path: directory.file(former[1]))
        try await queue.write { try $0.execute(sql: "UPDATE meta SET value = 'X' WHERE key = 'deviceID'") }
        try queue.close()
        try Data("no database".utf8).write(to: URL(fileURLWithPath: directory.file(former[2])))
        #expect(symlink(path, directory.file(former[3])) == 0)
        _ = try await MemberStore.upgrade(configuration)
        #expect(try files() == ["club.sqlite"] + former[1...3] + [kept, former[4]])
        #expect(throws: Never.self) { unlink(path) }
        #expect(try await MemberStore.upgrade(configuration).keptFile == nil)
        #expect(try files() == former[1...3] + [kept, former[4]])
        // A club that began anew is not undone by one that was there before.
        let club = try await openClub(configuration)
        try await club.close()
        #expect(throws: ClubError.self) { try MemberStore.undoUpgrade(configuration) }
    }

    @Test("Undone, the former database is back, as another device, and the visits since are kept")
    func undone() async throws {
        try putFirstSchema()
        let device = try await DatabaseQueue(path: path).read { try $0.setting("deviceID") }
        _ = try await MemberStore.upgrade(configuration)
        let club = try await openClub(configuration)
        #expect(try await club.receive(tap("New")).outcome == .created)
        try await club.close()
        // The part of a copy that somebody made later, and one without an end.
        let former = try bytes(directory.file(kept))
        for (ending, size) in [("20990101T000000Z", former.count / 2), ("20990101T000000Z.part", 10)] {
            try Data(former.prefix(size)).write(to: URL(fileURLWithPath: "\(path).before-upgrade-\(ending)"))
        }
        // What else may have such a name: another's by a link, a pipe, an empty file, a folder, the present version.
        let others = (1...5).map { "\(path).before-upgrade-20980101T00000\($0)Z" }
        #expect(symlink(directory.file(kept), others[0]) == 0 && mkfifo(others[1], 0o600) == 0)
        try Data().write(to: URL(fileURLWithPath: others[2]))
        #expect(mkdir(others[3], 0o700) == 0)
        try FileManager.default.copyItem(atPath: path, toPath: others[4])
        let report = try MemberStore.undoUpgrade(configuration)
        #expect((report.membersSince, report.visitsSince) == (1, 1))
        #expect(report.restoredFrom == directory.file(kept))
        let restored = try DatabaseQueue(path: path)
        let (migrations, count) = try await restored.read { db in
            (
                try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations"),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM visit")
            )
        }
        #expect(migrations == ["1 members and their visits"])
        #expect(count == 84)
        try restored.close()
        let later = try MemberStore(.file(path: report.keptFile), clock: { start }, makeUUID: { UUIDSource.uuid(9) })
        #expect(try await later.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM visit") } == 85)
        try later.close()
        // Again, without having been opened between.
        _ = try await MemberStore.upgrade(configuration)
        #expect(try MemberStore.undoUpgrade(configuration).visitsSince == 0)
        let again = try MemberStore(configuration)
        #expect(again.deviceID.uuidString != device)
        #expect(try await again.check() == [])
        try again.close()
    }

    @Test("A repair upgrades too, and keeps the database as it was before")
    func repaired() async throws {
        try putFirstSchema()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { try $0.execute(sql: "UPDATE member SET num_visits = 7 WHERE id = 3") }
        try queue.close()
        let before = try bytes(path)
        await #expect(throws: ClubError.self) { try await MemberStore.upgrade(configuration) }
        #expect(try bytes(path) == before)
        let report = try await Club(configuration: configuration).repair()
        #expect(!report.mended.isEmpty && report.lost.isEmpty)
        #expect(try bytes(directory.file(kept)) == before)
        #expect(try await visits() == 84)
        #expect(try MemberStore.undoUpgrade(configuration).restoredFrom == directory.file(kept))
    }

    @Test("Nothing is undone without a former database")
    func nothingToUndo() async throws {
        let club = try await openClub(configuration)
        try await club.close()
        let before = try bytes(path)
        #expect(throws: ClubError.self) { try MemberStore.undoUpgrade(configuration) }
        #expect(try bytes(path) == before)
    }
}
