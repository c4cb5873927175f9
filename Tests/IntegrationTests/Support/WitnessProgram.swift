import Foundation
import ReaderKitTesting
import TestSupport
import Testing

/// A program that somebody else wrote, which reads our simulated cards.
struct WitnessProgram {
    /// Where it is.
    let path: String

    /// A program of libnfc (Debian: `libnfc-bin`).
    static func libnfc(_ name: String) -> WitnessProgram { WitnessProgram(path: "/usr/bin/\(name)") }

    /// A program that uses PC/SC (Debian: `pcsc-tools`, `opensc`).
    static func pcsc(_ name: String) -> WitnessProgram { WitnessProgram(path: "/usr/bin/\(name)") }

    /// Whether it is installed.
    var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    struct Outcome {
        var status: Int32
        var output: String
        var messages: String

        /// The lines of standard output without what is white space only, which libnfc aligns its output with.
        var lines: [String] {
            output.split(whereSeparator: \.isNewline).map { line in
                line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
        }
    }

    /// Runs it to its end, at most two minutes, where libnfc finds that board and no other device.
    func run(_ arguments: [String], with board: PN532Terminal) async throws -> Outcome {
        try await run(arguments, environment: Self.environment(board))
    }

    /// Runs it to its end, at most two minutes.
    ///
    /// - Parameter input: what it reads from its standard input.
    func run(_ arguments: [String], environment: [String: String] = [:], input: String = "") async throws -> Outcome {
        let folder = try ScratchFolder()
        let running = try start(arguments, environment: environment, input: input, in: folder)
        let deadline = Task {
            try await Task.sleep(for: .seconds(120))
            kill(running.process.processIdentifier, SIGKILL)
        }
        let status = await running.end()
        deadline.cancel()
        return Outcome(
            status: status,
            output: try String(contentsOfFile: folder.file("output"), encoding: .utf8),
            messages: try String(contentsOfFile: folder.file("messages"), encoding: .utf8)
        )
    }

    /// A program that runs.
    struct Running: Sendable {
        let process: Process
        fileprivate let ends: AsyncStream<Int32>

        /// Waits for its end; a status below 0 is the signal that ended it.
        func end() async -> Int32 {
            var status: Int32 = 0
            for await value in ends { status = value }
            return status
        }
    }

    /// Starts it where libnfc finds that board and no other device.
    func start(_ arguments: [String], with board: PN532Terminal, in folder: ScratchFolder) throws -> Running {
        try start(arguments, environment: Self.environment(board), in: folder)
    }

    private static func environment(_ board: PN532Terminal) throws -> [String: String] {
        ["LIBNFC_DEFAULT_DEVICE": try #require(board.connectionString), "LIBNFC_AUTO_SCAN": "false"]
    }

    /// Starts it, with its output in files of that folder.
    func start(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = "",
        in folder: ScratchFolder
    ) throws -> Running {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle(forReadingAtPath: try folder.write(input, to: "input"))
        process.standardOutput = FileHandle(forWritingAtPath: try folder.write("", to: "output"))
        process.standardError = FileHandle(forWritingAtPath: try folder.write("", to: "messages"))
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            continuation.yield(
                process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
            )
            continuation.finish()
        }
        try process.start()
        return Running(process: process, ends: stream)
    }
}
