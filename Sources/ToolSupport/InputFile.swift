import ArgumentParser
import Foundation
import ReaderKit

/// A file that a person named, or standard input.
package enum InputFile {
    /// The most bytes that are taken.
    package static let longest = 16 * 1024 * 1024

    /// Reads a whole file; `-` is standard input.
    ///
    /// - Throws: ``ToolFailure`` with exit code 66 if there is no such file, 65 if it is longer than ``longest``, else 74;
    ///   `CancellationError` when the tool is to end.
    package static func read(_ path: String) async throws -> [UInt8] {
        try await BlockingThread.run(name: "input") { try read(path, $0) }
    }

    /// Waits until one of the descriptors can be read.
    package static func wait(for file: Int32, or others: [Int32]) throws {
        // Descriptors below 0 are passed over.
        var files = ([file] + others).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&files, nfds_t(files.count), -1) < 0 {
            guard errno == EINTR else {
                let message = "could not wait for input: \(String(cString: strerror(errno)))"
                throw ToolFailure(message, exit: ToolExit.inputOutput)
            }
        }
    }

    private static func read(_ path: String, _ cancellation: CardOnReader.Cancellation) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try parts(of: path, cancellation) { part in
            bytes += part
            guard bytes.count <= longest else {
                let message = "could not read \(path): it is longer than \(longest) bytes."
                throw ToolFailure(message, exit: ToolExit.malformed)
            }
        }
        return bytes
    }

    private static func parts(
        of path: String,
        _ cancellation: CardOnReader.Cancellation,
        _ take: (ArraySlice<UInt8>) throws -> Void
    ) throws {
        // Opening a named pipe would wait for its writer, where no cancellation is heard.
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw failure(path, errno) }
        defer { if path != "-" { close(file) } }
        try parts(of: path, file, cancellation, take)
    }

    fileprivate static func parts(
        of path: String,
        _ file: Int32,
        _ cancellation: CardOnReader.Cancellation,
        _ take: (ArraySlice<UInt8>) throws -> Void
    ) throws {
        // Until a writer has come, a named pipe looks as at its end, so the first byte is waited for. Behind that the
        // end is seen by reading, for it is no news to poll(2) if the writer was gone when the pipe was opened.
        var mustWait = true
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if mustWait { try wait(for: file, or: [cancellation.descriptor]) }
            try cancellation.check()
            let count = Foundation.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            // Whoever started the tool may have left standard input in a mode in which reading does not wait.
            if count < 0, errno == EAGAIN {
                mustWait = true
                continue
            }
            guard count >= 0 else { throw failure(path, errno) }
            guard count > 0 else { return }
            mustWait = path == "-"
            try take(buffer.prefix(count))
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> ToolFailure {
        let name = path == "-" ? "standard input" : path
        let message = "could not read \(name): \(String(cString: strerror(code)))."
        return ToolFailure(message, exit: code == ENOENT ? ToolExit.noInput : ToolExit.inputOutput)
    }
}

/// A file that a person wants written.
package enum OutputFile {
    /// Writes a new file of mode 0600, or replaces one, whose mode stays. Nothing is changed when it fails.
    ///
    /// - Throws: ``ToolFailure`` with exit code 74; also if the file exists and is not to be replaced, or is no regular
    ///   file.
    package static func write(_ bytes: [UInt8], to path: String, overwrite: Bool) throws {
        do throws(CaptureFileError) {
            try WholeFile.write(bytes, to: path, overwrite: overwrite)
        } catch {
            let reason = error.code == ESPIPE ? "it is no regular file" : String(cString: strerror(error.code))
            let advice = error.kind == .exists ? " Choose another name, or add --force." : ""
            throw ToolFailure("could not write \(error.path): \(reason).\(advice)", exit: ToolExit.inputOutput)
        }
    }
}

/// The lines of standard input, as they come, until the tool is to end.
package final class InputLines {
    /// The longest line: an APDU of the greatest length, with spaces.
    private static let longest = 262_144

    private let cancellation: CardOnReader.Cancellation
    private var pending: [UInt8] = []
    private var hasEnded = false

    package init(_ cancellation: CardOnReader.Cancellation) {
        self.cancellation = cancellation
    }

    /// The next line, or `nil` at the end.
    ///
    /// - Throws: `CancellationError`, or exit code 74 where nothing can be read.
    package func next() throws -> String? {
        while true {
            if let end = pending.firstIndex(of: 10) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            if hasEnded {
                defer { pending = [] }
                return pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self)
            }
            guard pending.count <= Self.longest else {
                throw ToolFailure("A line of the input is too long.", exit: ToolExit.malformed)
            }
            try InputFile.wait(for: STDIN_FILENO, or: [cancellation.descriptor])
            try cancellation.check()
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let message = "could not read standard input: \(String(cString: strerror(errno)))"
                throw ToolFailure(message, exit: ToolExit.inputOutput)
            }
            hasEnded = count == 0
            pending += buffer.prefix(count)
        }
    }
}

/// The person at the terminal.
package enum Terminal {
    /// Whether somebody can be asked.
    package static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Asks a question that is answered with yes or no; anything but yes is no.
    package static func agrees(to question: String, _ out: Output) async throws -> Bool {
        out.message("\(question) [y/N]")
        let answer = try await BlockingThread.run(name: "question") { try InputLines($0).next() ?? "" }
        return ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// How many characters a line of standard output has, 80 where that is not known.
    package static var width: Int {
        var size = winsize()
        if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 80
    }
}

/// A message that a person provided, in an argument or a file, is malformed.
package struct InputMessageError: ExitCoded, CustomStringConvertible {
    private let fault: NDEFError
    package let description: String

    /// - Parameter source: where it stands: "HEX", or the name of a file.
    package init(in source: String, _ fault: NDEFError, advice: String) {
        self.fault = fault
        description = "\(source): \(fault.message) [\(fault.code.rawValue)]. \(advice)"
    }

    package var exitCode: ExitCode { ToolExit.malformed }

    package var errorCode: String { fault.code.rawValue }
}

/// All of standard input, or of an open file, as a file, for what reads a file more than once or looks at its beginning.
///
/// The file has no name, and is gone with the process: standard input may hold what nobody else is to read.
package final class SpooledInput: Sendable {
    private let file: Int32

    package var path: String { "/dev/fd/\(file)" }

    /// - Throws: ``ToolFailure`` with exit code 74; `CancellationError` when the tool is to end.
    package init(of source: Int32, named name: String) async throws {
        file = try await BlockingThread.run(name: "input") { try Self.spool(source, name, $0) }
    }

    deinit { close(file) }

    private static func spool(
        _ source: Int32,
        _ name: String,
        _ cancellation: CardOnReader.Cancellation
    ) throws -> Int32 {
        // Of mode 0600.
        let (file, path) = FileSteps.unique(NSTemporaryDirectory() + "/clubkit-input-") { mkstemp($0) }
        guard file >= 0 else { throw failure("make a temporary file", errno) }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        unlink(path)
        do {
            try InputFile.parts(of: name, source, cancellation) { part in
                if let code = Output.write(part, to: file) {
                    throw failure("keep what is read in a temporary file", code)
                }
            }
            return file
        } catch {
            close(file)
            throw error
        }
    }

    private static func failure(_ attempt: String, _ code: Int32) -> ToolFailure {
        ToolFailure("could not \(attempt): \(String(cString: strerror(code))).", exit: ToolExit.inputOutput)
    }
}
