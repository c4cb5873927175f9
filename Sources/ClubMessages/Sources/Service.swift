import CardCore
import ClubRecords
import Foundation
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
    func start(name: String, _ attempt: String, _ make: (ServiceThread) -> Server) async throws(ClubError) {
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

    func stop() async {
        let old = server.withLock { $0.take() }
        await old?.thread.stopped()
    }
}

/// A thread that serves something until it is asked to end. What it waits in watches ``bell``.
final class ServiceThread: Sendable {
    /// Rung when there is something to look at, such as ``isEnding``.
    let bell: WakePipe

    private let ending = Atomic(false)
    private let ended = OneAnswer<Void>()

    /// - Throws: where this program has no descriptors left.
    init(_ attempt: String) throws(ClubError) {
        guard let bell = WakePipe() else { throw ClubError(errno: errno, attempting: attempt) }
        self.bell = bell
    }

    var isEnding: Bool { ending.load(ordering: .acquiring) }

    /// Starts the thread, and waits until it reports how that went. To be called once.
    ///
    /// - Parameter run: is passed what to call once, before it serves. Its end is the thread's.
    func start(
        name: String,
        _ run: @escaping @Sendable (_ started: (Result<Void, ClubError>) -> Void) -> Void
    ) async throws(ClubError) {
        let answer = OneAnswer<Result<Void, ClubError>>()
        DetachedThread.start(name: name) {
            run { answer.give($0) }
            self.ended.give(())
        }
        try await answer.value().get()
    }

    /// Asks the thread to end.
    func stop() {
        ending.store(true, ordering: .releasing)
        bell.ring()
    }

    /// Asks the thread, which is started or about to be, to end, and waits until it has. To be called once.
    func stopped() async {
        stop()
        await ended.value()
    }
}
