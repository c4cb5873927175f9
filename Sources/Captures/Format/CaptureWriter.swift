import CardCore
import Foundation
import Synchronization

/// Writes a capture file as the conversation goes, so that a program that is killed loses at most the exchange that
/// was under way.
///
/// A file that is new gets mode 0600, for it holds the identifiers of people's cards.
public final class CaptureWriter: Sendable {
    /// The file.
    public let path: String

    private let descriptor: Mutex<Int32>

    /// Creates the file.
    ///
    /// - Parameter overwrite: whether a file of that name is replaced. It keeps its content until ``replace(with:)``.
    /// - Throws: ``CaptureFileError/Kind/exists`` or ``CaptureFileError/Kind/notWritable``.
    public init(creating path: String, overwrite: Bool = false) throws(CaptureFileError) {
        self.path = path
        // Not to wait, without end, until somebody reads a pipe.
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | (overwrite ? 0 : O_EXCL)
        let file = Foundation.open(path, flags, 0o600)
        guard file >= 0 else { throw WholeFile.failure(path) }
        _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK)
        descriptor = Mutex(file)
    }

    deinit { close() }

    /// Appends whole lines, in one system call where the system takes them in one.
    public func append(_ text: String) throws(CaptureFileError) {
        // A closure's error type is not inferred, so the result carries it.
        let result: Result<Void, CaptureFileError> = descriptor.withLock { file in
            Result { () throws(FileSteps.Failure) in try FileSteps.write(Array(text.utf8)[...], to: file) }
                .mapError { WholeFile.failure(path, $0.code) }
        }
        try result.get()
    }

    /// Replaces all that was written. The file has either the old or the new content, whenever the program is killed.
    ///
    /// A symbolic link stays, and the file that it leads to is replaced; its mode stays too. A path that is no regular
    /// file, such as a pipe or a device, cannot be replaced, nor one where another file stands by now.
    ///
    /// - Throws: ``CaptureFileError/Kind/notWritable``; the file is then as it was.
    public func replace(with text: String) throws(CaptureFileError) {
        let result: Result<Void, CaptureFileError> = descriptor.withLock { file in
            Result { () throws(CaptureFileError) in
                var status = stat()
                guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    throw CaptureFileError(path: path, kind: .notWritable, code: ESPIPE)
                }
                let target = try WholeFile.Target(path)
                guard target.isFile(status) else {
                    throw CaptureFileError(path: path, kind: .notWritable, code: ESTALE)
                }
                let new = try WholeFile.put(Array(text.utf8), at: target.path, target.status, .replacing, of: path)
                _ = fcntl(new, F_SETFL, fcntl(new, F_GETFL) | O_APPEND)
                _ = Foundation.close(file)
                file = new
            }
        }
        try result.get()
    }

    /// Closes the file; appending to it fails from then on.
    public func close() {
        descriptor.withLock { file in
            if file >= 0 { _ = Foundation.close(file) }
            file = -1
        }
    }

    /// Closes the file, and removes it if nothing was written.
    public func discardIfEmpty() {
        descriptor.withLock { file in
            var status = stat()
            guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else {
                return
            }
            // Another file that stands there by now, and a link that leads to this one, are not this writer's.
            guard let target = try? WholeFile.Target(path), target.isFile(status) else { return }
            _ = unlink(target.path)
        }
        close()
    }
}
