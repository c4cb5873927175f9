import Foundation
import Synchronization

extension Process {
    fileprivate static let starting = Mutex(())

    /// Starts the program, which blocks no signal, though threads of Dispatch block them all: nothing but SIGKILL would end
    /// it.
    ///
    /// Not two start at a time: Foundation learns of a program's end by a socket, and a program that starts meanwhile would
    /// inherit it and keep it open for as long as it runs. Its pipes no other program inherits.
    package func start() throws {
        try Self.starting.withLock { _ in
            for case let pipe as Pipe in [standardInput, standardOutput, standardError] {
                for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                    _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
                }
            }
            var (none, before) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            try run()
        }
    }
}

/// Writes a program that can be run: while a program that was started meanwhile has inherited the open file, it is busy
/// (`ETXTBSY`).
package func writeProgram(to path: String, _ write: () throws -> Void) rethrows {
    try Process.starting.withLock { _ in try write() }
    chmod(path, 0o755)
    // Others start programs too, which close what they inherit: a lease is refused for as long as anybody can write.
    // F_SETLEASE, which Swift's module of the C library omits.
    let setLease: Int32 = 1024
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    for _ in 0..<10_000 where fcntl(file, setLease, Int32(F_RDLCK)) != 0 && errno == EAGAIN { usleep(1000) }
    _ = fcntl(file, setLease, Int32(F_UNLCK))
}

/// Writes a script that can be run.
package func writeProgram(_ script: String, to path: String) throws {
    try writeProgram(to: path) { try Data(script.utf8).write(to: URL(fileURLWithPath: path)) }
}

/// Writes to a program that may not read it all, on a thread of its own, in which that is no signal.
package func write(_ data: Data, to pipe: Pipe) {
    Thread.detachNewThread {
        var broken = sigset_t()
        sigemptyset(&broken)
        sigaddset(&broken, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &broken, nil)
        try? pipe.fileHandleForWriting.write(contentsOf: data)
        try? pipe.fileHandleForWriting.close()
    }
}
