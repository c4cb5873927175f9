import Dispatch
import GRDB
import Synchronization

/// A list that the application was told of. Of a long one the beginning can be told before the rest is read.
final class ShownList: Sendable {
    /// How many members the list has.
    let count: Int

    /// The first members, where they were read before the others.
    private let beginning: [MemberImage]

    private struct Whole {
        var list: ListState?
        var isComplete: Bool
    }

    private let state: Mutex<Whole>
    private let reading = DispatchGroup()

    /// How many members the beginning of a list has.
    static let beginningCount = 128

    /// A list that is known as a whole.
    init(_ list: ListState) {
        count = list.list.count
        beginning = []
        state = Mutex(Whole(list: list, isComplete: true))
    }

    /// A list whose beginning is known; ``complete(_:)`` follows in any case.
    private init(count: Int, beginning: [MemberImage]) {
        self.count = count
        self.beginning = beginning
        state = Mutex(Whole(isComplete: false))
        reading.enter()
    }

    /// The beginning of a list, if that is much quicker to read than all of it.
    static func beginning(of listing: MemberListing, at now: Int64, in db: Database) throws -> ShownList? {
        // A filter has to look at everybody anyway, to count.
        guard listing.isWhole else { return nil }
        let count = try listing.count(at: now, in: db)
        guard count > beginningCount else { return nil }
        return ShownList(
            count: count,
            beginning: try listing.page(offset: 0, limit: beginningCount, at: now, in: db)
        )
    }

    /// Takes the list that the beginning is of; `nil` if it could not be read. Only the first call counts.
    func complete(_ list: ListState?) {
        let isFirst = state.withLock { whole in
            guard !whole.isComplete else { return false }
            whole = Whole(list: list, isComplete: true)
            return true
        }
        if isFirst { reading.leave() }
    }

    /// The first members, as far as they are known without reading anything.
    func known(at index: Int) -> MemberImage? {
        beginning.indices.contains(index) ? beginning[index] : nil
    }

    /// The whole list. It waits until that was read; `nil` if it could not be.
    var whole: ListState? {
        reading.wait()
        return state.withLock { $0.list }
    }
}
