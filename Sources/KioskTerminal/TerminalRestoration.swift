import Glibc
import Synchronization

/// How the terminal was before a session, in memory that signal handlers may read.
///
/// A process has one terminal to restore. ``memory`` is filled before the handlers are set and read until they were taken
/// back; in between only atomic values change, and the ring, of which a handler may at worst print a line that is just
/// being written.
enum TerminalRestoration {
    struct Memory {
        var input: Int32 = -1
        var output: Int32 = -1
        /// The descriptor that is redirected, what it was, a way to write there, and the end of the pipe from which its
        /// text is read.
        var messages: Int32 = -1
        var savedMessages: Int32 = -1
        var messageOutput: Int32 = -1
        var pipe: Int32 = -1
        /// Whether messages are passed on as they come.
        var passesOn = false
        var settings = termios()
        /// Written to when the window has another size, or this process goes on after it was stopped: the number of the
        /// signal.
        var bell: Int32 = -1
    }

    private struct Death {
        var number: Int32
        var former = sigaction()
    }

    /// The signals that end a process which did something wrong, or of which a person wants the memory.
    private static let deathNumbers = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGQUIT]

    /// The size of ``ring`` in bytes, a power of 2.
    static let ringSize = 1 << 14

    // Plain memory that is never freed, since signal handlers can take no locks and count no references.
    nonisolated(unsafe) static let memory = allocate([Memory()])
    /// The last bytes of the messages.
    nonisolated(unsafe) static let ring = allocate([UInt8](repeating: 0, count: ringSize))
    nonisolated(unsafe) private static let deaths = allocate(deathNumbers.map { Death(number: $0) })
    /// The signals at which the bell is rung.
    private static let bellNumbers = [SIGWINCH, SIGCONT]
    nonisolated(unsafe) private static let formerBells = allocate(bellNumbers.map { _ in sigaction() })

    /// How many bytes of messages there were, and how many of them were passed on.
    static let received = Atomic(0), passedOn = Atomic(0)
    /// Whether messages were read that do not stand in ``ring`` yet, or are just passed on.
    static let isTaking = Atomic(false)
    /// Whether a terminal is to be restored. Whoever takes this down restores it.
    private static let isArmed = Atomic(false)

    private static func allocate<Value>(_ values: [Value]) -> UnsafeMutablePointer<Value> {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: values.count)
        for (index, value) in values.enumerated() { (memory + index).initialize(to: value) }
        return memory
    }

    /// `exit` from anywhere. Registered once.
    private static let atExit: Void = { _ = atexit { TerminalRestoration.restore() } }()

    /// Sets the handlers. All that they touch exists from here on.
    static func arm() {
        ring[0] = 0
        received.store(0, ordering: .sequentiallyConsistent)
        passedOn.store(0, ordering: .sequentiallyConsistent)
        isArmed.store(true, ordering: .sequentiallyConsistent)
        _ = atExit
        for index in 0..<deathNumbers.count {
            var action = sigaction()
            action.sa_flags = SA_ONSTACK | SA_SIGINFO
            action.__sigaction_handler.sa_sigaction = { TerminalRestoration.die($0, $1, $2) }
            sigaction(deaths[index].number, &action, &deaths[index].former)
        }
        for index in 0..<bellNumbers.count {
            var action = sigaction()
            action.sa_flags = SA_RESTART
            action.__sigaction_handler.sa_handler = { number in
                let saved = errno
                var byte = UInt8(number)
                _ = write(TerminalRestoration.memory.pointee.bell, &byte, 1)
                errno = saved
            }
            sigaction(bellNumbers[index], &action, formerBells + index)
        }
    }

    /// Takes the handlers back.
    static func disarm() {
        isArmed.store(false, ordering: .sequentiallyConsistent)
        for index in 0..<bellNumbers.count { sigaction(bellNumbers[index], formerBells + index, nil) }
        for index in 0..<deathNumbers.count { sigaction(deaths[index].number, &deaths[index].former, nil) }
    }

    /// Restores the terminal, lets the former handler report what happened, as Swift's does, and ends the process: that
    /// handler may return, and without a screen nobody would see that the process goes on.
    private static func die(
        _ number: Int32,
        _ info: UnsafeMutablePointer<siginfo_t>?,
        _ context: UnsafeMutableRawPointer?
    ) {
        restore()
        var death = deaths
        while death.pointee.number != number { death += 1 }
        if death.pointee.former.sa_flags & SA_SIGINFO != 0 {
            death.pointee.former.__sigaction_handler.sa_sigaction?(number, info, context)
        }
        signal(number, SIG_DFL)
        // Blocked until this handler has returned.
        raise(number)
    }

    // MARK: What may be called in a signal handler

    /// Leaves the screen: style, wrapping, cursor and the ordinary screen.
    static let leaving: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Restores the terminal and writes the last messages, unless that was done.
    static func restore() {
        guard isArmed.exchange(false, ordering: .sequentiallyConsistent) else { return }
        _ = write(memory.pointee.output, leaving.utf8Start, leaving.utf8CodeUnitCount)
        // Another thread may be about to draw. An end that can only be read refuses that.
        _ = dup2(memory.pointee.pipe, memory.pointee.output)
        restoreSettings()
        _ = dup2(memory.pointee.savedMessages, memory.pointee.messages)
        // Not for long: it may be that thread which dies.
        var milliseconds = 0
        while isTaking.load(ordering: .sequentiallyConsistent), milliseconds < 100 {
            usleep(1000)
            milliseconds += 1
        }
        guard writeMessages(lines: .max) else { return }
        // What was written last may not have been read yet: the reason of the end, often.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer in
            while true {
                let count = read(memory.pointee.pipe, buffer.baseAddress, buffer.count)
                guard count > 0, let start = buffer.baseAddress,
                    put(UnsafePointer(start), count, within: patience) == count
                else { return }
            }
        }
    }

    /// Restores the terminal's settings; what was typed and not read is dropped.
    static func restoreSettings() {
        _ = tcflush(memory.pointee.input, TCIFLUSH)
        _ = tcsetattr(memory.pointee.input, TCSANOW, &memory.pointee.settings)
    }

    /// How many milliseconds a writer waits for whoever reads the messages, before what is left is given up.
    static let patience: Int32 = 1000

    /// Writes the last lines of ``ring`` to where the messages went before, or all that were not passed on yet, and
    /// reports whether they were taken.
    static func writeMessages(lines: Int) -> Bool {
        if memory.pointee.passesOn { return passOn(within: patience) }
        let end = received.load(ordering: .acquiring)
        var start = end
        var count = 0
        while start > 0, start > end - ringSize {
            if start < end, ring[(start - 1) & (ringSize - 1)] == 0x0A {
                count += 1
                if count == lines { break }
            }
            start -= 1
        }
        passedOn.store(start, ordering: .releasing)
        return passOn(within: patience)
    }

    /// Writes what stands in ``ring`` and was not passed on, and reports whether all was taken.
    static func passOn(within milliseconds: Int32) -> Bool {
        let end = received.load(ordering: .acquiring)
        var start = passedOn.load(ordering: .acquiring)
        while start < end {
            let offset = start & (ringSize - 1)
            let count = min(end - start, ringSize - offset)
            let written = put(ring + offset, count, within: milliseconds)
            start += written
            passedOn.store(start, ordering: .releasing)
            if written < count { return false }
        }
        return true
    }

    /// Writes to where the messages went before as long as it is taken, and returns how many bytes were.
    private static func put(_ bytes: UnsafePointer<UInt8>, _ count: Int, within milliseconds: Int32) -> Int {
        var done = 0
        while done < count {
            var output = pollfd(fd: memory.pointee.messageOutput, events: Int16(POLLOUT), revents: 0)
            let isReady = poll(&output, 1, milliseconds)
            if isReady < 0, errno == EINTR { continue }
            guard isReady > 0 else { break }
            // A pipe that can be written to takes as many at once. One that nobody reads any more takes all.
            let written = write(memory.pointee.messageOutput, bytes + done, min(count - done, Int(PIPE_BUF)))
            if written < 0, errno == EINTR || (errno == EAGAIN && milliseconds > 0) { continue }
            guard written > 0 else { return errno == EAGAIN ? done : count }
            done += written
        }
        return done
    }
}
