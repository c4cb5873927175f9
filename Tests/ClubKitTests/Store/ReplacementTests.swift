import Foundation
import GRDB
import Testing

@testable import ClubKit

/// What takes the place of a damaged database, and what only has the name of that.
@Suite("Replacing a damaged database", .timeLimit(.minutes(10)))
struct ReplacementTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }
    private var repaired: String { path + ".repaired" }
    private let keptName = "club.sqlite.damaged-20260901T100000Z"

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func read(_ file: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file)) }

    private func write(_ bytes: Data, to file: String) throws {
        unlink(file)
        try bytes.write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
    }

    private func club(_ file: String? = nil) -> Club { Club(configuration: .test(.file(path: file ?? path))) }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    /// A closed database with one visit of each of these.
    private func makeDatabase(_ members: [String]) async throws {
        let club = club()
        try await club.open()
        for member in members { _ = try await club.receive(tap(member)) }
        try await club.close()
    }

    /// The state after a repair was killed: the repaired file is finished, and the damaged one in its place with a log.
    private func cutOff() async throws -> (damaged: Data, log: Data) {
        try await makeDatabase(["A", "B"])
        let (damaged, log) = (Data(repeating: 7, count: 9000), Data(repeating: 1, count: 5000))
        try FileManager.default.moveItem(atPath: path, toPath: repaired)
        for end in ["-wal", "-shm"] { unlink(path + end) }
        try write(damaged, to: path)
        try write(log, to: path + "-wal")
        try Replacement(of: path, kept: directory.file(keptName), "test").mark(repaired, "test")
        return (damaged, log)
    }

    enum Moment: CaseIterable {
        case everythingThere, copyKept, logGone
    }

    @Test(
        "A replacement that was cut off is finished at the next opening or repair",
        arguments: Moment.allCases,
        [0, 1]
    )
    func finished(moment: Moment, way: Int) async throws {
        let (damaged, log) = try await cutOff()
        let kept = directory.file(keptName)
        if moment != .everythingThere { try DatabaseFiles.copyWithLog(path, to: kept, "test") }
        if moment == .logGone { unlink(path + "-wal") }
        let club = club()
        if way == 1 {
            let report = try await club.repair()
            #expect(report.wasClean)
            #expect(report.remaining == [])
        }
        try await club.open()
        #expect(try await club.members(sortedBy: .userId).map(\.userId) == ["A", "B"])
        #expect(try await club.check() == [])
        #expect(try read(kept) == damaged)
        #expect(try read(kept + "-wal") == log)
        #expect(!DatabaseFiles.exists(repaired))
        // The mark has done its work.
        let count = try await club.openStore("test").database.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM meta WHERE key = ?", arguments: [Replacement.key])
        }
        #expect(count == 0)
        try await club.close()
    }

    enum Stranger: CaseIterable {
        case empty, letter, club, clubWithoutLog, linkToNothing, linkToFinished, linkToDatabase, directory, pipe
        case otherDamage, unsound, withLog, otherName
    }

    /// Puts something beside a sound database of A and B under the name that a repaired file has.
    private func make(_ stranger: Stranger) async throws {
        try await makeDatabase(["A", "B"])
        let bytes = try read(path)
        func finish(_ file: String, kept: String? = nil) throws {
            try write(bytes, to: file)
            try Replacement(of: path, kept: directory.file(kept ?? keptName), "test").mark(file, "test")
        }
        switch stranger {
        case .empty: try write(Data(), to: repaired)
        case .letter: try write(Data(repeating: 0x41, count: 8192), to: repaired)
        case .club: try write(bytes, to: repaired)
        case .clubWithoutLog:
            try write(bytes, to: repaired)
            let queue = try DatabaseQueue(path: repaired)
            try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            try queue.close()
        case .linkToNothing: #expect(symlink("nothing", repaired) == 0)
        case .linkToFinished:
            try finish(directory.file("finished"))
            #expect(symlink("finished", repaired) == 0)
        case .linkToDatabase: #expect(link(path, repaired) == 0)
        case .directory: #expect(mkdir(repaired, 0o700) == 0)
        case .pipe: #expect(mkfifo(repaired, 0o600) == 0)
        case .otherDamage:
            // A backup of another state was copied over the damaged file, which nobody has opened since.
            let backup = directory.file("backup")
            try write(bytes, to: backup)
            let club = club(backup)
            try await club.open()
            _ = try await club.receive(tap("C"))
            try await club.close()
            try finish(repaired)
            try write(read(backup), to: path)
            unlink(backup)
        case .unsound:
            try finish(repaired)
            let queue = try DatabaseQueue(path: repaired)
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = 'card'")
            }
            try queue.close()
        case .withLog:
            try finish(repaired)
            try write(Data([1]), to: repaired + "-wal")
        case .otherName: try finish(repaired, kept: "elsewhere")
        }
    }

    @Test(
        "Whatever else has the name of a repaired file is left alone, and the database is opened",
        arguments: Stranger.allCases
    )
    func stranger(stranger: Stranger) async throws {
        try await make(stranger)
        let before = try names()
        var (now, then) = (stat(), stat())
        #expect(lstat(repaired, &then) == 0)
        // What was acknowledged last is in the log only.
        let killed = try await logOnly()
        let members = stranger == .otherDamage ? ["A", "B", "C", "late"] : ["A", "B", "late"]
        for _ in 0..<2 {
            let club = club()
            try await club.open()
            #expect(try await club.members(sortedBy: .userId).map(\.userId) == members)
            // Others can open it at the same time.
            let other = self.club()
            try await other.open()
            try await other.close()
            try await club.close()
        }
        #expect(lstat(repaired, &now) == 0)
        #expect(now.st_ino == then.st_ino)
        #expect(now.st_size == then.st_size || stranger == .linkToDatabase)
        func others(_ names: [String]) -> [String] { names.filter { !$0.hasPrefix("club.sqlite-") } }
        #expect(try others(names()) == others(before))
        #expect(killed > 0)
    }

    /// Puts a visit into the log of the database, as after a kill.
    ///
    /// - Returns: the size of the log.
    private func logOnly() async throws -> Int {
        let club = club()
        try await club.open()
        _ = try await club.receive(tap("late"))
        let log = try read(path + "-wal")
        let bytes = try read(path)
        try await club.close()
        // In place: a new file would be none that has another name too.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: bytes)
        try file.truncate(atOffset: UInt64(bytes.count))
        try file.close()
        try write(log, to: path + "-wal")
        unlink(path + "-shm")
        return log.count
    }

    @Test("A damaged database is not repaired over a stranger's file, which the error names")
    func inTheWay() async throws {
        try await makeDatabase((0..<300).map { "member \($0)" })
        var damaged = try read(path)
        let place = try #require(damaged.range(of: Data("member 150".utf8))).lowerBound / 4096 * 4096
        for index in 0..<64 { damaged[place + index] = 0xA5 }
        try write(damaged, to: path)
        try write(Data([1]), to: repaired)
        let error = await #expect(throws: ClubError.self) { _ = try await club().repair() }
        #expect(error?.kind == .fileExists)
        #expect(error?.detail?.contains(repaired) == true)
        #expect(try read(path) == damaged)
        #expect(try read(repaired) == Data([1]))
        unlink(repaired)
        #expect(try await club().repair().isNewFile)
    }

    // MARK: Links

    @Test(
        "A path over links is that of the file",
        arguments: [
            ("real/club.sqlite", "real/club.sqlite"), ("file", "real/club.sqlite"), ("twice", "real/club.sqlite"),
            ("folder/club.sqlite", "real/club.sqlite"), ("folder/new", "real/new"),
            ("folder/../file", "real/club.sqlite"),
            ("nothing", "nothing"), ("folder/nothing", "real/nothing"), ("missing/new", "missing/new"),
        ]
    )
    func whole(name: String, expected: String) throws {
        try FileManager.default.createDirectory(atPath: directory.file("real"), withIntermediateDirectories: false)
        try write(Data([1]), to: directory.file("real/club.sqlite"))
        for (target, link) in [
            ("real/club.sqlite", "file"), ("file", "twice"), ("real", "folder"), ("gone", "nothing"),
            ("gone", "real/nothing"),
        ] { #expect(symlink(target, directory.file(link)) == 0) }
        let root = DatabaseFiles.whole(directory.path)
        #expect(DatabaseFiles.whole(directory.file(name)) == root + "/" + expected)
    }

    @Test("A damaged database behind a link is repaired with its log, and the link stays", arguments: [false, true])
    func linked(folder: Bool) async throws {
        try await makeDatabase((0..<300).map { "member \($0)" })
        #expect(try await logOnly() > 0)
        let real = directory.file("real")
        try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: false)
        var damaged = try read(path)
        let place = try #require(damaged.range(of: Data("member 150".utf8))).lowerBound / 4096 * 4096
        for index in 0..<64 { damaged[place + index] = 0xA5 }
        try write(damaged, to: real + "/club.sqlite")
        try FileManager.default.moveItem(atPath: path + "-wal", toPath: real + "/club.sqlite-wal")
        unlink(path)
        let link = directory.file(folder ? "folder" : "club.sqlite")
        #expect(symlink(folder ? "real" : "real/club.sqlite", link) == 0)
        let club = club(folder ? link + "/club.sqlite" : link)
        let report = try await club.repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        #expect(report.keptFile?.hasPrefix(DatabaseFiles.whole(real) + "/club.sqlite.damaged-") == true)
        try await club.open()
        #expect(try await club.receive(tap("later", at: 60)).outcome == .created)
        #expect(try await club.member(withUserID: "late")?.numVisits == 1)
        #expect(try club.keptCopies().count == 2)
        let copies = ["club.sqlite", "club.sqlite-wal", "club.sqlite-shm"]
        for name in copies {
            await #expect(throws: ClubError.self) {
                try await club.backup(to: URL(fileURLWithPath: folder ? link + "/" + name : real + "/" + name))
            }
        }
        try await club.close()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link).hasPrefix("real"))
        #expect(try names() == [folder ? "folder" : "club.sqlite", "real"])
    }
}
