/// Cuts a JSON array into its elements, one at a time, so that memory does not depend on its length. The elements
/// themselves are not checked.
struct JSONElementReader: Sendable {
    /// The longest element, in bytes.
    static let longest = 1024 * 1024

    enum Element: Sendable, Hashable {
        /// The text of an element.
        case value([UInt8])
        /// An element that is too long.
        case tooLong
        /// The array goes wrong here, and what follows cannot be read.
        case broken(String)
    }

    private var window: ByteWindow
    private var state = State.beforeFirst

    private enum State {
        case beforeFirst, behindElement, ended
    }

    /// Goes behind the opening bracket.
    init(_ source: any ByteSource) throws(TransferError) {
        window = ByteWindow(source)
        try window.fill(upTo: 4)
        let start = window.withBytes { Array($0.prefix(4)) }
        if start.starts(with: [0xEF, 0xBB, 0xBF]) {
            window.take(3)
        } else if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) || start.contains(0) {
            throw TransferError(.wrongEncoding, file: source.path, line: 1, detail: "it seems to be UTF-16 or UTF-32")
        }
        guard try peek() == UInt8(ascii: "[") else {
            throw TransferError(
                .malformed,
                file: source.path,
                line: 1,
                column: 1,
                detail: "expected '[', a list in JSON"
            )
        }
        window.take(1)
    }

    var offset: Int { window.offset }
    var totalBytes: Int? { window.totalBytes }

    /// The next element, or `nil` at the end.
    mutating func next() throws(TransferError) -> Element? {
        guard state != .ended else { return nil }
        guard let first = try peek() else {
            state = .ended
            return .broken("the file ends within the list; export it anew")
        }
        if first == UInt8(ascii: "]") {
            window.take(1)
            state = .ended
            return try peek() == nil ? nil : .broken("there is something behind the list, which was not read")
        }
        if state == .behindElement {
            guard first == UInt8(ascii: ",") else {
                state = .ended
                return .broken("expected a comma or ']' at byte \(window.offset + 1); nothing behind it was read")
            }
            window.take(1)
            guard try peek() != nil else { return try next() }
        }
        state = .behindElement
        return try element()
    }

    /// The next byte that is no white space, which is not taken.
    private mutating func peek() throws(TransferError) -> UInt8? {
        while true {
            let (spaces, byte) = window.withBytes { bytes -> (Int, UInt8?) in
                var at = 0
                while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
                return (at, at < bytes.count ? bytes[at] : nil)
            }
            window.take(spaces)
            if let byte { return byte }
            guard !window.isAtEnd else { return nil }
            try window.fill()
        }
    }

    private mutating func element() throws(TransferError) -> Element {
        var text: [UInt8] = []
        var scan = Scan()
        var isTooLong = false
        while true {
            let length = window.withBytes { scan.advance(UnsafeBufferPointer($0)) }
            if text.count + length > Self.longest {
                isTooLong = true
                text = []
            } else if !isTooLong {
                window.withBytes { text.append(contentsOf: $0[..<length]) }
            }
            window.take(length)
            if scan.isComplete { return isTooLong ? .tooLong : .value(text) }
            if window.isAtEnd {
                state = .ended
                return .broken("the file ends within this element; export it anew")
            }
            try window.fill()
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Looks for the end of a value.
    private struct Scan {
        var depth = 0
        var isInText = false
        var isEscaped = false
        var isComplete = false

        /// How many of the bytes belong to the value.
        mutating func advance(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
            var at = 0
            while at < bytes.count {
                let byte = bytes[at]
                if isInText {
                    if isEscaped {
                        isEscaped = false
                    } else if byte == UInt8(ascii: "\\") {
                        isEscaped = true
                    } else if byte == UInt8(ascii: "\"") {
                        isInText = false
                    }
                } else {
                    switch byte {
                    case UInt8(ascii: "\""): isInText = true
                    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                    case UInt8(ascii: "}"), UInt8(ascii: "]"):
                        if depth == 0 {
                            isComplete = true
                            return at
                        }
                        depth -= 1
                        if depth == 0 {
                            isComplete = true
                            return at + 1
                        }
                    case UInt8(ascii: ",") where depth == 0:
                        isComplete = true
                        return at
                    default: break
                    }
                }
                at += 1
            }
            return at
        }
    }
}
