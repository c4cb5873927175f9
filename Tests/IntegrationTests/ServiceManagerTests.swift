#if PCSC && NFC
import Foundation
import GRDB
import ReaderKit
import ReaderKitTesting
import Synchronization
import TestSupport
import Testing
import ToolSupport

/// What a service manager hears of the kiosk.
@Suite(.timeLimit(.minutes(10)))
struct ServiceManagerTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
    }

    private func kiosk(_ manager: NotifySocket, watchdog: Duration, line: SmartReaderTerminal) throws -> RunningTool {
        let path = try #require(line.path)
        return try Tool.clubctl.start(
            ["kiosk", "--json", "--database", scratch.file("club.sqlite"), "--reader", "smart-reader:" + path],
            environment: [
                "NOTIFY_SOCKET": manager.name,
                "WATCHDOG_USEC": "\(watchdog.components.seconds * 1_000_000)",
            ]
        )
    }

    @Test("It is told that the kiosk is ready, works and ends, by either kind of socket", arguments: [false, true])
    func told(isAbstract: Bool) async throws {
        let name =
            isAbstract ? "@clubkit-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))" : scratch.file("notify")
        let manager = try NotifySocket(name)
        let line = try SmartReaderTerminal()
        let kiosk = try kiosk(manager, watchdog: .seconds(3), line: line)
        let first = try #require(manager.next(within: .seconds(60)))
        #expect(first.starts(with: ["READY=1", "WATCHDOG=1"]))
        #expect(first.last?.hasPrefix("STATUS=Open: ") == true)
        try await until("it has the line") { line.isOpenedByProgram }
        try line.report(SimulatedNTAG(.ntag213, uid: [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]))
        var last = first
        while last.last != "STATUS=Open: 1 reader, 1 tap" { last = try #require(manager.next(within: .seconds(60))) }
        kiosk.kill(SIGTERM)
        while last != ["STOPPING=1"] { last = try #require(manager.next(within: .seconds(60))) }
        #expect(await kiosk.finish().status == 130)
    }

    @Test("While a tap waits for the database the kiosk still works; a stopped one tells nothing")
    func waiting() async throws {
        let manager = try NotifySocket(scratch.file("notify"))
        let line = try SmartReaderTerminal()
        let kiosk = try kiosk(manager, watchdog: .seconds(3), line: line)
        defer { kiosk.kill() }
        #expect(manager.next(within: .seconds(60)) != nil)
        try await until("it has the line") { line.isOpenedByProgram }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: scratch.file("club.sqlite"), configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        try line.report(SimulatedNTAG(.ntag213, uid: [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]))
        for _ in 0..<3 {
            var said: [String] = []
            while said.last != "STATUS=A tap waits to be recorded: 1 reader, 0 taps" {
                said = try #require(manager.next(within: .seconds(60)))
            }
            #expect(said.contains("WATCHDOG=1"))
        }
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        kiosk.kill(SIGSTOP)
        while manager.next(within: .milliseconds(100)) != nil {}
        #expect(manager.next(within: .seconds(4)) == nil)
    }

    @Test("Nothing is said while whoever takes the taps is stuck, and nothing piles up")
    func stuck() async throws {
        let (source, continuation) = AsyncStream.makeStream(of: Int.self)
        let pulses = Mutex(0)
        let isStuck = Mutex(false)
        let task = Task {
            var numbers: [Int] = []
            for await number in ServiceManager.pulsing(source, every: .milliseconds(1)) {
                guard let number else {
                    pulses.withLock { $0 += 1 }
                    continue
                }
                numbers.append(number)
                while isStuck.withLock(\.self) { try? await Task.sleep(for: .milliseconds(1)) }
            }
            return numbers
        }
        try await until("it is told") { pulses.withLock(\.self) >= 3 }
        isStuck.withLock { $0 = true }
        continuation.yield(1)
        continuation.yield(2)
        var (before, now) = (-1, pulses.withLock(\.self))
        // Those that were under way.
        while before != now {
            try await Task.sleep(for: .milliseconds(50))
            (before, now) = (now, pulses.withLock(\.self))
        }
        try await Task.sleep(for: .milliseconds(100))
        #expect(pulses.withLock(\.self) == now)
        continuation.finish()
        isStuck.withLock { $0 = false }
        #expect(await task.value == [1, 2])
        // One was waiting, and one may have come since.
        #expect(pulses.withLock(\.self) <= now + 2)
    }
}

/// The socket of a service manager.
private final class NotifySocket: Sendable {
    let name: String
    private let descriptor: Int32

    init(_ name: String) throws {
        self.name = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(2 + bytes.count)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(isBound == 0)
    }

    deinit { close(descriptor) }

    /// The lines of the next datagram, or `nil` if none comes in time.
    func next(within limit: Duration) -> [String]? {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000
        guard poll(&wanted, 1, Int32(milliseconds)) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0
            ? nil : String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
#endif
