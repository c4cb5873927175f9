import ClubKit
import KioskKit
import TestSupport
import Testing

@MainActor
@Suite(.timeLimit(.minutes(10))) struct ListTests {
    private struct Entry: Identifiable, Equatable {
        var id: Int
        var text = ""
    }

    /// Does on a copy what changes describe, and compares it with the list.
    private func follow(_ list: ListDataSource<Entry>) -> (check: () -> Bool, end: @MainActor () -> Void) {
        final class Copy { var ids: [Int] = [] }
        let copy = Copy()
        copy.ids = list.items.map(\.id)
        let end = list.observe { list, changes in
            for index in changes.deletions.reversed() { copy.ids.remove(at: index) }
            for index in changes.insertions { copy.ids.insert(list.items[index].id, at: index) }
        }
        return ({ copy.ids == list.items.map(\.id) }, end)
    }

    @Test("Every operation reports what it changed, and nothing where nothing changed")
    func operations() throws {
        let list = ListDataSource<Int>(section: "numbers")
        var seen: [ListChanges] = []
        let end = list.observe { _, changes in seen.append(changes) }
        func changes() -> [ListChanges] {
            defer { seen = [] }
            return seen
        }
        list.append(1)
        list.append(contentsOf: [2, 3, 4])
        list.append(contentsOf: [])
        #expect(changes() == [ListChanges(insertions: [0]), ListChanges(insertions: [1, 2, 3])])
        try list.insert(0, at: 0)
        try list.insert(5, at: 5)
        #expect(changes() == [ListChanges(insertions: [0]), ListChanges(insertions: [5])])
        #expect(try list.remove(at: 5) == 5)
        #expect(changes() == [ListChanges(deletions: [5])])
        try list.replace(9, at: 1)
        try list.replace([(7, 3), (8, 0), (6, 3)])
        #expect(list.items == [8, 9, 2, 6, 4])
        #expect(changes() == [ListChanges(modifications: [1]), ListChanges(modifications: [0, 3])])
        try list.move(from: 0, to: 4)
        try list.move(from: 1, to: 1)
        #expect(list.items == [9, 2, 6, 4, 8])
        #expect(changes() == [ListChanges(deletions: [0], insertions: [4])])
        #expect(list.remove(6) && !list.remove(6))
        #expect(changes() == [ListChanges(deletions: [2])])
        list.replaceAll(with: [1, 2])
        list.removeAll()
        list.removeAll()
        #expect(
            changes() == [ListChanges(deletions: [0, 1, 2, 3], insertions: [0, 1]), ListChanges(deletions: [0, 1])]
        )
        end()
        list.append(1)
        #expect(changes() == [])
    }

    @Test("An index outside of the list throws, says what is allowed, and changes nothing")
    func indices() {
        let list = ListDataSource(items: [1, 2])
        for index in [-1, 2, .max, .min] {
            #expect(throws: ListError.indexOutOfRange(index, count: 2)) { try list.remove(at: index) }
            #expect(throws: ListError.indexOutOfRange(index, count: 2)) { try list.replace([(5, 0), (6, index)]) }
            #expect(throws: ListError.indexOutOfRange(index, count: 2)) { try list.move(from: 0, to: index) }
        }
        #expect(throws: ListError.indexOutOfRange(3, count: 2)) { try list.insert(5, at: 3) }
        #expect(list.items == [1, 2])
        #expect("\(ListError.indexOutOfRange(3, count: 2))".contains("0 to 1"))
        #expect("\(ListError.indexOutOfRange(0, count: 0))".contains("empty"))
    }

    @Test("Differences of 500 random lists lead from one to the other (seed 21)")
    func differences() {
        var random = SeededNumbers(seed: 21)
        let list = ListDataSource<Entry>()
        let (isSame, _) = follow(list)
        for _ in 0..<500 {
            let ids = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0..<16, using: &random) }
            var known: Set<Int> = []
            let entries = ids.filter { known.insert($0).inserted }.map {
                Entry(id: $0, text: Bool.random(using: &random) ? "a" : "b")
            }
            list.update(to: entries)
            #expect(isSame())
        }
    }

    @Test("Of a list that differs little, little is reported")
    func smallDifference() {
        let list = ListDataSource(items: (0..<10).map { Entry(id: $0) })
        var seen: [ListChanges] = []
        list.observe { _, changes in seen.append(changes) }
        var next = list.items
        next.swapAt(0, 9)
        next[4].text = "other"
        list.update(to: next)
        #expect(seen == [ListChanges(deletions: [0, 9], insertions: [0, 9], modifications: [4])])
    }

    @Test("Changes that are known are reported as they are; where they are not, all is another")
    func knownChanges() {
        let list = ListDataSource(items: [1, 2, 3])
        var seen: [ListChanges] = []
        list.observe { _, changes in seen.append(changes) }
        let known = ListChanges(deletions: [0], insertions: [2])
        list.update(to: [2, 3, 4], changes: known)
        list.update(to: [2, 3, 4], changes: ListChanges())
        #expect(list.items == [2, 3, 4])
        list.update(to: [5], changes: nil)
        #expect(list.items == [5])
        #expect(seen == [known, ListChanges(deletions: [0, 1, 2], insertions: [0])])
    }

    @Test("Sections report with their identifier")
    func sections() {
        let sections = SectionedDataSource([ListDataSource<Int>(section: "a"), ListDataSource<Int>(section: "b")])
        var seen: [String] = []
        let end = sections.observe { section, changes in seen.append("\(section) \(changes.insertions)") }
        sections.sections[1].append(1)
        sections.sections[0].append(1)
        end()
        sections.sections[0].append(1)
        #expect(seen == ["b [0]", "a [0]"])
    }

    @Test("Refreshing: once at a time, and a failure leaves the list")
    func refreshing() async throws {
        struct Failure: Error {}
        let list = ListDataSource(items: [1])
        try await list.refresh()
        #expect(list.items == [1])
        list.refreshing = {
            #expect(list.isRefreshing)
            try await list.refresh()
            return [2, 3]
        }
        try await list.refresh()
        #expect(list.items == [2, 3] && !list.isRefreshing)
        list.refreshing = { throw Failure() }
        await #expect(throws: Failure.self) { try await list.refresh() }
        #expect(list.items == [2, 3] && !list.isRefreshing)
    }
}

@MainActor
@Suite(.timeLimit(.minutes(10))) struct PagedListTests {
    private struct Failure: Error {}

    /// Pages of ten numbers up to an end; the test decides when each arrives, and whether.
    private actor Source {
        private var asked: [Int?] = []
        private var held: [CheckedContinuation<Bool, Never>] = []
        private var isOpen = true

        func hold() { isOpen = false }

        func release(failing: Bool = false) {
            for continuation in held { continuation.resume(returning: failing) }
            held = []
            isOpen = true
        }

        var waiting: Int { held.count }
        var requests: [Int?] { asked }

        func page(_ start: Int?, size: Int = 10, end: Int = 25) async throws -> PagedDataSource<Int, Int>.Page {
            asked.append(start)
            if !isOpen, await withCheckedContinuation({ held.append($0) }) { throw Failure() }
            let first = start ?? 0
            let last = min(first + size, end)
            return .init(items: Array(first..<last), next: last < end ? last : nil)
        }
    }

    private let source = Source()

    private func list(visible: Int = 0) -> PagedDataSource<Int, Int> {
        PagedDataSource(visibleCount: visible, threshold: 2) { [source] in try await source.page($0) }
    }

    @Test("A table that shows each new row at once is given all pages")
    func eager() async {
        let list = list()
        list.list.observe { data, _ in list.rowWillAppear(at: data.items.count - 1) }
        list.loadMore()
        await list.settled()
        #expect(list.list.items.count == 25 && list.pageCount == 3)
    }

    @Test("Pages follow as the list is scrolled, until it is exhausted")
    func scrolling() async {
        let list = list()
        var states: [String] = []
        list.stateDidChange = { states.append("\($0)") }
        list.loadMore()
        list.loadMore()
        await list.settled()
        #expect(list.list.items.count == 10 && list.pageCount == 1)
        list.rowWillAppear(at: 6)
        #expect(states == ["loading", "idle"])
        list.rowWillAppear(at: 7)
        await list.settled()
        #expect(list.list.items.count == 20 && list.pageCount == 2)
        list.rowWillAppear(at: 19)
        await list.settled()
        #expect(list.list.items == Array(0..<25) && list.pageCount == 3)
        list.loadMore()
        list.rowWillAppear(at: 24)
        #expect(states == ["loading", "idle", "loading", "idle", "loading", "exhausted"])
        #expect(await source.requests == [nil, 10, 20])
    }

    @Test("A first page that does not fill the screen is followed by the next")
    func shortPages() async {
        let list = list(visible: 15)
        list.loadMore()
        while list.pageCount < 2 { await list.settled() }
        #expect(list.list.items.count == 20)
    }

    @Test("A page that fails is not counted, waits, and is tried again")
    func failure() async throws {
        let list = list()
        await source.hold()
        list.loadMore()
        try await until { await source.waiting != 0 }
        await source.release(failing: true)
        await list.settled()
        guard case .failed(let error) = list.state else { return #expect(Bool(false)) }
        #expect(error is Failure)
        #expect(list.pageCount == 0 && list.list.items.isEmpty)
        list.rowWillAppear(at: 0)
        guard case .failed = list.state else { return #expect(Bool(false)) }
        list.loadMore()
        await list.settled()
        #expect(list.pageCount == 1 && list.list.items.count == 10)
    }

    @Test("A page that comes after a reset is dropped")
    func stale() async throws {
        let list = list()
        list.loadMore()
        await list.settled()
        await source.hold()
        list.loadMore()
        try await until { await source.waiting != 0 }
        list.reset()
        #expect(list.list.items.isEmpty && list.pageCount == 0)
        try await until { await source.waiting != 1 }
        await source.release()
        await list.settled()
        #expect(list.list.items == Array(0..<10) && list.pageCount == 1)
        #expect(await source.requests == [nil, 10, nil])
    }

    @Test("A reset begins anew, also after the last page and after a failure")
    func reset() async throws {
        let list = list(visible: 30)
        list.loadMore()
        await list.settled()
        #expect("\(list.state)" == "exhausted" && list.pageCount == 3)
        list.reset()
        #expect("\(list.state)" == "loading" && list.pageCount == 0 && list.list.items.isEmpty)
        await list.settled()
        #expect("\(list.state)" == "exhausted" && list.list.items == Array(0..<25))
        await source.hold()
        list.reset()
        try await until { await source.waiting != 0 }
        await source.release(failing: true)
        await list.settled()
        guard case .failed = list.state else { return #expect(Bool(false)) }
        list.reset()
        await list.settled()
        #expect(list.list.items == Array(0..<25) && list.pageCount == 3)
    }

    @Test("Pages without elements are followed by the next too, and no more than the screen needs are loaded")
    func emptyPages() async {
        let list = PagedDataSource<Int, Int>(visibleCount: 1) { cursor in
            let number = cursor ?? 0
            return .init(items: number == 2 ? [7] : [], next: number + 1)
        }
        list.loadMore()
        await list.settled()
        #expect(list.list.items == [7] && list.pageCount == 3 && "\(list.state)" == "idle")
        let empty = PagedDataSource<Int, Int>(visibleCount: 1) { _ in .init(items: [], next: nil) }
        empty.loadMore()
        await empty.settled()
        #expect(empty.pageCount == 1 && "\(empty.state)" == "exhausted")
    }

    @Test("A list that is gone does not wait for its page")
    func released() async throws {
        await source.hold()
        weak var gone: PagedDataSource<Int, Int>?
        do {
            let list = list()
            gone = list
            list.loadMore()
            try await until { await source.waiting != 0 }
        }
        await source.release()
        try await until { gone == nil }
    }
}
