import Foundation

/// From bytes to a text that the parser can be given. What it would refuse without a useful place, or take too long
/// for, is found here.
enum ScenarioFileText {
    /// The bytes of a file, of an endless one no more than show that it is too long.
    static func bytes(_ path: String) throws(ScenarioConfigurationError) -> [UInt8] {
        func failure() -> ScenarioConfigurationError {
            let finding = ScenarioConfiguration.Finding(
                line: 0,
                column: 0,
                path: "",
                message: "the file cannot be read: \(String(cString: strerror(errno)))",
                hint: "Check the path, and that this user may read it."
            )
            return ScenarioConfigurationError(path: path, findings: [finding])
        }
        // A pipe without a writer would be waited for; one with a writer is no file to be read again either.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw failure() }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure() }
        guard status.st_mode & S_IFMT != S_IFIFO else {
            errno = ESPIPE
            throw failure()
        }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= ScenarioConfiguration.longestFile {
            let count = part.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            if count == 0 { break }
            bytes += part.prefix(count)
        }
        return bytes
    }

    /// The text without a byte order mark, or why it is none.
    static func text(_ bytes: [UInt8]) -> Result<String, ScenarioFileFindings> {
        guard bytes.count <= ScenarioConfiguration.longestFile else {
            let most = ScenarioConfiguration.longestFile
            return .failure(
                .init(0, 0, "the file is longer than \(most) bytes", "Check that it is the right one, or divide it.")
            )
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return .failure(.init(1, 1, "the file is written in UTF-16", "Save it as UTF-8."))
        }
        let plain = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard var text = String(validating: plain, as: UTF8.self) else { return .failure(notUTF8(Array(plain))) }
        text.makeContiguousUTF8()
        let found = characters(text)
        guard found.isEmpty else { return .failure(found) }
        if let alias = alias(Array(plain)) { return .failure(alias) }
        return .success(text)
    }

    /// Where the first bytes stand that are no UTF-8.
    private static func notUTF8(_ bytes: [UInt8]) -> ScenarioFileFindings {
        var position = Position()
        var codec = UTF8()
        var iterator = bytes.makeIterator()
        while case .scalarValue(let scalar) = codec.decode(&iterator) { position.pass(scalar) }
        return .init(
            position.line,
            position.column,
            "the file is not written in UTF-8",
            "Save it as UTF-8, or write this character anew."
        )
    }

    /// Control characters that YAML does not allow. (Of tabs the parser knows where they may stand.)
    private static func characters(_ text: String) -> ScenarioFileFindings {
        var findings = ScenarioFileFindings()
        var position = Position()
        for scalar in text.unicodeScalars {
            let isAllowed =
                switch scalar.value {
                case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xFFFD, 0x10000...: true
                default: false
                }
            if !isAllowed {
                let code = "U+" + String(format: "%04X", scalar.value)
                findings.add(
                    position.line,
                    position.column,
                    "",
                    "the control character \(code) stands here",
                    "Remove it."
                )
                if findings.isFull { break }
            }
            position.pass(scalar)
        }
        return findings
    }

    /// The first alias (`*name`) of what stands before it under that name (`&name`).
    ///
    /// Some lines of aliases of aliases stand for more values than there is memory, and the parser looks at all of them
    /// to compare keys. So they are refused before; this looks only at the characters round them, hence at those in
    /// texts too, where a name with both signs is as good as never.
    private static func alias(_ bytes: [UInt8]) -> ScenarioFileFindings? {
        var names: Set<ArraySlice<UInt8>> = []
        var at = 0
        while at < bytes.count {
            let sign = bytes[at]
            guard sign == UInt8(ascii: "&") || sign == UInt8(ascii: "*"), at == 0 || !isInName(bytes[at - 1]) else {
                at += 1
                continue
            }
            var end = at + 1
            while end < bytes.count, isInName(bytes[end]) { end += 1 }
            let name = bytes[(at + 1)..<end]
            if sign == UInt8(ascii: "&") {
                names.insert(name)
            } else if !name.isEmpty, names.contains(name) {
                var position = Position()
                for scalar in String(decoding: bytes[..<at], as: UTF8.self).unicodeScalars { position.pass(scalar) }
                let text = ScenarioFileValue.quoted("*" + String(decoding: name, as: UTF8.self))
                return .init(
                    position.line,
                    position.column,
                    "\(text) repeats a value from further up, which is not done in this file",
                    "Write the value out; in a text, put a space after the '*'."
                )
            }
            at = end
        }
        return nil
    }

    /// The characters of names of anchors.
    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Line and column of the next character, as the parser counts them.
    struct Position {
        var line = 1
        var column = 1
        /// Whether a line feed would belong to the end of the line before.
        private(set) var isAfterReturn = false

        mutating func pass(_ scalar: Unicode.Scalar) {
            switch scalar.value {
            case 0x0A where isAfterReturn: column = 1
            case 0x0A, 0x0D, 0x85, 0x2028, 0x2029: (line, column) = (line + 1, 1)
            default: column += 1
            }
            isAfterReturn = scalar.value == 0x0D
        }
    }
}
