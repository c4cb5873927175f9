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
/// The list holds each member's place and no values, which ``user(at:)`` reads from the store when they are asked for.
/// It sees what other processes do with the same database. Following a tap takes as long in a list of a million members
/// as in a short one, apart from a logarithm. For a list of which only a part is looked at,
/// ``Club/members(in:pollInterval:)`` holds nothing but that part.
///
/// A collection is not `Sendable`: use it where its callbacks come, which is the queue of
/// ``Club/setDispatchQueue(_:)``, by default the main one. Keep it as long as it is to follow
/// the list: its callbacks do not.
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
            case .update(_, let changes):
                completion(
                    .update(
                        collection,
                        deletions: changes.deletions,
                        insertions: changes.insertions,
                        modifications: changes.modifications
                    )
                )
            case .failure(let error):
                completion(.error(error))
            }
        }
    }

    /// A list of all members of ``Club/shared`` in the order in which they came.
    public convenience init() { self.init(club: .shared) }

    /// A list of a club's members.
    ///
    /// - Parameters:
    ///   - club: the club, which need not be open yet.
    ///   - order: the order of the list; by default that in which the members came.
    ///   - filter: whom the list shows; by default all.
    ///   - interval: how often the list looks for changes by other processes while it is observed. Those of this
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

    /// Begins to follow the list; what was begun before ends.
    ///
    /// The closure is called on the queue of ``Club/setDispatchQueue(_:)``, for one change after the other:
    /// - first ``MembershipUserChanges/initial(_:)``, exactly once, also when nobody is in the list;
    /// - then ``MembershipUserChanges/update(_:deletions:insertions:modifications:)`` whenever the list shows something
    ///   else. Changes that come faster than the closure takes them are reported as one.
    /// - ``MembershipUserChanges/error(_:)`` when the members cannot be read. While the club is not open yet, that is
    ///   told once (``ClubError/Kind/notOpen``), and the list begins when the club opens. When the club is closed, it
    ///   is reported once and is the last; observe again then. After any other error the list goes on as soon as it
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

    /// Ends what ``observeAllRecords(_:)`` began. A call of the closure that is under way on another thread goes on; no
    /// other begins. The list stays as it was told last.
    public func stopObserving() {
        follower?.stop()
        follower = nil
    }

    // MARK: The list

    /// How many members the list of the last callback has; 0 before the first.
    public var count: Int { shown.list.withLock { $0?.count } ?? 0 }

    /// The member at that index of the list of the last callback, with the values of that time, as a copy; `nil` outside
    /// the list, before the first callback, and when the club is closed. It reads the database on the calling thread.
    /// Right after the first callback of a list of many thousands, members far down may take a moment: the list is told
    /// when its first members are known.
    ///
    /// If the class does not accept the record, or the database cannot be read, it is `nil` too, and the delegate of
    /// the club is told (``ClubMiddlewareDelegate/club(_:didReceive:)``).
    ///
    /// When the members changed some ten thousand times since the last callback began, or somebody was erased, the
    /// values may be later ones, and a member who is gone since is `nil`.
    public func user(at index: Int) -> T? {
        guard let list = shown.list.withLock({ $0 }) else { return nil }
        do throws(ClubError) {
            let store = try club.openStore("read a list of members")
            var image = list.known(at: index)
            if image == nil, index >= 0, index < list.count, let whole = list.whole {
                image = try store.readNow("read a list of members") { db in try whole.image(at: index, in: db) }
            }
            return try image.map { image throws(ClubError) in try T.object(of: image.member) }
        } catch {
            if error.kind != .notOpen { club.report(error) }
            return nil
        }
    }

    /// All members of the list of the last callback, as ``user(at:)`` gives them, without those whom it does not give.
    /// It reads them all, which takes its time in a long list.
    public var users: [T] {
        guard let list = shown.list.withLock({ $0 })?.whole else { return [] }
        do throws(ClubError) {
            let store = try club.openStore("read a list of members")
            var failure: ClubError?
            let users: [T] = try store.readNow("read a list of members") { db in
                var users: [T] = []
                users.reserveCapacity(list.list.count)
                try list.forEachImage(in: db) { image in
                    do throws(ClubError) {
                        users.append(try T.object(of: image.member))
                    } catch {
                        failure = error
                    }
                }
                return users
            }
            if let failure { club.report(failure) }
            return users
        } catch {
            if error.kind != .notOpen { club.report(error) }
            return []
        }
    }
}

/// What ``MembershipUserCollection/observeAllRecords(_:)`` tells.
///
/// Deletions and modifications are indices in the list before, insertions in the list after, all ascending; whoever
/// moved is deleted and inserted. So a list on a screen deletes first, then inserts.
public enum MembershipUserChanges<T: MembershipUser> {
    /// The list is there for the first time. Also told, once, when nobody is in it.
    case initial(MembershipUserCollection<T>)

    /// The list changed.
    case update(MembershipUserCollection<T>, deletions: [Int], insertions: [Int], modifications: [Int])

    /// The list cannot be followed; the error is a ``ClubError``.
    case error(any Error)
}
