import Foundation
import Synchronization
import TestSupport
import Testing

/// A tool of this package, run as a person or a script runs it.
struct Tool {
    static let readerctl = Tool(name: "readerctl")
    static let clubctl = Tool(name: "clubctl")

    var name: String

    /// What a finished run printed.
    struct Outcome {
        var status: Int32
        var output: String
        var messages: String

        /// The JSON objects of standard output, one a line.
        var objects: [[String: Any]] { output.split(separator: "\n").compactMap { Tool.object(String($0)) } }
    }

    /// Where the build put the tools: beside the tests.
    var path: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent(name).path
    }

    func process(_ arguments: [String], environment: [String: String] = [:]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return process
    }

    /// Runs the tool to its end.
    func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Outcome {
        let running = try start(arguments, environment: environment)
        return await running.finish()
    }

    /// Runs the tool to its end with that standard input.
    func run(_ arguments: [String], input: [UInt8], environment: [String: String] = [:]) async throws -> Outcome {
        let pipe = Pipe()
        let running = try RunningTool(process(arguments, environment: environment), input: pipe)
        write(Data(input), to: pipe)
        return await running.finish()
    }

    func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningTool {
        try RunningTool(process(arguments, environment: environment))
    }

    static func object(_ line: String) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
    }
}

/// A tool that is running; its lines can be awaited.
final class RunningTool {
    private let process: Process
    private let output: LineReader
    private let messages: LineReader
    private let end: AsyncStream<Int32>
    /// The lines of standard output that were passed over or taken by ``next(_:)``.
    private(set) var seen: [String] = []

    fileprivate init(_ process: Process, input: Pipe? = nil) throws {
        self.process = process
        output = LineReader()
        messages = LineReader()
        process.standardOutput = output.pipe
        process.standardError = messages.pipe
        process.standardInput = input ?? FileHandle.nullDevice
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        end = stream
        process.terminationHandler = { process in
            continuation.yield(
                process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
            )
            continuation.finish()
        }
        try process.start()
    }

    /// Starts another program.
    convenience init(program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try self.init(process)
    }

    var identifier: Int32 { process.processIdentifier }

    /// The next line of standard output that is a JSON object with that event, or `nil` when the tool has ended.
    func next(_ event: String) async -> [String: Any]? {
        while let line = await output.next() {
            seen.append(line)
            if let object = Tool.object(line), object["event"] as? String == event { return object }
        }
        return nil
    }

    /// The next message that contains the text, or `nil` when the tool has ended.
    func message(containing text: String) async -> String? {
        while let line = await messages.next() {
            if line.contains(text) { return line }
        }
        return nil
    }

    func kill(_ signal: Int32 = SIGKILL) {
        Foundation.kill(identifier, signal)
    }

    /// Waits for the end; a status below 0 is the signal that ended it.
    func finish() async -> Tool.Outcome {
        var status: Int32 = 0
        for await value in end { status = value }
        var lines: [String] = []
        while let line = await output.next() { lines.append(line) }
        var told: [String] = []
        while let line = await messages.next() { told.append(line) }
        return Tool.Outcome(
            status: status,
            output: lines.map { $0 + "\n" }.joined(),
            messages: told.map { $0 + "\n" }.joined()
        )
    }

    /// Seconds of processor time that it has used.
    var processorTime: Double {
        guard let text = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8),
            let close = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[close...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

/// The lines of a pipe, read on a thread of its own as they come.
private final class LineReader {
    let pipe = Pipe()
    private var iterator: AsyncStream<String>.Iterator

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        iterator = stream.makeAsyncIterator()
        let handle = pipe.fileHandleForReading
        let descriptor = handle.fileDescriptor
        Thread.detachNewThread {
            var pending: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                pending += buffer.prefix(count)
                while let end = pending.firstIndex(of: 10) {
                    continuation.yield(String(decoding: pending[..<end], as: UTF8.self))
                    pending.removeSubrange(...end)
                }
            }
            if !pending.isEmpty { continuation.yield(String(decoding: pending, as: UTF8.self)) }
            // Not left to the end of the object, which the process may outlive.
            try? handle.close()
            continuation.finish()
        }
    }

    func next() async -> String? {
        await iterator.next(isolation: nil)
    }
}

/// A folder that is removed with the test.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "clubkit-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/" + name }

    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }

    /// Writes a script that can be run.
    func program(_ script: String, to name: String) throws -> String {
        try writeProgram(script, to: file(name))
        return file(name)
    }
}

/// The files that come with the package.
enum Fixtures {
    static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures").path
}

/// Whether a process has a handler for a signal, so that from now on it is not lost: 1 is the lowest bit of those that it
/// catches.
func takes(_ signal: Int32, _ process: Int32) throws -> Bool {
    // A shell that has not become the tool yet catches signals too, and dies of them.
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
    guard program.hasSuffix("ctl") else { return false }
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let caught = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") })
    let bits = try #require(UInt64(caught.dropFirst(7).drop { $0 == "\t" || $0 == " " }, radix: 16))
    return bits >> UInt64(signal - 1) & 1 != 0
}
