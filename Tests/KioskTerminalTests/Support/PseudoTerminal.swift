import Foundation
import Synchronization

@testable import KioskTerminal

/// A pseudo-terminal whose other end a test has in place of a person.
final class PseudoTerminal: Sendable {
    let master: Int32
    let slave: Int32
    let path: String
    private let received = Mutex<[UInt8]>([])

    init(columns: Int = 40, rows: Int = 8) throws {
        var (master, slave): (Int32, Int32) = (-1, -1)
        var window = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&master, &slave, nil, nil, &window) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        (self.master, self.slave) = (master, slave)
        path = ttyname(slave).map { String(cString: $0) } ?? ""
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(master)
        close(slave)
    }

    /// What was written to the terminal so far, ESC as `^`.
    var text: String {
        received.withLock { received in
            var bytes = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(master, &bytes, bytes.count)
                guard count > 0 else { break }
                received += bytes.prefix(count)
            }
            return String(decoding: received, as: UTF8.self).replacing("\u{1B}", with: "^")
        }
    }

    /// Whether programs can write to it without waiting.
    var isWritable: Bool {
        var watched = pollfd(fd: slave, events: Int16(POLLOUT), revents: 0)
        return poll(&watched, 1, 0) > 0
    }

    /// The settings as bytes, which can be compared.
    var settings: [UInt8] {
        var settings = termios()
        tcgetattr(slave, &settings)
        return withUnsafeBytes(of: &settings) { Array($0) }
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    func resize(columns: Int, rows: Int) {
        var window = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &window)
        // The kernel signals to the processes whose controlling terminal it is: not to us.
        kill(getpid(), SIGWINCH)
    }

    /// Opens a session on it.
    func session(messagesTo descriptor: Int32? = nil) throws -> TerminalSession {
        try TerminalSession(
            on: .init(input: slave, output: slave, messages: descriptor ?? dup(slave)),
            environment: ["TERM": "xterm", "NO_COLOR": "1"]
        )
    }
}
