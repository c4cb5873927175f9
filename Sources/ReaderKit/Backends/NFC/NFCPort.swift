import Foundation
import Synchronization

/// The device node of a reader, held for this program alone while libnfc uses it.
///
/// libnfc itself opens a line that another program is using, and both then fail. So the node is locked first (`flock`),
/// and a line is closed to later openings (`TIOCEXCL`) as soon as libnfc has it. What another libnfc left behind when it
/// was killed is put right: its claim in the line's settings, and a chip that still works on its last command.
final class NFCPort: Sendable {
    /// The node, with links followed.
    let path: String
    private let descriptor: Int32
    private let isTerminal: Bool

    /// The nodes that this process holds.
    private static let held = Mutex<Set<String>>([])

    /// The bit of `c_iflag` by which libnfc marks a line as taken. It stays when the program is killed.
    private static let claim: tcflag_t = 0x8000_0000
    /// `TIOCGEXCL`, a macro that Swift does not see.
    private static let isExclusiveRequest: UInt = 0x8004_5440
    /// libnfc waits with `select`, which overwrites memory for descriptors from `FD_SETSIZE` on. It takes a handful.
    private static let highestDescriptor: Int32 = 1024 - 16

    /// Takes the node.
    ///
    /// - Throws: ``ReaderError``: `readerUnavailable` without a code if there is no such node, `accessDenied`, or
    ///   `sharingViolation` if another program, or this one, holds it.
    init(_ path: String, holders: (String) -> [String] = NFCPort.holders) throws(ReaderError) {
        let attempt = "open the reader's device \(path)"
        guard let resolved = Self.resolve(path) else {
            throw ReaderError(.readerUnavailable, attempting: attempt, detail: "there is no such device")
        }
        guard Self.held.withLock({ $0.insert(resolved).inserted }) else {
            throw Self.sharing(attempt, "this program uses it already", "Serve the reader once only.")
        }
        do throws(ReaderError) {
            (descriptor, isTerminal) = try Self.openNode(resolved, attempt, holders)
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

    /// Whether the node is there.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func resolve(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    private static func openNode(
        _ path: String,
        _ attempt: String,
        _ holders: (String) -> [String]
    ) throws(ReaderError) -> (Int32, isTerminal: Bool) {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        let fault = errno
        guard descriptor >= 0 else {
            switch fault {
            case ENOENT, ENODEV, ENXIO, EIO:
                throw ReaderError(.readerUnavailable, attempting: attempt, detail: "the device is gone")
            case EACCES, EPERM:
                throw ReaderError(
                    .accessDenied,
                    attempting: attempt,
                    code: code(fault),
                    advice: "Add this user to the group of \(path) (dialout for serial lines), and log in again."
                )
            case EBUSY: throw sharing(attempt, holders(path))
            default: throw ReaderError(.other, attempting: attempt, code: code(fault))
            }
        }
        do throws(ReaderError) {
            guard descriptor < highestDescriptor else {
                throw ReaderError(
                    .limitExceeded,
                    attempting: attempt,
                    detail: "this program has too many files open for libnfc, which takes no descriptor above 1023",
                    advice: "Open fewer files at a time in this program."
                )
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw sharing(attempt, holders(path)) }
            let isTerminal = isatty(descriptor) == 1
            if isTerminal { try takeTerminal(descriptor, path, attempt, holders) }
            return (descriptor, isTerminal)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Makes sure that nobody else uses the line who does not lock it, and takes away a dead program's claim.
    private static func takeTerminal(
        _ descriptor: Int32,
        _ path: String,
        _ attempt: String,
        _ holders: (String) -> [String]
    ) throws(ReaderError) {
        var isExclusive: Int32 = 0
        // Root may open an exclusive line.
        if ioctl(descriptor, isExclusiveRequest, &isExclusive) == 0, isExclusive != 0 {
            throw sharing(attempt, holders(path))
        }
        let others = holders(path)
        guard others.isEmpty else { throw sharing(attempt, others) }
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0, settings.c_iflag & claim != 0 else { return }
        settings.c_iflag &= ~claim
        _ = tcsetattr(descriptor, TCSANOW, &settings)
    }

    private static func code(_ fault: Int32) -> ReaderError.Code {
        ReaderError.Code(rawValue: Int64(fault), name: String(cString: strerror(fault)))
    }

    private static func sharing(_ attempt: String, _ holders: [String]) -> ReaderError {
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
    static func holders(of path: String) -> [String] {
        let own = getpid()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap(Int32.init).filter { $0 > 0 && $0 != own }.sorted().compactMap { pid in
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []
            let holds = files.contains { link("/proc/\(pid)/fd/\($0)") == path }
            return holds ? "\(name(of: pid)) (pid \(pid))" : nil
        }
    }

    private static func link(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }

    /// The name of a program, which it chooses itself and which may hold anything.
    private static func name(of pid: Int32) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) ?? ""
        let name = text.trimmingCharacters(in: .newlines).unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? "?" : String(scalar)
        }.joined()
        return name.isEmpty ? "a program" : name
    }

    // MARK: - The line

    /// Closes the line to everybody who opens it from now on. To be called when libnfc has opened it.
    func makeExclusive() {
        if isTerminal { _ = ioctl(descriptor, UInt(TIOCEXCL), 0) }
    }

    /// Brings a PN532 on a serial line to where it listens, whatever a program before left it in.
    ///
    /// A chip that was left in the middle of a command (the program was killed) answers the next program's first command
    /// with that one's result, and one that sleeps misses it: each then looks dead until its power is cut. So the wake-up
    /// is sent, then an ACK frame, which ends any command (PN532 user manual, 6.2.1.3), and what comes is thrown away.
    func wakeUp(speed: Int?) {
        guard isTerminal else { return }
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return }
        cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        let rate = Self.rate(speed ?? 115_200)
        cfsetispeed(&settings, rate)
        cfsetospeed(&settings, rate)
        guard tcsetattr(descriptor, TCSANOW, &settings) == 0 else { return }
        let wakeUp: [UInt8] = [0x55, 0x55] + [UInt8](repeating: 0, count: 14)
        let acknowledgement: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
        _ = write(descriptor, wakeUp, wakeUp.count)
        // The chip's oscillator takes 2 ms at most to start.
        Thread.sleep(forTimeInterval: 0.005)
        _ = write(descriptor, acknowledgement, acknowledgement.count)
        Thread.sleep(forTimeInterval: 0.005)
        tcflush(descriptor, TCIFLUSH)
    }

    private static func rate(_ speed: Int) -> speed_t {
        switch speed {
        case 9_600: speed_t(B9600)
        case 19_200: speed_t(B19200)
        case 38_400: speed_t(B38400)
        case 57_600: speed_t(B57600)
        case 230_400: speed_t(B230400)
        case 460_800: speed_t(B460800)
        default: speed_t(B115200)
        }
    }
}
