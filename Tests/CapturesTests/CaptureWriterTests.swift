import Foundation
import Testing

@testable import Captures

@Suite struct CaptureWriterTests {
    private typealias Directory = CaptureFilesTests.Directory

    private func names(_ directory: Directory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// The original behind a link is what holds people's identifiers.
    @Test func replacesTheFileBehindALink() throws {
        let directory = try Directory()
        try directory.write("real.capture", "old\n")
        let (real, link) = (directory.path + "/real.capture", directory.path + "/link.capture")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.capture")
        try WholeFile.write(Array("new\n".utf8), to: link, overwrite: true)
        #expect(try text(real) == "new\n")
        let writer = try CaptureWriter(creating: link, overwrite: true)
        try writer.replace(with: "newer\n")
        try writer.append("end\n")
        writer.close()
        #expect(try text(real) == "newer\nend\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.capture")
        #expect(try names(directory) == ["link.capture", "real.capture"])
    }

    @Test func keepsTheModeAndTheFilesBeside() throws {
        let directory = try Directory()
        let path = directory.path + "/a.capture"
        try directory.write("a.capture", "old\n")
        try directory.write("a.capture.part", "somebody else's\n")
        #expect(chmod(path, 0o640) == 0)
        let writer = try CaptureWriter(creating: path, overwrite: true)
        try writer.replace(with: "one\n")
        writer.close()
        #expect(try mode(path) == 0o640)
        try WholeFile.write(Array("two\n".utf8), to: path, overwrite: true)
        #expect(try mode(path) == 0o640)
        #expect(try text(path) == "two\n")
        #expect(try text(path + ".part") == "somebody else's\n")
        #expect(try names(directory) == ["a.capture", "a.capture.part"])
    }

    @Test(arguments: [false, true]) func makesNewFilesWhole(overwrite: Bool) throws {
        let directory = try Directory()
        let path = directory.path + "/new"
        try WholeFile.write([1, 2, 3], to: path, overwrite: overwrite)
        #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
        #expect(try mode(path) == 0o600)
        #expect(throws: CaptureFileError(path: path, kind: .exists, code: EEXIST)) {
            try WholeFile.write([4], to: path, overwrite: false)
        }
        #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
        #expect(try names(directory) == ["new"])
    }

    /// A folder takes no file's place, however late that is noticed; nothing is left beside it.
    @Test func leavesNothingWhenItFails() throws {
        let directory = try Directory()
        let path = directory.path + "/place"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        for (kind, code) in [(WholeFile.Place.creating, EEXIST), (.replacing, EISDIR)] {
            #expect { try WholeFile.put([1], at: path, nil, kind, of: "it") } throws: {
                ($0 as? CaptureFileError)?.code == code && ($0 as? CaptureFileError)?.path == "it"
            }
        }
        #expect(try names(directory) == ["place"])
        #expect(throws: CaptureFileError(path: path + "/no/a", kind: .notWritable, code: ENOENT)) {
            try WholeFile.write([1], to: path + "/no/a", overwrite: false)
        }
        #expect(try names(directory) == ["place"])
    }

    @Test func refusesWhatIsNoRegularFile() throws {
        let directory = try Directory()
        let pipe = directory.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let link = directory.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
        for path in [pipe, link, directory.path, "/dev/null"] {
            let error = #expect(throws: CaptureFileError.self) {
                try WholeFile.write([1], to: path, overwrite: true)
            }
            #expect(error == CaptureFileError(path: path, kind: .notWritable, code: ESPIPE))
            #expect(error?.description.contains("it is no regular file") == true)
        }
        let dangling = directory.path + "/dangling"
        try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: "nothing")
        #expect(throws: CaptureFileError(path: dangling, kind: .notWritable, code: ENOENT)) {
            try WholeFile.write([1], to: dangling, overwrite: true)
        }
        let device = try CaptureWriter(creating: "/dev/null", overwrite: true)
        #expect(throws: CaptureFileError(path: "/dev/null", kind: .notWritable, code: ESPIPE)) {
            try device.replace(with: "text")
        }
        #expect(try names(directory) == ["dangling", "link", "pipe"])
    }

    #if os(Linux)
    /// `/dev/stdin` leads to the file that a shell has opened, and to replace that is not what was asked for.
    @Test func leavesTheFilesOfOpenDescriptorsAlone() throws {
        let directory = try Directory()
        try directory.write("a", "old\n")
        let file = open(directory.path + "/a", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        for path in ["/dev/fd/\(file)", "/proc/self/fd/\(file)"] {
            #expect(throws: CaptureFileError(path: path, kind: .notWritable, code: ESPIPE)) {
                try WholeFile.write([1], to: path, overwrite: true)
            }
        }
        #expect(try text(directory.path + "/a") == "old\n")
        #expect(try names(directory) == ["a"])
    }
    #endif

    /// What took the recording's place meanwhile is somebody else's.
    @Test func leavesAnotherFileOfItsNameAlone() throws {
        let directory = try Directory()
        let path = directory.path + "/a.capture"
        let writer = try CaptureWriter(creating: path)
        #expect(unlink(path) == 0)
        try directory.write("a.capture", "other\n")
        #expect(throws: CaptureFileError(path: path, kind: .notWritable, code: ESTALE)) {
            try writer.replace(with: "mine\n")
        }
        writer.discardIfEmpty()
        #expect(try text(path) == "other\n")
        #expect(try names(directory) == ["a.capture"])
    }
}
