#if NETWORK
import ClubKit
import Foundation
import TestSupport
import Testing

@testable import KioskKit
@testable import KioskWeb

/// What others run: the ten-line clients, and the script that opens a browser.
@Suite("Clients of the screen's server", .serialized, .timeLimit(.minutes(5)))
struct ClientTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardizedFileURL.path

    /// Starts a program, whose output goes to a file: an event of libdispatch on a pipe that has been closed
    /// once ended the process of the tests.
    private func start(
        _ program: [String],
        _ environment: [String: String] = [:]
    ) throws -> (Process, text: @Sendable () -> String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = program
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        let input = try FileHandle(forReadingFrom: file)
        try FileManager.default.removeItem(at: file)
        process.standardOutput = output
        process.standardError = output
        try process.start()
        return (
            process,
            {
                try? input.seek(toOffset: 0)
                return String(decoding: (try? input.readToEnd()) ?? Data(), as: UTF8.self)
            }
        )
    }

    private static func visit(_ name: String, _ visits: Int, _ event: String = "visit") -> String {
        "{\"event\":\"\(event)\",\"member\":{\"userId\":\"U7\",\"username\":\"\(name)\",\"numVisits\":\(visits)}}"
    }

    @Test(
        "The clients of the examples print each visit",
        arguments: [["python3", "visits.py"], ["node", "visits.mjs"]]
    )
    func clients(client: [String]) async throws {
        var access = WebAccess()
        access.token = "0123456789abcdef"
        let server = await KioskServer(KioskModel(), access: access)
        let port = try await server.start(host: "127.0.0.1", port: 0)
        let script = "\(Self.root)/Examples/Clients/\(client[1])"
        let (process, text) = try start([client[0], script, "http://127.0.0.1:\(port)", "0123456789abcdef"])
        defer { process.terminate() }
        try await until("it follows") { server.events.listeners.consumerCount > 0 || !process.isRunning }
        server.publish("{\"event\":\"scan\",\"card\":\"ntag213\"}")
        server.publish(Self.visit("Ann", 1, "created"))
        server.publish(Self.visit("", 7))
        server.publish("{\"event\":\"rejected\",\"reason\":\"expired\"}")
        server.publish(Self.visit("王小明", 3))
        try await until("the visits") { text().hasSuffix("3\n") || !process.isRunning }
        #expect(text() == "Ann 1\nU7 7\n王小明 3\n")
        process.terminate()
        try await until("it ends") { !process.isRunning }
        await server.stop()
    }

    @Test("The script for the boot waits for the kiosk, and opens its page in full screen")
    func boot() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let browser = folder + "/chromium"
        try writeProgram("#!/bin/sh\necho opened \"$@\"\n", to: browser)
        let first = await KioskServer(KioskModel())
        let port = try await first.start(host: "127.0.0.1", port: 0)
        await first.stop()
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let address = "http://127.0.0.1:\(port)/"
        let (process, text) = try start(
            ["\(Self.root)/Packaging/kiosk-browser", address],
            ["PATH": "\(folder):\(path)", "XDG_STATE_HOME": folder]
        )
        defer { process.terminate() }
        // Nobody is there yet.
        try await until("it waits") { FileManager.default.fileExists(atPath: folder + "/clubkit-browser") }
        try await until("it says so") { text().contains("waiting for the kiosk: ") }
        let server = await KioskServer(KioskModel())
        try await server.start(host: "127.0.0.1", port: port)
        try await until("the browser") { text().hasSuffix(" \(address)\n") }
        #expect(text().contains("\nopened --kiosk "))
        await server.stop()
    }
}
#endif
