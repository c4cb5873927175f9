import Synchronization

/// A list of members that stays up to date, for a screen.
///
/// ```swift
/// let members = MembershipUserCollection<CustomMembershipUser>()
/// members.observeAllRecords { [weak self] changes in
///     switch changes {
///     case .initial:
///         self?.table.reload()
///     case .update(_, let deletions, let insertions, let modifications):
///         self?.table.change(deleting: deletions, inserting: insertions, showingAgain: modifications)
///     case .error(let error):
///         self?.show(error)
///     }
/// }
/// ```
///
/// The list holds each member's place and no values, which ``user(at:)`` reads from the store on request. It sees
/// changes by other processes with the same database. Following a tap takes hardly longer in a list of a million
/// members than in a short one. If only a part of the list is shown, ``Club/members(in:pollInterval:)`` holds nothing
/// but that part.
///
/// A collection is not `Sendable`: use it on the queue of its callbacks, ``Club/setDispatchQueue(_:)``, by default the
/// main one. Keep a reference to it as long as it is to follow the list: its callbacks do not.
public final class MembershipUserCollection<T: MembershipUser> {
    private let club: Club
    private let listing: MemberListing
    private let interval: Duration
    private var follower: ListFollower?

    /// The list of the last change that was reported, and whom the callbacks are for.
    private let shown = Shown()

    fileprivate final class Shown: Sendable {
        let list = Mutex<ShownList?>(nil)
    }

    /// The closure of the application, which is not `Sendable`, and the collection.
    private struct Observer: @unchecked Sendable {
        // Safe to send since both are used only in jobs of the club's callback queue, which run one at a time on the
        // queue that the application named for its callbacks. The reference itself never changes, and reading a weak
        // reference is atomic.
        private(set) weak var collection: MembershipUserCollection?
        let completion: (MembershipUserChanges<T>) -> Void

        func tell(_ news: ListFollower.News) {
            guard let collection else { return }
            switch news {
            case .initial:
                completion(.initial(collection))
            case .update(_, let list):
                let (gone, new, changed) = (list.deletions, list.insertions, list.modifications)
                completion(.update(collection, deletions: gone, insertions: new, modifications: changed))
            case .failure(let error):
                completion(.error(error))
            }
        }
    }

    /// Creates a list of all members of ``Club/shared`` in the order of creation.
    public convenience init() { self.init(club: .shared) }

    /// Creates a list of a club's members.
    ///
    /// - Parameters:
    ///   - club: the club, which need not be open yet.
    ///   - order: the order of the list; by default that of creation.
    ///   - filter: the members in the list; by default all.
    ///   - interval: how often the list checks for changes by other processes while it is observed. Changes of this
    ///     process are seen at once.
    public init(
        club: Club,
        order: MemberOrder = .creation,
        filter: MemberFilter = .all,
        pollInterval interval: Duration = .milliseconds(250)
    ) {
        self.club = club
        listing = MemberListing(order: order, filter: filter)
        self.interval = interval
    }

    deinit {
        follower?.stop()
    }

    // MARK: Observing

    /// Begins to observe the list; an earlier observation ends.
    ///
    /// The closure is called on the queue of ``Club/setDispatchQueue(_:)``, for one change after the other:
    /// - first ``MembershipUserChanges/initial(_:)``, exactly once, also for an empty list;
    /// - then ``MembershipUserChanges/update(_:deletions:insertions:modifications:)`` whenever the list changes.
    ///   Changes that come faster than the closure handles them are combined.
    /// - ``MembershipUserChanges/error(_:)`` when the members cannot be read. If the club is not open yet, that is
    ///   reported once (``ClubError/Kind/notOpen``), and the list begins when the club opens. When the club is closed,
    ///   it is reported once and is the last; observe again then. After any other error the list goes on as soon as it
    ///   can.
    public func observeAllRecords(_ completion: @escaping (MembershipUserChanges<T>) -> Void) {
        follower?.stop()
        let observer = Observer(collection: self, completion: completion)
        let shown = shown
        let follower = ListFollower(
            club,
            listing,
            every: interval,
            show: { list in shown.list.withLock { $0 = list } },
            tell: { news in observer.tell(news) }
        )
        self.follower = follower
        follower.start()
    }

    /// Ends the observation of ``observeAllRecords(_:)``. A call of the closure under way on another thread goes on; no
    /// other begins. The list stays as last reported.
    public func stopObserving() {
        follower?.stop()
        follower = nil
    }

    // MARK: The list

    /// The number of members in the list of the last callback; 0 before the first.
    public var count: Int { shown.list.withLock { $0?.count } ?? 0 }

    /// Returns a copy of the member at that index of the list of the last callback, with the values of that time; `nil`
    /// outside the list, before the first callback, and when the club is closed. It reads the database on the calling
    /// thread. Right after the first callback of a list of many thousands, members far down may take a moment: the list
    /// is reported once its first members are known.
    ///
    /// If the class does not accept the record, or the database cannot be read, it is `nil` too, and
    /// ``ClubMiddlewareDelegate/club(_:didReceive:)`` is called.
    ///
    /// After some ten thousand changes since the last callback began, or an erasure, the values may be later ones, and
    /// a member deleted since is `nil`.
    public func user(at index: Int) -> T? {
        guard let list = shown.list.withLock({ $0 }) else { return nil }
        return reading { store throws(ClubError) in
            var image = list.known(at: index)
            if image == nil, index >= 0, index < list.count, let whole = list.whole {
                image = try store.readNow(Self.attempt) { db in try whole.image(at: index, in: db) }
            }
            return try image.map { image throws(ClubError) in try T.object(of: image.member) }
        } ?? nil
    }

    private static var attempt: String { "read a list of members" }

    private func reading<Value>(_ work: (MemberStore) throws(ClubError) -> Value) -> Value? {
        do throws(ClubError) {
            return try work(club.openStore(Self.attempt))
        } catch {
            if error.kind != .notOpen { club.report(error) }
            return nil
        }
    }

    /// All members of the list of the last callback, as ``user(at:)`` returns them, without those that are `nil`. It
    /// reads them all, which takes time in a long list.
    public var users: [T] {
        guard let list = shown.list.withLock({ $0 })?.whole else { return [] }
        return reading { store throws(ClubError) in
            var failure: ClubError?
            var users: [T] = []
            try store.readNow(Self.attempt) { db in
                try list.forEachImage(in: db) { image in
                    do throws(ClubError) {
                        users.append(try T.object(of: image.member))
                    } catch {
                        failure = error
                    }
                }
            }
            if let failure { club.report(failure) }
            return users
        } ?? []
    }
}

/// The changes that ``MembershipUserCollection/observeAllRecords(_:)`` reports.
///
/// Deletions and modifications are indices in the old list, insertions in the new list, all ascending; a moved member
/// is deleted and inserted. A list on a screen deletes first, then inserts.
public enum MembershipUserChanges<T: MembershipUser> {
    /// The list is ready, possibly empty. Reported once.
    case initial(MembershipUserCollection<T>)

    /// The list changed.
    case update(MembershipUserCollection<T>, deletions: [Int], insertions: [Int], modifications: [Int])

    /// The list cannot be followed; the error is a ``ClubError``.
    case error(any Error)
}
