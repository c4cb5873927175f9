import Foundation
import ReaderKit

/// Files that only this user may read.
enum PrivateFiles {
    /// Makes a directory of mode 0700, or takes one that is empty.
    static func makeDirectory(_ path: String, _ attempt: String) throws(ClubError) {
        if mkdir(path, 0o700) == 0 { return }
        guard errno == EEXIST else { throw ClubError(errno: errno, attempting: attempt) }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path), names.isEmpty else {
            throw ClubError(.fileExists, attempting: attempt, detail: "the directory is not empty")
        }
    }

    /// Writes a new file of mode 0600, through to the disk.
    static func write(_ bytes: [UInt8], to path: String, _ attempt: String) throws(ClubError) {
        do throws(FileSteps.Failure) {
            let file = try FileSteps.create(path)
            defer { close(file) }
            try FileSteps.write(bytes[...], to: file)
            try FileSteps.synchronise(file)
        } catch {
            throw DatabaseFiles.failure(attempt, error.code)
        }
    }
}
