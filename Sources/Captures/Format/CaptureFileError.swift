import Foundation

/// A capture file could not be found, read or written.
public struct CaptureFileError: Error, Sendable, Hashable {
    /// The file or directory.
    public var path: String

    /// What happened.
    public var kind: Kind

    /// The system's error number (`errno`), or 0 if it gave none.
    public var code: Int32

    /// What can happen to a capture file.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// There is no such file or directory.
        case notFound
        /// The directory holds no `.capture` file.
        case noCaptures
        /// The file exists and is not to be overwritten.
        case exists
        /// The file or directory cannot be read.
        case notReadable
        /// The file cannot be written.
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
