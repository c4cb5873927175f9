import ClubKit

/// Why a list was not changed.
public enum ListError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no element at that index of a list with that many elements.
    case indexOutOfRange(Int, count: Int)

    /// The index and what is allowed.
    public var description: String {
        switch self {
        case .indexOutOfRange(let index, 0): "There is no element at index \(index): the list is empty."
        case .indexOutOfRange(let index, let count):
            "There is no element at index \(index): the list has the indices 0 to \(count - 1)."
        }
    }
}

/// A list of elements for a screen, which reports what changes as ClubKit's lists do.
///
/// A list is a section; several are a ``SectionedDataSource``. An index outside of the list throws, and nothing is
/// changed.
@MainActor
public final class ListDataSource<Item> {
    /// Called after each change with the list as it is now. Deletions and modifications are indices of the list before.
    public typealias Observer = @MainActor (ListDataSource<Item>, ListChanges) -> Void

    /// The identifier of the section.
    public let section: String

    /// The elements.
    public private(set) var items: [Item]

    /// Loads the elements anew when somebody pulls the list down; `nil` if the list cannot be refreshed.
    public var refreshing: (@MainActor () async throws -> [Item])?

    /// Whether the list is being refreshed.
    public private(set) var isRefreshing = false

    private let observers = ObserverList<ListChanges>()

    /// Creates a list.
    public init(section: String = "", items: [Item] = []) {
        self.section = section
        self.items = items
    }

    // MARK: Observing

    /// Calls the closure after each change.
    ///
    /// - Returns: a closure that ends the observation.
    @discardableResult
    public func observe(_ observer: @escaping Observer) -> @MainActor () -> Void {
        observers.add { [weak self] changes in if let self { observer(self, changes) } }
    }

    private func changed(_ changes: ListChanges) {
        if !changes.isEmpty { observers.notify(changes) }
    }

    // MARK: Changing

    /// Adds elements at the end.
    public func append(contentsOf added: some Collection<Item>) {
        let start = items.count
        items += added
        changed(ListChanges(insertions: Array(start..<items.count)))
    }

    /// Adds an element at the end.
    public func append(_ item: Item) { append(contentsOf: CollectionOfOne(item)) }

    /// Adds an element before that at an index, or at the end.
    public func insert(_ item: Item, at index: Int) throws(ListError) {
        guard index == items.count || items.indices.contains(index) else { throw outOfRange(index) }
        items.insert(item, at: index)
        changed(ListChanges(insertions: [index]))
    }

    /// Removes the element at an index and returns it.
    @discardableResult
    public func remove(at index: Int) throws(ListError) -> Item {
        try check(index)
        let item = items.remove(at: index)
        changed(ListChanges(deletions: [index]))
        return item
    }

    /// Puts another element at an index.
    public func replace(_ item: Item, at index: Int) throws(ListError) {
        try replace([(item, index)])
    }

    /// Puts other elements at indices; of several for one index the last stays.
    public func replace(_ replacements: [(item: Item, index: Int)]) throws(ListError) {
        for replacement in replacements { try check(replacement.index) }
        for replacement in replacements { items[replacement.index] = replacement.item }
        changed(ListChanges(modifications: Set(replacements.map(\.index)).sorted()))
    }

    /// Moves the element at an index to another index of the list without it.
    public func move(from index: Int, to target: Int) throws(ListError) {
        try check(index)
        try check(target)
        guard index != target else { return }
        items.insert(items.remove(at: index), at: target)
        changed(ListChanges(deletions: [index], insertions: [target]))
    }

    /// Removes all elements.
    public func removeAll() { replaceAll(with: []) }

    /// Puts other elements in the place of all. Every former one is reported as deleted.
    public func replaceAll(with items: [Item]) {
        let count = self.items.count
        self.items = items
        changed(ListChanges(deletions: Array(0..<count), insertions: Array(items.indices)))
    }

    /// Puts the next state of a list in the place of this one, whose changes are known, such as those of a
    /// `MemberWindow`.
    ///
    /// - Parameter changes: what leads from the present elements to the new ones; `nil` if that is not known.
    public func update(to items: [Item], changes: ListChanges?) {
        guard let changes else { return replaceAll(with: items) }
        self.items = items
        changed(changes)
    }

    // MARK: Refreshing

    /// Loads the elements anew. Does nothing if the list cannot be refreshed, or is being refreshed.
    ///
    /// - Throws: what ``refreshing`` throws; the list then stays as it is.
    public func refresh() async throws {
        guard let refreshing, !isRefreshing else { return }
        isRefreshing = true
        defer { isRefreshing = false }
        replaceAll(with: try await refreshing())
    }

    // MARK: Helpers

    private func check(_ index: Int) throws(ListError) {
        guard items.indices.contains(index) else { throw outOfRange(index) }
    }

    private func outOfRange(_ index: Int) -> ListError { .indexOutOfRange(index, count: items.count) }
}

extension ListDataSource where Item: Equatable {
    /// Removes the first element that is equal.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func remove(_ item: Item) -> Bool {
        guard let index = items.firstIndex(of: item) else { return false }
        return (try? remove(at: index)) != nil
    }
}

extension ListDataSource where Item: Identifiable & Equatable {
    /// Puts the next state of a list in the place of this one, and reports only what differs: elements are the same by
    /// their identifier, and modified if they are not equal.
    public func update(to items: [Item]) {
        let former = self.items
        self.items = items
        changed(ListChanges(from: former.map(\.id), to: items.map(\.id)) { former[$0] != items[$1] })
    }
}

/// Several lists, one below the other.
@MainActor
public final class SectionedDataSource<Item> {
    /// The sections, in order.
    public let sections: [ListDataSource<Item>]

    /// Creates a list of sections.
    public init(_ sections: [ListDataSource<Item>]) {
        self.sections = sections
    }

    /// Calls the closure after each change of a section with the section's identifier.
    ///
    /// - Returns: a closure that ends the observation.
    @discardableResult
    public func observe(_ observer: @escaping @MainActor (_ section: String, ListChanges) -> Void)
        -> @MainActor () -> Void
    {
        let ends = sections.map { $0.observe { list, changes in observer(list.section, changes) } }
        return { for end in ends { end() } }
    }
}
