import Glibc

/// What wakes a thread that waits in `poll(2)`: a pipe. It lives as long as anybody may ring it.
package final class WakePipe: Sendable {
    /// Can be read from when it was rung.
    package let descriptor: Int32
    private let end: Int32

    /// A pipe, or `nil` when the process has no descriptors left (see `errno`).
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, end) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(end)
    }

    /// Wakes the thread. A pipe that is full has been rung already.
    package func ring() { write(end, [1], 1) }

    /// Takes away what was rung.
    package func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }

    /// Waits for something on a descriptor, or for the pipe, which is then silenced.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor; a negative one is passed over.
    ///   - events: what to wait for, as `POLLIN`.
    ///   - end: when to give up; `nil` is never.
    /// - Returns: what was found on the descriptor, or 0.
    package func wait(for descriptor: Int32, _ events: Int, until end: ContinuousClock.Instant?) -> Int {
        var descriptors = [
            pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0),
            pollfd(fd: self.descriptor, events: Int16(truncatingIfNeeded: Int(POLLIN)), revents: 0),
        ]
        var time: Int32 = -1
        if let end {
            // Rounded up, so as not to look again and again within the last millisecond.
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            time = Int32(min(max(0, left.rounded(.up)), 3_600_000))
        }
        guard poll(&descriptors, 2, time) > 0 else { return 0 }
        if descriptors[1].revents != 0 { silence() }
        return Int(descriptors[0].revents)
    }
}
