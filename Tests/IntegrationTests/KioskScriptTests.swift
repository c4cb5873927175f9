import Foundation
import TestSupport
import Testing

@Suite("Scripts/kiosk, with tools that only say how they were called", .timeLimit(.minutes(10)))
struct KioskScriptTests {
    @Test(
        "Without a reader it shows the recorded day, with one it serves it",
        arguments: [
            ("exit 0", [], "kiosk --replay"),
            (#"echo '{"error":{"code":"serviceUnavailable"}}'; exit 69"#, [], "kiosk --replay"),
            (#"echo '{"name":"Reader 1"}'"#, [], "kiosk"),
            ("exit 0", ["--database", "club.sqlite"], "kiosk --database club.sqlite"),
            ("exit 0", ["--release", "--once"], "optimised kiosk --once"),
        ] as [(String, [String], String)]
    )
    func reader(readerctl: String, arguments: [String], called: String) throws {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("kiosk-\(UUID().uuidString)")
        defer { try? files.removeItem(at: folder) }
        func write(_ name: String, _ body: String) throws {
            let file = folder.appendingPathComponent(name)
            try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try writeProgram("#!/bin/sh\n\(body)\n", to: file.path)
        }
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let script = here.deletingLastPathComponent().appendingPathComponent("Scripts/kiosk")
        try write("Scripts/setup", "exit 0")
        try write("Scripts/build", "exit 0")
        try write(".build/debug/readerctl", readerctl)
        try write(".build/debug/clubctl", #"echo "$@""#)
        try write(".build/release/readerctl", readerctl)
        try write(".build/release/clubctl", #"echo optimised "$@""#)
        let copy = folder.appendingPathComponent("Scripts/kiosk")
        try writeProgram(try String(contentsOf: script, encoding: .utf8), to: copy.path)
        let process = Process()
        process.executableURL = copy
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        if called.hasSuffix("--replay") {
            #expect(text.hasPrefix(called))
        } else {
            #expect(text == called + "\n")
        }
    }
}
