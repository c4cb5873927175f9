import Foundation

/// A Chromium of its own, driven over WebDriver (W3C), and over Chromium's own protocol where WebDriver has no word.
@MainActor
package final class Browser {
    private nonisolated static let places = ["/usr/bin/", "/usr/local/bin/", "/usr/lib/chromium/"]
    private nonisolated static let chromium = find("chromium"), driver = find("chromedriver")

    /// Whether Chromium and its driver are on this machine.
    package nonisolated static let isThere = chromium != nil && driver != nil

    private nonisolated static func find(_ program: String) -> String? {
        places.map { $0 + program }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let process: Process
    private let output: Pipe
    private let connection: DriverConnection
    /// Where both keep their files.
    private let folder: URL
    private var session = ""

    // MARK: Beginning and end

    /// Opens a browser, lets it be used, and closes it.
    package static func use(_ body: (Browser) async throws -> Void) async throws {
        let browser = try await Browser()
        do {
            try await browser.begin()
            try await body(browser)
        } catch {
            await browser.close()
            throw error
        }
        await browser.close()
    }

    private init() async throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: Self.driver ?? "")
        process.arguments = ["--port=0", "--log-level=SEVERE"]
        // A short name, since there are sockets in it.
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("web-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let home = folder.path
        let own = ["TMPDIR", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].map { ($0, home) }
        process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        let reading = Task.detached {
            var text = ""
            while !text.contains(/successfully on port \d+/) {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { throw Failure(description: "chromedriver did not start: \(text)") }
                text += String(decoding: data, as: UTF8.self)
            }
            return text.firstMatch(of: /successfully on port (\d+)/)?.1.description ?? ""
        }
        connection = DriverConnection(port: UInt16(try await reading.value) ?? 0)
        (self.process, self.output) = (process, output)
    }

    private func begin() async throws {
        var arguments = ["--headless=new", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run"]
        // Nothing but the pages shall keep the processors busy.
        arguments += ["--disable-background-networking", "--disable-component-update", "--disable-extensions"]
        // Chromium refuses to be root's otherwise, as one is in a container.
        if geteuid() == 0 { arguments.append("--no-sandbox") }
        let options: [String: Any] = ["binary": Self.chromium ?? "", "args": arguments]
        let wanted: [String: Any] = ["goog:chromeOptions": options, "goog:loggingPrefs": ["browser": "ALL"]]
        struct Session: Decodable {
            var sessionId: String
        }
        let body: [String: Any] = ["capabilities": ["alwaysMatch": wanted]]
        let answer: Session = try await send("POST", "/session", body)
        session = "/session/\(answer.sessionId)"
        try await resize(width: 1280, height: 800)
    }

    private func close() async {
        // A test whose time is over is cancelled; its browser has to end nevertheless.
        await Task { try? await self.command("DELETE", "") }.value
        // The driver leads a group, in which its browser is.
        kill(-process.processIdentifier, SIGKILL)
        for _ in 0..<10_000 where process.isRunning { usleep(1000) }
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Commands

    private struct Answer<Value: Decodable>: Decodable {
        var value: Value
    }

    private struct Nothing: Decodable {}

    private func send<Value: Decodable>(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws
        -> Value
    {
        let content = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
        let (status, data) = try await connection.send(method, path, content)
        guard status == 200 else {
            throw Failure(description: "\(path): \(String(decoding: data.prefix(2000), as: UTF8.self))")
        }
        return try JSONDecoder().decode(Answer<Value>.self, from: data).value
    }

    private func command(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws {
        let _: Nothing? = try await send(method, session + path, body)
    }

    /// Opens a page.
    package func open(_ address: String) async throws { try await command("POST", "/url", ["url": address]) }

    /// Loads the page again.
    package func reload() async throws { try await command("POST", "/refresh", [:]) }

    /// Runs the body of a function in the page, and returns what it returns.
    package func run<Value: Decodable>(_ script: String, _ arguments: String...) async throws -> Value {
        try await run(script, with: arguments)
    }

    private func run<Value: Decodable>(_ script: String, with arguments: [String]) async throws -> Value {
        try await send("POST", session + "/execute/sync", ["script": script, "args": arguments])
    }

    /// Runs the body of a function in the page that returns nothing.
    package func run(_ script: String, _ arguments: String...) async throws {
        try await command("POST", "/execute/sync", ["script": script, "args": arguments])
    }

    /// Runs the body of a function in the page that calls its last argument with its result.
    package func call<Value: Decodable>(_ script: String, _ arguments: String...) async throws -> Value {
        try await send("POST", session + "/execute/async", ["script": script, "args": arguments])
    }

    /// Returns an expression's value.
    package func value<Value: Decodable>(of expression: String) async throws -> Value {
        try await run("return " + expression)
    }

    /// Waits until an expression is true in the page.
    package func wait(for expression: String, _ arguments: String...) async throws {
        let end = ContinuousClock.now + .seconds(20)
        // A page that is busy answers late, and with what was true when it was asked.
        var isLast = false
        while try await !(run("return Boolean(\(expression))", with: arguments) as Bool) {
            if isLast { throw NotInTime(description: "not in time: \(expression)") }
            isLast = ContinuousClock.now >= end
        }
    }

    /// Presses keys, one after the other.
    package func press(_ keys: String...) async throws {
        let actions = keys.flatMap { [["type": "keyDown", "value": $0], ["type": "keyUp", "value": $0]] }
        let keyboard: [String: Any] = ["type": "key", "id": "keyboard", "actions": actions]
        try await command("POST", "/actions", ["actions": [keyboard]])
    }

    /// The keys that have no character, as WebDriver writes them.
    package static let tab = "\u{E004}", enter = "\u{E007}"

    /// Gives the page another size, in CSS pixels.
    package func resize(width: Int, height: Int, scale: Int = 1) async throws {
        let metrics: [String: Any] = ["width": width, "height": height, "deviceScaleFactor": scale, "mobile": false]
        let _: Nothing? = try await chromium("Emulation.setDeviceMetricsOverride", metrics)
    }

    /// Calls Chromium's own protocol.
    package func chromium<Value: Decodable>(_ method: String, _ parameters: [String: Any] = [:]) async throws -> Value {
        try await send("POST", session + "/goog/cdp/execute", ["cmd": method, "params": parameters])
    }

    /// Calls Chromium's own protocol for what it does.
    package func tell(_ method: String, _ parameters: [String: Any] = [:]) async throws {
        let _: Nothing? = try await chromium(method, parameters)
    }

    /// Returns what the browser complained of since it was asked last, such as errors and refusals.
    package func complaints() async throws -> [String] {
        struct Entry: Decodable {
            var level: String
            var message: String
        }
        let entries: [Entry] = try await send("POST", session + "/se/log", ["type": "browser"])
        return entries.filter { $0.level != "DEBUG" && $0.level != "INFO" }.map(\.message)
    }

    /// Returns what is seen, as a PNG file.
    package func screenshot() async throws -> Data {
        let text: String = try await send("GET", session + "/screenshot")
        return Data(base64Encoded: text) ?? Data()
    }
}
