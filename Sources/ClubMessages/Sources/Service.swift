import ClubRecords
import Synchronization

/// What a ``ServiceThread`` runs.
protocol ThreadServer: AnyObject, Sendable {
    var thread: ServiceThread { get }

    /// Serves until the thread is to end.
    ///
    /// - Parameter started: called once, before it serves, or where it cannot.
    func run(_ started: (Result<Void, ClubError>) -> Void)
}

/// Starts a server and ends it, one at a time.
final class Service<Server: ThreadServer>: Sendable {
    private let server = Mutex<Server?>(nil)

    deinit {
        current?.thread.stop()
    }

    /// The server that was started and not ended.
    var current: Server? { server.withLock(\.self) }

    /// Starts a server, and waits until it serves. Nothing happens if there is one.
    func start(
        name: String,
        _ attempt: String,
        _ make: (ServiceThread) -> Server
    ) async throws(ClubError) {
        let new = make(try ServiceThread(attempt))
        let isMine = server.withLock { server in
            guard server == nil else { return false }
            server = new
            return true
        }
        guard isMine else { return }
        do throws(ClubError) {
            try await new.thread.start(name: name) { started in new.run(started) }
        } catch {
            server.withLock { $0 = nil }
            throw error
        }
    }

    /// Ends the server, and waits until it has.
    func stop() async {
        let old = server.withLock { server in
            defer { server = nil }
            return server
        }
        await old?.thread.stopped()
    }
}
