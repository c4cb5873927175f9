import Foundation

/// Writes files whole: under a name of their own beside their place, and then into it, so that a failure leaves what
/// was there.
package enum WholeFile {
    /// Writes a new file of mode 0600, or replaces one, whose mode stays.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - path: the file. Of a symbolic link, the file that it leads to is replaced.
    ///   - overwrite: whether a file of that name is replaced.
    /// - Throws: ``CaptureFileError/Kind/exists`` or ``CaptureFileError/Kind/notWritable``; nothing is changed then.
    package static func write(_ bytes: [UInt8], to path: String, overwrite: Bool) throws(CaptureFileError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure(path) }
            let file = try put(bytes, at: path, nil, overwrite ? .replacing : .creating, of: path)
            _ = close(file)
            return
        }
        guard overwrite else { throw CaptureFileError(path: path, kind: .exists, code: EEXIST) }
        let target = try Target(path)
        // A folder in which one may write would let a file be replaced in which one may not.
        guard access(target.path, W_OK) == 0 else { throw failure(path) }
        _ = close(try put(bytes, at: target.path, target.status, .replacing, of: path))
    }

    /// A regular file that can be replaced.
    struct Target {
        /// Where it is, free of symbolic links.
        let path: String
        let status: stat

        /// Follows the links.
        init(_ path: String) throws(CaptureFileError) {
            guard let real = WholeFile.real(path), let folder = WholeFile.real(WholeFile.folder(of: path)) else {
                throw WholeFile.failure(path)
            }
            var status = stat()
            guard lstat(real, &status) == 0 else { throw WholeFile.failure(path) }
            // `/dev/stdin` and its like lead to files that somebody else has opened.
            guard status.st_mode & S_IFMT == S_IFREG, !WholeFile.isOfSystem(real), !WholeFile.isOfSystem(folder) else {
                throw CaptureFileError(path: path, kind: .notWritable, code: ESPIPE)
            }
            self.path = real
            self.status = status
        }

        /// Whether it is this file and not another of its name.
        func isFile(_ other: stat) -> Bool {
            status.st_dev == other.st_dev && status.st_ino == other.st_ino
        }
    }

    /// What happens to a file that stands at the place.
    enum Place {
        case creating, replacing
    }

    /// Writes a file beside its place and moves it there.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - place: the file.
    ///   - old: the file that is replaced, whose mode and owner stay; `nil` if there is none.
    ///   - kind: whether a file at the place is replaced.
    ///   - path: the name that errors tell.
    /// - Returns: the descriptor of the new file, behind its content.
    static func put(
        _ bytes: [UInt8],
        at place: String,
        _ old: stat?,
        _ kind: Place,
        of path: String
    ) throws(CaptureFileError) -> Int32 {
        let folder = folder(of: place)
        var name = Array("\(folder).new-XXXXXX".utf8CString)
        // Mode 0600, and a name that nobody has.
        let file = mkstemp(&name)
        guard file >= 0 else { throw failure(path) }
        do throws(CaptureFileError) {
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
            try write(bytes, onto: file, path)
            if let old { try take(old, file, path) }
            // Some file systems cannot, and say so.
            guard fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure(path) }
            try move(name, to: place, kind, path)
        } catch {
            _ = close(file)
            _ = unlink(name)
            throw error
        }
        // The file is in its place; a folder that cannot be synchronised takes nothing of that back.
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            _ = fsync(directory)
            _ = close(directory)
        }
        return file
    }

    static func write(_ bytes: [UInt8], onto file: Int32, _ path: String) throws(CaptureFileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Gives a new file the owner, as far as that is allowed, and the mode of the old one.
    private static func take(_ old: stat, _ file: Int32, _ path: String) throws(CaptureFileError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure(path) }
        var mode = old.st_mode & 0o777
        if geteuid() == 0, status.st_uid != old.st_uid || status.st_gid != old.st_gid {
            guard fchown(file, old.st_uid, old.st_gid) == 0 else { throw failure(path) }
        } else if status.st_gid != old.st_gid, fchown(file, uid_t.max, old.st_gid) != 0 {
            // What one group may do is not for another.
            mode &= ~0o070
        }
        guard fchmod(file, mode) == 0 else { throw failure(path) }
    }

    private static func move(
        _ name: [CChar],
        to place: String,
        _ kind: Place,
        _ path: String
    ) throws(CaptureFileError) {
        guard kind == .creating else {
            guard rename(name, place) == 0 else { throw failure(path) }
            return
        }
        // Unlike rename(2), link(2) leaves what is there.
        if link(name, place) == 0 {
            _ = unlink(name)
            return
        }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw failure(path) }
        // A file system without links: take the name first.
        let claim = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard claim >= 0 else { throw failure(path) }
        _ = close(claim)
        guard rename(name, place) == 0 else {
            let error = failure(path)
            _ = unlink(place)
            throw error
        }
    }

    /// The folder of a file, with a slash at its end.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Whether a path without links is of devices or of the kernel.
    private static func isOfSystem(_ path: String) -> Bool {
        let path = path + "/"
        return ["/dev/", "/proc/", "/sys/"].contains { path.hasPrefix($0) } && !path.hasPrefix("/dev/shm/")
    }

    static func failure(_ path: String) -> CaptureFileError {
        let code = errno
        return CaptureFileError(path: path, kind: code == EEXIST ? .exists : .notWritable, code: code)
    }
}
