import Cryptography
import Foundation
import GRDB
import ReaderKit

/// What a repaired or upgraded file records of the one that it is to replace: the checksums of the file and its log,
/// and the name of the copy that is kept. It is a row of `meta` until the repaired file is opened in its place.
struct Replacement: Equatable {
    static let key = "replaces"

    let file: String
    /// `nil` without a log.
    let log: String?
    /// A name in the same folder.
    let kept: String

    /// Looks at a damaged file that nobody uses.
    init(of path: String, kept: String, _ attempt: String) throws(ClubError) {
        let hasLog = DatabaseFiles.hasContent(path + "-wal")
        guard let file = Self.checksum(path), let log = hasLog ? Self.checksum(path + "-wal") : "" else {
            throw ClubError(errno: EIO, attempting: attempt)
        }
        (self.file, self.log) = (file, hasLog ? log : nil)
        self.kept = (kept as NSString).lastPathComponent
    }

    /// Reads it from a file that a repair finished; `nil` for anything else. Nothing is written, nor made beside it.
    init?(in candidate: String, beside path: String) {
        var (status, other) = (stat(), stat())
        guard lstat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            // To open another name of the database, and to close it, would end SQLite's locks on it.
            stat(path, &other) == 0, (status.st_dev, status.st_ino) != (other.st_dev, other.st_ino),
            // A finished file has no log, and is not open.
            !["-wal", "-shm", "-journal"].contains(where: { DatabaseFiles.exists(candidate + $0) }),
            Self.hasHeader(candidate), let text = Self.read(candidate)
        else { return nil }
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !parts[2].contains("/"),
            DatabaseFiles.keptEndings.contains(where: {
                parts[2].hasPrefix((path as NSString).lastPathComponent + $0)
            })
        else { return nil }
        (file, log, kept) = (parts[0], parts[1] == "-" ? nil : parts[1], parts[2])
    }

    /// Puts a finished database into the place of one that is locked. Whoever opens it does the rest if this is cut off.
    ///
    /// - Parameter place: where a copy of the former one is kept; a number is added if that is taken.
    /// - Returns: that copy.
    static func replace(
        _ path: String,
        by result: String,
        keeping place: String,
        _ attempt: String
    ) throws(ClubError) -> String {
        let kept = DatabaseFiles.free(place)
        try DatabaseFiles.copyWithLog(path, to: kept, attempt)
        try Replacement(of: path, kept: kept, attempt).mark(result, attempt)
        DatabaseFiles.give(result, toOwnerOf: path)
        try DatabaseFiles.publish(result, as: DatabaseFiles.repaired(path), attempt)
        try DatabaseFiles.replace(path, attempt)
        return kept
    }

    /// Whether that is the damaged file, as it was. Its log may be gone, but not be another.
    func isOf(_ path: String) -> Bool {
        Self.checksum(path) == file
            && (!DatabaseFiles.hasContent(path + "-wal") || Self.checksum(path + "-wal") == log)
    }

    /// Marks a repaired database, the last thing that is done to it. It has no log from then on.
    func mark(_ database: String, _ attempt: String) throws(ClubError) {
        try ClubError.wrapping(attempt) {
            let queue = try DatabaseQueue(path: database)
            try queue.inDatabase { db in
                try db.endLog(attempt, "the repaired file")
                try db.set(Self.key, to: "\(file) \(log ?? "-") \(kept)")
            }
            try queue.close()
        }
    }

    /// Whether the beginning is that of a club's database without a log: SQLite would make one beside any other.
    private static func hasHeader(_ file: String) -> Bool {
        let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 100)
        guard pread(descriptor, &header, header.count, 0) == header.count else { return false }
        let application = header[68..<72].reduce(0) { $0 << 8 | Int64($1) }
        return header.starts(with: Array("SQLite format 3\0".utf8)) && header[18] == 1 && header[19] == 1
            && application == DatabaseSchema.applicationID
    }

    /// The mark of a sound database.
    private static func read(_ file: String) -> String? {
        try? MemberStore.openToRead(file).read { db in
            let text = try db.setting(key)
            return try String.fetchAll(db, sql: "PRAGMA integrity_check(1)") == ["ok"] ? text : nil
        }
    }

    private static func checksum(_ file: String) -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var hash = SHA256()
        guard (try? FileSteps.read(descriptor, { hash.update($0) })) != nil else { return nil }
        return hash.digest.hex.lowercased()
    }
}
