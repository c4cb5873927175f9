import CardCore
import Foundation
import GRDB
import Synchronization

/// Follows a whole list of a club's members, off everybody's threads, and reports it on the club's callback queue.
final class ListFollower: Sendable {
    enum News: Sendable {
        case initial(ShownList)
        case update(ShownList, ListChanges)
        case failure(ClubError)

        var list: ShownList? {
            switch self {
            case .initial(let list), .update(let list, _): list
            case .failure: nil
            }
        }
    }

    private struct State {
        var task: Task<Void, Never>?
        var isStopped = false
        /// Whether news are on their way that the application has not begun to hear.
        var isTelling = false
        /// A list whose beginning was reported, until the rest is there.
        var begun: ShownList?
    }

    private let state = Mutex(State())
    private let club: Club
    private let listing: MemberListing
    private let interval: Duration
    private let show: @Sendable (ShownList) -> Void
    private let tell: @Sendable (News) -> Void

    /// Something that follows nothing yet.
    ///
    /// - Parameters:
    ///   - interval: how often it looks besides for what other processes did, and whether the club is open.
    ///   - show: called with the list that counts from now on: right before news of it are reported, and on any thread
    ///     for a list with the same members in it.
    ///   - tell: called for one news after the other, on the club's callback queue.
    init(
        _ club: Club,
        _ listing: MemberListing,
        every interval: Duration,
        show: @escaping @Sendable (ShownList) -> Void,
        tell: @escaping @Sendable (News) -> Void
    ) {
        self.club = club
        self.listing = listing
        // A thousand times in a second is often enough; no pause at all would keep a processor busy.
        self.interval = max(interval, .milliseconds(1))
        self.show = show
        self.tell = tell
    }

    func start() {
        let task = Task { await self.run() }
        let isStopped = state.withLock { state in
            state.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    /// Nothing is shown or reported any more, apart from what is being reported at the moment.
    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            return state.task.take()
        }
        task?.cancel()
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func run() async {
        guard let store = await openStore() else { return }
        let bell = ChangeBell(store, every: interval)
        var list: ListState?
        var hasFailed = false
        for await _ in bell.rings {
            guard !Task.isCancelled else { return }
            // What happens meanwhile is reported together with what comes next.
            guard !state.withLock({ $0.isTelling }) else { continue }
            do throws(ClubError) {
                if let last = list {
                    list = try await look(at: store, last, bell)
                } else {
                    list = try await begin(with: store, bell)
                }
                hasFailed = false
            } catch {
                guard error.kind != .cancelled else { return }
                if !hasFailed || error.kind == .notOpen { deliver(.failure(error), then: bell) }
                guard error.kind != .notOpen else { return }
                hasFailed = true
            }
        }
    }

    /// Waits until the club is open; reports once that it is not.
    private func openStore() async -> MemberStore? {
        var hasFailed = false
        while !isStopped {
            do throws(ClubError) {
                return try club.openStore("follow the members")
            } catch {
                if !hasFailed { deliver(.failure(error)) }
                hasFailed = true
                try? await Task.sleep(for: interval)
            }
        }
        return nil
    }

    /// Reads the list for the first time. The beginning of a long one is reported first.
    private func begin(with store: MemberStore, _ bell: ChangeBell) async throws(ClubError) -> ListState {
        let listing = listing
        let former = state.withLock { $0.begun }
        let list: ListState
        do throws(ClubError) {
            list = try await store.read("follow the members") { db in
                let now = Timestamp.microseconds(store.clock()) ?? 0
                // Both see the same state of the store.
                if former == nil, let beginning = try ShownList.beginning(of: listing, at: now, in: db) {
                    self.state.withLock { $0.begun = beginning }
                    self.deliver(.initial(beginning), then: bell)
                }
                let list = try ListState(listing, at: now, in: db)
                self.state.withLock { $0.begun }?.complete(list)
                return list
            }
        } catch {
            // Whoever asks for the rest must not wait for ever.
            state.withLock { $0.begun }?.complete(nil)
            throw error
        }
        // It is all here now.
        let begun = state.withLock { $0.begun.take() }
        if let former {
            // Its beginning was reported once, and what was behind that could not be read, so nothing can be compared.
            let changes = ListChanges(deletions: Array(0..<former.count), insertions: Array(0..<list.list.count))
            deliver(.update(ShownList(list), changes), then: bell)
        } else if begun == nil {
            deliver(.initial(ShownList(list)), then: bell)
        }
        return list
    }

    private func look(at store: MemberStore, _ last: ListState, _ bell: ChangeBell) async throws(ClubError) -> ListState
    {
        let (next, changes) = try await store.read("follow the members") { db in
            var next = last
            let changes = try next.advance(to: Timestamp.microseconds(store.clock()) ?? 0, in: db)
            return (next, changes)
        }
        if !changes.isEmpty {
            deliver(.update(ShownList(next), changes), then: bell)
        } else if last.sequence != next.sequence {
            // The same members, known up to a later change, so that the journal reaches back to it for longer.
            state.withLock { if !$0.isStopped { show(ShownList(next)) } }
        }
        return next
    }

    private func deliver(_ news: News, then bell: ChangeBell? = nil) {
        state.withLock { $0.isTelling = true }
        club.callbacks.enqueue {
            let isStopped = self.state.withLock { state in
                if let list = news.list, !state.isStopped { self.show(list) }
                state.isTelling = false
                return state.isStopped
            }
            guard !isStopped else { return }
            bell?.ring()
            self.tell(news)
        }
    }
}

/// Rings when the members may have changed: once at the start, after each commit of this process and, as the system
/// reports writes to the write-ahead log, of other processes, and at intervals, since not every system does. Rings that
/// nobody has heard yet are one.
///
/// It rings as long as somebody keeps it.
final class ChangeBell: Sendable {
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let tasks: [Task<Void, Never>]

    init(_ store: MemberStore, every interval: Duration) {
        let (rings, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.rings = rings
        self.continuation = continuation
        let commits = store.commits.stream(bufferingPolicy: .bufferingNewest(1))
        tasks = [
            Task {
                for await _ in commits { continuation.yield() }
                // The store was closed, which whoever hears it will find out.
                continuation.yield()
            },
            Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: interval)
                    continuation.yield()
                }
            },
            Task { [others = store.commitsOfOthers] in
                // The first look goes before what it takes to watch. Until then the looks at intervals do.
                try? await Task.sleep(for: .milliseconds(10))
                guard !Task.isCancelled else { return }
                let commits = others.stream()
                continuation.yield()
                for await _ in commits { continuation.yield() }
            },
        ]
        continuation.yield()
    }

    func ring() {
        continuation.yield()
    }

    deinit {
        for task in tasks { task.cancel() }
        continuation.finish()
    }
}

/// Reads the journal of changes, the table `change`.
enum ChangeJournal {
    enum Reading {
        /// These members changed: each with the number of its first change, which has the values before.
        case members([Int64: Int64])
        /// Too much for the journal, or not in it: everything has to be compared.
        case everything
    }

    /// The number of the latest change; 0 before the first.
    static func latest(in db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(seq) FROM change")) ?? 0
    }

    static func changes(after sequence: Int64, in db: Database) throws -> Reading {
        let oldest = try Int64.fetchOne(db.cachedStatement(sql: "SELECT min(seq) FROM change")) ?? 0
        // Numbers have no gaps, so what is missing was cleared away. A file that was put back has smaller numbers.
        guard try latest(in: db) >= sequence, oldest <= sequence + 1 else { return .everything }
        let first = try firstChanges(after: sequence, in: db)
        return first[0] == nil ? .members(first) : .everything
    }

    /// The members that changed after that change, each with the number of its first change.
    static func firstChanges(after sequence: Int64, in db: Database) throws -> [Int64: Int64] {
        var changes: [Int64: Int64] = [:]
        let sql = "SELECT member_id, min(seq) FROM change WHERE seq > ? GROUP BY member_id"
        for row in try db.rows(sql, [sequence]) { changes[try row.value(0)] = try row.value(1) }
        return changes
    }

    /// The number of a member's first change after that one; `nil` if absent.
    static func firstChange(of id: Int64, after sequence: Int64, in db: Database) throws -> Int64? {
        try db.value("SELECT min(seq) FROM change WHERE seq > ? AND member_id = ?", [sequence, id])
    }
}
