import Foundation
import Synchronization

/// The device node of a reader, open and held for this program alone.
///
/// Programs that lock what they use (`flock`) are kept out at once. A terminal that another program has open without a
/// lock is not taken either, and ``makeExclusive()`` closes it to later openings.
final class DeviceNode: Sendable {
    let path: String
    /// The open node, which does not block.
    let descriptor: Int32
    let isTerminal: Bool

    private static let held = Mutex<Set<String>>([])

    /// Takes the node.
    ///
    /// - Parameters:
    ///   - path: the node, or a link to it.
    ///   - holders: finds the other programs that have the node open.
    /// - Throws: ``ReaderError``: `readerUnavailable` without a code if there is no such node, `accessDenied`, or
    ///   `sharingViolation` if another program, or this one, holds it.
    init(_ path: String, mode: Int32 = O_RDWR, holders: (String) -> [String] = DeviceNode.holders) throws(ReaderError) {
        let attempt = Self.attempt(path)
        guard let resolved = Self.resolve(path) else {
            throw ReaderError(.readerUnavailable, attempting: attempt, detail: "there is no such device")
        }
        guard Self.held.withLock({ $0.insert(resolved).inserted }) else {
            throw Self.sharing(attempt, "this program uses it already", "Serve the reader once only.")
        }
        do throws(ReaderError) {
            (descriptor, isTerminal) = try Self.openNode(resolved, mode, attempt, holders)
        } catch {
            _ = Self.held.withLock { $0.remove(resolved) }
            throw error
        }
        self.path = resolved
    }

    deinit {
        if isTerminal { _ = ioctl(descriptor, UInt(TIOCNXCL), 0) }
        close(descriptor)
        _ = Self.held.withLock { $0.remove(path) }
    }

    /// Why the node could not be opened now, as far as that can be seen without opening it; `nil` if it could, or is not
    /// there.
    ///
    /// - Parameter isKeyboard: whether it is an input device, which is only read and which others may have open too.
    static func obstacle(to path: String, isKeyboard: Bool) -> ReaderError? {
        guard let resolved = resolve(path) else { return nil }
        if isOtherDevice(resolved) {
            return ReaderError(
                .readerUnavailable,
                attempting: attempt(path),
                detail: "it is no serial line and no input device",
                advice: "Name the reader's serial line, such as /dev/ttyACM0, or its input device."
            )
        }
        guard access(resolved, isKeyboard ? R_OK : R_OK | W_OK) == 0 else {
            return denial(resolved, attempt(path), EACCES)
        }
        let others = isKeyboard ? [] : holders(of: resolved)
        return others.isEmpty ? nil : sharing(attempt(path), others)
    }

    /// Whether the system knows it as something else than a serial line or an input device.
    private static func isOtherDevice(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFCHR else { return true }
        // Pseudo-terminals are not among the devices of the system.
        // As `gnu_dev_major` and `gnu_dev_minor`, macros that Swift does not see.
        let number = status.st_rdev
        let (major, minor) = (number >> 8 & 0xFFF | number >> 32 & ~0xFFF, number & 0xFF | number >> 12 & 0xFFF_FF00)
        guard let device = resolve("/sys/dev/char/\(major):\(minor)") else { return false }
        return !device.contains("/tty/") && !device.contains("/input/")
    }

    static func isHeldHere(_ path: String) -> Bool {
        resolve(path).map { path in held.withLock { $0.contains(path) } } ?? false
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// What is attempted with a node, to be read after "could not".
    static func attempt(_ path: String) -> String { "open the reader's device \(path)" }

    static func resolve(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    private static func openNode(
        _ path: String,
        _ mode: Int32,
        _ attempt: String,
        _ holders: (String) -> [String]
    ) throws(ReaderError) -> (Int32, isTerminal: Bool) {
        let descriptor = open(path, mode | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        let fault = errno
        guard descriptor >= 0 else {
            switch fault {
            case ENOENT, ENODEV, ENXIO, EIO:
                throw ReaderError(.readerUnavailable, attempting: attempt, detail: "the device is gone")
            case EACCES, EPERM: throw denial(path, attempt, fault)
            case EBUSY: throw sharing(attempt, holders(path))
            default: throw ReaderError(.other, attempting: attempt, code: ReaderError.Code(errno: fault))
            }
        }
        let isFree = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        let isTerminal = isatty(descriptor) == 1
        // One that is closed to others can be opened by root alone, who sees everybody who has it open. Where nobody
        // has, a program has ended without opening it again, which the other end of a pseudo-terminal keeps.
        let others = isTerminal || !isFree ? holders(path) : []
        guard isFree, others.isEmpty else {
            close(descriptor)
            throw sharing(attempt, others)
        }
        return (descriptor, isTerminal)
    }

    private static func denial(_ path: String, _ attempt: String, _ fault: Int32) -> ReaderError {
        ReaderError(
            .accessDenied,
            attempting: attempt,
            code: ReaderError.Code(errno: fault),
            advice:
                "Add this user to the group of \(path) (dialout for serial lines, input for keyboards), and log in again."
        )
    }

    static func sharing(_ attempt: String, _ holders: [String]) -> ReaderError {
        guard let first = holders.first else {
            return sharing(attempt, nil, "Find who uses it ('fuser' shows it), and end that program.")
        }
        let list = holders.prefix(3).joined(separator: ", ")
        return sharing(attempt, "used by \(list)", "Close \(first), or give it another reader.")
    }

    private static func sharing(_ attempt: String, _ detail: String?, _ advice: String) -> ReaderError {
        ReaderError(.sharingViolation, attempting: attempt, detail: detail, advice: advice)
    }

    /// The other programs that have the node open, as `nfc-list (pid 1234)`. Those of other users are shown to root only.
    static func holders(of path: String) -> [String] { RunningPrograms().holders(of: path).map(\.description) }

    // MARK: - The line

    /// Closes a line to everybody who opens it from now on.
    func makeExclusive() {
        if isTerminal { _ = ioctl(descriptor, UInt(TIOCEXCL), 0) }
    }

    /// Makes a line carry bytes as they are, without regard to modem signals; whether the line took it.
    ///
    /// - Parameter speed: in bits per second; one that no line has counts as 115 200.
    func makeRaw(speed: Int) -> Bool {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return false }
        cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        let rate = speed_t(Self.rates[speed] ?? B115200)
        cfsetispeed(&settings, rate)
        cfsetospeed(&settings, rate)
        return tcsetattr(descriptor, TCSANOW, &settings) == 0
    }

    private static let rates = [
        9_600: B9600, 19_200: B19200, 38_400: B38400, 57_600: B57600, 230_400: B230400, 460_800: B460800,
    ]
}

extension ReaderError.Code {
    package init(errno: Int32) { self.init(rawValue: Int64(errno), name: String(cString: strerror(errno))) }
}
