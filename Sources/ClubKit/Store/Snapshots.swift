import Foundation
import GRDB
import ReaderKit

/// A folder of snapshots of one database: copies that a kiosk makes automatically, of which the latest are kept.
///
/// A snapshot is a file of mode 0600 with the database's name and the time, such as `club-20260901T100000Z.sqlite`.
/// Other files in the folder are ignored. Each database needs a folder of its own.
public struct SnapshotFolder: Sendable, Hashable {
    /// The URL of the folder, which is created with mode 0700 with the first snapshot.
    public let url: URL

    private let prefix: String

    private static let ending = ".sqlite"

    /// A copy of the database as it was at one moment.
    public struct Snapshot: Sendable, Hashable {
        /// The file.
        public var url: URL
        /// The time at which it was made, to the second, by the clock of the device.
        public var madeAt: Date
    }

    /// Creates the folder of a database's snapshots.
    ///
    /// - Parameters:
    ///   - database: the path of the database.
    ///   - folder: the folder; by default beside the database, under its name with the suffix `.snapshots`.
    public init(ofDatabase database: String, in folder: URL? = nil) {
        let path = DatabaseFiles.whole(database)
        url = folder ?? URL(fileURLWithPath: path + ".snapshots", isDirectory: true)
        prefix = ((path as NSString).lastPathComponent as NSString).deletingPathExtension + "-"
    }

    /// Returns the snapshots in the folder, readable or not.
    ///
    /// - Parameter now: later snapshots were made while the clock was wrong, and count as the oldest.
    /// - Returns: the snapshots, latest first; empty if the folder is absent.
    public func snapshots(now: Date) -> [Snapshot] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return names.compactMap { name in
            guard name.hasPrefix(prefix), name.hasSuffix(Self.ending) else { return nil }
            let moment = String(name.dropFirst(prefix.count).dropLast(Self.ending.count))
            guard let date = DatabaseFiles.date(moment), DatabaseFiles.stamp(date) == moment else { return nil }
            return Snapshot(url: url.appendingPathComponent(name, isDirectory: false), madeAt: date)
        }.sorted { one, other in
            let (isPast, isOtherPast) = (one.madeAt <= now, other.madeAt <= now)
            return isPast == isOtherPast ? one.madeAt > other.madeAt : isPast
        }
    }

    /// The place of a snapshot that is yet to be made.
    func place(at date: Date) -> String {
        url.appendingPathComponent(prefix + DatabaseFiles.stamp(date) + Self.ending, isDirectory: false).path
    }
}

extension MemberStore {
    /// So much of a file system is left to taps: a snapshot never takes the last of it.
    private static let roomForTaps = 16 << 20

    /// Makes a snapshot and removes those that are not kept any longer.
    package func makeSnapshot(
        in folder: SnapshotFolder,
        keeping count: Int
    ) async throws(ClubError) -> SnapshotFolder.Snapshot {
        let attempt = "make a snapshot of the member database"
        guard count > 0 else {
            throw ClubError(.invalidValue, attempting: attempt, detail: "at least one has to be kept")
        }
        do throws(FileSteps.Failure) {
            try FileSteps.makeDirectories(folder.url.path)
        } catch {
            throw DatabaseFiles.failure(attempt, error.code)
        }
        let now = clock()
        let place = folder.place(at: now)
        try await copy(to: place, attempt, verifying: true, leaving: Self.roomForTaps)
        let all = folder.snapshots(now: now)
        for old in all.dropFirst(count) where old.url.path != place { unlink(old.url.path) }
        guard let made = all.first(where: { $0.url.path == place }) else {
            throw ClubError(.inputOutput, attempting: attempt, detail: "it is not there any more")
        }
        return made
    }
}

/// Threads for long work that blocks: those of the concurrency runtime are few.
enum StoreThread {
    /// Runs work.
    ///
    /// - Parameter isIdle: whether the system is to serve it only when nobody else wants the processor or the disk.
    static func run<Value: Sendable>(
        name: String,
        isIdle: Bool,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DetachedThread.start(name: name) {
                if isIdle {
                    // SCHED_IDLE, a macro. Such a thread is of the idle class for the disk as well: ioprio_get(2).
                    var parameters = sched_param()
                    _ = sched_setscheduler(0, 5, &parameters)
                }
                continuation.resume(with: Result { try work() })
            }
        }
    }
}
