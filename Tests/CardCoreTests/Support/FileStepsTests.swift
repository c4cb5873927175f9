import Captures
import Foundation
import Testing

@testable import CardCore

@Suite("Files that are written under another name first")
final class FileStepsTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/steps-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    @Test(
        "The folder of any path",
        arguments: [
            ("", ""), ("/", "/"), ("//", "/"), ("a", ""), (".", ""), ("a/", ""), ("/a", "/"), ("//a", "/"),
            ("a/b", "a"), ("/a/b//", "/a"), ("a//b", "a"), ("/a/\u{301}b", "/a"), ("ä/b", "ä"),
        ]
    )
    func parent(path: String, folder: String) {
        #expect(FileSteps.parent(of: path) == folder)
    }

    @Test("What was left behind by who was killed is removed by the next who writes there, and nothing else is")
    func leftovers() throws {
        // A maker that is gone holds no lock any more.
        let (left, name) = try FileSteps.makeTemporary(beside: folder + "/a")
        close(left)
        let (living, other) = try FileSteps.makeTemporary(beside: folder + "/b")
        #expect(!FileManager.default.fileExists(atPath: name))
        let prefix = String(try #require(other.split(separator: "/").last).dropLast(6))
        let stays = [".export-AbCdEf", ".new-AbCdEf", prefix + "long-name", prefix + "pi", "a", "b"]
        for name in stays { try Data([1]).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        #expect(symlink("a", folder + "/" + prefix + "linked") == 0)
        #expect(mkfifo(folder + "/" + prefix + "piped1", 0o600) == 0)
        #expect(mkdir(folder + "/" + prefix + "folder", 0o700) == 0)
        let before = try names()
        for _ in 0..<3 {
            let (file, name) = try FileSteps.makeTemporary(beside: folder + "/c")
            close(file)
            #expect(try Set(names()).subtracting(before).count == 1)
            #expect(FileManager.default.fileExists(atPath: name))
        }
        FileSteps.removeLeftovers(beside: folder + "/c")
        #expect(try names() == before)
        close(living)
        try WholeFile.write([1, 2], to: folder + "/d", overwrite: false)
        let last = try #require(other.split(separator: "/").last)
        #expect(try names() == (before.filter { $0 != last } + ["d"]).sorted())
    }

    @Test("Who writes at the same time keeps what is their own")
    func together() async throws {
        let folder = folder
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask {
                    let (file, name) = try FileSteps.makeTemporary(beside: folder + "/x")
                    defer { close(file) }
                    FileSteps.removeLeftovers(beside: folder + "/x")
                    #expect(FileSteps.isNamed(file, name))
                    try FileSteps.move(name, toFree: folder + "/\(index)")
                }
            }
            try await group.waitForAll()
        }
        #expect(try names().count == 50)
    }
}
