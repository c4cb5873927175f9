import Foundation
import Synchronization

extension Process {
    private static let starting = Mutex(())

    /// Starts the program, not two at a time: Foundation learns of a program's end by a socket, and a program that starts
    /// meanwhile would inherit it and keep it open for as long as it runs.
    package func start() throws {
        try Self.starting.withLock { _ in try run() }
    }
}
