import Foundation
import ReaderKit

/// A folder (mode 0700) beside a file that is yet to be, for what has to be done before it is there.
///
/// Whoever works in it holds a lock on it, which ends with the process: a folder whose lock can be had was left behind
/// by one that was killed. It may hold a copy of the database, so the next one who makes a folder there removes it.
final class WorkFolder: Sendable {
    let path: String

    /// A descriptor of the folder, which has the lock.
    private let lock: Int32

    /// Nobody else calls a folder so, nor a database in it: what is removed as left behind is nobody's club.
    private static let prefix = ".clubkit-work-"

    /// Databases that are made in it, without what SQLite puts behind their names.
    private static let databases = ["copy.sqlite", "old.sqlite", "new.sqlite"]

    /// Makes a folder beside that place. It is there until ``remove()``.
    init(beside place: String, _ attempt: String) throws(ClubError) {
        Self.removeLeftovers(beside: place)
        var made: (path: String, lock: Int32)?
        // Somebody else may take a folder for one that was left behind before it is locked.
        for _ in 0..<10 where made == nil { made = try Self.make(beside: place, attempt) }
        guard let made else { throw ClubError(errno: EAGAIN, attempting: attempt) }
        (path, lock) = made
    }

    func remove() {
        Self.remove(path, lock)
        close(lock)
    }

    /// Removes the folders beside a place whose owners are gone.
    static func removeLeftovers(beside place: String) {
        let folder = FileSteps.folder(of: place)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6 {
            let lock = open(folder + name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard lock >= 0 else { continue }
            var status = stat()
            if fstat(lock, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o777 == 0o700,
                flock(lock, LOCK_EX | LOCK_NB) == 0
            {
                remove(folder + name, lock)
            }
            close(lock)
        }
    }

    /// - Returns: `nil` if somebody else has it already.
    private static func make(
        beside place: String,
        _ attempt: String
    ) throws(ClubError) -> (path: String, lock: Int32)? {
        let (isMade, path) = FileSteps.unique(FileSteps.folder(of: place) + prefix) { mkdtemp($0) != nil }
        guard isMade else { throw ClubError(errno: errno, attempting: attempt) }
        let lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard lock >= 0 else {
            if errno == ENOENT { return nil }
            throw ClubError(errno: errno, attempting: attempt)
        }
        // On a file system without locks nobody can have it either, and nothing is taken for left behind.
        let isTaken = flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
        guard !isTaken, FileSteps.isNamed(lock, path) else {
            close(lock)
            return nil
        }
        return (path, lock)
    }

    /// Removes a folder, unless something is in it that no folder of this kind has.
    ///
    /// - Parameters:
    ///   - path: its name. Another folder that has it by now is left alone, unless it is empty.
    ///   - folder: a descriptor of it, through which its files are removed.
    private static func remove(_ path: String, _ folder: Int32) {
        let endings = ["", "-wal", "-shm", "-journal", ".part", "-wal.part"]
        let known = Set(databases.flatMap { name in endings.map { name + $0 } })
        let isThere = FileSteps.isNamed(folder, path)
        let names = isThere ? try? FileManager.default.contentsOfDirectory(atPath: path) : []
        guard let names, known.isSuperset(of: names) else { return }
        for name in known { unlinkat(folder, name, 0) }
        if isThere { rmdir(path) }
    }
}
