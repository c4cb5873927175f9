import ClubKit

/// A list that loads page after page as it is scrolled.
///
/// ```swift
/// let members = PagedDataSource(section: "members", visibleCount: 20, load: club.memberPages(order: .username))
/// members.loadMore()
/// members.list.observe { list, changes in table.apply(changes, of: list.items) }
/// ```
@MainActor
public final class PagedDataSource<Item: Sendable, Cursor: Sendable> {
    /// A page: its elements, and where the next one begins.
    public struct Page: Sendable {
        /// The elements.
        public var items: [Item]
        /// Where the next page begins; `nil` after the last.
        public var next: Cursor?

        /// Creates a page.
        public init(items: [Item], next: Cursor?) {
            self.items = items
            self.next = next
        }
    }

    /// What a list is doing.
    public enum State: Sendable {
        /// Nothing; there may be further pages.
        case idle
        /// It loads a page.
        case loading
        /// The page could not be loaded; ``PagedDataSource/loadMore()`` tries again.
        case failed(any Error)
        /// Every page was loaded.
        case exhausted
    }

    /// The elements of all pages that were loaded.
    public let list: ListDataSource<Item>

    /// How many rows the screen has: a first page that does not fill it is followed by the next.
    public var visibleCount: Int

    /// How many rows before the end the next page is loaded.
    public var threshold: Int

    /// What the list is doing.
    public private(set) var state = State.idle { didSet { stateDidChange?(state) } }

    /// Called with each new state.
    public var stateDidChange: (@MainActor (State) -> Void)?

    /// The number of pages that were loaded.
    public private(set) var pageCount = 0

    private let load: @Sendable (Cursor?) async throws -> Page
    private var cursor: Cursor?
    private var loading: Task<Void, Never>?

    /// Creates a list without elements.
    ///
    /// - Parameters:
    ///   - section: the identifier of ``list``.
    ///   - visibleCount: how many rows the screen has; 0 if that is not known.
    ///   - threshold: how many rows before the end the next page is loaded.
    ///   - load: loads the page at a place; `nil` is the first.
    public init(
        section: String = "",
        visibleCount: Int = 0,
        threshold: Int = 5,
        load: @escaping @Sendable (Cursor?) async throws -> Page
    ) {
        list = ListDataSource(section: section)
        self.visibleCount = visibleCount
        self.threshold = threshold
        self.load = load
    }

    isolated deinit { loading?.cancel() }

    /// Loads the next page, also after a failure. Does nothing while a page is loaded, and after the last.
    public func loadMore() {
        switch state {
        case .idle, .failed: break
        case .loading, .exhausted: return
        }
        state = .loading
        let (load, cursor) = (load, cursor)
        loading = Task { [weak self] in
            let result: Result<Page, any Error>
            do { result = .success(try await load(cursor)) } catch { result = .failure(error) }
            // A page that comes after a reset is of another list.
            guard !Task.isCancelled else { return }
            self?.take(result)
        }
    }

    private func take(_ result: Result<Page, any Error>) {
        switch result {
        case .failure(let error):
            state = .failed(error)
        case .success(let page):
            pageCount += 1
            cursor = page.next
            // Before the rows are there, so that showing the last of them may load the next page.
            state = page.next == nil ? .exhausted : .idle
            list.append(contentsOf: page.items)
            if list.items.count < visibleCount { loadMore() }
        }
    }

    /// Notes that a row is about to be shown: near the end, the next page is loaded. A page that failed waits for
    /// ``loadMore()``.
    public func rowWillAppear(at index: Int) {
        guard case .idle = state, index >= list.items.count - 1 - threshold else { return }
        loadMore()
    }

    /// Removes all elements and loads the first page again. A page that is being loaded is dropped.
    public func reset() {
        loading?.cancel()
        cursor = nil
        pageCount = 0
        list.removeAll()
        state = .idle
        loadMore()
    }

    /// Waits until nothing is being loaded.
    public func settled() async {
        while case .loading = state { await loading?.value }
    }
}

extension Club {
    /// Returns what loads pages of members for a ``PagedDataSource``: each begins behind the last member of the one
    /// before, by that member's key, so that a page of a million members takes as long as the first.
    ///
    /// - Parameters:
    ///   - order: the order of the list.
    ///   - filter: the members in the list; by default all.
    ///   - size: the number of members of a page, at least 1.
    public func memberPages(
        order: MemberOrder = .username,
        filter: MemberFilter = .all,
        size: Int = 50
    ) -> @Sendable (Member?) async throws -> PagedDataSource<Member, Member>.Page {
        let size = max(size, 1)
        return { last in
            let query = MemberQuery(order: order, filter: filter, limit: size)
            let members = try await self.members(in: query, after: last)
            return PagedDataSource.Page(items: members, next: members.count < size ? nil : members.last)
        }
    }
}
