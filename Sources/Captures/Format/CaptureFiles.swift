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
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= CaptureLimits.fileLength {
            let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw CaptureFileError(path: path, kind: .notReadable, code: errno) }
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return bytes
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
