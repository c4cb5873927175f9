import CardCore
import ClubRecords
import Foundation

/// Takes messages from other programs on this machine, through a Unix stream socket.
///
/// A line of JSON, at most ``Message/longest`` bytes, is a message; the answer is a line of JSON with the
/// ``RoutingResult``. Where there is none, it is `{"error":{"code":…,"message":…,"offset":…}}`: the code is one of
/// ``MessageError/Code``, of ``ClubError/Kind``, `tooManyConnections` or `notAllowed`; the offset, in bytes of the line
/// from 0, is there where it is known. Answers come in the order of the lines. Empty lines are passed over.
///
/// The socket's file has mode 0600, and peers must be this user or root as the kernel says it. Up to 16 connections are
/// served at a time; for one more, that gives way which has been silent for longest and waits for nothing. A client that
/// does not read its answers, or sends half a line, keeps nobody but itself waiting.
///
/// It works on a thread of its own, which sleeps while nothing comes.
public final class MessageSocket: Sendable {
    /// How many connections are served at a time.
    public static let mostConnections = 16

    /// Where the socket is.
    public let path: String

    private let router: MessageRouter
    private let isAllowed: @Sendable (uid_t) -> Bool
    private let service = Service<SocketServer>()

    /// A socket, which is not there before ``start()``.
    ///
    /// - Parameters:
    ///   - path: at most 107 bytes; a relative one is from the current directory.
    ///   - router: who gets the messages.
    public convenience init(path: String, router: MessageRouter) {
        self.init(path: path, router: router) { $0 == 0 || $0 == geteuid() }
    }

    init(path: String, router: MessageRouter, isAllowed: @escaping @Sendable (uid_t) -> Bool) {
        self.path = FileSteps.absolute(path)
        self.router = router
        self.isAllowed = isAllowed
    }

    /// Makes the socket's file, and serves it until ``stop()``. Directories that are missing are made with mode 0700. A
    /// socket that a killed program left behind is replaced. Starting what is started does nothing.
    ///
    /// - Throws: ``ClubError/Kind/fileExists`` if another program serves that socket, or the path names something else;
    ///   ``ClubError/Kind/invalidValue`` if it is too long.
    public func start() async throws(ClubError) {
        try await service.start(name: "message-socket", "serve messages on a socket") { thread in
            SocketServer(path: path, router: router, isAllowed: isAllowed, thread: thread)
        }
    }

    /// Ends all connections, and removes the socket's file. What was accepted is processed nevertheless; its answers are
    /// not given any more.
    public func stop() async {
        await service.stop()
    }

    /// How many connections there are.
    var connections: Int { service.current?.connections ?? 0 }

    /// How often the thread woke up.
    var wakeUps: Int { service.current?.wakeUps ?? 0 }
}
