import Foundation
import Synchronization

extension Process {
    fileprivate static let starting = Mutex(())

    /// Starts the program, which blocks no signal, though threads of Dispatch block them all: nothing but SIGKILL would end
    /// it.
    ///
    /// Not two start at a time: Foundation learns of a program's end by a socket, and a program that starts meanwhile would
    /// inherit it and keep it open for as long as it runs.
    package func start() throws {
        try Self.starting.withLock { _ in
            var (none, before) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            try run()
        }
    }
}

/// Writes a program that can be run, while none starts: one that inherited the open file would make it busy (`ETXTBSY`).
package func writeProgram(to path: String, _ write: () throws -> Void) rethrows {
    try Process.starting.withLock { _ in try write() }
    chmod(path, 0o755)
}

/// Writes a script that can be run.
package func writeProgram(_ script: String, to path: String) throws {
    try writeProgram(to: path) { try Data(script.utf8).write(to: URL(fileURLWithPath: path)) }
}
