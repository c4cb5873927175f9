import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

#if NFC && PCSC

/// A reader's line belongs to one program at a time.
@Suite(.timeLimit(.minutes(10)), .serialized) struct NFCPortTests {
    private static func error(_ path: String, holders: [String] = []) -> ReaderError? {
        do throws(ReaderError) {
            _ = try NFCPort(path, holders: { _ in holders })
            return nil
        } catch {
            return error
        }
    }

    @Test func heldByThisProgram() throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        do {
            let port = try NFCPort(path)
            let error = try #require(Self.error(path))
            #expect(error.kind == .sharingViolation)
            #expect("\(error)".contains("this program"))
            withExtendedLifetime(port) {}
        }
        #expect(Self.error(path) == nil)
    }

    @Test func heldByAnotherProgram() async throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        let holder = try Self.start("flock --no-fork -x \(path) sleep 600")
        defer { Self.end(holder) }
        try await until("the lock") { Self.error(path)?.kind == .sharingViolation }
        do throws(ReaderError) {
            _ = try NFCPort(path)
            Issue.record("it was taken")
        } catch {
            #expect(error.kind == .sharingViolation)
            #expect("\(error)".contains("sleep (pid"))
        }
    }

    @Test func openInAProgramThatDoesNotLock() async throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        let holder = try Self.start("exec 3<>\(path); exec sleep 600")
        defer { Self.end(holder) }
        try await until("the program") { !DeviceNode.holders(of: path).isEmpty }
        do throws(ReaderError) {
            _ = try NFCPort(path)
            Issue.record("it was taken")
        } catch {
            #expect(error.kind == .sharingViolation)
            #expect(error.detail?.contains("pid") == true)
        }
    }

    @Test func exclusiveLineThatNobodyHolds() throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        let line = open(path, O_RDWR | O_NOCTTY)
        #expect(ioctl(line, UInt(TIOCEXCL), 0) == 0)
        close(line)
        // The board keeps the terminal, and with it the mark of a program that has ended.
        if getuid() == 0 { #expect(Self.error(path) == nil) }
    }

    @Test func nothingAndNoRight() {
        #expect(Self.error("/dev/no-such-line")?.kind == .readerUnavailable)
        #expect(!DeviceNode.exists("/dev/no-such-line"))
    }

    @Test func claimOfADeadProgramIsTakenAway() throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        let line = open(path, O_RDWR | O_NOCTTY)
        defer { close(line) }
        var settings = termios()
        #expect(tcgetattr(line, &settings) == 0)
        settings.c_iflag |= 0x8000_0000
        #expect(tcsetattr(line, TCSANOW, &settings) == 0)
        let port = try NFCPort(path)
        #expect(tcgetattr(line, &settings) == 0)
        #expect(settings.c_iflag & 0x8000_0000 == 0)
        withExtendedLifetime(port) {}
    }

    @Test(
        arguments: [
            ("pn532_uart:/dev/ttyUSB0", "pn532_uart", "/dev/ttyUSB0", nil),
            ("pn532_uart:/dev/ttyS0:9600", "pn532_uart", "/dev/ttyS0", 9600),
            ("pn532_uart:/dev/ttyS0:fast", "pn532_uart", "/dev/ttyS0", nil),
            ("acr122_usb:001:004", "acr122_usb", nil, nil),
            ("pn532_uart", "pn532_uart", nil, nil),
            ("", "", nil, nil),
        ] as [(String, String, String?, Int?)]
    )
    func connectionStrings(_ text: String, _ driver: String, _ path: String?, _ speed: Int?) {
        let connection = NFCConnectionString(text)
        #expect(connection.driver == driver)
        #expect(connection.path == path)
        #expect(connection.speed == speed)
    }

    /// Told as an event, and gone as soon as the other program lets go.
    @Test func heldReaderIsToldAndUsedLater() async throws {
        let board = try PN532Terminal()
        let path = try #require(board.path)
        let name = try #require(board.connectionString)
        let holder = try Self.start("flock --no-fork -x \(path) sleep 600")
        try await until("the lock") { Self.error(path)?.kind == .sharingViolation }
        let backend = NFCBackend(
            configuration: NFCConfiguration(connectionStrings: [name], pollInterval: .milliseconds(20))
        )
        let watcher = Watcher(backend)
        try await watcher.until("stuck \(name)")
        let error = try await backend.readers().first?.unavailability
        #expect(error?.kind == .sharingViolation)
        #expect(error?.hint.contains("sleep") == true)
        Self.end(holder)
        try await watcher.until("added \(name)")
        #expect(watcher.texts == ["stuck \(name)", "recovered \(name)", "added \(name)"])
    }

    /// Ends it in a way that it cannot ignore: what blocks signals in the thread that starts it, it blocks too.
    private static func end(_ process: Process) { kill(process.processIdentifier, SIGKILL) }

    private static func start(_ command: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The shell is the program itself, so that ending it ends all.
        process.arguments = ["-c", command.hasPrefix("exec") ? command : "exec \(command)"]
        try process.start()
        return process
    }
}
#endif
