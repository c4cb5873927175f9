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
                throw ToolFailure(
                    "could not wait for input: \(String(cString: strerror(errno)))",
                    exit: ToolExit.inputOutput
                )
            }
        }
    }

    private static func read(_ path: String, _ cancellation: CardOnReader.Cancellation) throws -> [UInt8] {
        // Opening a named pipe would wait for its writer, where no cancellation is heard.
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw failure(path, errno) }
        defer { if path != "-" { close(file) } }
        // Until a writer has come, a named pipe looks as at its end, so the first byte is waited for. Behind that the
        // end is seen by reading, for it is no news to poll(2) if the writer was gone when the pipe was opened.
        var mustWait = true
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if mustWait { try wait(for: file, or: [cancellation.descriptor]) }
            try cancellation.check()
            let count = Foundation.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                mustWait = true
                continue
            }
            guard count >= 0 else { throw failure(path, errno) }
            guard count > 0 else { return bytes }
            mustWait = path == "-"
            bytes += buffer.prefix(count)
            guard bytes.count <= longest else {
                throw ToolFailure(
                    "could not read \(path): it is longer than \(longest) bytes.",
                    exit: ToolExit.malformed
                )
            }
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> ToolFailure {
        let name = path == "-" ? "standard input" : path
        return ToolFailure(
            "could not read \(name): \(String(cString: strerror(code))).",
            exit: code == ENOENT ? ToolExit.noInput : ToolExit.inputOutput
        )
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
            throw failure(error)
        }
    }

    private static func failure(_ error: CaptureFileError) -> ToolFailure {
        let reason = error.code == ESPIPE ? "it is no regular file" : String(cString: strerror(error.code))
        let advice = error.kind == .exists ? " Choose another name, or add --force." : ""
        return ToolFailure("could not write \(error.path): \(reason).\(advice)", exit: ToolExit.inputOutput)
    }
}
