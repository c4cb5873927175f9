import Foundation
import ReaderKit
import Synchronization
import ToolSupport

/// Where a file that a person asked for goes: to a path, or to standard output.
struct Destination: Sendable {
    private let path: String

    /// `-` is standard output.
    init(_ path: String) {
        self.path = path
    }

    /// The path, for people.
    static func name(_ path: String) -> String { path == "-" ? "standard output" : path }

    /// Calls the closure with the path of a file to write.
    ///
    /// What goes to standard output takes the way through a pipe: it may be a file, which is not to be replaced.
    func write<Value>(_ work: (String) async throws -> Value) async throws -> Value {
        guard path == "-" else { return try await work(path) }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw ToolFailure("could not make a pipe: \(String(cString: strerror(errno)))", exit: ToolExit.inputOutput)
        }
        let (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        async let copied = Self.copy(from: reading)
        let result: Result<Value, any Error>
        do {
            result = .success(try await work("/dev/fd/\(writing)"))
        } catch {
            result = .failure(error)
        }
        // Once: by the next time its number may be another file's.
        close(writing)
        // Where standard output cannot be written, that is why the work failed.
        try await copied
        return try result.get()
    }

    /// Copies to standard output until the writer is gone.
    private static func copy(from reading: Int32) async throws {
        let failure: Int32? = await withCheckedContinuation { continuation in
            DetachedThread.start(name: "output") {
                let failure = copyNow(from: reading)
                close(reading)
                continuation.resume(returning: failure)
            }
        }
        if let failure {
            // Whoever read has seen enough.
            if failure == EPIPE { throw ToolExit.success }
            let reason = String(cString: strerror(failure))
            throw ToolFailure("could not write to standard output: \(reason)", exit: ToolExit.inputOutput)
        }
    }

    private static func copyNow(from reading: Int32) -> Int32? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : nil }
            var written = 0
            while written < count {
                let part = buffer.withUnsafeBytes { bytes in
                    Foundation.write(STDOUT_FILENO, bytes.baseAddress.map { $0 + written }, count - written)
                }
                if part < 0, errno == EINTR { continue }
                guard part > 0 else { return errno }
                written += part
            }
        }
    }
}

/// Texts that come one after the other, from whatever thread.
final class Collected: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock(\.self) }

    func add(_ text: String) {
        texts.withLock { $0.append(text) }
    }
}
