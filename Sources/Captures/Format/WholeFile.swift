import CardCore
import Foundation

/// Writes files whole: under a name of their own beside their place, and then into it, so that a failure leaves what
/// was there.
package enum WholeFile {
    /// Writes a new file of mode 0600, or replaces one; of a symbolic link, the file that it leads to.
    ///
    /// - Parameter keepingMode: whether the mode of a file that is replaced stays; else the new one is of mode 0600 too.
    /// - Throws: ``CaptureFileError/Kind/exists`` or ``CaptureFileError/Kind/notWritable``; nothing is changed then.
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        overwrite: Bool,
        keepingMode: Bool = true
    ) throws(CaptureFileError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure(path) }
            _ = close(try put(bytes, at: path, nil, overwrite ? .replacing : .creating, of: path))
            return
        }
        guard overwrite else { throw CaptureFileError(path: path, kind: .exists, code: EEXIST) }
        let target = try Target(path)
        // A folder in which one may write would let a file be replaced in which one may not.
        guard access(target.path, W_OK) == 0 else { throw failure(path) }
        _ = close(try put(bytes, at: target.path, keepingMode ? target.status : nil, .replacing, of: path))
    }

    /// A regular file that can be replaced.
    struct Target {
        let path: String
        let status: stat

        init(_ path: String) throws(CaptureFileError) {
            guard let real = WholeFile.real(path), let folder = WholeFile.real(FileSteps.folder(of: path)) else {
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
        func isFile(_ other: stat) -> Bool { status.st_dev == other.st_dev && status.st_ino == other.st_ino }
    }

    enum Place {
        case creating, replacing
    }

    /// Writes a file beside its place and moves it there.
    ///
    /// - Parameters:
    ///   - old: the file that is replaced, whose mode and owner stay; `nil` if absent.
    ///   - path: the name that errors contain.
    /// - Returns: the descriptor of the new file, behind its content.
    static func put(
        _ bytes: [UInt8],
        at place: String,
        _ old: stat?,
        _ kind: Place,
        of path: String
    ) throws(CaptureFileError) -> Int32 {
        do throws(FileSteps.Failure) {
            let (file, name) = try FileSteps.makeTemporary(beside: place)
            do throws(FileSteps.Failure) {
                try FileSteps.write(bytes[...], to: file)
                if let old { try take(old, file) }
                try FileSteps.synchronise(file)
                switch kind {
                case .creating: try FileSteps.move(name, toFree: place)
                case .replacing: try FileSteps.move(name, replacing: place)
                }
            } catch {
                _ = close(file)
                _ = unlink(name)
                throw error
            }
            FileSteps.synchroniseFolder(of: place)
            // It may stay open for long, and it is nobody's work any more.
            _ = flock(file, LOCK_UN)
            return file
        } catch {
            throw failure(path, error.code)
        }
    }

    /// Gives a new file the owner, as far as that is allowed, and the mode of the old one.
    private static func take(_ old: stat, _ file: Int32) throws(FileSteps.Failure) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .last }
        var mode = old.st_mode & 0o777
        if geteuid() == 0, status.st_uid != old.st_uid || status.st_gid != old.st_gid {
            guard fchown(file, old.st_uid, old.st_gid) == 0 else { throw .last }
        } else if status.st_gid != old.st_gid, fchown(file, uid_t.max, old.st_gid) != 0 {
            // What one group may do is not for another.
            mode &= ~0o070
        }
        guard fchmod(file, mode) == 0 else { throw .last }
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

    static func failure(_ path: String, _ code: Int32 = errno) -> CaptureFileError {
        CaptureFileError(path: path, kind: code == EEXIST ? .exists : .notWritable, code: code)
    }
}
