import Foundation
import ReaderKit
import Testing

@testable import ClubKit

/// What stands at the place of a database and beside it.
@Suite("Files at and beside the database", .timeLimit(.minutes(10)))
struct DatabasePathTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    private func club() -> Club { Club(configuration: .test(.file(path: path))) }

    enum Special: String, CaseIterable {
        case pipe, socket, directory, device, linkToPipe
    }

    /// - Returns: what is in the directory then.
    private func make(_ special: Special) throws -> [String] {
        switch special {
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .socket: #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        case .directory: #expect(mkdir(path, 0o700) == 0)
        case .device: #expect(symlink("/dev/null", path) == 0)
        case .linkToPipe:
            #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
            #expect(symlink("pipe", path) == 0)
        }
        return try names()
    }

    @Test("What is no file is neither opened nor repaired, and nothing is left beside it", arguments: Special.allCases)
    func special(special: Special) async throws {
        let before = try make(special)
        let opening = await #expect(throws: ClubError.self) { try await club().open() }
        #expect(opening?.kind == .cannotOpen)
        #expect(opening?.detail?.hasPrefix("the path names") == true, "\(opening.map(String.init(describing:)) ?? "")")
        let repairing = await #expect(throws: ClubError.self) { _ = try await club().repair() }
        #expect(repairing?.kind == .cannotOpen)
        #expect(try names() == before)
    }

    @Test("A device by its own name")
    func device() async throws {
        let club = Club(configuration: .test(.file(path: "/dev/null")))
        let error = await #expect(throws: ClubError.self) { try await club.open() }
        #expect(error?.kind == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-wal"))
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-journal"))
    }

    // MARK: Folders of those who were killed

    private func leave(_ name: String, _ files: [String], mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: directory.file(name),
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: mode]
        )
        for file in files { try Data([1]).write(to: URL(fileURLWithPath: directory.file(name) + "/" + file)) }
    }

    @Test("What a killed backup or repair left is removed by the next; what somebody works in, or is not theirs, stays")
    func leftovers() async throws {
        let club = club()
        try await club.open()
        _ = try await club.receive(tap("A"))
        func fill() throws {
            try leave(
                ".clubkit-work-aaaaaa",
                ["copy.sqlite", "copy.sqlite-journal", "old.sqlite-wal.part", "old.sqlite.part"]
            )
            try leave(".clubkit-work-bbbbbb", ["old.sqlite", "old.sqlite-wal", "new.sqlite", "new.sqlite-shm"])
            try leave(".clubkit-work-cccccc", [])
        }
        try leave(".clubkit-work-letter", ["copy.sqlite", "letter"])
        try leave(".clubkit-work-long-name", ["copy.sqlite"])
        try leave(".clubkit-work-shared", ["copy.sqlite"], mode: 0o755)
        try leave(".club-backup", ["club.sqlite"])
        let folder = try WorkFolder(beside: path, "test")
        try Data([1]).write(to: URL(fileURLWithPath: folder.path + "/copy.sqlite"))
        let stays = try names()

        try fill()
        try await club.backup(to: URL(fileURLWithPath: directory.file("copy")))
        #expect(try names() == (stays + ["copy"]).sorted())
        try FileManager.default.removeItem(atPath: directory.file("copy"))

        try fill()
        #expect(try await club.repair().wasClean)
        #expect(try names() == stays)

        try fill()
        try await club.erase("A")
        #expect(try names() == stays)

        #expect(FileManager.default.fileExists(atPath: folder.path + "/copy.sqlite"))
        folder.remove()
        #expect(try names() == stays.filter { !folder.path.hasSuffix($0) })
        try await club.close()
    }

    @Test("Another folder that has the name by now is left alone, and the work is removed wherever it is")
    func exchanged() throws {
        let path = directory.file()
        let folder = try WorkFolder(beside: path, "test")
        try Data([1]).write(to: URL(fileURLWithPath: folder.path + "/copy.sqlite"))
        #expect(rename(folder.path, directory.file("elsewhere")) == 0)
        #expect(mkdir(folder.path, 0o700) == 0)
        try Data([2]).write(to: URL(fileURLWithPath: folder.path + "/copy.sqlite"))
        folder.remove()
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/copy.sqlite")) == Data([2]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("elsewhere")) == [])
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.removeItem(atPath: directory.file("elsewhere"))
    }

    @Test("Many who make folders at once each have their own")
    func atOnce() async throws {
        let path = path
        let paths = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let folder = try WorkFolder(beside: path, "test")
                    let file = folder.path + "/copy.sqlite"
                    try Data([1]).write(to: URL(fileURLWithPath: file))
                    WorkFolder.removeLeftovers(beside: path)
                    #expect(FileManager.default.fileExists(atPath: file))
                    folder.remove()
                    return folder.path
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(!paths.isEmpty)
        #expect(try names() == [])
    }

    @Test("Copies that a repair kept are named")
    func keptCopies() async throws {
        let club = club()
        try await club.open()
        _ = try await club.receive(tap("A"))
        #expect(try club.keptCopies() == [])
        let store = try club.openStore("test")
        try await store.database.writeWithoutTransaction { try $0.execute(sql: "UPDATE member SET num_visits = 7") }
        let kept = try #require(try await club.repair().keptFile)
        for name in ["club.sqlite.damaged-20260901T100000Z", "club.sqlite.damaged-20260901T100000Z-wal", "copy"] {
            try Data([1]).write(to: URL(fileURLWithPath: directory.file(name)))
        }
        #expect(
            try club.keptCopies().map(\.path) == [
                kept, directory.file("club.sqlite.damaged-20260901T100000Z"),
                directory.file("club.sqlite.damaged-20260901T100000Z-wal"),
            ]
        )
        #expect(try await openClub().keptCopies() == [])
        try await club.close()
    }
}
