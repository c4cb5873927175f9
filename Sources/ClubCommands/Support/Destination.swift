import Foundation
import ReaderKit
import Synchronization
import ToolSupport

/// Where a file that a person asked for goes: to a path, or to standard output.
struct Destination: Sendable {
    /// `-` is standard output.
    let path: String

    var name: String { path == "-" ? "standard output" : path }

    /// Calls the closure with the path of a file to write.
    ///
    /// What goes to standard output takes the way through a pipe: it may be a file, which is not to be replaced.
    func write<Value>(_ work: (String) async throws -> Value) async throws -> Value {
        guard path == "-" else { return try await work(path) }
        guard let (reading, writing) = makePipe() else {
            throw ToolFailure("could not make a pipe: \(String(cString: strerror(errno)))", exit: ToolExit.inputOutput)
        }
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
            throw failure == EPIPE ? ToolExit.success : Output.failure(failure)
        }
    }

    private static func copyNow(from reading: Int32) -> Int32? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : nil }
            if let failure = Output.write(buffer.prefix(count), to: STDOUT_FILENO) { return failure }
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
