import Cryptography
import Foundation
import ReaderKit

/// A file that is written piece by piece under a name of its own, and gets its place only when it is whole.
final class OutputFile {
    let path: String

    private(set) var count = 0

    private let descriptor: Int32
    private let isCancelled: () -> Bool
    /// The name until then; `nil` for what is no regular file and is written in place.
    private var temporary: String?
    private var buffer: [UInt8] = []
    private var digest: SHA256?
    private static let piece = 128 * 1024

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - path: the file. A pipe or device is written in place.
    ///   - database: the database that is read, whose files are never replaced.
    ///   - hashed: whether to compute the checksum of what is written.
    ///   - isCancelled: asked while the reader of a pipe is waited for.
    /// - Throws: ``TransferError/Kind/exists`` unless it may be replaced.
    init(
        _ path: String,
        overwrite: Bool,
        beside database: String? = nil,
        hashed: Bool = false,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(TransferError) {
        self.path = path
        self.isCancelled = isCancelled
        if let database, DatabaseFiles.own(path, ofDatabase: database) {
            throw TransferError(.exists, file: path, detail: "it is the member database itself")
        }
        if hashed { digest = SHA256() }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            guard status.st_mode & S_IFMT != S_IFDIR else {
                throw TransferError(errno: EISDIR, file: path, writing: true)
            }
            let isPipe = status.st_mode & S_IFMT == S_IFIFO
            descriptor = isPipe ? PipeWait.open(path, unless: isCancelled) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            if descriptor < 0, errno == ECANCELED { throw TransferError(.cancelled, file: path) }
            guard descriptor >= 0 else { throw TransferError(errno: errno, file: path, writing: true) }
            return
        }
        if !overwrite, lstat(path, &status) == 0 { throw TransferError(.exists, file: path) }
        do throws(FileSteps.Failure) {
            (descriptor, temporary) = try FileSteps.makeTemporary(beside: path)
        } catch {
            throw TransferError(errno: error.code, file: path, writing: true)
        }
    }

    deinit {
        close(descriptor)
        if let temporary { unlink(temporary) }
    }

    func write(_ body: (inout [UInt8]) -> Void) throws(TransferError) {
        let before = buffer.count
        body(&buffer)
        count += buffer.count - before
        if buffer.count >= Self.piece { try flush() }
    }

    func checksum() throws(TransferError) -> [UInt8] {
        try flush()
        return digest?.digest ?? []
    }

    private func flush() throws(TransferError) {
        digest?.update(buffer)
        try buffer.withUnsafeBufferPointer { bytes throws(TransferError) in
            var written = 0
            while written < bytes.count, let base = bytes.baseAddress {
                let count = put(base + written, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    if PipeWait.isReady(descriptor, Int16(POLLOUT), unless: isCancelled) { continue }
                    throw TransferError(.cancelled, file: path)
                }
                guard count > 0 else { throw TransferError(errno: errno, file: path, writing: true) }
                written += count
            }
        }
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
        var place = path
        do throws(FileSteps.Failure) {
            try FileSteps.synchronise(descriptor)
            if overwrite {
                try FileSteps.move(name, replacing: place)
            } else {
                var number = 1
                while try !isMoved(name, to: place) {
                    guard unique, number < 10_000 else { throw FileSteps.Failure(EEXIST) }
                    number += 1
                    place = Self.numbered(path, number)
                }
            }
        } catch {
            if error.code == EEXIST { throw TransferError(.exists, file: place) }
            throw TransferError(errno: error.code, file: place, writing: true)
        }
        temporary = nil
        FileSteps.synchroniseFolder(of: place)
        return place
    }

    /// Moves a file to a place. Returns false if there is one already.
    private func isMoved(_ name: String, to place: String) throws(FileSteps.Failure) -> Bool {
        do throws(FileSteps.Failure) {
            try FileSteps.move(name, toFree: place)
            return true
        } catch {
            guard error.code == EEXIST else { throw error }
            return false
        }
    }

    /// The name with a number before its extension.
    static func numbered(_ path: String, _ number: Int) -> String {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: "."), dot > name else { return path + "-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }
}
