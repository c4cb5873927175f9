import Foundation
import Glibc
import ReaderKit
import Synchronization

/// A pcscd for tests: started, killed and restarted as a direct child of the test.
///
/// It must not run beside the machine's own, so it starts only where `Scripts/isolated` has made a place for it. All
/// methods block for as long as they state; call them from synchronous code, not from a task that others wait for.
///
/// A child that is not waited for counts as running for the next pcscd, which is why nobody else may start or reap it.
public final class PCSCDaemon: Sendable {
    /// Whether this process has a `/run/pcscd` and a network of its own (`Scripts/isolated`).
    public static var isIsolated: Bool {
        guard let value = getenv("READERKIT_ISOLATED") else { return false }
        return String(cString: value) == "1"
    }

    /// The folder of its socket and its process number.
    public static let folder = "/run/pcscd"

    /// The program.
    public let path: String

    /// Where its messages go, or `nil` to drop them.
    public let log: String?

    /// What it adds to the names of readers, so that a virtual reader passes for one of another make.
    public let nameSuffix: String

    private let child = Mutex<pid_t?>(nil)

    /// Starts a daemon and waits until it serves, and the virtual reader too where that is wanted; its messages are
    /// appended to a log, if there is one. Throws ``PCSCDaemonError``.
    public init(
        path: String = "/usr/sbin/pcscd",
        log: String? = nil,
        virtualReader: Bool = true,
        nameSuffix: String = ""
    ) throws(PCSCDaemonError) {
        self.path = path
        self.log = log
        self.nameSuffix = nameSuffix
        waitsForVirtualReader = virtualReader
        try start()
    }

    private let waitsForVirtualReader: Bool

    deinit { kill() }

    /// The process number, or `nil` while it is not running.
    public var processIdentifier: Int32? { child.withLock { $0 } }

    /// Ends it without warning (SIGKILL) and reaps it. Its files stay behind, as after a crash.
    public func kill() {
        child.withLock { child in
            guard let pid = child else { return }
            Glibc.kill(pid, SIGKILL)
            PCSCDaemon.reap(pid)
            child = nil
        }
    }

    /// Asks it to end (SIGTERM), waits up to 3 s, then kills it.
    public func terminate() {
        child.withLock { child in
            guard let pid = child else { return }
            Glibc.kill(pid, SIGTERM)
            let hasEnded = PCSCDaemon.wait(upTo: .seconds(3)) { PCSCDaemon.hasEnded(pid) != nil }
            if !hasEnded {
                Glibc.kill(pid, SIGKILL)
                PCSCDaemon.reap(pid)
            }
            child = nil
        }
    }

    /// Kills it if it runs, and starts it anew. Throws ``PCSCDaemonError``.
    public func restart() throws(PCSCDaemonError) {
        kill()
        try start()
    }

    /// Starts it after ``kill()`` or ``terminate()``; nothing happens if it runs. Throws ``PCSCDaemonError``.
    public func start() throws(PCSCDaemonError) {
        guard PCSCDaemon.isIsolated else { throw .notIsolated }
        if let pid = processIdentifier {
            // One that ended by itself is started once more.
            guard PCSCDaemon.hasEnded(pid) != nil else { return }
            child.withLock { $0 = nil }
        }
        for name in ["pcscd.comm", "pcscd.pid"] { unlink("\(PCSCDaemon.folder)/\(name)") }
        let pid = try spawn()
        child.withLock { $0 = pid }
        var ending: Int32?
        let isServing = PCSCDaemon.wait(upTo: .seconds(10)) {
            ending = PCSCDaemon.hasEnded(pid)
            return ending != nil || isReady
        }
        if let ending {
            child.withLock { $0 = nil }
            throw .ended(path: path, status: ending)
        }
        guard isServing else {
            kill()
            throw .silent(path: path)
        }
    }

    private var isReady: Bool {
        PCSCDaemon.accepts("\(PCSCDaemon.folder)/pcscd.comm")
            && (!waitsForVirtualReader || PCSCDaemon.listens(VirtualCardReader.firstPort))
    }

    // MARK: The process

    private func spawn() throws(PCSCDaemonError) -> pid_t {
        let stream = log.map { ChildProcess.Stream.appending($0) } ?? .null
        var environment = ProcessInfo.processInfo.environment
        if !nameSuffix.isEmpty { environment["PCSCLITE_FILTER_EXTEND_READER_NAMES"] = nameSuffix }
        let (pid, error) = ChildProcess.start(
            path,
            ["--foreground"],
            isGroup: false,
            environment: environment,
            output: stream,
            errors: stream
        )
        guard error == 0 else { throw .notStarted(path: path, error: error) }
        return pid
    }

    /// The status of a child that has ended, which is reaped by this, or `nil` while it runs.
    private static func hasEnded(_ pid: pid_t) -> Int32? {
        var status: Int32 = 0
        let result = waitpid(pid, &status, WNOHANG)
        return result == 0 ? nil : status
    }

    private static func reap(_ pid: pid_t) {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    private static func wait(upTo limit: Duration, until condition: () -> Bool) -> Bool {
        let end = ContinuousClock.now + limit
        while !condition() {
            guard ContinuousClock.now < end else { return false }
            usleep(5_000)
        }
        return true
    }

    private static func accepts(_ path: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    /// Whether a socket listens on that port. Connecting to find out would insert a card.
    private static func listens(_ port: UInt16) -> Bool {
        let wanted = ":" + [UInt8].bigEndian(Int(port), 2).hex + " "
        return ["/proc/net/tcp", "/proc/net/tcp6"].contains { path in
            let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
            return (text ?? "").split(separator: "\n").contains { line in
                // Local address, remote address, state; 0A is "listening".
                let fields = line.split(separator: " ")
                return fields.count > 3 && fields[3] == "0A" && (fields[1] + " ").hasSuffix(wanted)
            }
        }
    }

}

/// A pcscd for tests could not be started.
public enum PCSCDaemonError: Error, Sendable, Hashable {
    /// This process shares its readers with the machine.
    case notIsolated
    /// The program could not be started; `error` is the number of `errno`.
    case notStarted(path: String, error: Int32)
    /// It ended before it served; `status` is what `waitpid` returned.
    case ended(path: String, status: Int32)
    /// It runs and did not serve within 10 s.
    case silent(path: String)
}

extension PCSCDaemonError: CustomStringConvertible {
    /// What was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .notIsolated:
            "could not start a pcscd for tests: it would meet this machine's own. Run the tests with 'Scripts/isolated'."
        case .notStarted(let path, let error):
            "could not start \(path): \(String(cString: strerror(error))) (\(error)). Install the package pcscd."
        case .ended(let path, let status):
            "could not start \(path): it ended with wait status \(status). Give it a log file to see why."
        case .silent(let path):
            "could not start \(path): it does not serve. Install vsmartcard-vpcd, or give it a log file to see why."
        }
    }
}
