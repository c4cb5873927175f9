import Testing

@testable import ClubKit

@Suite("Ranked list")
struct RankedListTests {
    @Test("An empty list has nothing and finds nothing")
    func empty() {
        var list = RankedList<Int>()
        #expect(list.count == 0 && Array(list).isEmpty)
        #expect(list.element(at: 0) == nil && list.element(at: -1) == nil)
        #expect(list.rank(of: 5) == nil && list.rank(before: 5) == 0)
        let wasThere = list.remove(5)
        #expect(!wasThere)
        #expect(list.fault == nil)
    }

    @Test("A sorted sequence of any length makes a sound tree", arguments: [8, 9, 17, 64])
    func building(width: Int) {
        for length in Array(0...200) + [1000, 5000] {
            let list = RankedList(sorted: (0..<length).map { $0 * 2 }, width: width)
            #expect(list.fault == nil, "length \(length)")
            #expect(list.count == length)
            #expect(Array(list) == (0..<length).map { $0 * 2 })
        }
    }

    @Test("What is not greater than the element before is left out of a sorted sequence")
    func unsorted() {
        let list = RankedList(sorted: [1, 3, 3, 2, 4], width: 8)
        #expect(Array(list) == [1, 3, 4] && list.fault == nil)
    }

    /// A sorted array does the same, slowly.
    @Test("Does what a sorted array does", arguments: [8, 12, 64], [UInt64](1...4))
    func property(width: Int, seed: UInt64) {
        var random = ListRandom(seed: seed)
        let range = random.pick([30, 300, 3000])
        var expected = Set((0..<random.below(range)).map { _ in random.below(range) }).sorted()
        var list = RankedList(sorted: expected, width: width)
        var copies: [(RankedList<Int>, [Int])] = []
        for step in 0..<4000 {
            // Growing and shrinking in turns, so that nodes split and join.
            let isGrowing = (step / 700) % 2 == 0
            let element = random.below(range)
            let index = expected.firstIndex { $0 >= element } ?? expected.count
            let isThere = index < expected.count && expected[index] == element
            #expect(list.rank(before: element) == index)
            #expect(list.rank(of: element) == (isThere ? index : nil))
            if random.chance(isGrowing ? 70 : 25) {
                let isNew = list.insert(element)
                #expect(isNew == !isThere)
                if !isThere { expected.insert(element, at: index) }
            } else {
                let victim = random.chance(70) && !expected.isEmpty ? random.pick(expected) : element
                let place = expected.firstIndex(of: victim)
                let wasThere = list.remove(victim)
                #expect(wasThere == (place != nil))
                if let place { expected.remove(at: place) }
            }
            #expect(list.count == expected.count)
            let rank = random.below(expected.count + 2) - 1
            #expect(list.element(at: rank) == (expected.indices.contains(rank) ? expected[rank] : nil))
            if step % 97 == 0 {
                #expect(list.fault == nil)
                #expect(Array(list) == expected)
                copies.append((list, expected))
            }
        }
        while let last = expected.popLast() {
            let wasThere = list.remove(last)
            #expect(wasThere)
        }
        #expect(list.count == 0 && list.fault == nil)
        // Copies are not changed by what happens to the original.
        for (copy, elements) in copies { #expect(Array(copy) == elements && copy.fault == nil) }
    }
}
