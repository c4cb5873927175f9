import Diagnosis
import Foundation
import ReaderKit
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
        return getpwnam(Diagnosis.serviceUser(on: Machine()) ?? "clubkit").map(OtherUser.init)
    }

    /// The first one who could lead the way to a file elsewhere, since a folder or link on it is theirs; `nil` where all
    /// are root's.
    static func first(onWayTo path: String) -> OtherUser? {
        let path = FileSteps.absolute(path)
        let folder = realpath(FileSteps.parent(of: path), nil)
        defer { free(folder) }
        for way in [path, folder.map { String(cString: $0) } ?? "/"] {
            var place = ""
            for name in way.split(separator: "/") {
                place += "/" + name
                var status = stat()
                let isFile = place == path && lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
                if !isFile, lstat(place, &status) == 0, status.st_uid != 0 { return OtherUser(status) }
            }
        }
        return nil
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

    /// Works as the user to whom a club belongs from now on, in all threads, if root called: its database's owner, or
    /// who could lead the way to it elsewhere. Files of the caller are opened before, or ``asCaller(writing:_:)``.
    static func work(withClubAt path: String) throws {
        guard geteuid() == 0 else { return }
        var status = stat()
        let isThere = stat(path, &status) == 0
        let first = first(onWayTo: path)
        if isThere, status.st_uid == 0, status.st_mode & S_IFMT == S_IFREG, let first {
            throw MisplacedDatabase(path: path, owner: first)
        }
        let owner = isThere && status.st_uid != 0 ? OtherUser(status) : first
        try owner?.become()
    }

    /// Does some work as that user, in all threads.
    func perform<Result>(_ work: () async throws -> Result) async throws -> Result {
        try become()
        defer { _ = (seteuid(0), setegid(0), setgroups(1, [0])) }
        return try await work()
    }

    private func become() throws {
        let groups = Array(user.groups)
        guard setgroups(groups.count, groups) == 0, setegid(group) == 0, seteuid(user.id) == 0 else {
            let reason = String(cString: strerror(errno))
            _ = (seteuid(0), setegid(0))
            throw ToolFailure("could not become the user \(user.name): \(reason).")
        }
    }

    /// Whether root works as another user.
    static var isAtWork: Bool { getuid() == 0 && geteuid() != 0 }

    /// Makes a file of the caller's on this thread, where root works as another user: as root, or as who could lead the
    /// way to it elsewhere.
    static func asCaller<Value, Failure>(
        writing path: String,
        _ work: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard isAtWork else { return try work() }
        let root = Machine(user: Machine.User(name: "root", id: 0, groups: [0]))
        let owner = root.asUser { first(onWayTo: path) }
        return try (owner.map { Machine(user: $0.user) } ?? root).asUser(work)
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
        "\(path) belongs to root, in a folder of the user \(owner.user.name). Let it be that user's:\n"
            + "  sudo chown -h \(owner.user.name.shellQuoted): \(path.shellQuoted)"
    }
}
