import CardCore
import ClubRecords
import Foundation
import Synchronization

/// What the thread of a ``MessageFolder`` does.
final class FolderServer: ThreadServer {
    static let attempt = "take messages from a directory"
    /// How many of the files that were removed last are remembered.
    private static let remembered = 1024

    let thread: ServiceThread

    private let path: String
    private let router: MessageRouter
    private let pauses: MessageFolder.Pauses

    private struct Shared {
        /// What came out of the message that was passed on last.
        var answer: Result<RoutingResult, ClubError>?
        var wakeUps = 0
    }

    private let shared = Mutex(Shared())

    init(path: String, router: MessageRouter, pauses: MessageFolder.Pauses, thread: ServiceThread) {
        self.path = path
        self.router = router
        self.pauses = pauses
        self.thread = thread
    }

    var wakeUps: Int { shared.withLock { $0.wakeUps } }

    /// What only the thread knows.
    private struct Memory {
        var watch: ArrivalWatch
        /// Files that are done with and could be neither removed nor moved.
        var stuck: [String: FileIdentity] = [:]
        /// What identified the files that were removed last.
        var removed: [UUID] = []
        var retry: Duration
        /// Whether it was reported that the directory cannot be read.
        var hasComplained = false
    }

    private enum Step {
        case next
        /// Nothing is to be done with this one now.
        case left
        /// The inbox failed.
        case tryAgain
        case end
    }

    func run(_ started: (Result<Void, ClubError>) -> Void) {
        do throws(ClubError) {
            try prepare()
        } catch {
            return started(.failure(error))
        }
        var memory = Memory(watch: ArrivalWatch(), retry: pauses.firstRetry)
        started(.success(()))
        while !thread.isEnding {
            // A bell that rang during the look may have been taken for an answer's.
            if let pause = look(&memory), !thread.isEnding { sleep(pause, memory.watch) }
        }
    }

    private func prepare() throws(ClubError) {
        do throws(FileSteps.Failure) {
            try FileSteps.makeDirectories(path)
        } catch {
            throw ClubError(errno: error.code, attempting: Self.attempt)
        }
        let folder = try MessageFiles(path)
        guard !folder.isOpenToEverybody else {
            let detail = "everybody on this machine may write into it"
            throw ClubError(.invalidValue, attempting: Self.attempt, detail: detail)
        }
    }

    /// Takes what is there. Returns for how long to sleep unless something comes; `nil` if there may be more.
    private func look(_ memory: inout Memory) -> Duration? {
        shared.withLock { $0.wakeUps += 1 }
        // Before the names are read, so that none comes unseen in between.
        let isTold = memory.watch.follow(path)
        let pause = isTold ? pauses.look : pauses.blindLook
        let folder: MessageFiles
        let names: [String]
        do throws(ClubError) {
            folder = try MessageFiles(path)
            names = try folder.names()
            memory.hasComplained = false
        } catch {
            if !memory.hasComplained { router.configuration.logger.error("\(error)") }
            memory.hasComplained = true
            return pauses.blindLook
        }
        let there = Set(names)
        memory.stuck = memory.stuck.filter { there.contains($0.key) }
        var rest = pauses.portion
        for name in names {
            switch take(name, folder, &memory) {
            case .left: continue
            case .next:
                rest -= 1
                if rest == 0 { return nil }
            case .end: return nil
            case .tryAgain:
                defer { memory.retry = min(memory.retry * 2, pauses.lastRetry) }
                return memory.retry
            }
        }
        return pause
    }

    private func take(_ name: String, _ folder: MessageFiles, _ memory: inout Memory) -> Step {
        guard !thread.isEnding else { return .end }
        switch folder.read(name, unless: memory.stuck[name]) {
        case .leave: return .left
        case .fail(let error):
            router.configuration.logger.error("\(error)")
            return .tryAgain
        case .reject(let identity, let reason):
            return reject(name, identity, reason, folder, &memory)
        case .file(let file):
            return take(file, name, folder, &memory)
        }
    }

    private func take(
        _ file: MessageFiles.File,
        _ name: String,
        _ folder: MessageFiles,
        _ memory: inout Memory
    ) -> Step {
        let identity = file.identity
        let looks = file.uuid(named: name)
        let number = memory.removed.count { $0 == looks }
        let message: Message
        do throws(MessageError) {
            message = try Message(
                json: file.bytes,
                source: MessageSource(.directory, name: name),
                receivedAt: router.configuration.clock(),
                makeUUID: { number == 0 ? looks : file.uuid(named: name, number: number) }
            )
        } catch {
            return reject(name, identity, error.message, folder, &memory)
        }
        switch answer(to: message) {
        case nil: return .end
        case .failure: return .tryAgain
        case .success:
            memory.retry = pauses.firstRetry
            guard folder.remove(name, identity) else {
                router.configuration.logger.error(
                    "the message in the file '\(PlainText.line(name))' was processed, and the file cannot be removed"
                )
                memory.stuck[name] = identity
                return .next
            }
            memory.removed.append(looks)
            if memory.removed.count > 2 * Self.remembered { memory.removed.removeFirst(Self.remembered) }
            return .next
        }
    }

    private func reject(
        _ name: String,
        _ identity: FileIdentity,
        _ reason: String,
        _ folder: MessageFiles,
        _ memory: inout Memory
    ) -> Step {
        let file = "the file '\(PlainText.line(name))'"
        router.configuration.logger.warning("\(file) is no message: \(reason)")
        if !folder.reject(name, reason) {
            router.configuration.logger.error("\(file) is no message and cannot be moved away")
            memory.stuck[name] = identity
        }
        return .next
    }

    /// Passes a message to the router, and waits for what becomes of it; `nil` if this is to end before.
    private func answer(to message: Message) -> Result<RoutingResult, ClubError>? {
        let (router, thread) = (router, thread)
        Task { [weak self] in
            let result: Result<RoutingResult, ClubError>
            do throws(ClubError) {
                result = .success(try await router.accept(message))
            } catch {
                result = .failure(error)
            }
            self?.shared.withLock { $0.answer = result }
            thread.bell.ring()
        }
        while true {
            if let answer = shared.withLock({ $0.answer.take() }) { return answer }
            if thread.isEnding { return nil }
            _ = thread.bell.wait(for: -1, 0, until: nil)
        }
    }

    private func sleep(_ pause: Duration, _ watch: ArrivalWatch) {
        _ = thread.bell.wait(for: watch.descriptor, Int(POLLIN), until: .now + pause)
        watch.silence()
    }
}

/// The system's notification that a file has come into a directory.
final class ArrivalWatch {
    /// Can be read from when something came; -1 where the system does not notify.
    let descriptor: Int32

    init() {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Watches what is at a path now. Watching it twice is the same as once. Returns whether the system will notify.
    func follow(_ path: String) -> Bool {
        guard descriptor >= 0 else { return false }
        let events = UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        return inotify_add_watch(descriptor, path, events) >= 0
    }

    /// Takes away what was reported: the directory is looked at as a whole.
    func silence() {
        guard descriptor >= 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
