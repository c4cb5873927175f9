import Foundation

/// The files of a member database, apart from what is in them.
enum DatabaseFiles {
    private static let attempt = "create the member database"

    /// Makes the directories that are missing (mode 0700) and the file if it is missing (mode 0600).
    ///
    /// SQLite gives its `-wal` and `-shm` files the mode of the database. A file that is there is not touched: opening
    /// and closing it would drop the locks that SQLite has on it in this process.
    static func prepare(_ path: String) throws(ClubError) {
        try makeDirectory((path as NSString).deletingLastPathComponent)
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor < 0 else {
            close(descriptor)
            return
        }
        guard errno == EEXIST else { throw ClubError(errno: errno, attempting: attempt) }
        var status = stat()
        // A symbolic link to nothing exists as well, and SQLite would make its target readable by everybody.
        guard stat(path, &status) == 0 else { throw ClubError(errno: errno, attempting: attempt) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw ClubError(.cannotOpen, attempting: "open the member database", detail: "the path names a directory")
        }
    }

    /// Whether the file has content. An empty file is a database that is yet to be written.
    static func hasContent(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size > 0
    }

    /// Whether a path names one of the database's files, by whatever name, so that nothing may be written there.
    static func own(_ file: String, ofDatabase path: String) -> Bool {
        var status = stat()
        guard stat(file, &status) == 0 else { return [path, path + "-wal", path + "-shm"].contains(file) }
        return [path, path + "-wal", path + "-shm"].contains { name in
            var other = stat()
            return stat(name, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino
        }
    }

    /// Those of the database's files that other users of this machine may read or write.
    static func exposed(_ path: String) -> [String] {
        [path, path + "-wal", path + "-shm"].filter { file in
            var status = stat()
            return stat(file, &status) == 0 && status.st_mode & 0o077 != 0
        }
    }

    /// The path from the root, not to depend on the current directory later on.
    static func whole(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
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
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    // MARK: Writing files whole

    /// Makes a folder (mode 0700) beside a file that is yet to be, for what has to be done before it is there.
    static func makeFolder(beside path: String, _ attempt: String) throws(ClubError) -> String {
        var name = Array(((path as NSString).deletingLastPathComponent + "/.club-XXXXXX").utf8CString)
        guard mkdtemp(&name) != nil else { throw ClubError(errno: errno, attempting: attempt) }
        return name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// Removes such a folder and the files in it.
    static func remove(_ folder: String) {
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] { unlink(folder + "/" + file) }
        rmdir(folder)
    }

    /// Makes an empty file of mode 0600.
    static func create(_ path: String, _ attempt: String) throws(ClubError) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ClubError(errno: errno, attempting: attempt) }
        close(descriptor)
    }

    /// Gives a finished file its name for good, in the same file system, if that is free.
    static func publish(_ file: String, as place: String, _ attempt: String) throws(ClubError) {
        try synchronise(file, attempt)
        // Unlike rename(2), link(2) leaves what is there.
        if link(file, place) == 0 {
            unlink(file)
        } else {
            guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw failure(attempt) }
            // A file system without links: take the name first.
            let claim = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard claim >= 0 else { throw failure(attempt) }
            close(claim)
            guard rename(file, place) == 0 else {
                let error = failure(attempt)
                unlink(place)
                throw error
            }
        }
        synchroniseDirectory(of: place)
    }

    /// Writes a file through to the disk.
    static func synchronise(_ file: String, _ attempt: String) throws(ClubError) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(attempt) }
        defer { close(descriptor) }
        // Some file systems cannot, and say so.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure(attempt) }
    }

    /// Writes the names in a file's directory through to the disk, where that is possible.
    static func synchroniseDirectory(of path: String) {
        let descriptor = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    // MARK: Putting a repaired file into the place of a damaged one

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
    static func stamp(_ date: Date) -> String {
        date.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    }

    /// The name of a repaired file until nothing is left of the damaged one.
    static func repaired(_ path: String) -> String { path + ".repaired" }

    /// Copies a file byte by byte into a new one of mode 0600, and writes it through to the disk.
    static func copy(_ file: String, to place: String, _ attempt: String) throws(ClubError) {
        let source = open(file, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw failure(attempt) }
        defer { close(source) }
        let target = open(place, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw failure(attempt) }
        defer { close(target) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Foundation.read(source, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(attempt) }
            if count == 0 { break }
            var done = 0
            while done < count {
                let written = buffer[done..<count].withUnsafeBytes {
                    Foundation.write(target, $0.baseAddress, $0.count)
                }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw failure(attempt) }
                done += written
            }
        }
        guard fsync(target) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure(attempt) }
    }

    /// Keeps everybody else, in this process too, from using a database that SQLite cannot lock since it is damaged.
    ///
    /// - Returns: a descriptor; the lock ends with ``release(_:)``.
    static func lock(_ path: String, _ attempt: String) throws(ClubError) -> Int32 {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw failure(attempt) }
        // All bytes that SQLite locks: whoever uses the file has one of them. Of the kind that belongs to the
        // descriptor, since one that belongs to the process would not conflict with this process's own.
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 0x4000_0000
        range.l_len = 512
        let setOwnedByDescriptor: Int32 = 37  // F_OFD_SETLK
        guard fcntl(file, setOwnedByDescriptor, &range) == 0 else {
            // The descriptor stays open: closing it would end the locks that SQLite has on it in this process.
            throw ClubError(.busy, attempting: attempt, detail: "it is in use")
        }
        return file
    }

    /// Ends a lock. Of a file that was replaced the beginning is made unusable, for those who were waiting for it.
    static func release(_ lock: Int32, spoiling: Bool) {
        if spoiling { _ = pwrite(lock, [UInt8](repeating: 0, count: 16), 16, 0) }
        close(lock)
    }

    /// Puts a repaired file into its place, if there is one: after the last step that could fail, or when that was
    /// cut off.
    static func finishReplacing(_ path: String, _ attempt: String) throws(ClubError) {
        guard exists(repaired(path)) else { return }
        let lock: Int32? = exists(path) ? try Self.lock(path, attempt) : nil
        try replace(path, attempt)
        if let lock { release(lock, spoiling: true) }
    }

    /// Puts the repaired file into its place. The log of the damaged one goes first: it does not fit the other.
    static func replace(_ path: String, _ attempt: String) throws(ClubError) {
        for file in [path + "-wal", path + "-shm"] where unlink(file) != 0 && errno != ENOENT {
            throw failure(attempt)
        }
        synchroniseDirectory(of: path)
        guard rename(repaired(path), path) == 0 else { throw failure(attempt) }
        synchroniseDirectory(of: path)
    }

    static func failure(_ attempt: String) -> ClubError {
        errno == EEXIST ? ClubError(.fileExists, attempting: attempt) : ClubError(errno: errno, attempting: attempt)
    }

    private static func makeDirectory(_ path: String) throws(ClubError) {
        guard !path.isEmpty, mkdir(path, 0o700) != 0 else { return }
        switch errno {
        case EEXIST:
            return
        case ENOENT:
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw ClubError(errno: ENOENT, attempting: attempt) }
            try makeDirectory(parent)
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw ClubError(errno: errno, attempting: attempt) }
        // Not every file system lets a directory be made where there is one already ("/" on a read-only one).
        case let number:
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw ClubError(errno: number, attempting: attempt)
            }
        }
    }
}
