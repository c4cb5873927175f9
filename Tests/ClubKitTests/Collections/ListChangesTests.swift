import Testing

@testable import ClubKit

@Suite("Changes of a list")
struct ListChangesTests {
    /// Lists of members by visits: `id:visits`.
    private func keys(_ text: String) throws -> [MemberKey] {
        try text.split(separator: " ").map { part in
            let numbers = part.split(separator: ":").compactMap { Int64($0) }
            try #require(numbers.count == 2)
            return MemberKey(.visits, id: numbers[0], userID: "\(numbers[0])", number: numbers[1])
        }.sorted()
    }

    private func changes(_ old: String, _ new: String, modified: Set<Int64> = []) throws -> ListChanges {
        ListChanges(from: try keys(old), to: try keys(new)) { key, _, _ in modified.contains(key.id) }
    }

    struct Case: Sendable {
        var before: String
        var after: String
        var modified: Set<Int64> = []
        var expected: ListChanges
    }

    @Test(
        "Rows that go, come, move and stay",
        arguments: [
            Case(before: "", after: "", expected: ListChanges()),
            Case(before: "", after: "1:5 2:3", expected: ListChanges(insertions: [0, 1])),
            Case(before: "1:5 2:3", after: "", expected: ListChanges(deletions: [0, 1])),
            Case(before: "1:5 2:3", after: "1:5 2:3", modified: [2], expected: ListChanges(modifications: [1])),
            // One more visit, and nobody to overtake.
            Case(before: "1:5 2:3", after: "1:5 2:4", expected: ListChanges(modifications: [1])),
            Case(before: "1:5 2:3", after: "1:9 2:3", expected: ListChanges(modifications: [0])),
            // Overtakes: a move is a deletion and an insertion.
            Case(before: "1:5 2:3", after: "1:5 2:6", expected: ListChanges(deletions: [1], insertions: [0])),
            // Two change and keep their order.
            Case(
                before: "1:9 2:5 3:4 4:1",
                after: "1:9 2:7 3:6 4:1",
                expected: ListChanges(modifications: [1, 2])
            ),
            // Two change and swap: one of them moves.
            Case(
                before: "1:9 2:5 3:4 4:1",
                after: "1:9 2:6 3:7 4:1",
                expected: ListChanges(deletions: [1], insertions: [2], modifications: [2])
            ),
            // Everything at once.
            Case(
                before: "1:9 2:7 3:5 4:3 5:1",
                after: "1:9 3:6 6:4 4:3 2:2",
                modified: [4],
                expected: ListChanges(deletions: [1, 4], insertions: [2, 4], modifications: [2, 3])
            ),
        ]
    )
    func table(_ row: Case) throws {
        let result = try changes(row.before, row.after, modified: row.modified)
        #expect(result == row.expected)
    }

    @Test(
        "Applying the changes to the list before gives the list after, with as few moves as can be",
        arguments: [UInt64](1...40)
    )
    func property(seed: UInt64) throws {
        var random = ListRandom(seed: seed)
        for _ in 0..<50 {
            let size = random.below(25)
            var visits: [Int64: Int64] = [:]
            for id in 0..<Int64(size) { visits[id] = Int64(random.below(40)) }
            var after = visits
            var touched: Set<Int64> = []
            for _ in 0..<random.below(10) {
                let id = Int64(random.below(30))
                touched.insert(id)
                if random.chance(25) { after[id] = nil } else { after[id] = Int64(random.below(40)) }
            }
            func list(_ visits: [Int64: Int64]) -> [MemberKey] {
                visits.map { MemberKey(.visits, id: $0, userID: "\($0)", number: $1) }.sorted()
            }
            let (old, new) = (list(visits), list(after))
            let changes = ListChanges(from: old, to: new) { key, _, _ in touched.contains(key.id) }
            let result = try changes.apply(to: old.map(\.id), inserting: new.map(\.id))
            #expect(result == new.map(\.id))
            // Who was not touched is not mentioned; who was and stayed is modified or moved.
            let mentioned = Set((changes.deletions + changes.modifications).map { old[$0].id })
                .union(changes.insertions.map { new[$0].id })
            #expect(mentioned == touched.filter { visits[$0] != nil || after[$0] != nil })
            let gone = changes.deletions.map { old[$0].id }
            let moved = gone.filter { after[$0] != nil }
            #expect(moved.allSatisfy { visits[$0] != after[$0] })
        }
    }
}
