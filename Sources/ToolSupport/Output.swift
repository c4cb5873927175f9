import ArgumentParser
// For `JSONObject`, which results are made of.
@_exported import CardCore
import Foundation

/// What a tool prints: results on standard output, messages for people on standard error.
package struct Output: Sendable {
    /// Whether results are JSON Lines.
    package let isJSON: Bool
    private let queue: LineQueue?
    private let isWhole: Bool
    private let copy: (@Sendable (String) -> Void)?

    /// - Parameters:
    ///   - queue: what prints the lines; without it they are printed at once, by whoever has something to report.
    ///   - isWhole: whether it is a failure when whoever reads goes away before the end, since the work ends there too.
    ///   - copy: gets each result as JSON, also where results are printed as text.
    package init(
        json: Bool,
        queue: LineQueue? = nil,
        isWhole: Bool = false,
        copy: (@Sendable (String) -> Void)? = nil
    ) {
        isJSON = json
        self.queue = queue
        self.isWhole = isWhole
        self.copy = copy
    }

    /// Prints a result: one line of JSON, or the text for people.
    ///
    /// - Parameter whenDone: called once at most, with whether the whole line was written, on any thread, and must not
    ///   wait. It is not called for a line that still waits when the process ends.
    /// - Throws: ``ToolFailure`` with exit code 74 when standard output cannot be written.
    package func result(
        _ value: some Encodable,
        text: @autoclosure () -> String,
        whenDone: (@Sendable (_ isWritten: Bool) -> Void)? = nil
    ) throws {
        let json = isJSON || copy != nil ? try Self.json(value) : ""
        copy?(json)
        try write(isJSON ? json : TerminalText.safe(text()), whenDone)
    }

    /// Prints a result whose JSON is an object of these fields.
    package func result(fields: JSONObject, text: @autoclosure () -> String) throws { try result(fields, text: text()) }

    /// Prints a line of JSON; nothing for people.
    package func json(_ value: some Encodable) throws {
        guard isJSON || copy != nil else { return }
        let json = try Self.json(value)
        copy?(json)
        if isJSON { try write(json) }
    }

    /// Prints a line of JSON that is an object of these fields; nothing for people.
    package func json(fields: JSONObject) throws { try json(fields) }

    /// Prints a line on standard output that is only for people: nothing with `--json`.
    package func text(_ line: @autoclosure () -> String) throws {
        if !isJSON { try write(TerminalText.safe(line())) }
    }

    /// Prints a line that is only for people, with its beginning in a colour where standard output is a terminal that
    /// shows colours.
    package func text(_ beginning: String, in colour: Colour, _ rest: String = "") throws {
        if !isJSON { try write(colour.paint(TerminalText.safe(beginning)) + TerminalText.safe(rest)) }
    }

    /// Runs a command whose failures are results too: with `--json` an error is a line `{"error":…}` as well.
    package func tellingErrors(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch {
            // A wrong use of the tool is reported by whoever parses its arguments.
            if !(error is ExitCode), !(error is CancellationError), !(error is ValidationError) {
                try json(fields: ["error": ErrorLine(error)])
            }
            throw error
        }
    }

    /// Notifies a person of something that is no result. If standard error cannot be written, nobody is notified.
    package func message(_ line: String) {
        guard let queue else { return Self.tell(line) }
        _ = queue.add(TerminalText.safe(line), to: STDERR_FILENO)
    }

    package static func tell(_ line: String) {
        _ = write(TerminalText.safe(line), to: STDERR_FILENO)
    }

    /// Waits until what is queued was printed, but not for long: whoever should read it may have ceased to.
    ///
    /// - Throws: ``ToolFailure`` with exit code 74 when standard output cannot be written.
    package func finish() async throws {
        guard let queue else { return }
        let (left, fault) = await queue.finish(within: .seconds(2))
        if let fault { throw failure(fault) }
        if left > 0 { Self.tellLast("\(left) lines were not printed: nobody read them. What they told was done.") }
    }

    /// Waits until what is queued was printed, but not for long, and does not describe what was not.
    package func drain() async {
        _ = await queue?.finish(within: .seconds(2))
    }

    /// Notifies a person of something before the tool ends, unless nobody reads it.
    static func tellLast(_ line: String) {
        var errors = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&errors, 1, 2000) > 0 else { return }
        tell(line)
    }

    private func write(_ line: String, _ whenDone: (@Sendable (_ isWritten: Bool) -> Void)? = nil) throws {
        let code: Int32?
        if let queue {
            code = queue.add(line, to: STDOUT_FILENO, whenDone: whenDone)
        } else {
            code = Self.write(line, to: STDOUT_FILENO)
            whenDone?(code == nil)
        }
        if let code { throw failure(code) }
    }

    private func failure(_ code: Int32) -> any Error {
        // Whoever read has seen enough, as `head` has: no failure, unless something stays undone.
        code == EPIPE && !isWhole ? ToolExit.success : Self.failure(code)
    }

    /// Standard output cannot be written, for the reason of the error number.
    package static func failure(_ code: Int32) -> ToolFailure {
        let reason = String(cString: strerror(code))
        return ToolFailure("could not write to standard output: \(reason)", exit: ToolExit.inputOutput)
    }

    static func write(_ line: String, to file: Int32) -> Int32? { write(Array((line + "\n").utf8), to: file) }

    /// Writes all bytes at once, past any buffer: whoever reads the pipe acts on them.
    ///
    /// - Returns: the error number, or `nil` if all were written.
    package static func write(_ bytes: some Sequence<UInt8>, to file: Int32) -> Int32? {
        do throws(FileSteps.Failure) {
            try FileSteps.write(Array(bytes)[...], to: file)
            return nil
        } catch {
            return error.code
        }
    }

    /// One line of JSON with its keys in alphabetical order.
    package static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension String {
    /// Without spaces at the end.
    package var trimmedEnd: String { String(reversed().drop { $0 == " " }.reversed()) }

    /// With spaces behind it, up to that many characters.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// With spaces before it, up to that many characters.
    package func padded(onTheLeftTo width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}

package enum Colour: String, Sendable {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case plain = "0"

    /// Whether standard output is a terminal, and nobody has switched colours off.
    private static let isShown =
        isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
        && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    fileprivate func paint(_ text: String) -> String {
        self == .plain || !Self.isShown ? text : "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
    }
}

package struct OutputOptions: ParsableArguments, Sendable {
    @Flag(help: "Print results as JSON Lines on standard output; messages stay on standard error.")
    package var json = false

    package init() {}

    package var output: Output { Output(json: json) }

    /// Does work that must not wait for whoever reads its lines; they wait up to a limit, and what is lost is reported.
    ///
    /// - Parameter isLive: whether the work waits for nobody; without it each line is printed before the work goes on.
    package func withLines(isLive: Bool = true, _ work: (Output) async throws -> Void) async throws {
        let out = Output(json: json, queue: isLive ? LineQueue() : nil)
        do {
            try await out.tellingErrors { try await work(out) }
        } catch {
            try? await out.finish()
            throw error
        }
        try await out.finish()
    }
}

/// Text that comes from cards, files and arguments, made safe for a terminal.
enum TerminalText {
    /// The text with what could steer a terminal, or turn its writing round, spelt out as `\u{1B}`. Line ends and tabs
    /// stay, and the joiners of emoji and of some scripts.
    static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var safe = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                safe += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\n" && scalar != "\t"
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        case .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
