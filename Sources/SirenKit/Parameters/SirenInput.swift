import Foundation

/// A value that is given for a field.
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

    init(_ scalar: SirenScalar) {
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
    var formText: String? {
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
        /// In the file at that path, which is read piece by piece while it is sent.
        case path(String)
    }

    /// Where its bytes are.
    public var content: Content
    /// The name that the server is told.
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
        case .path(let path): (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
        }
    }
}
