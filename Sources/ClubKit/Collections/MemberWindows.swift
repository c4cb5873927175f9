import GRDB

/// The sequence of ``Club/members(in:pollInterval:)``: a window of a list of members, now and after every change.
///
/// Each iteration is independent. It returns the current window, then waits until the window or the length of the list
/// changes; changes faster than they are requested are combined. It ends when the task is cancelled, and throws
/// ``ClubError/Kind/notOpen`` when the club is not open or is closed.
public struct MemberWindows: AsyncSequence, Sendable {
    /// A window.
    public typealias Element = MemberWindow
    /// The error that ends the sequence.
    public typealias Failure = ClubError

    let club: Club
    let query: MemberQuery
    let interval: Duration

    /// An iterator that follows the window.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let windows: MemberWindows
        private var following: (store: MemberStore, bell: ChangeBell, rings: AsyncStream<Void>.Iterator)?
        private var state: WindowState?
        private var isOver = false

        fileprivate init(_ windows: MemberWindows) {
            self.windows = windows
        }

        /// Returns the current window: at once the first time, then as soon as it differs from the previous one.
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

    /// Returns an iterator that follows the window.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// A window of a list at one moment. It knows nobody outside.
struct WindowState: Sendable {
    private let query: MemberQuery
    private let listing: MemberListing
    private let offset: Int
    private let limit: Int
    private(set) var images: [MemberImage]
    private(set) var total: Int
    /// The latest change that the window knows.
    private(set) var sequence: Int64
    /// The time by which the filter judges, in microseconds since 1970.
    private(set) var time: Int64
    /// When it has to judge anew.
    private var nextEnd: Int64?

    /// Of so many changes at once, it is quicker to read the window again.
    private static let manyChanges = 500

    init(_ query: MemberQuery, at now: Int64, in db: Database) throws {
        self.query = query
        listing = MemberListing(order: query.order, filter: query.filter)
        offset = max(query.offset, 0)
        limit = max(query.limit, 0)
        images = try listing.page(offset: offset, limit: limit, at: now, in: db)
        let isEnd = images.count < limit && (offset == 0 || !images.isEmpty)
        total = try isEnd ? offset + images.count : listing.count(at: now, in: db)
        sequence = try ChangeJournal.latest(in: db)
        time = now
        nextEnd = try listing.nextEnd(after: now, in: db)
    }

    func window(_ changes: ListChanges?) -> MemberWindow {
        MemberWindow(members: images.map(\.member), total: total, changes: changes)
    }

    /// Brings the window up to date. Returns what changed in it; `nil` if neither the window nor the length of the list
    /// did.
    mutating func advance(to now: Int64, in db: Database) throws -> ListChanges? {
        let before = self
        if let nextEnd, nextEnd <= now {
            self = try WindowState(query, at: now, in: db)
        } else {
            let latest = try ChangeJournal.latest(in: db)
            guard latest != sequence else { return nil }
            // Nobody's membership ended since then, so the list was the same at both times.
            time = max(time, now)
            if case .members(let members) = try ChangeJournal.changes(after: sequence, in: db),
                members.count <= Self.manyChanges, try follow(members, in: db)
            {
                sequence = latest
            } else {
                self = try WindowState(query, at: now, in: db)
            }
        }
        guard images != before.images || total != before.total else { return nil }
        return ListChanges(from: before.images.map(key), to: images.map(key)) { _, old, new in
            before.images[old] != images[new]
        }
    }

    /// Takes in the changes of those members. Other members are read only where they come into the window over its
    /// edges. Returns whether that could be done; if not, the window has to be read again.
    private mutating func follow(_ members: [Int64: Int64], in db: Database) throws -> Bool {
        let (start, end) = (images.first.map(key), images.last.map(key))
        // What is behind the window is not known.
        let isFull = images.count == limit
        var rows = images.filter { members[$0.id] == nil }
        // How many more members than before stand before the place where the window began.
        var shift = 0
        for (id, change) in members {
            if let before = try listing.image(before: change, at: time, in: db) {
                total -= 1
                if let start, key(before) < start { shift -= 1 }
            }
            if let after = try listing.image(of: id, at: time, in: db) {
                total += 1
                let place = key(after)
                if let start, place < start {
                    shift += 1
                } else if !isFull || end.map({ place <= $0 }) ?? false {
                    rows.append(after)
                }
            }
            if let next = try listing.nextEnd(of: id, after: time, in: db) { nextEnd = min(nextEnd ?? next, next) }
        }
        // Without them, the list ends before the window, or the window has no room.
        guard let first = images.first, let last = images.last else { return limit == 0 || total <= offset }
        rows.sort { key($0) < key($1) }
        if shift > 0 {
            rows = try listing.page(before: first, limit: shift, at: time, in: db) + rows
        } else if -shift <= rows.count {
            rows.removeFirst(-shift)
        } else {
            return false
        }
        if rows.count < limit, isFull {
            rows += try listing.page(after: last, limit: limit - rows.count, at: time, in: db)
        }
        images = Array(rows.prefix(limit))
        return true
    }

    private func key(_ image: MemberImage) -> MemberKey { MemberKey(image, order: listing.order) }
}
