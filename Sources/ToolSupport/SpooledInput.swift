import Foundation
import ReaderKit

/// All of standard input as a file, for what reads a file more than once or looks at its beginning.
///
/// The file has no name, and is gone with the process: standard input may hold what nobody else is to read.
package final class SpooledInput: Sendable {
    private let file: Int32

    /// The path under which this process can open it.
    package var path: String { "/dev/fd/\(file)" }

    /// Reads standard input to its end.
    ///
    /// - Throws: ``ToolFailure`` with exit code 74; `CancellationError` when the tool is to end.
    package init() async throws {
        file = try await BlockingThread.run(name: "input") { try Self.spool($0) }
    }

    deinit { close(file) }

    private static func spool(_ cancellation: CardOnReader.Cancellation) throws -> Int32 {
        var template = Array((NSTemporaryDirectory() + "/clubkit-input-XXXXXX").utf8CString)
        // Of mode 0600.
        let file = mkstemp(&template)
        guard file >= 0 else { throw failure("make a temporary file", errno) }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        unlink(template)
        do {
            try copy(to: file, cancellation)
            return file
        } catch {
            close(file)
            throw error
        }
    }

    private static func copy(to file: Int32, _ cancellation: CardOnReader.Cancellation) throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            try InputFile.wait(for: STDIN_FILENO, or: [cancellation.descriptor])
            try cancellation.check()
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            // Whoever started the tool may have left it in a mode in which reading does not wait.
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw failure("read standard input", errno) }
            guard count > 0 else { return }
            var rest = buffer[..<count]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw failure("keep standard input in a temporary file", errno) }
                rest = rest.dropFirst(written)
            }
        }
    }

    private static func failure(_ attempt: String, _ code: Int32) -> ToolFailure {
        ToolFailure("could not \(attempt): \(String(cString: strerror(code))).", exit: ToolExit.inputOutput)
    }
}
