import Foundation

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
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw ClubError(.fileExists, attempting: attempt) }
            throw ClubError(errno: errno, attempting: attempt)
        }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ClubError(errno: count < 0 ? errno : EIO, attempting: attempt) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw ClubError(errno: errno, attempting: attempt) }
    }
}
