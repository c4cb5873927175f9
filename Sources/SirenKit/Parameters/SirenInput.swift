import Foundation

/// A value for a field.
public enum SirenInput: Sendable, Hashable {
    /// A text.
    case text(String)
    /// A number.
    case number(SirenNumber)
    /// Yes or no.
    case bool(Bool)
    /// A URL.
    case url(URL)
    /// A file.
    case file(SirenFile)
    /// Several values.
    case list([SirenInput])

    /// What kind of value it is, in a word.
    public var kind: String {
        switch self {
        case .text: "text"
        case .number: "number"
        case .bool: "truth value"
        case .url: "URL"
        case .file: "file"
        case .list: "list"
        }
    }

    /// Creates an input of a value that a field has, or offers.
    public init(_ scalar: SirenScalar) {
        switch scalar {
        case .text(let text): self = .text(text)
        case .number(let number): self = .number(number)
        }
    }

    /// The values, if there are several; else this one.
    var each: [SirenInput] {
        if case .list(let values) = self { values } else { [self] }
    }

    /// The text that a form sends; `nil` of a file and of several values. A ticked box is `on`, as in HTML.
    public var formText: String? {
        switch self {
        case .text(let text): text
        case .number(let number): number.text
        case .bool(let value): value ? "on" : "off"
        case .url(let url): url.absoluteString
        case .file, .list: nil
        }
    }
}

extension SirenInput: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral
{
    /// A ``text(_:)``.
    public init(stringLiteral value: String) { self = .text(value) }

    /// A ``number(_:)``.
    public init(integerLiteral value: Int) { self = .number(SirenNumber(value)) }

    /// A ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A ``list(_:)``.
    public init(arrayLiteral elements: SirenInput...) { self = .list(elements) }
}

/// A file that is sent.
public struct SirenFile: Sendable, Hashable {
    /// Where its bytes are.
    public enum Content: Sendable, Hashable {
        /// Here.
        case bytes([UInt8])
        /// In the file at that path, which is read piece by piece while it is sent and must not change meanwhile.
        case path(String)
    }

    /// Where its bytes are.
    public var content: Content
    /// The name that is sent to the server.
    public var name: String
    /// Its media type.
    public var type: String

    /// Creates a file.
    public init(_ content: Content, name: String, type: String = "application/octet-stream") {
        self.content = content
        self.name = name
        self.type = type
    }

    /// Its length in bytes; `nil` if it cannot be read.
    var length: Int? {
        switch content {
        case .bytes(let bytes): bytes.count
        case .path(let path): Opened(path)?.length
        }
    }

    /// A file that is open for reading, and its length in bytes.
    package struct Opened: Sendable {
        /// It closes the file at its end.
        package let handle: FileHandle
        /// In bytes, when it was opened.
        package let length: Int

        /// Opens a file, also at the end of symbolic links; `nil` of what cannot be read, or is no file, such as a folder.
        package init?(_ path: String) {
            // A pipe would wait for one who writes.
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            guard descriptor >= 0 else { return nil }
            handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            length = Int(status.st_size)
        }
    }
}
