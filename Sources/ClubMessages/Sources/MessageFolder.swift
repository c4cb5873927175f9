import CardCore
import ClubRecords
import Cryptography
import Foundation

/// Receives messages from files in a directory.
///
/// Each file whose name ends in `.json` and does not begin with a dot is a message, at most ``Message/longest`` bytes.
/// Others are ignored, so a writer creates the file under another name and renames it when it is complete. Files are
/// processed in the order of their names. An empty file counts as not yet written.
///
/// A file is removed once its message is in the inbox and was processed. If the inbox fails, as with a full disk, it
/// stays and is tried again. A file whose message has no identifier is identified by its name, content and time, so
/// that it is processed once even if the program is killed before it could be removed.
///
/// Files that are no message are moved to the subdirectory `rejected`, beside a file with the suffix `.reason` that
/// states the reason: malformed and overlong files, symbolic links, directories, pipes.
///
/// It runs on a thread of its own, which sleeps until the system reports a file; file systems without such reports are
/// checked each second.
public final class MessageFolder: Sendable {
    /// The path of the directory.
    public let path: String

    private let router: MessageRouter
    private let pauses: Pauses
    private let service = Service<FolderServer>()

    /// How long to wait where nothing reports when to go on, and how much to do before that.
    struct Pauses: Sendable {
        /// After the inbox failed, and twice as long each time after that, up to the last.
        var firstRetry = Duration.milliseconds(250)
        var lastRetry = Duration.seconds(30)
        /// Until the directory is looked at though nothing was reported: networks do not report others' files.
        var look = Duration.seconds(10)
        /// The same where the system reveals nothing at all.
        var blindLook = Duration.seconds(1)
        /// How many files are taken before the directory is looked at again.
        var portion = 256
    }

    /// Creates a folder, which is not read before ``start()``.
    ///
    /// - Parameters:
    ///   - path: the directory; a relative one is from the current directory.
    ///   - router: the router of the messages.
    public convenience init(path: String, router: MessageRouter) {
        self.init(path: path, router: router, pauses: Pauses())
    }

    init(path: String, router: MessageRouter, pauses: Pauses) {
        self.path = FileSteps.absolute(path)
        self.router = router
        self.pauses = pauses
    }

    /// Processes existing files and new ones, until ``stop()``. A missing directory is created with mode 0700. Does
    /// nothing if started.
    ///
    /// - Throws: ``ClubError`` if the directory is unusable; ``ClubError/Kind/invalidValue`` if all users of this
    ///   machine may write into it.
    public func start() async throws(ClubError) {
        try await service.start(name: "message-folder", FolderServer.attempt) { thread in
            FolderServer(path: path, router: router, pauses: pauses, thread: thread)
        }
    }

    /// Stops. A message under way is processed to its end; its file is removed after the next start.
    public func stop() async {
        await service.stop()
    }

    var wakeUps: Int { service.current?.wakeUps ?? 0 }
}

/// The files in the directory of a ``MessageFolder``, looked at once.
final class MessageFiles {
    private static let attempt = FolderServer.attempt
    private static let rejected = "rejected"

    struct File {
        var identity: FileIdentity
        var bytes: [UInt8]

        /// The same for the same file whenever it is read, and another for a file that was written later.
        ///
        /// - Parameter number: how many files were removed that looked the same in all of this: a system that notes
        ///   times coarsely, and gives a file the number of one that was just removed, cannot distinguish them.
        func uuid(named name: String, number: Int = 0) -> UUID {
            var hash = SHA256()
            hash.update("\(identity.device) \(identity.number) \(number) ".utf8)
            hash.update("\(identity.changedSeconds) \(identity.changedNanoseconds) \(name)\n".utf8)
            hash.update(bytes)
            return UUID(digest: hash.digest)
        }
    }

    /// What there is to do with a name.
    enum Reading {
        case leave
        case file(File)
        /// It is no message, and why.
        case reject(FileIdentity, String)
        /// It cannot be read now.
        case fail(ClubError)
    }

    private let folder: Int32

    init(_ path: String) throws(ClubError) {
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw ClubError(errno: errno, attempting: Self.attempt) }
    }

    deinit {
        close(folder)
    }

    /// Whether every user of this machine may put files here.
    var isOpenToEverybody: Bool {
        var status = stat()
        return fstat(folder, &status) != 0 || status.st_mode & 0o002 != 0
    }

    /// The names that are messages', sorted by their bytes.
    func names() throws(ClubError) -> [String] {
        // Reading a directory moves the place in it, which a copy of the descriptor shares.
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw ClubError(errno: errno, attempting: Self.attempt) }
        guard let stream = fdopendir(copy) else {
            let code = errno
            close(copy)
            throw ClubError(errno: code, attempting: Self.attempt)
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            // A name that is no UTF-8 could not be reported to anybody.
            if let name, name.hasSuffix(".json"), !name.hasPrefix(".") { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw ClubError(errno: errno, attempting: Self.attempt) }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// - Parameter known: a file that is left if it still has this name.
    func read(_ name: String, unless known: FileIdentity?) -> Reading {
        var status = stat()
        // Looked at before it is opened, which does something to a pipe or a device.
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            return errno == ENOENT ? .leave : .fail(ClubError(errno: errno, attempting: Self.attempt))
        }
        let identity = FileIdentity(status)
        if identity == known { return .leave }
        guard status.st_mode & S_IFMT == S_IFREG else { return .reject(identity, "it is no regular file") }
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            switch errno {
            case ENOENT, ELOOP: return .leave
            // It must not keep the others waiting.
            case EACCES, EPERM: return .reject(identity, "this program may not read it")
            default: return .fail(ClubError(errno: errno, attempting: Self.attempt))
            }
        }
        defer { close(file) }
        // Another file may have got the name in between; it is looked at next time.
        guard fstat(file, &status) == 0, FileIdentity(status) == identity, identity.size > 0 else { return .leave }
        do throws(FileSteps.Failure) {
            return .file(File(identity: identity, bytes: try FileSteps.read(file, until: Message.longest)))
        } catch {
            return .fail(ClubError(errno: error.code, attempting: Self.attempt))
        }
    }

    /// Removes a file, unless another one has its name by now. Returns `false` if it is still there.
    func remove(_ name: String, _ identity: FileIdentity) -> Bool {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return errno == ENOENT }
        guard FileIdentity(status) == identity else { return true }
        return unlinkat(folder, name, 0) == 0 || errno == ENOENT
    }

    /// Moves something to the directory of what is no message, with the reason beside it. Returns `false` if it is
    /// still there.
    func reject(_ name: String, _ reason: String) -> Bool {
        guard mkdirat(folder, Self.rejected, 0o700) == 0 || errno == EEXIST else { return false }
        let place = openat(folder, Self.rejected, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard place >= 0 else { return false }
        defer { close(place) }
        guard let free = Self.freeName(name, in: place) else { return false }
        guard renameat(folder, name, place, free) == 0 else { return errno == ENOENT }
        let note = openat(place, free + ".reason", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if note >= 0 {
            // A disk that is full takes the reason, not the file.
            try? FileSteps.write(Array((reason + "\n").utf8)[...], to: note)
            close(note)
        }
        return true
    }

    /// A name that nothing has there: nobody else makes any.
    private static func freeName(_ name: String, in place: Int32) -> String? {
        var status = stat()
        for number in 0..<10_000 {
            let free = number == 0 ? name : "\(number)-\(name)"
            let isFree = [free, free + ".reason"].allSatisfy { (name: String) in
                fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT
            }
            if isFree { return free }
        }
        return nil
    }
}

/// Distinguishes a file from every other that had its name, or has it later.
struct FileIdentity: Sendable, Hashable {
    let device: UInt64
    let number: UInt64
    let size: Int64
    let changedSeconds: Int64
    let changedNanoseconds: Int64

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        changedSeconds = Int64(status.st_mtim.tv_sec)
        changedNanoseconds = Int64(status.st_mtim.tv_nsec)
    }

    /// That of a path, which is not followed if it is a link; `nil` if nothing is there.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
