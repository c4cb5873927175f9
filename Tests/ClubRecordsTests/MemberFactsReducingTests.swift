import Foundation
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubRecords

@Suite("What is left of many facts of a member")
struct MemberFactsReducingTests {
    private static func stamps(_ count: Int, _ random: inout SeededNumbers) -> [Stamp] {
        (0..<count).map { _ in RandomFacts.stamp(&random) }
    }

    /// Takes in one after the other, and looks at every pair.
    private static func reduced<Part: Equatable>(_ parts: [Part], _ dominates: (Part, Part) -> Bool) -> [Part] {
        var kept: [Part] = []
        for part in parts where !kept.contains(where: { dominates($0, part) }) {
            kept.removeAll { dominates(part, $0) }
            kept.append(part)
        }
        return kept
    }

    @Test("Many creations at once are what comparing each with each leaves", arguments: 1...20 as ClosedRange<UInt64>)
    func births(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<100 {
            let births = Self.stamps(Int.random(in: 0...12, using: &random), &random).map {
                MemberFacts.Birth($0, at: Int64.random(in: 0...5, using: &random))
            }
            let expected = Self.reduced(births) { one, other in
                one.stamp.outlives(other.stamp)
                    && (one.at == other.at || other.at == 0 || (one.at != 0 && one.at < other.at))
            }
            var facts = MemberFacts()
            facts.add(births)
            #expect(facts.births == expected.sorted(), "seed \(seed)")
            var single = MemberFacts()
            for birth in births.shuffled(using: &random) { single.add(birth) }
            #expect(single == facts, "seed \(seed)")
        }
    }

    @Test("Many claims at once are what comparing each with each leaves", arguments: 1...20 as ClosedRange<UInt64>)
    func claims(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<100 {
            let claims = Self.stamps(Int.random(in: 0...12, using: &random), &random).map {
                MemberFacts.Claim(
                    visits: Int.random(in: 0...4, using: &random),
                    at: Int64.random(in: 0...2, using: &random),
                    stamp: $0
                )
            }
            let expected = Self.reduced(claims.filter { $0.visits > 0 }) { one, other in
                one.visits >= other.visits && one.at == other.at && one.stamp.outlives(other.stamp)
            }
            var facts = MemberFacts()
            facts.add(claims)
            #expect(facts.claims == expected.sorted(), "seed \(seed)")
            var single = MemberFacts()
            for claim in claims.shuffled(using: &random) { single.add(claim) }
            #expect(single == facts, "seed \(seed)")
        }
    }

    @Test("Many packs, removals and versions at once are what one after the other leaves")
    func others() {
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededNumbers(seed: seed)
            let stamps = Self.stamps(60, &random)
            let packs = stamps.map { MemberFacts.Pack($0, visits: Int.random(in: 1...3, using: &random)) }
            let removals = stamps.map {
                MemberFacts.Removal(
                    $0,
                    born: $0.time % 3,
                    visits: 1,
                    bought: Int($0.time % 2),
                    latest: $0.time % 7,
                    tallies: RandomFacts.tallies(&random)
                )
            }
            let versions = stamps.map { MemberFacts.Version($0, RandomFacts.value(&random)) }
            var whole = MemberFacts()
            whole.add(packs)
            whole.add(removals)
            whole.merge(versions, into: "city")
            var single = MemberFacts()
            for index in stamps.indices.shuffled(using: &random) {
                single.add(packs[index])
                single.add(removals[index])
                single.merge([versions[index]], into: "city")
            }
            #expect(single == whole, "seed \(seed)")
            #expect(Set(whole.packs).count == whole.packs.count)
            #expect(whole.values["city"]?.count ?? 0 <= 3 * MemberFacts.keptVersions)
        }
    }
}
