import Foundation
import ReaderKit

/// The files of a member database, apart from what is in them.
enum DatabaseFiles {
    private static let attempt = "create the member database"

    /// Makes the directories that are missing (mode 0700) and the file if it is missing (mode 0600).
    ///
    /// SQLite gives its `-wal` and `-shm` files the mode of the database. A file that is there is not touched: opening
    /// and closing it would drop the locks that SQLite has on it in this process.
    static func prepare(_ path: String) throws(ClubError) {
        do throws(FileSteps.Failure) {
            try FileSteps.makeDirectories((path as NSString).deletingLastPathComponent)
            close(try FileSteps.create(path))
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
        var status = stat()
        guard stat(file, &status) == 0 else { return [path, path + "-wal", path + "-shm"].contains(whole(file)) }
        return [path, path + "-wal", path + "-shm"].contains { name in
            var other = stat()
            return stat(name, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino
        }
    }

    /// What a repair kept of a database as it was before, beside it, with its logs, and the snapshots beside it.
    static func kept(_ path: String, now: Date) -> [String] {
        let (folder, file) = (FileSteps.folder(of: path), (path as NSString).lastPathComponent)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { name in [beforeRepair, damaged].contains { name.hasPrefix(file + $0) } }.sorted().map {
            folder + $0
        } + SnapshotFolder(ofDatabase: path).snapshots(now: now).map(\.url.path)
    }

    /// What is put behind a database's name for the copy that a repair keeps; the moment comes after it.
    static let beforeRepair = ".before-repair-"
    static let damaged = ".damaged-"

    /// Those of the database's files that other users of this machine may read or write.
    static func exposed(_ path: String) -> [String] {
        [path, path + "-wal", path + "-shm"].filter { file in
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

    /// Gives a finished file its name for good, in the same file system, if that is free.
    static func publish(_ file: String, as place: String, _ attempt: String) throws(ClubError) {
        try synchronise(file, attempt)
        try taking(attempt) { () throws(FileSteps.Failure) in try FileSteps.move(file, toFree: place) }
        FileSteps.synchroniseFolder(of: place)
    }

    /// Writes a file through to the disk.
    static func synchronise(_ file: String, _ attempt: String) throws(ClubError) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(attempt) }
        defer { close(descriptor) }
        try taking(attempt) { () throws(FileSteps.Failure) in try FileSteps.synchronise(descriptor) }
    }

    /// Takes steps, and describes what was attempted if one fails.
    private static func taking(
        _ attempt: String,
        _ steps: () throws(FileSteps.Failure) -> Void
    ) throws(ClubError) {
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
    static func stamp(_ date: Date) -> String {
        date.formatted(momentStyle)
    }

    /// The moment that a name says.
    static func date(_ stamp: String) -> Date? {
        try? momentStyle.parse(stamp)
    }

    private static let momentStyle = Date.ISO8601FormatStyle.iso8601.dateSeparator(.omitted).timeSeparator(.omitted)

    /// Copies a file byte by byte into a new one of mode 0600, and writes it through to the disk.
    static func copy(_ file: String, to place: String, _ attempt: String) throws(ClubError) {
        let source = open(file, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw failure(attempt) }
        defer { close(source) }
        do throws(FileSteps.Failure) {
            let target = try FileSteps.create(place)
            defer { close(target) }
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while true {
                let count = Foundation.read(source, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw FileSteps.Failure(errno) }
                if count == 0 { break }
                try FileSteps.write(buffer[..<count], to: target)
            }
            try FileSteps.synchronise(target)
        } catch {
            throw failure(attempt, error.code)
        }
    }

    static func failure(_ attempt: String, _ code: Int32 = errno) -> ClubError {
        code == EEXIST ? ClubError(.fileExists, attempting: attempt) : ClubError(errno: code, attempting: attempt)
    }
}
