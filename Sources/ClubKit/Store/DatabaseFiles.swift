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
