#if NETWORK
import Foundation
import SirenHTTP
import SirenKit
import TestSupport
import Testing

/// A name server that says nothing holds up neither who cancels nor other requests. The first test runs the second one in a
/// process of its own, which asks for names of a socket that nobody reads.
@Suite(.timeLimit(.minutes(5))) struct SilentNamesTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let mark = "CLUBKIT_SILENT_NAMES"

    @Test(
        .enabled(
            if: environment["READERKIT_ISOLATED"] == "1" && environment[mark] == nil,
            "not within Scripts/isolated"
        )
    )
    func inAProcessOfItsOwn() async throws {
        let names = FileManager.default.temporaryDirectory.appending(path: "names-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: names) }
        try "nameserver 127.0.0.1\noptions timeout:30 attempts:3\n".write(to: names, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = [
            "-m", "sh", "-c", #"mount --bind "$1" /etc/resolv.conf; shift; exec "$@""#, "sh", names.path,
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"), "--testing-library",
            "swift-testing", "--filter", "SilentNamesTests",
        ]
        process.environment = Self.environment.merging([Self.mark: "1"]) { $1 }
        let place = names.path + ".log"
        defer { try? FileManager.default.removeItem(atPath: place) }
        try Data().write(to: URL(fileURLWithPath: place))
        let output = try #require(FileHandle(forWritingAtPath: place))
        (process.standardOutput, process.standardError) = (output, output)
        try process.start()
        defer { kill(process.processIdentifier, SIGKILL) }
        try await until("its end", within: .seconds(240)) { !process.isRunning }
        let text = try String(contentsOfFile: place, encoding: .utf8)
        #expect(process.terminationStatus == 0 && text.contains("nobodyWaits() passed"), "\(text)")
    }

    @Test(.enabled(if: environment[mark] == "1", "another test runs it")) func nobodyWaits() async throws {
        let names = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(names) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(53).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(names, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isBound)
        let server = try PythonServer()
        let transport = try HTTPTransport()
        let nowhere = SirenRequest(url: try #require(URL(string: "http://silent.example/")))
        let begin = ContinuousClock.now
        let task = Task { try await transport.send(nowhere) }
        var bytes = [UInt8](repeating: 0, count: 512)
        try await until("the name is asked for") { recv(names, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 }
        let here = SirenRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
        #expect(try await transport.send(here).status == 200)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await transport.send(here).status == 200)
        var session = SirenSession()
        session.connectTimeout = .milliseconds(300)
        await #expect {
            _ = try await HTTPTransport(session).send(nowhere)
        } throws: { error in
            (error as? SirenTransportError)?.kind == .notConnected
        }
        // The resolver would give up after 90 seconds.
        #expect(ContinuousClock.now - begin < .seconds(60))
    }
}
#endif
