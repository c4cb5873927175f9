import Foundation
import Testing

/// The README, as far as tests write it.
enum Readme {
    private static let file = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("README.md")

    /// Expects the rows below the head of the table between two lines. `READERKIT_UPDATE_README=1` writes them instead.
    static func expect(_ rows: [String], between begin: String, and end: String) throws {
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let first = try #require(lines.firstIndex(of: begin))
        let last = try #require(lines[first...].firstIndex(of: end))
        // Two lines are the head of the table.
        let body = first + 3..<last
        if ProcessInfo.processInfo.environment["READERKIT_UPDATE_README"] == "1" {
            let text = (lines[..<body.lowerBound] + rows + lines[last...]).joined(separator: "\n")
            try Data(text.utf8).write(to: file)
            return
        }
        #expect(Array(lines[body]) == rows, "READERKIT_UPDATE_README=1 with this test writes the table anew")
    }
}
