import Foundation
import Testing

/// A page of the documentation, as far as tests read and write it.
enum Page {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The contents of the page's code blocks in that language.
    static func blocks(_ language: String, of text: String) -> [String] {
        text.components(separatedBy: "```\(language)\n").dropFirst().map {
            $0.components(separatedBy: "\n```").first ?? ""
        }
    }

    /// Expects the rows below the head of the table between two lines. `READERKIT_UPDATE_README=1` writes them instead.
    static func expect(_ rows: [String], between begin: String, and end: String, of page: String) throws {
        let lines = try text(page).components(separatedBy: "\n")
        let first = try #require(lines.firstIndex(of: begin))
        let last = try #require(lines[first...].firstIndex(of: end))
        // Two lines are the head of the table.
        let body = first + 3..<last
        if ProcessInfo.processInfo.environment["READERKIT_UPDATE_README"] == "1" {
            let text = (lines[..<body.lowerBound] + rows + lines[last...]).joined(separator: "\n")
            try Data(text.utf8).write(to: root.appendingPathComponent(page))
            return
        }
        #expect(Array(lines[body]) == rows, "READERKIT_UPDATE_README=1 with this test writes the table anew")
    }
}
