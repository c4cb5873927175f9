import Foundation

/// Python with packages of others: Debian's, or those from PyPI that Scripts/setup installs.
package struct PythonWitness: Sendable {
    /// Where Python is.
    package let path: String

    /// The first that has the modules, the system's before the one that Scripts/setup made; `nil` if there is none.
    package init?(modules: String) {
        let own = "\(Fixtures.directory)/../.build/witnesses/bin/python3"
        let found = ["/usr/bin/python3", "/usr/local/bin/python3", own].first { path in
            FileManager.default.isExecutableFile(atPath: path)
                && (try? PythonWitness(path: path).ask("import \(modules)", "")) != nil
        }
        guard let found else { return nil }
        self.init(path: found)
    }

    private init(path: String) { self.path = path }

    /// Runs a program on an input, and returns what it prints.
    package func ask(_ program: String, _ input: some Encodable) throws -> Data {
        let process = Process()
        let (questions, answers) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-c", program]
        (process.standardInput, process.standardOutput) = (questions, answers)
        process.standardError = FileHandle.nullDevice
        try process.start()
        write(try JSONEncoder().encode(input), to: questions)
        let answer = try answers.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NotInTime(description: "the witness failed") }
        return answer
    }
}
