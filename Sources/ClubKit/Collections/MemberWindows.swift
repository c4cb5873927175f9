/// A window of a list of members, now and after every change: what ``Club/members(in:lookEvery:)`` gives.
///
/// Each iteration is one of its own. It gives the window as it is, then waits until it is another, or the list has
/// another length; changes that come faster than they are asked for are told as one. It ends when the task is
/// cancelled, and throws ``ClubError/Kind/notOpen`` when the club is not open or is closed.
public struct MemberWindows: AsyncSequence, Sendable {
    /// A window.
    public typealias Element = MemberWindow
    /// Why there are no more windows.
    public typealias Failure = ClubError

    let club: Club
    let query: MemberQuery
    let interval: Duration

    /// Follows a window.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let windows: MemberWindows
        private var following: (store: MemberStore, bell: ChangeBell, rings: AsyncStream<Void>.Iterator)?
        private var state: WindowState?
        private var isOver = false

        fileprivate init(_ windows: MemberWindows) {
            self.windows = windows
        }

        /// The window as it is now: at once the first time, and then as soon as it is another than the one before.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClubError) -> MemberWindow? {
            guard !isOver else { return nil }
            do throws(ClubError) {
                if let window = try await wait(isolation: actor) { return window }
            } catch {
                isOver = true
                guard error.kind == .cancelled else { throw error }
            }
            isOver = true
            return nil
        }

        private mutating func wait(isolation actor: isolated (any Actor)?) async throws(ClubError) -> MemberWindow? {
            let attempt = "follow the members"
            let store: MemberStore
            if let following {
                store = following.store
            } else {
                store = try windows.club.openStore(attempt)
                let bell = ChangeBell(store, every: Swift.max(windows.interval, .milliseconds(1)))
                following = (store, bell, bell.rings.makeAsyncIterator())
            }
            while await following?.rings.next(isolation: actor) != nil {
                let (query, last) = (windows.query, state)
                let (next, window) = try await store.read(attempt) { db -> (WindowState, MemberWindow?) in
                    let now = Timestamp.microseconds(store.clock()) ?? 0
                    guard var next = last else {
                        let first = try WindowState(query, at: now, in: db)
                        return (first, first.window(nil))
                    }
                    guard let changes = try next.advance(to: now, in: db) else { return (next, nil) }
                    return (next, next.window(changes))
                }
                state = next
                if let window { return window }
            }
            return nil
        }
    }

    /// Begins to follow the window.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
