import Foundation

/// What tests found, for people: one line a case, one file a section.
///
/// The lines are appended to files in the folder that the environment variable `READERKIT_REPORT` names; without it they
/// are dropped. Whoever runs the tests empties the folder before and shows the files afterwards.
public enum TestReport {
    /// Adds a line, such as `case | what it ended in`, to `SECTION.txt`.
    public static func add(section: String, line: String) {
        add(section: section, lines: [line])
    }

    /// Adds lines that stay together.
    public static func add(section: String, lines: [String]) {
        guard let folder = ProcessInfo.processInfo.environment["READERKIT_REPORT"], !folder.isEmpty else { return }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard let file = fopen("\(folder)/\(section).txt", "a") else { return }
        defer { fclose(file) }
        // One write, which the append mode keeps apart from those of other processes.
        fputs(lines.map { $0 + "\n" }.joined(), file)
    }
}
