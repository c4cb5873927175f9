import Foundation
import ReaderKit

/// Putting a repaired file into the place of a damaged one.
extension DatabaseFiles {
    /// The name of a repaired file until nothing is left of the damaged one.
    static func repaired(_ path: String) -> String { path + ".repaired" }

    /// Refuses to repair while something else has the name that the repaired file needs.
    static func requireNothingRepaired(_ path: String, _ attempt: String) throws(ClubError) {
        guard let name = ["", "-wal", "-shm", "-journal"].map({ repaired(path) + $0 }).first(where: exists) else {
            return
        }
        throw ClubError(
            .fileExists,
            attempting: attempt,
            detail: "'\(name)' is in the way and not from a repair of this file; move it elsewhere"
        )
    }

    /// Copies a database and what is in its log.
    static func copyWithLog(_ path: String, to place: String, _ attempt: String) throws(ClubError) {
        try copy(path, to: place, attempt)
        if hasContent(path + "-wal") { try copy(path + "-wal", to: place + "-wal", attempt) }
        FileSteps.synchroniseFolder(of: place)
    }

    // MARK: Locks

    /// Keeps everybody else, in this process too, from using a database that SQLite cannot lock since it is damaged.
    ///
    /// - Returns: a descriptor; the lock ends with ``release(_:spoiling:)``.
    static func lock(_ path: String, _ attempt: String) throws(ClubError) -> Int32 {
        guard let lock = try lock(path, attempt, unlessUsed: false) else {
            throw ClubError(.busy, attempting: attempt, detail: "it is in use")
        }
        return lock
    }

    /// - Parameter unlessUsed: give `nil`, and no error, if others use it through SQLite.
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
        for file in [path + "-wal", path + "-shm"] where unlink(file) != 0 && errno != ENOENT {
            throw failure(attempt)
        }
        FileSteps.synchroniseFolder(of: path)
        guard rename(repaired(path), path) == 0 else { throw failure(attempt) }
        FileSteps.synchroniseFolder(of: path)
    }
}
