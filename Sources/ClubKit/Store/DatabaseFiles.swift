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
