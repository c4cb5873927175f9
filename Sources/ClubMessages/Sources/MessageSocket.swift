import CardCore
import ClubRecords
import Foundation

/// Receives messages from other programs on this machine, through a Unix stream socket.
///
/// Each line of JSON, at most ``Message/longest`` bytes, is a message; the answer is a line of JSON with the
/// ``RoutingResult``. If there is none, it is `{"error":{"code":…,"message":…,"offset":…}}`: the code is one of
/// ``MessageError/Code``, of ``ClubError/Kind``, `tooManyConnections` or `notAllowed`; the offset, in bytes of the line
/// from 0, is present if known. Answers come in the order of the lines. Empty lines are ignored.
///
/// The socket's file has mode 0600, and peers must be this user or root according to the kernel. Up to 16 connections
/// are served at a time; one more replaces the connection that has been silent for longest and waits for nothing. A
/// client that does not read its answers, or sends half a line, delays only itself.
///
/// It runs on a thread of its own, which sleeps while nothing arrives.
public final class MessageSocket: Sendable {
    /// The maximum number of connections served at a time.
    public static let mostConnections = 16

    /// The path of the socket.
    public let path: String

    private let router: MessageRouter
    private let isAllowed: @Sendable (uid_t) -> Bool
    private let service = Service<SocketServer>()

    /// Creates a socket, which does not exist before ``start()``.
    ///
    /// - Parameters:
    ///   - path: at most 107 bytes; a relative one is from the current directory.
    ///   - router: the router of the messages.
    public convenience init(path: String, router: MessageRouter) {
        self.init(path: path, router: router) { $0 == 0 || $0 == geteuid() }
    }

    init(path: String, router: MessageRouter, isAllowed: @escaping @Sendable (uid_t) -> Bool) {
        self.path = FileSteps.absolute(path)
        self.router = router
        self.isAllowed = isAllowed
    }

    /// Creates the socket's file, and serves it until ``stop()``. Missing directories are created with mode 0700. A
    /// socket left by a killed program is replaced. Does nothing if started.
    ///
    /// - Throws: ``ClubError/Kind/fileExists`` if another program serves that socket, or the path is another file;
    ///   ``ClubError/Kind/invalidValue`` if it is too long.
    public func start() async throws(ClubError) {
        try await service.start(name: "message-socket", "serve messages on a socket") { thread in
            SocketServer(path: path, router: router, isAllowed: isAllowed, thread: thread)
        }
    }

    /// Closes all connections, and removes the socket's file. Accepted messages are processed nevertheless; their
    /// answers are not sent.
    public func stop() async {
        await service.stop()
    }

    var connections: Int { service.current?.connections ?? 0 }
    var wakeUps: Int { service.current?.wakeUps ?? 0 }
}

/// The file of a listening Unix socket.
struct SocketFile {
    private static let attempt = "serve messages on a socket"

    /// Listens, without waiting.
    let descriptor: Int32
    private let path: String
    /// The file's own numbers: for the descriptor the kernel reports other ones.
    private let identity: FileIdentity?

    init(_ path: String) throws(ClubError) {
        let folder = FileSteps.folder(of: path)
        do throws(FileSteps.Failure) {
            try FileSteps.makeDirectories(FileSteps.parent(of: path))
        } catch {
            throw ClubError(errno: error.code, attempting: Self.attempt)
        }
        var address = try Self.address(path)
        // Of two that start at once, the later one must not take the earlier one's file for one that was left behind.
        let lock = try Self.lock(folder)
        defer { close(lock) }
        try Self.removeStale(path, &address)
        let descriptor = try Self.makeSocket()
        // The kernel makes the file with this mode, less the umask: nobody else can connect at any moment.
        _ = fchmod(descriptor, 0o600)
        guard Self.call(bind, descriptor, &address) == 0 else {
            let code = errno
            close(descriptor)
            throw [EADDRINUSE, EEXIST].contains(code)
                ? ClubError(.fileExists, attempting: Self.attempt)
                : ClubError(errno: code, attempting: Self.attempt)
        }
        // An umask that takes away the owner's rights too.
        guard chmod(path, 0o600) == 0, listen(descriptor, 32) == 0 else {
            let code = errno
            unlink(path)
            close(descriptor)
            throw ClubError(errno: code, attempting: Self.attempt)
        }
        self.descriptor = descriptor
        self.path = path
        identity = FileIdentity(path)
    }

    /// Ends listening, and removes the file if it is still this one.
    func remove() {
        let lock = try? Self.lock(FileSteps.folder(of: path))
        if identity != nil, FileIdentity(path) == identity { unlink(path) }
        close(descriptor)
        if let lock { close(lock) }
    }

    /// A non-blocking stream socket.
    private static func makeSocket() throws(ClubError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw ClubError(errno: errno, attempting: attempt) }
        return descriptor
    }

    static func address(_ path: String) throws(ClubError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let longest = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard (1...longest).contains(bytes.count), !bytes.contains(0) else {
            let detail = "the path of a socket has at most \(longest) bytes"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    /// `bind` or `connect`.
    static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32,
        _ descriptor: Int32,
        _ address: inout sockaddr_un
    ) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Locks a folder against others who make or remove sockets in it. The lock ends with the descriptor.
    private static func lock(_ folder: String) throws(ClubError) -> Int32 {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ClubError(errno: errno, attempting: attempt) }
        for _ in 0..<500 {
            // A file system without locks states something else than that another has it.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return descriptor }
            usleep(10_000)
        }
        close(descriptor)
        throw ClubError(.fileExists, attempting: attempt, detail: "another program keeps its directory locked")
    }

    /// Removes a socket that nobody serves.
    private static func removeStale(_ path: String, _ address: inout sockaddr_un) throws(ClubError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ClubError(.fileExists, attempting: attempt, detail: "the path names something that is no socket")
        }
        let probe = try makeSocket()
        defer { close(probe) }
        let isConnected = call(connect, probe, &address) == 0
        let code = errno
        if !isConnected, code == ENOENT { return }
        // Anything else, such as a full queue, comes from a socket that is served, or that is not ours to judge.
        guard !isConnected, code == ECONNREFUSED else {
            throw ClubError(.fileExists, attempting: attempt, detail: "another program serves this socket")
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw ClubError(errno: errno, attempting: attempt) }
    }
}
