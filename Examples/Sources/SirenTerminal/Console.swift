import Foundation

/// Where one reads and answers.
package protocol Console {
    /// Shows a line.
    func say(_ line: String)
    /// The next command; `nil` if there is none any more.
    func command(completions: [String]) -> String?
    /// The answer to a question; `nil` if there is none.
    func ask(_ question: String, isSecret: Bool) -> String?
}

/// A terminal, with Tab and the arrow keys, or a pipe, without questions' marks and without escape codes.
package final class TerminalConsole: Console {
    private let input: Int32
    private let output: Int32
    package let isTerminal: Bool
    private var history: [String] = []

    package init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) {
        self.input = input
        self.output = output
        isTerminal = isatty(input) == 1 && isatty(output) == 1
    }

    package func say(_ line: String) { write(Self.harmless(line) + "\n") }

    package func command(completions: [String]) -> String? {
        guard isTerminal else { return readLine() }
        let line = edit("> ", completions: completions, history: history)
        if let line, !line.isEmpty, line != history.last { history.append(line) }
        return line
    }

    package func ask(_ question: String, isSecret: Bool) -> String? {
        guard isTerminal else {
            say(question)
            return isSecret ? hidden { readLine() } : readLine()
        }
        // What is typed is shown in the same line, for which there must be room.
        guard width(question) < columns - 20 else {
            say(question)
            return edit("> ", isSecret: isSecret)
        }
        return edit(Self.harmless(question) + " ", isSecret: isSecret)
    }

    /// Reads while a terminal, if the input is one, does not show what is typed.
    private func hidden(_ read: () -> String?) -> String? {
        var usual = termios()
        guard tcgetattr(input, &usual) == 0 else { return read() }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(input, TCSADRAIN, &silent)
        defer { tcsetattr(input, TCSADRAIN, &usual) }
        return read()
    }

    /// The text without what would steer a terminal or turn the order of its characters round.
    private static func harmless(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control: scalars.append(["\n", "\t", "\r"].contains(scalar) ? " " : "\u{FFFD}")
            case .format where scalar != "\u{200D}" && scalar != "\u{200C}": scalars.append("\u{FFFD}")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    private func write(_ text: String) {
        try? FileHandle(fileDescriptor: output).write(contentsOf: Data(text.utf8))
    }

    // MARK: Keys

    /// Reads a line key by key; `nil` at Control-C, and at Control-D in an empty line.
    private func edit(
        _ prompt: String,
        isSecret: Bool = false,
        completions: [String] = [],
        history: [String] = []
    ) -> String? {
        var usual = termios()
        tcgetattr(input, &usual)
        var raw = usual
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        tcsetattr(input, TCSADRAIN, &raw)
        defer { tcsetattr(input, TCSADRAIN, &usual) }

        var (line, place) = ("", history.count)
        while true {
            // Of a line that is too long its end is seen. A server's words may have completed it.
            var seen = isSecret ? "" : Self.harmless(line)
            while width(prompt) + width(seen) >= columns, !seen.isEmpty { seen.removeFirst() }
            write("\r\(prompt)\(seen)\u{1B}[K")
            switch key() {
            case nil, "\u{03}":
                write("\n")
                return nil
            case "\u{04}":
                guard line.isEmpty else { break }
                write("\n")
                return nil
            case "\n", "\r":
                write("\n")
                return line
            case "\t": line = complete(line, completions)
            case "\u{7F}", "\u{08}": line = String(line.dropLast())
            case "\u{15}": line = ""
            case "\u{17}":
                line = String(line.reversed().drop { $0 == " " }.drop { $0 != " " }.reversed())
            case "\u{1B}[A", "\u{1B}OA", "\u{1B}[B", "\u{1B}OB":
                guard !history.isEmpty else { break }
                place = min(max(0, place + (lastKey.hasSuffix("A") ? -1 : 1)), history.count)
                line = place < history.count ? history[place] : ""
            case let text?: if text.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) { line += text }
            }
        }
    }

    private var lastKey = ""

    /// How many columns a text takes; rather too many than too few.
    private func width(_ text: String) -> Int {
        text.reduce(0) { $0 + ($1.unicodeScalars.contains { $0.value >= 0x1100 } ? 2 : 1) }
    }

    private var columns: Int {
        var size = winsize()
        return ioctl(output, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// A character, or a key's sequence of characters that begins with Escape.
    private func key() -> String? {
        guard let first = byte() else { return nil }
        var bytes = [first]
        if first == 0x1B {
            while isWaiting, let next = byte() {
                bytes.append(next)
                if bytes.count > 2 || !(next == UInt8(ascii: "[") || next == UInt8(ascii: "O")) {
                    if (0x40...0x7E).contains(next) { break }
                }
            }
        } else if first >= 0xC0 {
            for _ in 0..<(first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1) { byte().map { bytes.append($0) } }
        }
        lastKey = String(decoding: bytes, as: UTF8.self)
        return lastKey
    }

    private func byte() -> UInt8? {
        var byte: UInt8 = 0
        return read(input, &byte, 1) == 1 ? byte : nil
    }

    /// Whether more of a key's sequence is there: Escape alone is a key too.
    private var isWaiting: Bool {
        var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 20) == 1
    }

    /// The line with its last word completed, as far as that is clear; else what it may be is shown.
    private func complete(_ line: String, _ completions: [String]) -> String {
        // A name may have spaces, and only one command has an argument.
        let word = line.hasPrefix("curl ") ? String(line.dropFirst(5)) : line
        let fitting = completions.filter { $0.hasPrefix(word) }
        guard let first = fitting.first else { return line }
        let common = fitting.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        if fitting.count > 1, common == word {
            write("\n")
            say(fitting.joined(separator: "  "))
        }
        return String(line.dropLast(word.count)) + common + (fitting.count == 1 ? " " : "")
    }
}
