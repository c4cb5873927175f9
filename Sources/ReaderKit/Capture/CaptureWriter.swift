import Foundation
import Synchronization

/// Writes a capture file as the conversation goes, so that a program that is killed loses at most the exchange that
/// was under way.
///
/// A file that is new gets mode 0600, for it holds the identifiers of people's cards.
public final class CaptureWriter: Sendable {
    /// The file.
    public let path: String

    /// The descriptor, or -1 once closed.
    private let descriptor: Mutex<Int32>

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - overwrite: whether a file of that name is replaced. It keeps its content until ``replace(with:)``.
    /// - Throws: ``CaptureFileError/Kind/exists`` or ``CaptureFileError/Kind/notWritable``.
    public init(creating path: String, overwrite: Bool = false) throws(CaptureFileError) {
        self.path = path
        descriptor = Mutex(try Self.open(path, overwrite ? 0 : O_EXCL))
    }

    deinit {
        descriptor.withLock { if $0 >= 0 { _ = Foundation.close($0) } }
    }

    /// Appends whole lines, in one system call where the system takes them in one.
    public func append(_ text: String) throws(CaptureFileError) {
        // A closure's error type is not inferred, so the result carries it.
        let result: Result<Void, CaptureFileError> = descriptor.withLock { file in
            Result { () throws(CaptureFileError) in try Self.write(text, to: file, path) }
        }
        try result.get()
    }

    /// Replaces all that was written. The file has either the old or the new content, whenever the program is killed.
    ///
    /// A path that is no regular file, such as a pipe, cannot be replaced.
    public func replace(with text: String) throws(CaptureFileError) {
        let result: Result<Void, CaptureFileError> = descriptor.withLock { file in
            Result { () throws(CaptureFileError) in
                var status = stat()
                guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    throw CaptureFileError(path: path, kind: .notWritable, code: ESPIPE)
                }
                let temporary = path + ".part"
                // What a killed program left behind.
                _ = unlink(temporary)
                let new = try Self.open(temporary, O_EXCL)
                do throws(CaptureFileError) {
                    try Self.write(text, to: new, temporary)
                    guard rename(temporary, path) == 0 else { throw Self.failure(path) }
                } catch {
                    _ = Foundation.close(new)
                    _ = unlink(temporary)
                    throw error
                }
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
            _ = unlink(path)
        }
        close()
    }

    private static func open(_ path: String, _ flag: Int32) throws(CaptureFileError) -> Int32 {
        let file = Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flag, 0o600)
        guard file >= 0 else { throw failure(path) }
        return file
    }

    private static func write(_ text: String, to file: Int32, _ path: String) throws(CaptureFileError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure(_ path: String) -> CaptureFileError {
        let code = errno
        return CaptureFileError(path: path, kind: code == EEXIST ? .exists : .notWritable, code: code)
    }
}
