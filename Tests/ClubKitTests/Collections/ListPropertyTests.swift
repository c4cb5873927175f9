import Foundation
import GRDB
import TestSupport
import Testing

@testable import ClubKit

/// Random changes under every order and filter; what is told has to lead from each list to the next exactly.
@Suite("Lists under random changes", .timeLimit(.minutes(30)))
struct ListPropertyTests {
    /// A list, a window of it, and what they showed last.
    private struct Followed {
        var query: MemberQuery
        var list: ListState
        var window: WindowState
        var images: [MemberImage]
        var shown: [MemberImage]
        var total: Int
    }

    private func slice(_ images: [MemberImage], _ query: MemberQuery) -> [MemberImage] {
        Array(images.dropFirst(query.offset).prefix(query.limit))
    }

    /// Which rows, by index before, are not the same after and are still there.
    private func modified(_ old: [MemberImage], _ new: [MemberImage]) -> Set<Int64> {
        let after = Dictionary(uniqueKeysWithValues: new.map { ($0.id, $0) })
        return Set(old.filter { image in after[image.id].map { $0 != image } ?? false }.map(\.id))
    }

    /// - Parameter isWhole: whether everything was compared, so that values before are not known.
    private func check(
        _ changes: ListChanges,
        _ old: [MemberImage],
        _ new: [MemberImage],
        _ comment: Comment
    ) throws {
        let result = try changes.apply(to: old.map(\.id), inserting: new.map(\.id))
        #expect(result == new.map(\.id), comment)
        // Whoever is not the same is modified or moved. Where all was compared, the journal may not know that somebody
        // is the same again; otherwise nobody else is mentioned.
        let told = Set(changes.modifications.map { old[$0].id })
        let moved = Set(changes.deletions.map { old[$0].id }).intersection(changes.insertions.map { new[$0].id })
        #expect(modified(old, new).isSubset(of: told.union(moved)), comment)
    }

    @Test(
        "Every list and window is followed exactly, changes of several commits at once included",
        arguments: [UInt64](1...4).oneIn(4)
    )
    func property(seed: UInt64) async throws {
        var bench = try await ListBench(seed: seed, members: 12)
        let store = try bench.store
        let other = try await bench.other()
        var followed: [Followed] = []
        for order in MemberOrder.allCases {
            for filter in ListBench.filters where bench.random.chance(60) {
                let query = MemberQuery(
                    order: order,
                    filter: filter,
                    offset: bench.random.pick([0, 0, 1, 3, 8]),
                    limit: bench.random.pick([0, 1, 3, 6, 100])
                )
                let now = bench.clock.now
                let one = try await store.read("test") { db in
                    let time = Timestamp.microseconds(now) ?? 0
                    let images = try ListOracle.images(query, at: now, in: db)
                    let list = try ListState(MemberListing(order: order, filter: filter), at: time, in: db)
                    let window = try WindowState(query, at: time, in: db)
                    return Followed(
                        query: query,
                        list: list,
                        window: window,
                        images: images,
                        shown: slice(images, query),
                        total: images.count
                    )
                }
                #expect(one.list.list.map(\.id) == one.images.map(\.id))
                #expect(one.window.images == one.shown && one.window.total == one.total)
                followed.append(one)
            }
        }
        for round in 0..<40 {
            for _ in 0...bench.random.below(4) { try await bench.change(on: bench.random.chance(30) ? other : nil) }
            if bench.random.chance(5) { try await bench.prune(keeping: bench.random.below(3)) }
            // Not all each time: those that are left out have more to take in the next time.
            let chosen = followed.indices.filter { _ in bench.random.chance(60) }
            let now = bench.clock.now
            let before = followed
            followed = try await store.read("test") { db in
                var followed = before
                for index in chosen {
                    try follow(&followed[index], at: now, "seed \(seed), round \(round)", in: db)
                }
                return followed
            }
        }
        try await other.close()
        try await bench.club.close()
    }

    private func follow(_ one: inout Followed, at now: Date, _ place: String, in db: Database) throws {
        let comment = Comment(rawValue: "\(place), \(one.query)")
        let time = Timestamp.microseconds(now) ?? 0
        let images = try ListOracle.images(one.query, at: now, in: db)

        // Before it is brought up to date, the list still gives the values of its own time, if the journal has them.
        if case .members = try ChangeJournal.changes(after: one.list.sequence, in: db) {
            var old: [MemberImage] = []
            try one.list.forEachImage(in: db) { old.append($0) }
            #expect(old == one.images, comment)
            let index = one.images.count / 2
            let image = try one.list.image(at: index, in: db)
            #expect(image == (one.images.indices.contains(index) ? one.images[index] : nil), comment)
        }

        let changes = try one.list.advance(to: time, in: db)
        try check(changes, one.images, images, comment)
        #expect(one.list.list.map(\.id) == images.map(\.id), comment)
        #expect(one.list.list.fault == nil, comment)

        let shown = slice(images, one.query)
        let news = try one.window.advance(to: time, in: db)
        #expect(one.window.images == shown && one.window.total == images.count, comment)
        if let news {
            try check(news, one.shown, shown, comment)
            #expect(shown != one.shown || images.count != one.total, comment)
            // A window has all values, so it knows exactly.
            let told = Set(news.modifications.map { one.shown[$0].id })
            #expect(told.isSubset(of: modified(one.shown, shown)), comment)
        } else {
            #expect(shown == one.shown && images.count == one.total, comment)
        }
        one.images = images
        one.shown = shown
        one.total = images.count
    }

    @Test("While the journal reaches back, nobody is mentioned who is the same")
    func exact() async throws {
        let bench = try await ListBench(seed: 1, members: 3)
        let store = try bench.store
        var list = try await store.read("test") { db in
            try ListState(MemberListing(order: .username, filter: .all), at: 0, in: db)
        }
        let key = try await bench.club.members()[1].userId
        let name = try await bench.club.members()[1].username
        try await bench.club.update(key) { $0.username = "Somebody else" }
        try await bench.club.update(key) { $0.username = name }
        let before = list
        let (next, changes) = try await store.read("test") { db in
            var next = before
            let changes = try next.advance(to: 0, in: db)
            return (next, changes)
        }
        list = next
        #expect(changes.isEmpty)
        #expect(list.sequence == before.sequence + 2)
    }

    @Test("A list that knows changes which the file does not have any more compares everything")
    func restored() async throws {
        let bench = try await ListBench(seed: 2, members: 4)
        let store = try bench.store
        let before = try await store.read("test") { db in
            try ListState(MemberListing(order: .creation, filter: .all), at: 0, in: db)
        }
        _ = try await store.write("test") { transaction in
            try transaction.db.execute(sql: "DELETE FROM change WHERE seq > 2")
            try transaction.db.execute(sql: "UPDATE member SET username = 'restored', change_seq = 1")
        }
        let changes = try await store.read("test") { db in
            var next = before
            return try next.advance(to: 0, in: db)
        }
        #expect(changes == ListChanges(modifications: [0, 1, 2, 3]))
    }
}
