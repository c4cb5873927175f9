import Crypto
import Foundation

/// A file that is written piece by piece under a name of its own, and gets its place only when it is whole.
final class OutputFile {
    /// Where it ends up.
    let path: String

    /// Bytes that were written so far.
    private(set) var count = 0

    private let descriptor: Int32
    /// The name until then; `nil` for what is no regular file and is written in place.
    private var temporary: [CChar]?
    private var buffer: [UInt8] = []
    private var digest: SHA256?
    private static let piece = 128 * 1024

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - path: the file. A pipe or device is written in place.
    ///   - database: the database that is read, whose files are never replaced.
    ///   - hashed: whether to compute the checksum of what is written.
    /// - Throws: ``TransferError/Kind/exists`` unless it may be replaced.
    init(
        _ path: String,
        overwrite: Bool,
        beside database: String? = nil,
        hashed: Bool = false
    ) throws(TransferError) {
        self.path = path
        if let database, DatabaseFiles.own(path, ofDatabase: database) {
            throw TransferError(.exists, file: path, detail: "it is the member database itself")
        }
        if hashed { digest = SHA256() }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            guard status.st_mode & S_IFMT != S_IFDIR else {
                throw TransferError(errno: EISDIR, file: path, writing: true)
            }
            descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            guard descriptor >= 0 else { throw TransferError(errno: errno, file: path, writing: true) }
            return
        }
        if !overwrite, lstat(path, &status) == 0 { throw TransferError(.exists, file: path) }
        var name = Array((Self.folder(of: path) + ".export-XXXXXX").utf8CString)
        // Mode 0600, and a name that nobody has.
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw TransferError(errno: errno, file: path, writing: true) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        temporary = name
    }

    deinit {
        close(descriptor)
        if let temporary { unlink(temporary) }
    }

    /// Appends what the closure writes.
    func write(_ body: (inout [UInt8]) -> Void) throws(TransferError) {
        let before = buffer.count
        body(&buffer)
        count += buffer.count - before
        if buffer.count >= Self.piece { try flush() }
    }

    /// The SHA-256 of what was written so far.
    func checksum() throws(TransferError) -> [UInt8] {
        try flush()
        return digest.map { Array($0.finalize()) } ?? []
    }

    private func flush() throws(TransferError) {
        digest?.update(data: buffer)
        var failure: Int32?
        buffer.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count, let base = bytes.baseAddress {
                let count = put(base + written, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    failure = errno
                    return
                }
                written += count
            }
        }
        if let failure { throw TransferError(errno: failure, file: path, writing: true) }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes as `write(2)`, but a pipe whose reader has gone is an error like any other and does not end the process.
    private func put(_ start: UnsafeRawPointer, _ count: Int) -> Int {
        guard temporary == nil else { return Foundation.write(descriptor, start, count) }
        var signals = sigset_t()
        var before = sigset_t()
        var pending = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        sigpending(&pending)
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        let written = Foundation.write(descriptor, start, count)
        let number = errno
        if written < 0, number == EPIPE, !wasPending {
            var noTime = timespec(tv_sec: 0, tv_nsec: 0)
            _ = sigtimedwait(&signals, nil, &noTime)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        errno = number
        return written
    }

    /// Puts the file, which is on disk then, at its place.
    ///
    /// - Parameter unique: whether `-2`, `-3` and so on is put behind the name where there is a file already.
    /// - Returns: its path.
    func finish(overwrite: Bool, unique: Bool = false) throws(TransferError) -> String {
        try flush()
        guard let name = temporary else { return path }
        // Some file systems cannot, and say so.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw TransferError(errno: errno, file: path, writing: true)
        }
        var place = path
        if overwrite {
            guard rename(name, place) == 0 else { throw TransferError(errno: errno, file: path, writing: true) }
        } else {
            var number = 1
            while try !move(name, to: place) {
                guard unique, number < 10_000 else { throw TransferError(.exists, file: place) }
                number += 1
                place = Self.numbered(path, number)
            }
        }
        temporary = nil
        // The file is in its place; a folder that cannot be synchronised takes nothing of that back.
        let folder = open(Self.folder(of: place), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            _ = fsync(folder)
            close(folder)
        }
        return place
    }

    /// Moves a file to a place where there is none.
    ///
    /// - Returns: false if there is one.
    private func move(_ name: [CChar], to place: String) throws(TransferError) -> Bool {
        // Unlike rename(2), link(2) leaves what is there.
        if link(name, place) == 0 {
            unlink(name)
            return true
        }
        if errno == EEXIST { return false }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else {
            throw TransferError(errno: errno, file: place, writing: true)
        }
        // A file system without links: take the name first.
        let claim = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard claim >= 0 else {
            if errno == EEXIST { return false }
            throw TransferError(errno: errno, file: place, writing: true)
        }
        close(claim)
        guard rename(name, place) == 0 else {
            let number = errno
            unlink(place)
            throw TransferError(errno: number, file: place, writing: true)
        }
        return true
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    /// The name with a number before its extension.
    static func numbered(_ path: String, _ number: Int) -> String {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: "."), dot > name else { return path + "-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }
}
