import Foundation
import TestSupport
import Synchronization

/// A tool on a terminal of its own, typed at as a person does (`script` of util-linux makes the pseudo-terminal).
final class TerminalTool {
    private let process = Process()
    private let input: Keyboard
    private let end: AsyncStream<Int32>
    private var chunks: AsyncStream<String>.Iterator
    /// All that was shown since the last ``expect(_:)`` was satisfied.
    private var pending = ""
    /// All that was shown.
    private(set) var screen = ""

    /// - Parameter prefix: the program and its arguments that run the tool, if it is not run by itself.
    init(
        _ tool: Tool,
        _ arguments: [String],
        prefix: [String] = [],
        environment: [String: String] = [:],
        redirection: String = ""
    ) throws {
        let words = prefix + [tool.path] + arguments
        let quoted = words.map { "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'" }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        process.arguments = ["-qefc", "exec " + quoted.joined(separator: " ") + " " + redirection, "/dev/null"]
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TERM": "xterm", "SHELL": "/bin/sh"]) { $1 }
            .merging(environment) { $1 }
        let (keyboard, plug) = try Keyboard.connected()
        input = keyboard
        process.standardInput = plug
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        end = stream
        process.terminationHandler = { process in
            continuation.yield(process.terminationStatus)
            continuation.finish()
        }
        let (text, shown) = AsyncStream.makeStream(of: String.self)
        chunks = text.makeAsyncIterator()
        let descriptor = output.fileHandleForReading.fileDescriptor
        try process.start()
        Thread.detachNewThread {
            // The pipe is open as long as this thread reads it.
            defer { withExtendedLifetime(output) {} }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                shown.yield(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
            shown.finish()
        }
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    /// Types keys. Nothing happens when the tool has ended already: what it showed tells why.
    func type(_ keys: String) {
        input.send(keys)
    }

    /// Waits until that text is shown.
    ///
    /// - Returns: what was shown before it, or `nil` if the tool ended first.
    @discardableResult
    func expect(_ text: String) async -> String? {
        while true {
            if let range = pending.range(of: text) {
                defer { pending.removeSubrange(..<range.upperBound) }
                return String(pending[..<range.lowerBound])
            }
            guard let chunk = await chunks.next(isolation: nil) else { return nil }
            pending += chunk
            screen += chunk
        }
    }

    /// Waits for the end of the tool, and gives its exit code.
    func finish() async -> Int32 {
        while let chunk = await chunks.next(isolation: nil) { screen += chunk }
        var status: Int32 = -1
        for await value in end { status = value }
        return status
    }
}

/// What is typed on: a socket, since writing to a pipe that nobody reads ends the process of the tests.
private final class Keyboard {
    private let end: FileHandle

    private init(_ end: FileHandle) {
        self.end = end
    }

    /// A keyboard, and the end that the tool reads.
    static func connected() throws -> (Keyboard, plug: FileHandle) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return (
            Keyboard(FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)),
            FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        )
    }

    func send(_ keys: String) {
        var bytes = Array(keys.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(end.fileDescriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
