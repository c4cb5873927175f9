import Foundation
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubRecords

@Suite("Facts of a member")
struct MemberFactsTests {
    private static func bytes(_ facts: MemberFacts) throws -> String {
        String(decoding: try ClubFile.line(facts), as: UTF8.self)
    }

    private static func check(_ left: MemberFacts, _ right: MemberFacts, _ law: Comment) throws {
        #expect(try bytes(left) == bytes(right), law)
    }

    private static func device(_ number: UInt64, _ time: Int64) -> Stamp {
        Stamp(time: time << 16, device: UUIDSource.uuid(number))
    }

    private static let seconds: Int64 = 1_000_000

    // MARK: The laws

    @Test("Joining is commutative, associative and idempotent, to the byte", arguments: [UInt64](1...40).oneIn(4))
    func laws(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for round in 0..<150 {
            let (a, b, c) = (
                RandomFacts.facts(&random), RandomFacts.facts(&random), RandomFacts.facts(&random)
            )
            let place: Comment = "seed \(seed), round \(round)"
            try Self.check(a.joined(with: b), b.joined(with: a), place)
            try Self.check(a.joined(with: b).joined(with: c), a.joined(with: b.joined(with: c)), place)
            try Self.check(a.joined(with: a), a, place)
            try Self.check(a.joined(with: b).joined(with: b), a.joined(with: b), place)
            try Self.check(a.joined(with: MemberFacts()), a, place)
        }
    }

    @Test(
        "Facts come back from JSON as they were, and equal ones are equal bytes",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func form(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<150 {
            let facts = RandomFacts.facts(&random)
            let text = try Self.bytes(facts)
            let read = try JSONDecoder().decode(MemberFacts.self, from: Data(text.utf8))
            #expect(read == facts, "seed \(seed)")
            #expect(try Self.bytes(read) == text, "seed \(seed)")
        }
    }

    @Test(
        "Facts of which one row tells all are those that the row gives back",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func plain(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var count = 0
        for _ in 0..<300 {
            let stamp = RandomFacts.stamp(&random)
            var facts = MemberFacts()
            facts.add(MemberFacts.Birth(stamp, at: Int64.random(in: 0...5, using: &random)))
            if random.chance(70) { facts.set("username", RandomFacts.value(&random), stamp) }
            if random.chance(50) { facts.set("city", RandomFacts.value(&random), stamp) }
            if random.chance(50) { facts.add(MemberFacts.Claim(visits: 3, at: 4, stamp: stamp)) }
            guard facts.isPlain else { continue }
            count += 1
            let made = MemberFacts.plain(
                origin: try #require(facts.born),
                addedAt: try #require(facts.addedAt),
                username: facts.username,
                fields: facts.fields,
                claim: facts.claims.first.map { ($0.visits, $0.at) }
            )
            try Self.check(made, facts, "seed \(seed)")
        }
        #expect(count > 30)
    }

    @Test("What is shown does not depend on the order of joining", arguments: 1...20 as ClosedRange<UInt64>)
    func orders(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<30 {
            let parts = (0..<6).map { _ in RandomFacts.facts(&random) }
            let whole = parts.reduce(MemberFacts()) { $0.joined(with: $1) }
            for _ in 0..<4 {
                // Each part may come twice.
                let order = (parts + parts.filter { _ in random.chance(40) }).shuffled(using: &random)
                try Self.check(order.reduce(MemberFacts()) { $0.joined(with: $1) }, whole, "seed \(seed)")
            }
        }
    }

    @Test(
        "No older record brings back who was deleted, and no file whom was erased",
        arguments: 1...30 as ClosedRange<UInt64>
    )
    func resurrection(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<100 {
            var end = MemberFacts()
            end.delete(Self.device(9, 13))
            let deleted = RandomFacts.facts(&random).joined(with: end).joined(with: RandomFacts.facts(&random))
            #expect(!deleted.exists && deleted.values.isEmpty && deleted.claims.isEmpty && deleted.packs.isEmpty)
            var gone = MemberFacts()
            gone.erase(Self.device(9, 5))
            let erased = RandomFacts.facts(&random).joined(with: gone)
            #expect(erased.births.allSatisfy { !$0.stamp.isLegacy && $0.stamp.time > 5 << 16 })
            #expect(erased.values.values.joined().allSatisfy { !$0.stamp.isLegacy })
            #expect(erased.claims.allSatisfy { !$0.stamp.isLegacy })
        }
    }

    // MARK: Single rules

    @Test("A claim that another one covers goes; one that tells a later visit stays")
    func claims() {
        var facts = MemberFacts()
        let stamp = Stamp.legacy(at: 9 * Self.seconds)
        facts.add(MemberFacts.Claim(visits: 5, at: 9, stamp: stamp))
        facts.add(MemberFacts.Claim(visits: 4, at: 9, stamp: stamp))
        #expect(facts.claims.map(\.visits) == [5])
        facts.add(MemberFacts.Claim(visits: 8, at: 3, stamp: stamp))
        #expect(facts.claims.map(\.visits) == [8, 5])
        // A device's claim outlives an erasure that ends the file's.
        facts.add(MemberFacts.Claim(visits: 5, at: 9, stamp: Self.device(1, 1 << 30)))
        #expect(facts.claims.map(\.visits) == [8, 5])
        facts.add(MemberFacts.Claim(visits: 4, at: 9, stamp: Self.device(1, 1 << 31)))
        #expect(facts.claims.map(\.visits) == [8, 4, 5])
    }

    @Test("A creation at an unknown time hides no known one")
    func unknownBirth() {
        var facts = MemberFacts()
        facts.add(MemberFacts.Birth(.legacy(at: 0), at: 0))
        #expect(facts.addedAt == 0)
        facts.add(MemberFacts.Birth(.legacy(at: 7 * Self.seconds), at: 7 * Self.seconds))
        #expect(facts.addedAt == 7 * Self.seconds)
        facts.add(MemberFacts.Birth(.legacy(at: 9 * Self.seconds), at: 0))
        #expect(facts.addedAt == 7 * Self.seconds)
    }

    @Test("Of each kind the newest four versions are kept, and an empty one of a file hides nothing")
    func versions() {
        var facts = MemberFacts()
        for number in 1...9 {
            facts.set("username", .int(number), Self.device(1, Int64(number)))
            facts.set("username", .int(number), .legacy(at: Int64(number) * 1000))
            facts.set("username", .null, .legacy(at: Int64(number + 20) * 1000))
        }
        let versions = facts.values["username"] ?? []
        #expect(versions.count == 12)
        #expect(versions.first?.value == .int(9))
        #expect(versions.suffix(4).allSatisfy { $0.value == .null })
    }

    @Test("After an erasure every deletion is one, and files stay out")
    func deletionAfterErasure() {
        var facts = MemberFacts()
        facts.erase(Self.device(1, 5))
        facts.add(MemberFacts.Birth(Self.device(1, 6), at: 6))
        #expect(facts.exists)
        facts.delete(Self.device(1, 7))
        #expect(facts.erasure == facts.end && facts.erasure == Self.device(1, 7))
        facts.add(MemberFacts.Birth(.legacy(at: 60_000 * Self.seconds), at: 9))
        #expect(!facts.exists)
    }

    @Test("Removals of a device go on from each other and end with the creation")
    func removals() {
        var facts = MemberFacts()
        let born = Self.device(1, 1).time
        facts.add(MemberFacts.Birth(Self.device(1, 1), at: 1))
        facts.add(MemberFacts.Removal(Self.device(2, 5), born: born, visits: 3, bought: 0, latest: 5))
        facts.add(MemberFacts.Removal(Self.device(2, 4), born: born, visits: 2, bought: 0, latest: 4))
        facts.add(MemberFacts.Removal(Self.device(3, 4), born: born, visits: 1, bought: 0, latest: 4))
        #expect(facts.removedVisits == 4)
        #expect(facts.hasRemoved(Self.device(2, 4), born: born))
        #expect(!facts.hasRemoved(Self.device(2, 6), born: born))
        #expect(!facts.hasRemoved(Self.device(2, 4), born: born + 1))
        facts.delete(Self.device(1, 9))
        #expect(facts.removedVisits == 0)
        #expect(facts.hasRemoved(Self.device(2, 4), born: born))
    }

    @Test(
        "Of removed visits the greatest number since each moment is kept, and of a moment without one that of the next"
    )
    func tallies() throws {
        let born = Self.device(1, 1).time
        func removal(_ time: Int64, visits: Int, _ tallies: [(Int64, Int)]) -> MemberFacts.Removal {
            MemberFacts.Removal(
                Self.device(2, time),
                born: born,
                visits: visits,
                bought: 0,
                latest: 50,
                tallies: tallies.map { .init(from: $0, until: 100 + $0, visits: $1) }
            )
        }
        var facts = MemberFacts()
        facts.add(MemberFacts.Birth(Self.device(1, 1), at: 1))
        facts.add(removal(5, visits: 9, [(20, 4), (30, 0), (40, 1)]))
        facts.add(removal(4, visits: 8, [(10, 6), (20, 3)]))
        func count(_ after: Int64, _ through: Int64 = .max) -> Int {
            facts.removedVisits(after: after, through: through)
        }
        #expect(count(-1) == 9 && count(.min) == 9)
        #expect(count(9) == 6 && count(0) == 6)
        #expect(count(19) == 4 && count(10) == 4)
        #expect(count(20) == 1 && count(39) == 1 && count(40) == 0)
        #expect(count(9, 19) == 2 && count(9, 50) == 6 && count(9, 9) == 0)
        #expect(try JSONDecoder().decode(MemberFacts.self, from: ClubFile.line(facts)) == facts)
        // A form without them is that of a former version.
        let plain = #"[[[1],1,1,0,1]]"#
        #expect(try JSONDecoder().decode([MemberFacts.Removal].self, from: Data(plain.utf8)).first?.tallies == [])
        facts.forgetTallies(until: 120)
        #expect(count(9) == 1)
        facts.delete(Self.device(1, 9))
        #expect(count(-1) == 0)
    }

    @Test("Stamps of files are told by their time alone, and no clock gives such a time")
    func legacyTimes() {
        for at in [0, 1, 999, 1000, 1_788_256_800_000_000, Timestamp.latest] as [Int64] {
            let stamp = Stamp.legacy(at: at)
            #expect(Stamp.isLegacy(time: stamp.time) && stamp.isLegacy && stamp.time < Stamp.latestTime)
        }
    }
}
