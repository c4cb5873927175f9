import CardCore
import Dispatch
import Foundation
import Synchronization

/// A screen in the terminal of this process: its input, its output, and what would disturb it.
///
/// While a session is open, the terminal shows its alternate screen without a cursor, keys come one by one without an
/// echo, and control-C still interrupts. What is written to standard error, by C libraries too, does not disturb the
/// screen: where standard error is a terminal it is kept until the end, else it goes on to where it went before.
///
/// ``close()`` restores the terminal. It is restored too by `exit(3)`, and before the process dies of `SIGSEGV`, `SIGBUS`,
/// `SIGILL`, `SIGTRAP`, `SIGABRT`, `SIGFPE` or `SIGQUIT`. For `SIGINT`, `SIGTERM` and `SIGHUP` a program closes the session
/// itself, or calls ``restoreNow()`` where it ends by `_exit(2)`.
///
/// A process has at most one session. All members may be used from any thread.
public final class TerminalSession: Sendable {
    /// What happens in the terminal.
    public enum Event: Sendable, Hashable {
        /// A key was pressed.
        case key(TerminalKey)
        /// The terminal has another size, for which a frame is to be drawn.
        case resized(TerminalCanvas.Size)
    }

    /// The descriptors of a session.
    struct Descriptors {
        var input = STDIN_FILENO
        var output = STDOUT_FILENO
        var messages = STDERR_FILENO
    }

    /// The lines of standard error that ``close()`` repeats at most, of the last 16 KiB.
    public static let repeatedLines = 50

    /// How long ``close()`` waits for a terminal that takes nothing.
    private static let patience = Duration.seconds(1)
    /// How long an escape waits for the rest of a sequence.
    private static let escapeMilliseconds: Int32 = 50

    /// The colours that the terminal shows.
    public let colors: TerminalColors
    /// Keys and new sizes; the last 64 that were not taken are kept. It finishes when the session closes or the terminal
    /// hangs up. To be iterated once.
    public let events: AsyncStream<Event>

    private struct State {
        var size: TerminalCanvas.Size
        /// The newest frame.
        var frame: TerminalCanvas?
        var isDrawn = true
        /// Whether the terminal shows something else than was last written to it, and whether it has left the screen.
        var isSpoiled = false, isLeft = false
        /// When to give the terminal up, once the session is being closed.
        var end: ContinuousClock.Instant?
        /// Whether standard error is as it was, so that this process writes nothing more into the pipe.
        var isOver = false
    }

    private let state: Mutex<State>
    private let continuation: AsyncStream<Event>.Continuation
    private let memory: TerminalRestoration.Memory
    /// Wakes the thread that writes.
    private let frames: WakePipe
    /// The end that the reading thread watches of the pipe to whose other end the handler of `SIGWINCH` writes.
    private let bell: Int32
    private let writing = DispatchSemaphore(value: 0)
    private let reading = DispatchSemaphore(value: 0)

    private static let isOpen = Mutex(false)

    /// Reports whether this process can show a screen: standard input and output are terminals, and `TERM` is set and not
    /// `dumb`.
    public static func isPossible(environment: [String: String]) -> Bool {
        let terminal = environment["TERM"] ?? ""
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && !terminal.isEmpty && terminal != "dumb"
    }

    /// Opens a session on standard input, output and error.
    ///
    /// - Parameter environment: the environment by which colours are chosen.
    /// - Throws: ``TerminalError``: input or output is no terminal, a session is open, or the system refuses.
    public convenience init(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(TerminalError) {
        try self.init(on: Descriptors(), environment: environment)
    }

    init(on descriptors: Descriptors, environment: [String: String]) throws(TerminalError) {
        guard isatty(descriptors.input) == 1, isatty(descriptors.output) == 1 else {
            throw TerminalError(.notATerminal, attempting: "show a screen on standard input and output")
        }
        guard
            !Self.isOpen.withLock({ isOpen in
                defer { isOpen = true }; return isOpen
            })
        else {
            throw TerminalError(.alreadyOpen, attempting: "show a screen")
        }
        var opened: [Int32] = []
        var isComplete = false
        defer {
            if !isComplete {
                for descriptor in opened { Glibc.close(descriptor) }
                Self.isOpen.withLock { $0 = false }
            }
        }
        func check(_ result: Int32, _ attempt: String) throws(TerminalError) -> Int32 {
            guard result >= 0 else { throw TerminalError(.system, attempting: attempt, code: errno) }
            return result
        }
        func makePipe() throws(TerminalError) -> (read: Int32, write: Int32) {
            var ends: [Int32] = [-1, -1]
            _ = try check(pipe(&ends), "make a pipe for the screen")
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            opened += ends
            return (ends[0], ends[1])
        }

        var memory = TerminalRestoration.Memory()
        memory.input = descriptors.input
        memory.messages = descriptors.messages
        _ = try check(tcgetattr(descriptors.input, &memory.settings), "read the terminal's settings")
        memory.output = try check(Self.openAgain(descriptors.output), "open the terminal")
        opened.append(memory.output)
        memory.savedMessages = try check(fcntl(descriptors.messages, F_DUPFD_CLOEXEC, 3), "keep standard error")
        opened.append(memory.savedMessages)
        memory.passesOn = isatty(descriptors.messages) == 0
        memory.messageOutput = memory.savedMessages
        if !memory.passesOn {
            memory.messageOutput = try check(Self.openAgain(descriptors.messages), "open the messages' terminal")
            opened.append(memory.messageOutput)
        }
        let redirected = try makePipe()
        memory.pipe = redirected.read
        let bell = try makePipe()
        memory.bell = bell.write
        _ = fcntl(bell.write, F_SETFL, O_NONBLOCK)
        guard let frames = WakePipe() else {
            throw TerminalError(.system, attempting: "make a pipe for the screen", code: errno)
        }

        TerminalRestoration.memory.pointee = memory
        TerminalRestoration.arm()
        var settings = Self.keysOneByOne(memory.settings)
        guard
            tcsetattr(descriptors.input, TCSANOW, &settings) == 0,
            dup2(redirected.write, descriptors.messages) >= 0
        else {
            let code = errno
            TerminalRestoration.restoreSettings()
            TerminalRestoration.disarm()
            throw TerminalError(.system, attempting: "set up the terminal", code: code)
        }
        Glibc.close(redirected.write)

        self.memory = memory
        self.bell = bell.read
        self.frames = frames
        colors = TerminalColors(environment: environment)
        state = Mutex(State(size: Self.size(of: memory.output)))
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        isComplete = true
        DetachedThread.start(name: "screen") { self.write() }
        DetachedThread.start(name: "keys") { self.read() }
    }

    // MARK: Using it

    /// The size of the terminal; 80×24 where it knows none.
    public var size: TerminalCanvas.Size { state.withLock(\.size) }

    /// Draws a frame, and returns at once. A frame that was not begun when the next one comes is dropped. One that is
    /// larger than the terminal is not drawn: an event asks for another one.
    public func draw(_ frame: TerminalCanvas) {
        state.withLock {
            $0.frame = frame
            $0.isDrawn = false
        }
        frames.ring()
    }

    /// Restores the terminal, finishes ``events``, and repeats on standard error the last ``repeatedLines`` lines that
    /// were written there, if it is a terminal. Nothing happens if the session is closed.
    ///
    /// Blocks until the terminal and standard error have taken what was being written, some seconds at most.
    public func close() {
        let isFirst = state.withLock { state in
            defer { state.end = state.end ?? ContinuousClock.now + Self.patience }
            return state.end == nil
        }
        guard isFirst else { return }
        frames.ring()
        // The writing thread gives up by itself, unless the system holds it.
        let hasWritten = writing.wait(timeout: .now() + 2) == .success
        dup2(memory.savedMessages, memory.messages)
        state.withLock { $0.isOver = true }
        var byte: UInt8 = 1
        _ = Glibc.write(memory.bell, &byte, 1)
        let hasRead = reading.wait(timeout: .now() + 2) == .success
        TerminalRestoration.restoreSettings()
        TerminalRestoration.disarm()
        if !memory.passesOn { _ = TerminalRestoration.writeMessages(lines: Self.repeatedLines) }
        // A thread that still runs keeps its descriptors.
        if hasWritten { Glibc.close(memory.output) }
        if hasRead {
            for descriptor in [memory.pipe, memory.bell, bell, memory.savedMessages] { Glibc.close(descriptor) }
            if !memory.passesOn { Glibc.close(memory.messageOutput) }
        }
        Self.isOpen.withLock { $0 = false }
    }

    /// Restores the terminal of the open session, if there is one, in a process that is about to end without
    /// ``close()``. Safe in a signal handler.
    public static func restoreNow() { TerminalRestoration.restore() }

    // MARK: Settings

    /// The terminal, opened once more: only so can writes be kept from waiting, without changing what other programs
    /// share. Where it has no name here, the same descriptor.
    private static func openAgain(_ descriptor: Int32) -> Int32 {
        var name = [CChar](repeating: 0, count: 256)
        if ttyname_r(descriptor, &name, name.count) == 0 {
            let again = open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            if again >= 0 { return again }
        }
        return fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }

    /// No lines and no echo; interrupting stays, suspending and quitting do not, and no key stops the output.
    private static func keysOneByOne(_ settings: termios) -> termios {
        var settings = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHONL | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON | IXOFF)
        withUnsafeMutableBytes(of: &settings.c_cc) { keys in
            keys[Int(VSUSP)] = 0
            keys[Int(VQUIT)] = 0
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        return settings
    }

    private static func size(of terminal: Int32) -> TerminalCanvas.Size {
        var window = winsize()
        guard ioctl(terminal, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return TerminalCanvas.Size(columns: 80, rows: 24)
        }
        return TerminalCanvas.Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    // MARK: The thread that writes

    private func write() {
        let entering = Array("\u{1B}[?1049h\u{1B}[?7l\u{1B}[?25l".utf8)
        var isThere = send(entering)
        var shown: TerminalCanvas?
        while true {
            let (frame, isSpoiled, isLeft, isEnding) = state.withLock { state in
                defer {
                    (state.isDrawn, state.isSpoiled, state.isLeft) = (true, state.isSpoiled && state.isDrawn, false)
                }
                return (state.isDrawn ? nil : state.frame, state.isSpoiled, state.isLeft, state.end != nil)
            }
            if isEnding { break }
            if isLeft { isThere = isThere && send(entering) }
            guard let frame else {
                _ = frames.wait(for: -1, 0, until: nil)
                continue
            }
            if isSpoiled { shown = nil }
            let size = size
            guard isThere, frame.size.columns <= size.columns, frame.size.rows <= size.rows else { continue }
            isThere = send(frame.difference(from: shown, colors: colors))
            shown = frame
        }
        let leaving = TerminalRestoration.leaving
        if !send(Array(UnsafeBufferPointer(start: leaving.utf8Start, count: leaving.utf8CodeUnitCount))) {
            // A terminal that takes nothing has more waiting than room: it finds the end in place of that.
            tcflush(memory.output, TCOFLUSH)
            _ = Glibc.write(memory.output, leaving.utf8Start, leaving.utf8CodeUnitCount)
        }
        writing.signal()
    }

    /// Writes all of it and reports whether that went well: until the terminal is gone, or is given up in ``close()``.
    private func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(memory.output, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                let end = state.withLock(\.end)
                if let end, ContinuousClock.now >= end { return false }
                _ = frames.wait(for: memory.output, Int(POLLOUT), until: end)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    // MARK: The thread that reads

    private func read() {
        var input = memory.input
        var parser = TerminalKeyParser()
        var isPassedOn = true
        while !state.withLock(\.isOver) {
            var watched = [input, memory.pipe, bell].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            // Whoever reads no messages holds up those who write them, as without a screen, but not the screen.
            if !isPassedOn { watched[1] = pollfd(fd: memory.messageOutput, events: Int16(POLLOUT), revents: 0) }
            let count = poll(&watched, 3, parser.isWaiting ? Self.escapeMilliseconds : -1)
            if count == 0 { handle(parser.timeOut()) }
            guard count > 0 else { continue }
            if watched[0].revents != 0 {
                if let bytes = take(input) {
                    handle(parser.keys(in: bytes))
                } else {
                    input = -1
                    continuation.finish()
                }
            }
            if watched[1].revents != 0 { isPassedOn = takeMessages() }
            if watched[2].revents != 0 {
                while let numbers = take(bell), !numbers.isEmpty {
                    if numbers.contains(UInt8(SIGCONT)) { takeBack() }
                }
                takeSize()
            }
        }
        _ = takeMessages(within: TerminalRestoration.patience)
        continuation.finish()
        reading.signal()
    }

    /// What can be read, or `nil` at the end of it.
    private func take(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        if count > 0 { return Array(bytes.prefix(count)) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil
    }

    private func handle(_ keys: [TerminalKey]) {
        for key in keys {
            if key == .redraw { drawAnew() }
            continuation.yield(.key(key))
        }
    }

    private func drawAnew(afterLeaving isLeft: Bool = false) {
        state.withLock {
            ($0.isSpoiled, $0.isDrawn) = (true, $0.frame == nil)
            if isLeft { $0.isLeft = true }
        }
        frames.ring()
    }

    /// Takes the terminal again after this process was stopped: a shell has used it meanwhile.
    private func takeBack() {
        // In the background it is somebody else's.
        let owner = tcgetpgrp(memory.input)
        guard owner < 0 || owner == getpgrp() else { return }
        var settings = Self.keysOneByOne(memory.settings)
        tcsetattr(memory.input, TCSANOW, &settings)
        drawAnew(afterLeaving: true)
    }

    private func takeSize() {
        let size = Self.size(of: memory.output)
        let isNew = state.withLock { state in
            defer { state.size = size }
            guard state.size != size else { return false }
            // Terminals move what they show when their size changes.
            state.isSpoiled = true
            return true
        }
        if isNew { continuation.yield(.resized(size)) }
    }

    /// Reads what came on standard error, into the ring, where a signal handler finds it, and passes it on where that is
    /// to be. Reports whether all could be passed on in that time.
    private func takeMessages(within milliseconds: Int32 = 0) -> Bool {
        let (ring, size) = (TerminalRestoration.ring, TerminalRestoration.ringSize)
        defer { TerminalRestoration.isTaking.store(false, ordering: .releasing) }
        while true {
            TerminalRestoration.isTaking.store(true, ordering: .sequentiallyConsistent)
            if memory.passesOn, !TerminalRestoration.passOn(within: milliseconds) { return false }
            let total = TerminalRestoration.received.load(ordering: .relaxed)
            let start = total & (size - 1)
            let count = Glibc.read(memory.pipe, ring + start, size - start)
            guard count > 0 else { return true }
            TerminalRestoration.received.store(total + count, ordering: .releasing)
            TerminalRestoration.isTaking.store(false, ordering: .releasing)
        }
    }
}
