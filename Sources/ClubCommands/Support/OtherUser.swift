import Diagnosis
import Foundation
import ReaderKit
import Synchronization
import ToolSupport

/// A user in whose place root works.
///
/// Root that works by names in a folder of somebody else's can be led elsewhere by them: by links, by folders that are
/// exchanged, by what SQLite does at a journal that was put beside a database.
struct OtherUser {
    let user: Machine.User
    let group: gid_t

    /// The one whom the kiosk's service runs as; `nil` without one, and where somebody else than root asks.
    static var service: OtherUser? {
        guard geteuid() == 0 else { return nil }
        return getpwnam(MachineDiagnosis.serviceUser(on: Machine()) ?? "clubkit").map(OtherUser.init)
    }

    /// The first one who can lead the way to a file elsewhere, since a folder or link on it is theirs; `nil` where all
    /// are root's.
    static func first(onWayTo path: String) -> OtherUser? { Way(to: path).first }

    /// Whether it is a user whom root could become. In a user namespace of a container's the machine's users are not.
    private static func isOther(_ user: uid_t) -> Bool {
        user != 0 && ids.contains { $0.contains(UInt64(user)) }
    }

    /// The users of this namespace.
    private static let ids: [Range<UInt64>] = {
        let map = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? "0 0 4294967295"
        return map.split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            return numbers.count == 3 ? numbers[0]..<numbers[0] + numbers[2] : nil
        }
    }()

    /// What is on the way to a file, through all links.
    private struct Way {
        /// The owner of the first folder or link that is not root's.
        private(set) var first: OtherUser?
        /// Whether others may put something into a folder of root's.
        private(set) var isOpen = false

        init(to path: String) {
            var (place, links) = ("", 0)
            var rest = FileSteps.absolute(path).split(separator: "/").map(String.init)[...]
            while first == nil, let name = rest.popFirst() {
                if name == ".." { place = FileSteps.parent(of: place) }
                if name == ".." || name == "." { continue }
                if place == "/" { place = "" }
                var status = stat()
                // What is not there is made in the folders before it.
                guard lstat(place + "/" + name, &status) == 0 else { return }
                let kind = status.st_mode & S_IFMT
                if kind == S_IFLNK || kind == S_IFDIR, OtherUser.isOther(status.st_uid) { first = OtherUser(status) }
                switch kind {
                case S_IFLNK:
                    links += 1
                    let link = place + "/" + name
                    guard links <= 40, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
                    else { return }
                    if target.hasPrefix("/") { place = "" }
                    rest = target.split(separator: "/").map(String.init) + rest
                case S_IFDIR:
                    place += "/" + name
                    if status.st_mode & 0o022 != 0, status.st_mode & S_ISVTX == 0 { isOpen = true }
                default: return
                }
            }
        }
    }

    private init(_ status: stat) {
        self =
            getpwuid(status.st_uid).map(OtherUser.init)
            ?? OtherUser(
                user: .init(name: "\(status.st_uid)", id: status.st_uid, groups: [status.st_gid]),
                status.st_gid
            )
    }

    private init(_ entry: UnsafeMutablePointer<passwd>) {
        let (name, id, group) = (String(cString: entry.pointee.pw_name), entry.pointee.pw_uid, entry.pointee.pw_gid)
        self.init(user: Machine.User.named(name)?.user ?? .init(name: name, id: id, groups: [group]), group)
    }

    private init(user: Machine.User, _ group: gid_t) { (self.user, self.group) = (user, group) }

    // MARK: - Working as another

    /// The database beside which root works as another user.
    private static let club = Mutex<String?>(nil)

    /// Works as the user to whom a club belongs from now on, in all threads, if root called and somebody else can lead the
    /// way to it elsewhere. Files of the caller are opened before, or ``asCaller(writing:_:)``.
    static func work(withClubAt path: String) throws {
        guard geteuid() == 0 else { return }
        let way = Way(to: path)
        guard way.first != nil || way.isOpen else { return }
        var status = stat()
        let isThere = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        if isThere, status.st_uid == 0, let first = way.first { throw MisplacedDatabase(path: path, owner: first) }
        guard let owner = isThere && isOther(status.st_uid) ? OtherUser(status) : way.first else { return }
        try owner.become()
        club.withLock { $0 = path }
        // One of root's alone.
        unsetenv("TMPDIR")
    }

    /// Works as that user for good: for programs that are started, which could be root again.
    static func stay() throws {
        guard isAtWork else { return }
        let (user, group) = (geteuid(), getegid())
        guard seteuid(0) == 0, setgid(group) == 0, setuid(user) == 0 else {
            throw ToolFailure("could not become another user for good: \(String(cString: strerror(errno))).")
        }
    }

    /// Does some work as that user, in all threads.
    func perform<Result>(_ work: () async throws -> Result) async throws -> Result {
        let groups = try become()
        defer { Self.restore(groups) }
        return try await work()
    }

    /// - Returns: the groups of before.
    @discardableResult
    private func become() throws -> [gid_t] {
        var former = [gid_t](repeating: 0, count: 65_536)
        former.removeLast(former.count - Int(max(0, getgroups(Int32(former.count), &former))))
        let groups = Array(user.groups)
        guard setgroups(groups.count, groups) == 0, setegid(group) == 0, seteuid(user.id) == 0 else {
            let reason = String(cString: strerror(errno))
            Self.restore(former)
            throw ToolFailure("could not become the user \(user.name): \(reason).")
        }
        return former
    }

    private static func restore(_ groups: [gid_t]) { _ = (seteuid(0), setegid(0), setgroups(groups.count, groups)) }

    /// Whether root works as another user.
    static var isAtWork: Bool { getuid() == 0 && geteuid() != 0 }

    /// Makes a file of the caller's on this thread, where root works as another user: as root, or as the user who can
    /// lead the way to it elsewhere.
    static func asCaller<Value, Failure>(
        writing path: String,
        _ work: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard isAtWork else { return try work() }
        guard let owner = asRoot({ first(onWayTo: path) }) else { return try asRoot(work) }
        return try Machine(user: owner.user).asUser(group: owner.group, work)
    }

    private static func asRoot<Value, Failure>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
        try Machine(user: Machine.User(name: "root", id: 0, groups: [0])).asUser(work)
    }

    /// Whether a path names one of the files of the database beside which root works.
    static func isOfClub(_ path: String) -> Bool {
        guard let club = club.withLock(\.self) else { return false }
        return asRoot {
            var status = stat()
            guard stat(path, &status) == 0 else { return false }
            return ["", "-wal", "-shm", "-journal"].contains { ending in
                var file = stat()
                return stat(club + ending, &file) == 0 && (file.st_dev, file.st_ino) == (status.st_dev, status.st_ino)
            }
        }
    }
}

/// A database of root's in another user's folder, such as one that was put there by `sudo cp`.
struct MisplacedDatabase: ExitCoded, CustomStringConvertible {
    var path: String
    var owner: OtherUser
    // A service is not started again for it.
    let exitCode = ToolExit.noInput
    let errorCode = "accessDenied"

    var description: String {
        var folder = stat()
        let place = FileSteps.folder(of: FileSteps.absolute(path))
        // Files are made beside it.
        let isRoots = stat(place, &folder) == 0 && folder.st_uid == 0
        let files = isRoots ? [place] : ["", "-wal", "-shm"].map { path + $0 }.filter { access($0, F_OK) == 0 }
        return "\(path) belongs to root, where the user \(owner.user.name) can put another in its place. "
            + "Let it be that user's:\n  sudo chown -h\(isRoots ? "R" : "") \(owner.user.name.shellQuoted): "
            + files.map(\.shellQuoted).joined(separator: " ")
    }
}
