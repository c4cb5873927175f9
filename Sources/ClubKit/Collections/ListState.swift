import Dispatch
import GRDB
import Synchronization

/// A whole list at one moment: who is in it and where, without their values.
struct ListState: Sendable {
    let listing: MemberListing
    private(set) var list: RankedList<MemberKey>
    /// The latest change that the list knows.
    private(set) var sequence: Int64
    /// The time by which the filter judges, in microseconds since 1970.
    private(set) var time: Int64
    /// When it has to judge anew.
    private var nextEnd: Int64?

    init(_ listing: MemberListing, at now: Int64, in db: Database) throws {
        self.listing = listing
        list = RankedList(sorted: try listing.keys(at: now, in: db))
        sequence = try ChangeJournal.latest(in: db)
        time = now
        nextEnd = try listing.nextEnd(after: now, in: db)
    }

    // MARK: Following

    /// Brings the list up to date, in a time that depends on how much changed and hardly on how long the list is.
    /// Returns what changed; empty if nothing did that the list shows.
    mutating func advance(to now: Int64, in db: Database) throws -> ListChanges {
        if let nextEnd, nextEnd <= now { return try compare(at: now, in: db) }
        let latest = try ChangeJournal.latest(in: db)
        guard latest != sequence else { return ListChanges() }
        guard case .members(let members) = try ChangeJournal.changes(after: sequence, in: db) else {
            return try compare(at: now, in: db)
        }
        // Nobody's membership ended since then, so the list was the same at both times.
        time = max(time, now)
        if let changes = try follow(members, to: latest, in: db) { return changes }
        return try compare(at: now, in: db)
    }

    /// Takes in the changes of those members; `nil`, with nothing done, if the list does not agree with the journal.
    private mutating func follow(_ members: [Int64: Int64], to latest: Int64, in db: Database) throws -> ListChanges? {
        var removed: [(key: MemberKey, place: ListChanges.Place)] = []
        var added: [MemberKey] = []
        var modified: [Int] = []
        var end = nextEnd
        for (id, change) in members {
            let before = try listing.image(before: change, at: time, in: db)
            let after = try listing.image(of: id, at: time, in: db)
            if let next = try listing.nextEnd(of: id, after: time, in: db) { end = min(end ?? next, next) }
            guard before != after else { continue }
            let oldKey = before.map { MemberKey($0, order: listing.order) }
            let newKey = after.map { MemberKey($0, order: listing.order) }
            if let oldKey {
                guard let index = list.rank(of: oldKey) else { return nil }
                if oldKey == newKey {
                    modified.append(index)
                    continue
                }
                removed.append((oldKey, ListChanges.Place(index: index, id: id)))
            }
            if let newKey { added.append(newKey) }
        }
        var next = list
        for (key, _) in removed { next.remove(key) }
        for key in added where !next.insert(key) { return nil }
        let places = added.map { ListChanges.Place(index: next.rank(before: $0), id: $0.id) }
        list = next
        sequence = latest
        nextEnd = end
        return ListChanges(removed: removed.map(\.place), added: places, modified: modified)
    }

    private mutating func compare(at now: Int64, in db: Database) throws -> ListChanges {
        let next = try ListState(listing, at: now, in: db)
        // A file that was put back may contain other changes under the same numbers.
        let changed = try next.sequence < sequence ? nil : listing.changed(after: sequence, in: db)
        let changes = ListChanges(from: list, to: next.list) { key, _, _ in changed?.contains(key.id) ?? true }
        self = next
        return changes
    }

    // MARK: Members

    /// The member at that index with the values that they had when the list was like this. Of somebody who changed so
    /// long ago that the journal no longer knows, the values are later ones; `nil` if they are gone since then.
    func image(at index: Int, in db: Database) throws -> MemberImage? {
        guard let key = list.element(at: index) else { return nil }
        let change = try ChangeJournal.firstChange(of: key.id, after: sequence, in: db)
        return try MemberListing.image(of: key.id, before: change, in: db)
    }

    /// Goes through all members of the list, with the values that they had when the list was like this.
    func forEachImage(in db: Database, _ body: (MemberImage) throws -> Void) throws {
        let changes = try ChangeJournal.firstChanges(after: sequence, in: db)
        for key in list {
            if let image = try MemberListing.image(of: key.id, before: changes[key.id], in: db) { try body(image) }
        }
    }
}

extension MemberListing {
    /// A member's values before that change, or now; `nil` if they are not a member then.
    static func image(of id: Int64, before change: Int64?, in db: Database) throws -> MemberImage? {
        let sql =
            change == nil
            ? "SELECT \(MemberImage.columns) FROM member WHERE id = ? AND status = 0"
            : "SELECT \(MemberImage.journalColumns) FROM change WHERE seq = ? AND before IS NOT NULL"
        return try db.row(sql, [change ?? id]).map { row in try MemberImage(row) }
    }

    func changed(after sequence: Int64, in db: Database) throws -> Set<Int64> {
        Set(try db.values("SELECT id FROM member WHERE change_seq > ? AND status = 0", [sequence]))
    }

    /// The end of a membership, if it is after that time and the filter cares.
    func nextEnd(of id: Int64, after now: Int64, in db: Database) throws -> Int64? {
        guard dependsOnTime else { return nil }
        return try db.value("SELECT expires_at FROM member WHERE id = ? AND status = 0 AND expires_at > ?", [id, now])
    }
}

/// A list of which the application was notified. Of a long one the beginning can be shown before the rest is read.
final class ShownList: Sendable {
    let count: Int

    /// The first members, where they were read before the others.
    private let beginning: [MemberImage]

    /// `nil` until it is complete.
    private let state: Mutex<ListState??>
    private let reading = DispatchGroup()

    static let beginningCount = 128

    /// A list that is known as a whole.
    init(_ list: ListState) {
        count = list.list.count
        beginning = []
        state = Mutex(list)
    }

    /// A list whose beginning is known; ``complete(_:)`` follows in any case.
    private init(count: Int, beginning: [MemberImage]) {
        self.count = count
        self.beginning = beginning
        state = Mutex(nil)
        reading.enter()
    }

    /// The beginning of a list, if that is much quicker to read than all of it.
    static func beginning(of listing: MemberListing, at now: Int64, in db: Database) throws -> ShownList? {
        // A filter has to look at everybody anyway, to count.
        guard listing.isWhole else { return nil }
        let count = try listing.count(at: now, in: db)
        guard count > beginningCount else { return nil }
        return ShownList(count: count, beginning: try listing.page(offset: 0, limit: beginningCount, at: now, in: db))
    }

    /// Takes the list that the beginning is of; `nil` if it could not be read. Only the first call counts.
    func complete(_ list: ListState?) {
        let isFirst = state.withLock { whole in
            guard whole == nil else { return false }
            whole = .some(list)
            return true
        }
        if isFirst { reading.leave() }
    }

    /// The first members, as far as they are known without reading anything.
    func known(at index: Int) -> MemberImage? { beginning.indices.contains(index) ? beginning[index] : nil }

    /// The whole list. It waits until that was read; `nil` if it could not be.
    var whole: ListState? {
        reading.wait()
        return state.withLock { $0 ?? nil }
    }
}
