import Dispatch
import Glibc
import ReaderKit
import Synchronization

/// One pseudo-terminal and the thread that serves it, from plugging in to pulling out.
final class TerminalLine: Sendable {
    /// The name of the terminal, such as `/dev/pts/3`.
    let path: String

    private let device: any TerminalDevice
    /// The device's end of the terminal.
    private let terminal: Int32
    /// Reports that the program's end was opened.
    private let watch: Int32
    private let bell: WakePipe
    private let isEnding = Atomic(false)
    private let isInUse = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// A frame that was begun and did not go on for so long was noise.
    private static let longestGap = Duration.milliseconds(200)

    /// `TIOCSPTLCK`, `_IOW('T', 0x31, int)`: lets the other end be opened.
    private static let unlock: UInt = 0x4004_5431
    /// `TIOCGPTN`, `_IOR('T', 0x30, unsigned int)`: the number of the other end.
    private static let getNumber: UInt = 0x8004_5430

    init(_ device: any TerminalDevice) throws(ReaderError) {
        let attempt = "open a pseudo-terminal for a simulated reader"
        guard let bell = WakePipe() else { throw TerminalLine.failure(attempt, errno) }
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard terminal >= 0 else { throw TerminalLine.failure(attempt, errno) }
        let watch = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        var number: UInt32 = 0
        var unlocked: Int32 = 0
        let hasName =
            watch >= 0 && ioctl(terminal, TerminalLine.unlock, &unlocked) == 0
            && ioctl(terminal, TerminalLine.getNumber, &number) == 0
        path = "/dev/pts/\(number)"
        guard hasName, inotify_add_watch(watch, path, UInt32(IN_OPEN)) >= 0 else {
            let number = errno
            close(terminal)
            if watch >= 0 { close(watch) }
            throw TerminalLine.failure(attempt, number)
        }
        self.device = device
        self.terminal = terminal
        self.watch = watch
        self.bell = bell
        makeRaw()
        // Only an end that was open before can be seen to be closed.
        let own = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        if own >= 0 { close(own) }
        device.setWake { bell.ring() }
        DetachedThread.start(name: "\(device.threadName) on \(path)") { self.serve() }
    }

    static func failure(_ attempt: String, _ number: Int32) -> ReaderError {
        ReaderError(.readerUnavailable, attempting: attempt, code: ReaderError.Code(errno: number))
    }

    var isOpenedByProgram: Bool { isInUse.load(ordering: .acquiring) }

    /// Closes the terminal, and returns when its thread has ended.
    func end() {
        isEnding.store(true, ordering: .releasing)
        bell.ring()
        hasEnded.wait()
        hasEnded.signal()
    }

    /// No echo, no lines, no signals; also takes away what a program that was killed left in the terminal's settings.
    private func makeRaw() {
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else { return }
        settings.c_iflag = 0
        cfmakeraw(&settings)
        tcsetattr(terminal, TCSANOW, &settings)
    }

    // MARK: The thread

    /// Names the thread for the system's tools, such as `PN532 pts/3`; 15 characters are kept.
    private func takeName() {
        let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let name = Array("\(device.threadName) \(path.dropFirst(5))".utf8)
        write(descriptor, name, name.count)
        close(descriptor)
    }

    private func serve() {
        takeName()
        var outgoing: [UInt8] = []
        var isOpen = findOpen()
        while !isEnding.load(ordering: .acquiring) {
            isInUse.store(isOpen, ordering: .releasing)
            let (bytes, next) = device.collect()
            // With nobody at the other end it is lost.
            outgoing = isOpen ? outgoing + bytes : []
            send(&outgoing)
            let silence = device.isWithinFrame ? ContinuousClock.now + TerminalLine.longestGap : nil
            let line: (descriptor: Int32, events: Int) =
                isOpen ? (terminal, Int(POLLIN) | (outgoing.isEmpty ? 0 : Int(POLLOUT))) : (watch, Int(POLLIN))
            let end = [next, silence].compactMap(\.self).min()
            let found = bell.wait(for: line.descriptor, line.events, until: end)
            if !isOpen {
                if found != 0 { isOpen = true }
            } else if found & Int(POLLIN) != 0, let bytes = read() {
                device.receive(bytes)
            } else if found & Int(POLLIN | POLLHUP | POLLERR) != 0 {
                isOpen = findOpen()
            } else if let silence, ContinuousClock.now >= silence {
                device.hearSilence()
            }
        }
        device.powerOff()
        close(terminal)
        close(watch)
        hasEnded.signal()
    }

    /// Looks whether a program has the terminal open, when it seems that none has.
    private func findOpen() -> Bool {
        // Openings up to now show in what follows, later ones will be reported again.
        var events = [UInt8](repeating: 0, count: 4096)
        while Glibc.read(watch, &events, events.count) > 0 {}
        var descriptor = pollfd(fd: terminal, events: Int16(truncatingIfNeeded: Int(POLLIN)), revents: 0)
        guard poll(&descriptor, 1, 0) > 0, Int(descriptor.revents) & Int(POLLHUP) != 0 else { return true }
        // What the last program wrote before it closed is still to be read.
        if Int(descriptor.revents) & Int(POLLIN) != 0, let bytes = read() {
            device.receive(bytes)
            return true
        }
        makeRaw()
        return false
    }

    private func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(terminal, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private func send(_ bytes: inout [UInt8]) {
        while !bytes.isEmpty {
            let count = write(terminal, bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // Full: the program does not read. Anything else: nobody is there.
                if errno != EAGAIN || bytes.count > LineOutput.mostOutgoing { bytes = [] }
                return
            }
            bytes.removeFirst(count)
        }
    }
}

/// What is simulated behind a ``TerminalLine``. Any thread may use it.
protocol TerminalDevice: AnyObject, Sendable {
    /// What the line's thread is called: a few letters.
    var threadName: String { get }

    /// What is to be sent now, and when there is something to be done next without anybody asking.
    func collect() -> (bytes: [UInt8], next: ContinuousClock.Instant?)

    func receive(_ bytes: [UInt8])

    /// Whether something has begun to come that is not there whole.
    var isWithinFrame: Bool { get }

    /// Nothing came for a while: what has begun will not be ended.
    func hearSilence()

    /// Sets what wakes the thread that sends.
    func setWake(_ wake: (@Sendable () -> Void)?)

    func powerOff()
}
