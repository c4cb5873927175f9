import Glibc
import Synchronization

/// Watches files of a folder by inotify, also such as do not exist yet, and the folder itself, which may be replaced.
///
/// What inotify does not report, as on network file systems, behind symbolic links, or where the process may have no
/// more watches, is found by a look at the files' sizes and times now and then.
package final class FolderWatch: Sendable {
    private let folder: String
    private let names: Set<String>
    private let events: UInt32
    private let pauses: Pauses
    private let descriptor: Int32
    private let bell = WakePipe()
    private let isEnding = Atomic(false)
    private let state = Mutex(State())

    /// How long to wait between two looks at the files.
    package struct Pauses: Sendable {
        /// Where inotify reports changes.
        package var watching = Duration.seconds(2)
        /// Where it does not.
        package var blind = Duration.milliseconds(250)

        package init() {}
    }

    private struct State {
        var watch: Int32 = -1
        var marks: [Mark] = []
    }

    /// What shows that a file was changed or replaced.
    private struct Mark: Equatable {
        var file: (UInt, UInt) = (0, 0)
        var size = 0
        var time: (Int, Int) = (0, 0)

        static func == (one: Mark, other: Mark) -> Bool {
            one.file == other.file && one.size == other.size && one.time == other.time
        }
    }

    /// Begins to watch: what changes from here on ends the next ``wait(until:)``.
    ///
    /// - Parameters:
    ///   - folder: the path of the folder, which need not exist.
    ///   - names: the names of the files; empty for all in the folder.
    ///   - eachWrite: whether each write counts, not only the end of writing.
    ///   - usesNotification: false only looks at the files.
    package init(
        _ folder: String,
        names: Set<String> = [],
        eachWrite: Bool = false,
        pauses: Pauses = Pauses(),
        usesNotification: Bool = true
    ) {
        self.folder = folder.isEmpty ? "." : folder
        self.names = names
        self.pauses = pauses
        let files = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
        events = UInt32(Int(files) | (eachWrite ? Int(IN_MODIFY) : 0)) | Self.folderEvents
        descriptor = usesNotification ? inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) : -1
        _ = state.withLock { look(&$0) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The folder is no more what its path names.
    private static let folderEvents =
        UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_IGNORED) | UInt32(IN_UNMOUNT)

    /// Ends the present and all later waits.
    package func end() {
        isEnding.store(true, ordering: .releasing)
        bell?.ring()
    }

    /// Blocks the thread until a file has changed since the last wait. Changes that come together may be one.
    ///
    /// - Parameter end: when to give up; `nil` is never.
    /// - Returns: false if nothing changed until then, or after ``end()``.
    package func wait(until end: ContinuousClock.Instant? = nil) -> Bool {
        while !isEnding.load(ordering: .acquiring) {
            let (isWatching, hasChanged) = state.withLock { look(&$0) }
            if hasChanged { return true }
            if let end, end <= .now { return false }
            let next = ContinuousClock.now + (isWatching ? pauses.watching : pauses.blind)
            if let bell {
                _ = bell.wait(for: descriptor, Int(POLLIN), until: end.map { min($0, next) } ?? next)
            } else {
                // The process has no descriptors left: nothing wakes this thread.
                usleep(10_000)
            }
        }
        return false
    }

    /// The changes as an asynchronous sequence, which has a thread of its own until it is no more read from. Several
    /// changes that nobody waits for are one, and so are those that come within `settling` microseconds.
    package static func changes(
        in folder: String,
        of names: Set<String> = [],
        eachWrite: Bool = false,
        pauses: Pauses = Pauses(),
        settling: UInt32 = 0
    ) -> AsyncStream<Void> {
        let watch = FolderWatch(folder, names: names, eachWrite: eachWrite, pauses: pauses)
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.onTermination = { _ in watch.end() }
        DetachedThread.start(name: "folder watch") {
            while watch.wait() {
                if settling > 0 {
                    usleep(settling)
                    _ = watch.wait(until: .now)
                }
                continuation.yield()
            }
            continuation.finish()
        }
        return stream
    }

    /// Looks what has happened since the last look, and sees to it that what happens from here on is reported.
    private func look(_ state: inout State) -> (isWatching: Bool, hasChanged: Bool) {
        // The same watch again as long as the path names the same folder.
        let watch = descriptor >= 0 ? inotify_add_watch(descriptor, folder, events) : -1
        var hasChanged = watch != state.watch
        if hasChanged, state.watch >= 0 { inotify_rm_watch(descriptor, state.watch) }
        state.watch = watch
        // Also of a watch that is gone, whose last events would keep waking whoever waits.
        if descriptor >= 0, drain(watch) { hasChanged = true }
        // After the events, since a change that shows here and has its event later is reported twice, but never missed.
        let marks = marks()
        if marks != state.marks { hasChanged = true }
        state.marks = marks
        return (watch >= 0, hasChanged)
    }

    /// Takes the events that came.
    ///
    /// - Returns: whether one is of the files.
    private func drain(_ watch: Int32) -> Bool {
        var isOfFiles = false
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return isOfFiles }
            buffer.withUnsafeBytes { bytes in
                let header = MemoryLayout<inotify_event>.size
                var at = 0
                while at + header <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: at, as: inotify_event.self)
                    let name = bytes[(at + header)..<min(at + header + Int(event.len), count)].prefix { $0 != 0 }
                    at += header + Int(event.len)
                    let isOfAny = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    guard isOfAny || event.wd == watch && event.mask & Self.folderEvents == 0 else { continue }
                    if isOfAny || names.isEmpty || names.contains(String(decoding: name, as: UTF8.self)) {
                        isOfFiles = true
                    }
                }
            }
        }
    }

    private func marks() -> [Mark] {
        // Of the folder only which one it is, unless all files in it count.
        [mark(folder, isWhole: names.isEmpty)] + names.sorted().map { mark(folder + "/" + $0, isWhole: true) }
    }

    private func mark(_ path: String, isWhole: Bool) -> Mark {
        var status = stat()
        guard stat(path, &status) == 0 else { return Mark() }
        var mark = Mark(file: (UInt(status.st_dev), UInt(status.st_ino)))
        if isWhole {
            mark.size = Int(status.st_size)
            mark.time = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
        return mark
    }
}
