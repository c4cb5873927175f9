import CLinux
import CardCore
import Foundation
import ReaderKit
import Synchronization

/// The machine that the checks look at, or a folder that stands for one.
///
/// All paths that checks name go through it, so that a test, or somebody with the files of another machine, can have them
/// looked at elsewhere. Nothing here changes anything.
public struct Machine: Sendable {
    /// Who uses the readers.
    public struct User: Sendable, Hashable {
        /// The login name.
        public var name: String
        /// The number.
        public var id: UInt32
        /// The groups, by number.
        public var groups: Set<UInt32>

        /// Creates a user from what the system knows of it.
        public init(name: String, id: UInt32, groups: Set<UInt32>) {
            self.name = name
            self.id = id
            self.groups = groups
        }

        /// The user of this process.
        public static var current: User {
            var groups = [gid_t](repeating: 0, count: 256)
            let count = getgroups(Int32(groups.count), &groups)
            let name = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
            return User(name: name, id: geteuid(), groups: Set(groups.prefix(Int(max(0, count))) + [getegid()]))
        }

        /// Returns a user of this machine by the login name, and where their files are; `nil` if there is none.
        public static func named(_ name: String) -> (user: User, home: String)? {
            guard let entry = getpwnam(name)?.pointee else { return nil }
            var groups = [gid_t](repeating: 0, count: 256)
            var count = Int32(groups.count)
            let home = String(cString: entry.pw_dir)
            getgrouplist(name, entry.pw_gid, &groups, &count)
            return (User(name: name, id: entry.pw_uid, groups: Set(groups.prefix(Int(max(0, min(count, 256)))))), home)
        }
    }

    /// What stands before every path: empty for this machine.
    public let root: String
    /// The environment of the programs that use the readers.
    public let environment: [String: String]
    /// Who uses the readers.
    public let user: User
    /// The present.
    public let now: Date
    /// Asks the libraries, in processes of their own; each at most once.
    let probes: ProbeResults

    /// This machine.
    ///
    /// - Parameters:
    ///   - user: who uses the readers.
    ///   - probe: how the libraries of readers are asked. Without it checks that would call them find nothing out.
    public init(
        user: User = .current,
        probe: ProbeRunner? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.init(root: "", environment: environment, user: user, probe: probe)
    }

    /// A folder with the files of a machine.
    ///
    /// - Parameter root: what stands before each path.
    public init(
        root: String,
        environment: [String: String] = [:],
        user: User = User(name: "kiosk", id: 1000, groups: [1000]),
        now: Date = Date(),
        probe: ProbeRunner? = nil
    ) {
        self.root = root
        self.environment = environment
        self.user = user
        self.now = now
        probes = ProbeResults(probe)
    }

    // MARK: - Files

    /// Returns the contents of a file as text.
    ///
    /// - Parameter limit: how many bytes of it are read at most.
    /// - Returns: `nil` if it may not be read, or is not there.
    public func text(_ path: String, atMost limit: Int = 1 << 20) -> String? {
        bytes(path, atMost: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the first bytes of a file; `nil` if it may not be read, or is not there.
    public func bytes(_ path: String, atMost limit: Int) -> [UInt8]? {
        // Files of /proc and /sys have no length, pipes would hang.
        let file = open(root + path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return (try? FileSteps.read(file, until: limit - 1)).map { Array($0.prefix(limit)) }
    }

    /// Returns a file's only line without the spaces round it; `nil` if it cannot be read or is empty.
    public func line(_ path: String) -> String? {
        let line = text(path, atMost: 4096)?.trimmingCharacters(in: .whitespacesAndNewlines)
        return line?.isEmpty == false ? line : nil
    }

    /// Returns the decimal number that a file holds.
    public func number(_ path: String) -> Int? { line(path).flatMap { Int($0) } }

    /// Returns the names in a folder, sorted; none if it cannot be read.
    public func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []).sorted()
    }

    /// Whether there is something of that name, links followed.
    public func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    /// Returns what a link leads to, as it stands there.
    public func link(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: root + path)
    }

    /// Returns the last part of what a link leads to.
    func linkName(_ path: String) -> String? { link(path)?.split(separator: "/").last.map(String.init) }

    /// Returns what `stat(2)` reports, links followed.
    public func status(_ path: String) -> stat? {
        var status = stat()
        return stat(root + path, &status) == 0 ? status : nil
    }

    /// Whether the ``user`` may read, and write, a file or device; `nil` if it is not there.
    public func mayOpen(_ path: String, writing: Bool) -> Bool? {
        // Access lists are known to the kernel alone, which answers for the user of this process.
        if user.id == geteuid(), exists(path) { return access(root + path, writing ? R_OK | W_OK : R_OK) == 0 }
        return mayOpen(path, writing: writing, as: user)
    }

    /// Opens files with the rights of ``user`` where this process is root's, also one that works as somebody else, and
    /// the machine is this one; on this thread alone. The body starts no process.
    ///
    /// - Parameter own: the group of what is made.
    package func asUser<Value, Failure>(
        group own: gid_t? = nil,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let worker = geteuid()
        guard root.isEmpty, getuid() == 0, user.id != worker else { return try body() }
        // Nothing is made as a user who is not meant. Root that only judges for a user whom a namespace lacks goes on as root.
        func require(_ isDone: Bool) { precondition(isDone || worker == 0, "a thread could not change its user") }
        if worker != 0 { require(clinux_set_thread_user(0) == 0) }
        defer { if worker != 0 { require(clinux_set_thread_user(worker) == 0) } }
        var former = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(Int32(former.count), &former)
        _ = clinux_set_thread_groups(user.groups.count, Array(user.groups))
        let group = setfsgid(own ?? user.groups.first ?? gid_t.max)
        let owner = setfsuid(user.id)
        require(setfsuid(uid_t.max) == Int32(bitPattern: user.id))
        defer {
            setfsuid(uid_t(owner))
            setfsgid(gid_t(group))
            _ = clinux_set_thread_groups(Int(max(0, count)), former)
        }
        return try body()
    }

    /// The first group of the user as whom this thread opens files, also within ``asUser(_:)``.
    package static var groupOfThread: UInt32? {
        // A service may not even ask.
        let user = setfsuid(uid_t.max)
        return getpwuid(user < 0 ? geteuid() : UInt32(bitPattern: user))?.pointee.pw_gid
    }

    /// Whether this process sees and may change everything.
    package var isRoot: Bool { root.isEmpty ? geteuid() == 0 : user.id == 0 }

    /// Whether another user may, by owner, group and mode.
    func mayOpen(_ path: String, writing: Bool, as user: User) -> Bool? {
        guard let status = status(path) else { return nil }
        if user.id == 0 { return true }
        let wanted: UInt32 = writing ? 6 : 4
        let mode = status.st_mode
        if status.st_uid == user.id { return mode >> 6 & wanted == wanted }
        return (user.groups.contains(status.st_gid) ? mode >> 3 : mode) & wanted == wanted
    }

    // MARK: - Programs

    var programs: RunningPrograms { RunningPrograms(root: root + "/proc") }

    /// Returns the programs that have a device open, without those of the kiosk and of this process. Those of other users
    /// are seen by root only.
    func holders(of device: String) -> [RunningPrograms.Program] {
        programs.holders(of: device).filter { !programs.isOwn($0.pid) && !Self.kiosks.contains($0.name) }
    }

    /// The programs that use PC/SC, without those of the kiosk and of this process.
    var pcscClients: PCSCClients {
        PCSCClients(root: root + "/proc") { [programs] in programs.isOwn($0.pid) || Self.kiosks.contains($0.name) }
    }

    /// Programs that are meant to have the reader.
    static let kiosks: Set<String> = ["clubctl", "readerctl"]

    /// The pcscd that runs, which is not the one that another check asks for its version.
    var daemon: RunningPrograms.Program? { programs.all().first { $0.name == "pcscd" && !programs.isOwn($0.pid) } }

    /// Returns where a program is, in the folders of programs.
    func path(ofProgram name: String) -> String? {
        ["/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/", "/usr/local/sbin/", "/usr/local/bin/"].map { $0 + name }
            .first { access(root + $0, X_OK) == 0 }
    }

    /// Runs a program that only reports something, without a shell and with no input.
    ///
    /// - Parameter limit: it is killed when it takes longer.
    /// - Returns: `nil` if it is not installed.
    public func run(_ name: String, _ arguments: [String], within limit: Duration = .seconds(2)) -> ProgramOutcome? {
        path(ofProgram: name).map { path in
            ProgramOutcome(running: root + path, arguments, environment: ["LC_ALL": "C"], within: limit)
        }
    }

    /// Returns the version of an installed package of Debian.
    func version(ofPackage name: String) -> String? {
        guard let text = text("/var/lib/dpkg/status", atMost: 64 << 20) else { return nil }
        guard let start = text.range(of: "Package: \(name)\n") else { return nil }
        let entry = text[start.lowerBound...].prefix(4096).components(separatedBy: "\n\n")[0]
        let lines = entry.split(separator: "\n")
        guard lines.contains("Status: install ok installed") else { return nil }
        return lines.first { $0.hasPrefix("Version: ") }.map { String($0.dropFirst(9)) }
    }

    /// The TCP ports below 65536 on which something listens for other machines.
    func openPorts() -> Set<Int> {
        var ports: Set<Int> = []
        for (file, loopback) in [("tcp", "0100007F"), ("tcp6", "00000000000000000000000001000000")] {
            for line in (text("/proc/net/\(file)") ?? "").split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ")
                // 0A: listening.
                guard fields.count > 3, fields[3] == "0A" else { continue }
                let address = fields[1].split(separator: ":")
                guard address.count == 2, address[0] != loopback, let port = Int(address[1], radix: 16) else {
                    continue
                }
                ports.insert(port)
            }
        }
        return ports
    }
}

/// What a program did that was run to its end.
public struct ProgramOutcome: Sendable, Hashable {
    /// The exit code; `nil` if a signal ended it, or it was killed.
    public var status: Int32?
    /// Its standard output, the first part of it.
    public var output = ""
    /// Whether it was killed because it took too long.
    public var isOverTime = false
    /// Why it could not be started (`errno`); `nil` if it was.
    public var startError: Int32?
}

extension ProgramOutcome {
    /// Runs a program, on the calling thread. What it prints to standard error is dropped.
    ///
    /// - Parameters:
    ///   - environment: what its environment has besides that of this process.
    ///   - merged: whether standard error is part of the output.
    package init(
        running path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        within limit: Duration,
        merged: Bool = false
    ) {
        self.init()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            startError = errno
            return
        }
        for file in ends { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
        let (process, error) = ChildProcess.start(
            path,
            arguments,
            isGroup: true,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            output: .file(ends[1]),
            errors: merged ? .file(ends[1]) : .null
        )
        close(ends[1])
        defer { close(ends[0]) }
        guard error == 0 else {
            startError = error
            return
        }

        let end = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let left = Int32(max(0, ContinuousClock.now.duration(to: end).seconds * 1000))
            var wanted = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            let ready = poll(&wanted, 1, left)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { break }
            let count = read(ends[0], &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if bytes.count < 1 << 20 { bytes += part[..<count] }
        }
        output = String(decoding: bytes, as: UTF8.self)
        status = Self.wait(for: process, until: end, &isOverTime)
    }

    /// Waits for a process, and kills it and what it started at its time.
    private static func wait(
        for process: pid_t,
        until end: ContinuousClock.Instant,
        _ isOverTime: inout Bool
    ) -> Int32? {
        var status: Int32 = 0
        // One that waits inside the kernel for a device does not even end when it is killed: nobody waits for that.
        var last = end
        while true {
            let result = waitpid(process, &status, WNOHANG)
            if result == process { return !isOverTime && status & 0x7F == 0 ? status >> 8 & 0xFF : nil }
            if result < 0, errno != EINTR { return nil }
            if ContinuousClock.now >= last {
                if isOverTime {
                    // It is a zombie until somebody waits for it.
                    DetachedThread.start(name: "reap") { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
                    return nil
                }
                isOverTime = true
                last += .milliseconds(200)
                kill(-process, SIGKILL)
            }
            usleep(2_000)
        }
    }
}
