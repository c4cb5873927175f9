import Foundation

/// The device node of a reader, held for this program alone while libnfc uses it.
///
/// libnfc itself opens a line that another program is using, and both then fail. So the node is locked first, and a line
/// is closed to later openings (`TIOCEXCL`) as soon as libnfc has it. What another libnfc left behind when it was killed
/// is put right: its claim in the line's settings, and a chip that still works on its last command.
final class NFCPort: Sendable {
    private let node: DeviceNode

    var path: String { node.path }

    /// The bit of `c_iflag` by which libnfc marks a line as taken. It stays when the program is killed.
    private static let claim: tcflag_t = 0x8000_0000
    /// libnfc waits with `select`, which overwrites memory for descriptors from `FD_SETSIZE` on. It takes a handful.
    private static let highestDescriptor: Int32 = 1024 - 16

    /// Takes the node. Throws as ``DeviceNode``, or `limitExceeded`.
    init(_ path: String, holders: (String) -> [String] = DeviceNode.holders) throws(ReaderError) {
        node = try DeviceNode(path, holders: holders)
        guard node.descriptor < Self.highestDescriptor else {
            throw ReaderError(
                .limitExceeded,
                attempting: DeviceNode.attempt(node.path),
                detail: "this program has too many files open for libnfc, which takes no descriptor above 1023",
                advice: "Open fewer files at a time in this program."
            )
        }
        if node.isTerminal { removeClaim() }
    }

    /// Takes away a dead program's claim; a living one's would have been found.
    private func removeClaim() {
        var settings = termios()
        guard tcgetattr(node.descriptor, &settings) == 0, settings.c_iflag & Self.claim != 0 else { return }
        settings.c_iflag &= ~Self.claim
        _ = tcsetattr(node.descriptor, TCSANOW, &settings)
    }

    // MARK: - The line

    func makeExclusive() { node.makeExclusive() }

    /// Brings a PN532 on a serial line to where it listens, whatever a program before left it in.
    ///
    /// A chip that was left in the middle of a command (the program was killed) answers the next program's first command
    /// with that one's result, and one that sleeps misses it: each then looks dead until its power is cut. So the wake-up
    /// is sent, then an ACK frame, which ends any command (PN532 user manual, 6.2.1.3), and what comes is thrown away.
    func wakeUp(speed: Int?) {
        guard node.isTerminal, node.makeRaw(speed: speed ?? 115_200) else { return }
        let descriptor = node.descriptor
        let wakeUp: [UInt8] = [0x55, 0x55] + [UInt8](repeating: 0, count: 14)
        let acknowledgement: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
        _ = write(descriptor, wakeUp, wakeUp.count)
        // The chip's oscillator takes 2 ms at most to start.
        Thread.sleep(forTimeInterval: 0.005)
        _ = write(descriptor, acknowledgement, acknowledgement.count)
        Thread.sleep(forTimeInterval: 0.005)
        tcflush(descriptor, TCIFLUSH)
    }
}

/// The contents of a connection string: `driver:device` or `driver:device:speed`, or `driver:bus:device` for USB.
struct NFCConnectionString: Sendable, Hashable {
    let text: String
    let driver: String
    /// The device node of a serial line or a bus, or `nil` for USB.
    let path: String?
    let speed: Int?

    init(_ text: String) {
        self.text = text
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        driver = parts[0]
        path = parts.count > 1 && parts[1].hasPrefix("/") ? parts[1] : nil
        speed = path != nil && parts.count > 2 ? Int(parts[2]) : nil
    }

    /// Whether the wake-up of a PN532 may be sent to the line before libnfc opens it.
    var isSerialPN532: Bool { driver == "pn532_uart" }
}

extension NFCLibrary {
    /// Opens a device as a reader does, and closes it; whether it answered. Throws as ``NFCPort``.
    package func canOpen(_ name: String, in context: Context) throws(ReaderError) -> Bool {
        let connection = NFCConnectionString(name)
        let port = try connection.path.map { path throws(ReaderError) in try NFCPort(path) }
        defer { withExtendedLifetime(port) {} }
        if connection.isSerialPN532 { port?.wakeUp(speed: connection.speed) }
        guard let device = open(context, name) else { return false }
        close(device)
        return true
    }
}
