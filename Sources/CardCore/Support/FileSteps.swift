import Foundation

/// The steps by which a file gets its place whole: it is written under another name beside it, through to the disk, and
/// moved there. What is attempted, and which error reports it, is known to the caller.
package enum FileSteps {
    /// A system call failed.
    package struct Failure: Error, Hashable, Sendable {
        /// `errno`.
        package var code: Int32

        package init(_ code: Int32) {
            self.code = code
        }

        /// The failure of the last call.
        package static var last: Failure { Failure(errno) }
    }

    /// The path from the root, so that it stays the same when the program goes to another folder.
    package static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// The folder of a file, with a slash at its end.
    package static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    /// The folder of a file or folder, without a slash at its end; empty for a name alone.
    ///
    /// Foundation's `deletingLastPathComponent` traps at names of one character.
    package static func parent(of path: String) -> String {
        var folder = path.unicodeScalars[...]
        for isSlash in [true, false, true] {
            while let last = folder.last, (last == "/") == isSlash { folder.removeLast() }
        }
        return folder.isEmpty && path.unicodeScalars.first == "/" ? "/" : String(folder)
    }

    /// Makes a directory, and those above it that are missing, with mode 0700. One that is there is left as it is.
    package static func makeDirectories(_ path: String) throws(Failure) {
        guard !path.isEmpty, mkdir(path, 0o700) != 0 else { return }
        let number = errno
        var status = stat()
        // Not every file system lets a directory be made where there is one already ("/" on a read-only one).
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        let parent = FileSteps.parent(of: path)
        guard number == ENOENT, !parent.isEmpty, parent != path else {
            throw Failure(number == EEXIST ? ENOTDIR : number)
        }
        try makeDirectories(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last }
    }

    /// How many bytes can still be written on the file system of a file; `nil` where that cannot be found out.
    package static func freeSpace(at path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return Int(clamping: bytes.partialValue)
    }

    /// Nobody else calls a file so: what is removed as left behind is nobody's.
    private static let prefix = ".readerkit-file-"

    /// Lets `mkstemp` or `mkdtemp` find a name that nobody has.
    package static func unique<Result>(
        _ beginning: String,
        _ make: (UnsafeMutablePointer<CChar>) -> Result
    ) -> (made: Result, path: String) {
        var name = Array((beginning + "XXXXXX").utf8CString)
        let made = make(&name)
        return (made, String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// Makes an empty file of mode 0600, with a name that nobody has, beside a file.
    ///
    /// It is locked until its descriptor is closed, which ends with the process: one whose lock can be had was left
    /// behind by a process that was killed. Those beside it are removed.
    ///
    /// - Returns: its descriptor, open for writing, and its name.
    package static func makeTemporary(beside place: String) throws(Failure) -> (file: Int32, name: String) {
        removeLeftovers(beside: place)
        // Somebody else may take it for one that was left behind before it is locked.
        for _ in 0..<10 {
            let (file, path) = unique(folder(of: place) + prefix) { mkstemp($0) }
            guard file >= 0 else { throw .last }
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
            // On a file system without locks nobody can have it either, and nothing is taken for left behind.
            let isTaken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
            if !isTaken, isNamed(file, path) { return (file, path) }
            _ = close(file)
        }
        throw Failure(EAGAIN)
    }

    /// Removes the unfinished files beside a place whose makers are gone.
    package static func removeLeftovers(beside place: String) {
        let folder = folder(of: place)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
            // A pipe of that name would be waited for.
            let file = open(folder + name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { continue }
            var status = stat()
            if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
                flock(file, LOCK_EX | LOCK_NB) == 0, isNamed(file, folder + name)
            {
                _ = unlink(folder + name)
            }
            _ = close(file)
        }
    }

    /// Whether a name is that of an open file or folder, and not by now of another.
    package static func isNamed(_ file: Int32, _ name: String) -> Bool {
        var (mine, there) = (stat(), stat())
        return fstat(file, &mine) == 0 && lstat(name, &there) == 0
            && (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)
    }

    /// Makes an empty file of mode 0600.
    ///
    /// - Returns: its descriptor, open for reading and writing.
    package static func create(_ path: String) throws(Failure) -> Int32 {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        return file
    }

    /// Reads an open file to its end.
    package static func read(
        _ source: Int32,
        _ take: (ArraySlice<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Foundation.read(source, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { return }
            try take(buffer[..<count])
        }
    }

    /// Reads an open file to its end, or until more than `limit` bytes were read.
    package static func read(_ file: Int32, until limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = Foundation.read(file, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { break }
            bytes += part[..<count]
        }
        return bytes
    }

    /// Writes all bytes.
    package static func write(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(Failure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw count < 0 ? .last : Failure(EIO) }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes a file through to the disk. Some file systems report that they cannot, which is no failure.
    package static func synchronise(_ file: Int32) throws(Failure) {
        guard fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP else { throw .last }
    }

    /// Writes the names in a file's folder through to the disk. The file is in its place: a folder that cannot be
    /// synchronised takes nothing of that back.
    package static func synchroniseFolder(of place: String) {
        let folder = open(folder(of: place), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        _ = fsync(folder)
        _ = close(folder)
    }

    /// Moves a file to a place in the same file system where there is none.
    ///
    /// - Throws: `EEXIST` if there is one; it stays.
    package static func move(_ name: String, toFree place: String) throws(Failure) {
        // Unlike rename(2), link(2) leaves what is there.
        if link(name, place) == 0 {
            _ = unlink(name)
            return
        }
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .last }
        // A file system without links: take the name first.
        _ = close(try create(place))
        guard rename(name, place) == 0 else {
            let failure = Failure.last
            _ = unlink(place)
            throw failure
        }
    }

    /// Moves a file to a place in the same file system; one that is there is replaced.
    package static func move(_ name: String, replacing place: String) throws(Failure) {
        guard rename(name, place) == 0 else { throw .last }
    }
}
