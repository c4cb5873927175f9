import Foundation
import Testing

@testable import Captures

@Suite struct CaptureFilesTests {
    /// A directory of its own, which is removed at the end.
    final class Directory {
        let path: String

        init() throws {
            path = NSTemporaryDirectory() + "captures-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }

        func write(_ name: String, _ text: String = "capture 1\n") throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
        }
    }

    @Test func expandsDirectoriesInTheOrderOfNames() throws {
        let directory = try Directory()
        for name in ["b.capture", "a.capture", "10.capture", "B.capture", "notes.txt", ".hidden.capture"] {
            try directory.write(name)
        }
        let expected = ["10", "B", "a", "b"].map { "\(directory.path)/\($0).capture" }
        #expect(try CaptureFiles.expand([directory.path]) == expected)
        #expect(try CaptureFiles.expand([directory.path + "/"]) == expected)
        let notes = directory.path + "/notes.txt"
        #expect(try CaptureFiles.expand([notes, directory.path]) == [notes] + expected)
        #expect(try CaptureFiles.load([directory.path]).map(\.file) == expected)
    }

    @Test func saysWhatIsMissing() throws {
        let directory = try Directory()
        let missing = directory.path + "/missing.capture"
        #expect(throws: CaptureFileError(path: missing, kind: .notFound)) { try CaptureFiles.expand([missing]) }
        #expect(throws: CaptureFileError(path: directory.path, kind: .noCaptures)) {
            try CaptureFiles.expand([directory.path])
        }
        #expect(throws: CaptureFileError(path: missing, kind: .notFound, code: ENOENT)) {
            try Capture(contentsOf: missing)
        }
        #expect(throws: CaptureFileError(path: directory.path, kind: .notReadable, code: EISDIR)) {
            try Capture(contentsOf: directory.path)
        }
        try directory.write("bad.capture", "capture 1\nhello\n")
        let bad = directory.path + "/bad.capture"
        #expect { try CaptureFiles.load([bad]) } throws: { "\($0)".hasPrefix("\(bad):2:1: ") }
    }

    @Test func overwritesOnlyWhenToldSo() throws {
        let directory = try Directory()
        try directory.write("a.capture", "old\n")
        let path = directory.path + "/a.capture"
        #expect(throws: CaptureFileError(path: path, kind: .exists, code: EEXIST)) {
            _ = try CaptureWriter(creating: path)
        }
        let writer = try CaptureWriter(creating: path, overwrite: true)
        try writer.append("one\n")
        try writer.replace(with: "two\n")
        try writer.append("three\n")
        writer.close()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "two\nthree\n")
        #expect(throws: CaptureFileError.self) { try writer.append("four\n") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a.capture"])
    }
}
