import Foundation
import ReaderKit
import Synchronization

/// Ends the work of a tool in good order when a person interrupts it.
package enum Interruption {
    /// What is done before a second signal ends the process, such as restoring the terminal.
    package static let lastAct = Mutex<@Sendable () -> Void>({})

    /// Runs the work; on `SIGINT`, `SIGTERM` or `SIGHUP` its task is cancelled, and once it has ended this throws exit
    /// code 130.
    ///
    /// A second signal ends the process at once.
    static func stopping(_ work: @escaping @Sendable () async throws -> Void) async throws {
        let isInterrupted = Latch()
        // Before the work, which may take a signal for itself for a while: it would be taken from it again.
        takeSignals()
        let task = Task { try await work() }
        listen {
            if isInterrupted.raise() {
                lastAct.withLock { $0 }()
                _exit(ToolExit.interrupted.rawValue)
            }
            task.cancel()
        }
        do {
            try await task.value
        } catch {
            guard isInterrupted.isRaised else { throw error }
        }
        if isInterrupted.isRaised { throw ToolExit.interrupted }
    }

    /// Lets signals go to the pipe, where none is lost until somebody listens.
    private static func takeSignals() {
        // Made before a handler could need it.
        _ = SignalPipe.ends
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var action = sigaction()
            // 'nohup' asks that the end of a terminal be passed over.
            if number == SIGHUP, sigaction(number, nil, &action) == 0, isIgnored(action) { continue }
            action.__sigaction_handler.sa_handler = { _ in
                let saved = errno
                var byte: UInt8 = 1
                _ = write(SignalPipe.ends.write, &byte, 1)
                errno = saved
            }
            sigaction(number, &action, nil)
        }
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        // `SIG_IGN` is a number, which Swift shows as a function that cannot be compared.
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Calls the closure for each signal, on a thread of its own.
    private static func listen(_ received: @escaping @Sendable () -> Void) {
        let pipe = SignalPipe.ends
        DetachedThread.start(name: "signals") {
            var byte: UInt8 = 0
            while true {
                let count = read(pipe.read, &byte, 1)
                if count == 1 { received() }
                if count == 0 || (count < 0 && errno != EINTR) { return }
            }
        }
    }

    /// What a signal handler may do is little: it writes a byte here.
    private enum SignalPipe {
        static let ends = makePipe() ?? (-1, -1)
    }
}

/// Makes a pipe that programs which are started do not get; `nil` if none is available (`errno` states why).
package func makePipe() -> (read: Int32, write: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}

/// What can be raised once, from whatever thread.
final class Latch: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .sequentiallyConsistent) }

    /// Raises the flag and reports whether it was raised before.
    @discardableResult func raise() -> Bool { value.exchange(true, ordering: .sequentiallyConsistent) }
}

/// Work that waits for a person or a pipe, on a thread of its own: the threads of the concurrency runtime are few.
package enum BlockingThread {
    /// Runs the work; it looks at the cancellation that it is passed, which is that of this task.
    package static func run<Result: Sendable>(
        name: String,
        _ work: @escaping @Sendable (CardOnReader.Cancellation) throws -> Result
    ) async throws -> Result {
        try await CardOnReader.Cancellation.during { cancellation in
            try await withCheckedThrowingContinuation { continuation in
                DetachedThread.start(name: name) {
                    continuation.resume(with: Swift.Result { try work(cancellation) })
                }
            }
        }
    }
}
