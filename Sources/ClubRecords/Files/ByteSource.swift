import Foundation
import Synchronization

/// Where bytes come from, a piece at a time.
package protocol ByteSource: Sendable {
    /// What errors call it.
    var path: String { get }

    /// The number of bytes in all, where it is known.
    var size: Int? { get }

    /// Puts the next bytes at the beginning of the buffer. Returns how many; 0 only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int
}

/// A file that is read and never changed.
package final class FileSource: ByteSource {
    package let path: String
    package let size: Int?
    private let descriptor: Int32
    private let isCancelled: @Sendable () -> Bool
    private let mustWait: Atomic<Bool>
    /// What was looked at and not read yet.
    private let ahead = Mutex<[UInt8]>([])

    /// Opens a file, or a pipe.
    ///
    /// - Parameter isCancelled: asked while a pipe is waited for.
    package init(
        _ path: String,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(TransferError) {
        self.path = path
        self.isCancelled = isCancelled
        // Opening a named pipe, and reading from one, would wait for its writer, where no cancellation is heard.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw TransferError(errno: errno, file: path, writing: false) }
        var status = stat()
        let fault = fstat(descriptor, &status) != 0 ? errno : status.st_mode & S_IFMT == S_IFDIR ? EISDIR : 0
        guard fault == 0 else {
            close(descriptor)
            throw TransferError(errno: fault, file: path, writing: false)
        }
        mustWait = Atomic(status.st_mode & S_IFMT != S_IFREG)
        size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
        // A hint only.
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    deinit { close(descriptor) }

    /// The beginning of the file, at most so many bytes, which will be read all the same.
    package func peek(_ count: Int) throws(TransferError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(count, 0))
        let filled = try bytes.withUnsafeMutableBufferPointer { buffer throws(TransferError) in
            try read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        bytes.removeLast(bytes.count - filled)
        ahead.withLock { $0 = bytes }
        return bytes
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        var filled = ahead.withLock { ahead in
            let count = min(ahead.count, buffer.count)
            buffer.copyBytes(from: ahead[..<count])
            ahead.removeFirst(count)
            return count
        }
        while filled < buffer.count {
            // Until a writer has come, a named pipe reads as at its end.
            if mustWait.exchange(false, ordering: .relaxed) { try wait() }
            let count = Foundation.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    mustWait.store(true, ordering: .relaxed)
                    continue
                }
                throw TransferError(errno: errno, file: path, writing: false)
            }
            filled += count
        }
        return filled
    }

    private func wait() throws(TransferError) {
        guard PipeWait.isReady(descriptor, Int16(POLLIN), unless: isCancelled) else {
            throw TransferError(.cancelled, file: path)
        }
    }

    package func rewind() throws(TransferError) {
        ahead.withLock { $0 = [] }
        guard size != nil, lseek(descriptor, 0, SEEK_SET) == 0 else { throw TransferError(.notRepeatable, file: path) }
    }
}

/// Waiting for the other end of a pipe, which may take for ever.
package enum PipeWait {
    /// How long a cancellation may go unheard, in milliseconds.
    private static let slice: Int32 = 100

    /// Waits until reading or writing goes on, or fails. Returns false if it was cancelled.
    package static func isReady(_ file: Int32, _ events: Int16, unless isCancelled: () -> Bool) -> Bool {
        while !isCancelled() {
            var one = pollfd(fd: file, events: events, revents: 0)
            let count = poll(&one, 1, slice)
            // What is wrong with the file is reported by reading or writing.
            if count > 0 || count < 0 && errno != EINTR { return true }
        }
        return false
    }

    /// Opens a named pipe for writing when somebody reads it. Returns the descriptor, which does not block, or -1 with
    /// `errno`; ECANCELED if it was cancelled.
    package static func open(_ path: String, unless isCancelled: () -> Bool) -> Int32 {
        while !isCancelled() {
            let file = Foundation.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            // No event states that a reader has come.
            guard file < 0, errno == ENXIO || errno == EINTR else { return file }
            poll(nil, 0, slice)
        }
        errno = ECANCELED
        return -1
    }
}
