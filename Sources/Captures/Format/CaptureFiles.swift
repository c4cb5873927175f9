import CardCore
import Foundation

/// Finds and reads capture files.
public enum CaptureFiles {
    /// The end of a capture file's name.
    public static let suffix = ".capture"

    /// The files that some paths name: a file stands for itself, a directory for its `.capture` files in the order of
    /// their names (by Unicode value, not by locale).
    ///
    /// - Throws: ``CaptureFileError/Kind/notFound``, ``CaptureFileError/Kind/noCaptures``, or
    ///   ``CaptureFileError/Kind/notReadable``.
    public static func expand(_ paths: [String]) throws(CaptureFileError) -> [String] {
        var files: [String] = []
        for path in paths {
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
                throw CaptureFileError(path: path, kind: .notFound)
            }
            guard isDirectory.boolValue else {
                files.append(path)
                continue
            }
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
                throw CaptureFileError(path: path, kind: .notReadable)
            }
            // A name that begins with a point is hidden: what editors and other systems leave behind.
            let captures = names.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.sorted()
            guard !captures.isEmpty else { throw CaptureFileError(path: path, kind: .noCaptures) }
            files += captures.map { path.hasSuffix("/") ? path + $0 : path + "/" + $0 }
        }
        return files
    }

    /// Reads the files that some paths name, in the order of ``expand(_:)``.
    ///
    /// - Throws: ``CaptureFileError``, or ``CaptureError`` for the first file that is malformed.
    public static func load(_ paths: [String]) throws -> [Capture] {
        try expand(paths).map { try Capture(contentsOf: $0) }
    }

    /// The bytes of a file, at most one more than ``CaptureLimits/fileLength``, so that a longer one is noticed and not
    /// read.
    package static func bytes(of path: String) throws(CaptureFileError) -> [UInt8] {
        // A named pipe that nobody writes to would be waited for, for ever.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let code = errno
            throw CaptureFileError(path: path, kind: code == ENOENT ? .notFound : .notReadable, code: code)
        }
        defer { _ = close(file) }
        _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK)
        do throws(FileSteps.Failure) {
            return try FileSteps.read(file, until: CaptureLimits.fileLength)
        } catch {
            throw CaptureFileError(path: path, kind: .notReadable, code: error.code)
        }
    }
}

extension Capture {
    /// Reads a capture file.
    ///
    /// - Throws: ``CaptureFileError`` if it cannot be read, ``CaptureError`` if it is malformed.
    public init(contentsOf path: String) throws {
        try self.init(parsing: CaptureFiles.bytes(of: path), file: path)
    }
}

/// A capture file could not be found, read or written.
public struct CaptureFileError: Error, Sendable, Hashable {
    /// The file or directory.
    public var path: String

    /// What happened.
    public var kind: Kind

    /// The system's error number (`errno`), or 0 if it reported none.
    public var code: Int32

    /// What can happen to a capture file.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case notFound
        case noCaptures
        /// The file exists and is not to be overwritten.
        case exists
        case notReadable
        case notWritable
    }

    /// An error about a file.
    public init(path: String, kind: Kind, code: Int32 = 0) {
        self.path = path
        self.kind = kind
        self.code = code
    }

    /// What a person can do about it.
    public var hint: String {
        switch kind {
        case .notFound: "Check the name."
        case .noCaptures: "Name a directory with files whose names end in '.capture'."
        case .exists: "Choose another name, or replace it (readerctl: --force)."
        case .notReadable: "Check who may read it."
        case .notWritable where code == EFBIG: "A capture ends at 16 MiB; record the rest in another file."
        case .notWritable where code == ESPIPE: "Name a regular file, or write to standard output."
        case .notWritable where code == ESTALE: "Another file has taken its place; choose another name."
        case .notWritable: "Check who may write there, and whether the disk is full."
        }
    }
}

extension CaptureFileError: CustomStringConvertible {
    /// One line: what was attempted, what happened, what to do.
    public var description: String {
        let reason = code == 0 ? "" : ": \(String(cString: strerror(code))) (errno \(code))"
        let text =
            switch kind {
            case .notFound: "could not open \(path): there is no such file"
            case .noCaptures: "could not find captures in \(path): it holds no .capture file"
            case .exists: "could not create \(path): it exists"
            case .notReadable: "could not read \(path)\(reason)"
            case .notWritable where code == ESPIPE: "could not write \(path): it is no regular file"
            case .notWritable: "could not write \(path)\(reason)"
            }
        return text + ". " + hint
    }
}
