import Foundation
import ReaderKit

/// The files of a member database, apart from what is in them.
package enum DatabaseFiles {
    private static let attempt = "create the member database"

    /// Makes the directories that are missing (mode 0700) and the file if it is missing (mode 0600).
    ///
    /// SQLite gives its `-wal` and `-shm` files the mode of the database. A file that is there is not touched: opening
    /// and closing it would drop the locks that SQLite has on it in this process.
    static func prepare(_ path: String) throws(ClubError) {
        do throws(FileSteps.Failure) {
            try FileSteps.makeDirectories(FileSteps.parent(of: path))
            close(try FileSteps.create(path))
            give(path, toOwnerOf: FileSteps.folder(of: path))
        } catch {
            guard error.code == EEXIST else { throw ClubError(errno: error.code, attempting: attempt) }
            var status = stat()
            // A symbolic link to nothing exists as well, and SQLite would make its target readable by everybody.
            guard stat(path, &status) == 0 else { throw ClubError(errno: errno, attempting: attempt) }
        }
    }

    /// Refuses a path that names something else than a file, before anything is opened: a pipe would be waited for, and
    /// SQLite would leave its logs beside a device.
    static func requireFile(_ path: String, _ attempt: String) throws(ClubError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        let what = status.st_mode & S_IFMT == S_IFDIR ? "a directory" : "no regular file but a device, pipe or socket"
        throw ClubError(.cannotOpen, attempting: attempt, detail: "the path names \(what)")
    }

    /// Whether the file has content. An empty file is a database that is yet to be written.
    static func hasContent(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size > 0
    }

    /// Whether a path names one of the database's files, by whatever name, so that nothing may be written there.
    static func own(_ file: String, ofDatabase path: String) -> Bool {
        guard let identity = Identity(file) else { return files(path).contains(whole(file)) }
        return files(path).contains { Identity($0) == identity }
    }

    static func files(_ path: String) -> [String] { [path, path + "-wal", path + "-shm"] }

    /// What repairs and upgrades kept of a database as it was before, beside it, with its logs, and the snapshots beside
    /// it.
    static func kept(_ path: String, now: Date) -> [String] {
        beside(path, named: keptEndings) + SnapshotFolder(ofDatabase: path).snapshots(now: now).map(\.url.path)
    }

    /// The files beside a database whose names begin with its own and one of these endings.
    static func beside(_ path: String, named endings: [String]) -> [String] {
        let (folder, file) = (FileSteps.folder(of: path), (path as NSString).lastPathComponent)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { name in endings.contains { name.hasPrefix(file + $0) } }.sorted().map { folder + $0 }
    }

    /// What is put behind a database's name for a copy that is kept; the moment comes after it.
    static let beforeRepair = ".before-repair-"
    static let damaged = ".damaged-"
    static let beforeUpgrade = ".before-upgrade-"
    static let afterUpgrade = ".after-upgrade-"
    static let keptEndings = [beforeRepair, damaged, beforeUpgrade, afterUpgrade]

    /// Those of the database's files that other users of this machine may read or write.
    static func exposed(_ path: String) -> [String] {
        files(path).filter { file in
            var status = stat()
            return stat(file, &status) == 0 && status.st_mode & 0o077 != 0
        }
    }

    /// The path from the root without symbolic links, as SQLite names the logs of a database. Of what is not there yet,
    /// or is a link to nothing, only the folder is resolved.
    static func whole(_ path: String) -> String {
        let path = FileSteps.absolute(path)
        if let file = resolved(path) { return file }
        let (folder, file) = (FileSteps.folder(of: path), (path as NSString).lastPathComponent)
        guard !path.hasSuffix("/"), let folder = resolved(folder) else { return path }
        return folder == "/" ? "/" + file : folder + "/" + file
    }

    private static func resolved(_ path: String) -> String? {
        guard let name = realpath(path, nil) else { return nil }
        defer { Foundation.free(name) }
        return String(validatingCString: name)
    }

    /// Whether anything has that name, also a link to nothing.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Which file it is, whatever its name.
    struct Identity: Equatable, Sendable {
        var device: dev_t
        var number: ino_t

        /// The file that has that name now; `nil` without one.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(status)
        }

        init(_ status: stat) {
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    // MARK: Writing files whole

    /// Makes an empty file of mode 0600.
    static func create(_ path: String, _ attempt: String) throws(ClubError) {
        try taking(attempt) { () throws(FileSteps.Failure) in close(try FileSteps.create(path)) }
    }

    /// Moves a finished file to its final name, in the same file system, if that is free.
    static func publish(_ file: String, as place: String, _ attempt: String) throws(ClubError) {
        try synchronise(file, attempt)
        try taking(attempt) { () throws(FileSteps.Failure) in try FileSteps.move(file, toFree: place) }
        FileSteps.synchroniseFolder(of: place)
    }

    static func synchronise(_ file: String, _ attempt: String) throws(ClubError) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(attempt) }
        defer { close(descriptor) }
        try taking(attempt) { () throws(FileSteps.Failure) in try FileSteps.synchronise(descriptor) }
    }

    /// Takes steps, and describes what was attempted if one fails.
    private static func taking(_ attempt: String, _ steps: () throws(FileSteps.Failure) -> Void) throws(ClubError) {
        do throws(FileSteps.Failure) {
            try steps()
        } catch {
            throw failure(attempt, error.code)
        }
    }

    // MARK: Copies

    /// A name that nothing has: the one given, or with a number at its end.
    static func free(_ path: String) -> String {
        var name = path
        var number = 1
        while exists(name) || exists(name + "-wal") {
            number += 1
            name = "\(path)-\(number)"
        }
        return name
    }

    /// A moment in UTC, for names of files: 20260901T100000Z.
    static func stamp(_ date: Date) -> String { date.formatted(momentStyle) }

    static func date(_ stamp: String) -> Date? { try? momentStyle.parse(stamp) }

    private static let momentStyle = Date.ISO8601FormatStyle.iso8601.dateSeparator(.omitted).timeSeparator(.omitted)

    /// Copies a file byte by byte into a new one of mode 0600, and writes it through to the disk.
    ///
    /// A link that takes the file's place is not followed: the copy becomes that of the folder's owner, who may not be
    /// allowed to read where it leads.
    static func copy(_ file: String, to place: String, _ attempt: String) throws(ClubError) {
        let source = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard source >= 0 else { throw failure(attempt) }
        defer { close(source) }
        var status = stat()
        guard fstat(source, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ClubError(.cannotOpen, attempting: attempt, detail: "\(file) is no regular file")
        }
        try taking(attempt) { () throws(FileSteps.Failure) in
            // A part of it would be taken for all.
            let part = place + ".part"
            unlink(part)
            let target = try FileSteps.create(part)
            defer { close(target) }
            do throws(FileSteps.Failure) {
                try FileSteps.read(source) { bytes throws(FileSteps.Failure) in try FileSteps.write(bytes, to: target) }
                try FileSteps.synchronise(target)
                try FileSteps.move(part, toFree: place)
            } catch {
                unlink(part)
                throw error
            }
        }
    }

    static func failure(_ attempt: String, _ code: Int32 = errno) -> ClubError {
        code == EEXIST ? ClubError(.fileExists, attempting: attempt) : ClubError(errno: code, attempting: attempt)
    }
    // MARK: Putting a repaired file into the place of a damaged one

    /// The name of a repaired file until nothing is left of the damaged one.
    static func repaired(_ path: String) -> String { path + ".repaired" }

    /// Refuses to repair while something else has the name that the repaired file needs.
    static func requireNothingRepaired(_ path: String, _ attempt: String) throws(ClubError) {
        guard let name = ["", "-wal", "-shm", "-journal"].map({ repaired(path) + $0 }).first(where: exists) else {
            return
        }
        let detail = "'\(name)' is in the way and not from a repair of this file; move it elsewhere"
        throw ClubError(.fileExists, attempting: attempt, detail: detail)
    }

    /// Transfers a file that root has made to the owner of another, who is to use it.
    static func give(_ file: String, toOwnerOf other: String) {
        var (owner, status) = (stat(), stat())
        guard geteuid() == 0, stat(other, &owner) == 0, owner.st_uid != 0 else { return }
        let (path, emptyPath): (Int32, Int32) = (0o10000000, 0x1000)  // O_PATH, AT_EMPTY_PATH
        // Such a descriptor can be closed without an end to SQLite's locks on the file.
        let made = open(file, path | O_NOFOLLOW | O_CLOEXEC)
        guard made >= 0 else { return }
        defer { close(made) }
        // What a link leads to, or has another name besides, may be another file of root's.
        guard fstat(made, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1, status.st_uid == 0
        else { return }
        _ = fchownat(made, "", owner.st_uid, owner.st_gid, emptyPath)
    }

    /// Copies a database and what is in its log, for the same owner.
    static func copyWithLog(_ path: String, to place: String, _ attempt: String) throws(ClubError) {
        // Where the database is, its log is too.
        if !exists(place) { unlink(place + "-wal") }
        for ending in ["-wal", ""] where ending.isEmpty || hasContent(path + ending) {
            try copy(path + ending, to: place + ending, attempt)
            give(place + ending, toOwnerOf: path)
        }
        FileSteps.synchroniseFolder(of: place)
    }

    // MARK: Locks

    /// Removes a database, unless anybody has it open.
    package static func removeUnused(_ path: String) -> Bool {
        guard let lock = try? lock(path, "remove a database") else { return false }
        for ending in ["", "-wal", "-shm", "-journal"] { unlink(path + ending) }
        release(lock, spoiling: true)
        return true
    }

    /// Keeps everybody else, in this process too, from using a database that SQLite cannot lock since it is damaged.
    ///
    /// - Returns: a descriptor; the lock ends with ``release(_:spoiling:)``.
    static func lock(_ path: String, _ attempt: String) throws(ClubError) -> Int32 {
        guard let lock = try lock(path, attempt, unlessUsed: false) else {
            throw ClubError(.busy, attempting: attempt, detail: "it is in use")
        }
        return lock
    }

    /// - Parameter unlessUsed: return `nil`, and throw no error, if others use it through SQLite.
    private static func lock(_ path: String, _ attempt: String, unlessUsed: Bool) throws(ClubError) -> Int32? {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw failure(attempt) }
        let (getOwnedByDescriptor, setOwnedByDescriptor): (Int32, Int32) = (36, 37)  // F_OFD_GETLK, F_OFD_SETLK
        var range = lockedRange(F_WRLCK)
        if fcntl(file, setOwnedByDescriptor, &range) == 0 { return file }
        // The descriptor stays open: closing it would end the locks that SQLite has on it in this process.
        // SQLite's own are shared; who repairs or replaces the file has the only one.
        var shared = lockedRange(F_RDLCK)
        if unlessUsed, fcntl(file, getOwnedByDescriptor, &shared) == 0, shared.l_type == Int16(F_UNLCK) { return nil }
        throw ClubError(.busy, attempting: attempt, detail: "it is in use")
    }

    /// All bytes that SQLite locks: whoever uses the file has one of them. Of the kind that belongs to the descriptor,
    /// since one that belongs to the process would not conflict with this process's own.
    private static func lockedRange(_ type: Int32) -> flock {
        var range = flock()
        range.l_type = Int16(type)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 0x4000_0000
        range.l_len = 512
        return range
    }

    /// Ends a lock. Of a file that was replaced the beginning is made unusable, for those who were waiting for it.
    static func release(_ lock: Int32, spoiling: Bool) {
        if spoiling { _ = pwrite(lock, [UInt8](repeating: 0, count: 16), 16, 0) }
        close(lock)
    }

    // MARK: Replacing

    /// Puts a repaired file into its place, if a repair of the file that is there made it and was cut off. Whatever else
    /// has its name is left alone.
    static func finishReplacing(_ path: String, _ attempt: String) throws(ClubError) {
        guard exists(path), let replacement = Replacement(in: repaired(path), beside: path) else { return }
        // Who has the database open has looked before.
        guard let lock = try lock(path, attempt, unlessUsed: true) else { return }
        var isReplaced = false
        defer { release(lock, spoiling: isReplaced) }
        // Somebody else may have done it meanwhile, with another file at the path than the locked one.
        var status = stat()
        guard fstat(lock, &status) == 0, Identity(path) == Identity(status),
            replacement.isOf(path), exists(repaired(path))
        else { return }
        let kept = FileSteps.folder(of: path) + replacement.kept
        if !exists(kept) { try copyWithLog(path, to: kept, attempt) }
        try replace(path, attempt)
        isReplaced = true
    }

    /// Puts the repaired file into its place. The log of the damaged one goes first: it does not fit the other.
    static func replace(_ path: String, _ attempt: String) throws(ClubError) {
        for file in [path + "-wal", path + "-shm"] where unlink(file) != 0 && errno != ENOENT { throw failure(attempt) }
        FileSteps.synchroniseFolder(of: path)
        guard rename(repaired(path), path) == 0 else { throw failure(attempt) }
        FileSteps.synchroniseFolder(of: path)
    }
}
