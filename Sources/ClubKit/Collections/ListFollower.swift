import Synchronization

/// Follows a whole list of a club's members, off everybody's threads, and tells about it on the club's callback queue.
final class ListFollower: Sendable {
    /// What is told.
    enum News: Sendable {
        case initial(ListState)
        case update(ListState, ListChanges)
        case failure(ClubError)

        var list: ListState? {
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
    }

    private let state = Mutex(State())
    private let club: Club
    private let listing: MemberListing
    private let interval: Duration
    private let show: @Sendable (ListState) -> Void
    private let tell: @Sendable (News) -> Void

    /// Something that follows nothing yet.
    ///
    /// - Parameters:
    ///   - interval: how often it looks for what other processes did, and whether the club is open.
    ///   - show: called with the list that counts from now on: right before news of it are told, and on any thread for
    ///     a list with the same members in it.
    ///   - tell: called for one news after the other, on the club's callback queue.
    init(
        _ club: Club,
        _ listing: MemberListing,
        every interval: Duration,
        show: @escaping @Sendable (ListState) -> Void,
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

    /// Nothing is shown or told any more, apart from what is being told at the moment.
    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            defer { state.task = nil }
            return state.task
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
            // What happens meanwhile is told together with what comes next.
            guard !state.withLock({ $0.isTelling }) else { continue }
            do throws(ClubError) {
                if let news = try await look(at: store, &list) { deliver(news, then: bell) }
                hasFailed = false
            } catch {
                guard error.kind != .cancelled else { return }
                if !hasFailed || error.kind == .notOpen { deliver(.failure(error), then: bell) }
                guard error.kind != .notOpen else { return }
                hasFailed = true
            }
        }
    }

    /// Waits until the club is open; says once that it is not.
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

    private func look(at store: MemberStore, _ list: inout ListState?) async throws(ClubError) -> News? {
        let (listing, last) = (listing, list)
        let (next, changes) = try await store.read("follow the members") { db in
            let now = Timestamp.microseconds(store.clock()) ?? 0
            guard var next = last else { return (try ListState(listing, at: now, in: db), ListChanges?.none) }
            let changes = try next.advance(to: now, in: db)
            return (next, changes)
        }
        list = next
        guard let last, let changes else { return .initial(next) }
        guard changes.isEmpty else { return .update(next, changes) }
        // The same members, known up to a later change, so that the journal reaches back to it for longer.
        if last.sequence != next.sequence {
            state.withLock { if !$0.isStopped { show(next) } }
        }
        return nil
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
