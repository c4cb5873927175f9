import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ClubKit
@testable import ClubRecords

@Suite("Limits of merging")
struct MergeLimitTests {
    private static func stamp(_ seconds: Double, _ device: UInt64 = 9) -> Stamp {
        let time = Int64((start.timeIntervalSince1970 + seconds) * 1000)
        return Stamp(time: time << 16, device: UUIDSource.uuid(device))
    }

    private static func microseconds(_ seconds: Double) -> Int64 {
        Int64((start.timeIntervalSince1970 + seconds) * 1_000_000)
    }

    private static func member(
        _ userID: String,
        into target: String? = nil,
        _ body: (inout MemberFacts) -> Void = { _ in }
    ) -> TransferRecord {
        var facts = MemberFacts()
        facts.add(MemberFacts.Birth(stamp(-90), at: microseconds(-90)))
        if let target { facts.set(SystemValues.Name.mergedInto, .string(target), stamp(-80)) }
        body(&facts)
        return .member(.init(userId: userID, facts: facts))
    }

    // MARK: Claims

    @Test(
        "A total of more than a day ahead is refused, and taken when it is that late",
        arguments: [(86_400, true), (86_500, false), (40 * 366 * 86_400, false)] as [(Double, Bool)]
    )
    func claimsAhead(seconds: Double, isTaken: Bool) async throws {
        let device = try MergeDevice(1)
        let record = Self.member("A") {
            $0.add(MemberFacts.Claim(visits: 5, at: Self.microseconds(seconds), stamp: Self.stamp(-70)))
        }
        let verdict = try device.merge([record])
        #expect(verdict == [isTaken ? .created : .skipped(MergeBatch.aheadReason)])
        guard !isTaken else { return }
        #expect(try await device.member("A") == nil)
        device.clock.advance(by: seconds - 86_400)
        #expect(try device.merge([record]) == [.created])
        #expect(try await device.member("A")?.numVisits == 5)
        #expect(try await device.store.check() == [])
    }

    @Test("What only a newer version knows is said to be that")
    func unknownWords() throws {
        let device = try MergeDevice(1)
        let entry = TransferRecord.Audit(
            stamp: Self.stamp(-70),
            at: Self.microseconds(0),
            actor: nil,
            action: "teleported",
            subject: nil,
            detail: nil
        )
        #expect(try device.merge([.audit(entry)]) == [.skipped(MergeBatch.newerReason)])
    }

    @Test("A visit of somebody who was erased and came again is not dropped in silence")
    func visitOfErased() async throws {
        let (one, two) = (try MergeDevice(1), try MergeDevice(2))
        try await one.tap("A", at: start)
        try two.merge(await one.records())
        one.clock.advance(by: 10)
        _ = try await one.store.erase("A", ActionContext()) { _ in }
        try two.merge(await one.records())
        one.clock.advance(by: 10)
        try await one.tap("A", at: start.addingTimeInterval(1000))
        let records = try await one.records()
        let partial = records.filter { if case .member = $0 { false } else { true } }
        let verdicts = try two.merge(partial)
        #expect(verdicts.contains(.skipped(MergeBatch.erasedBeforeReason)))
        #expect(try await two.member("A") == nil)
        try two.merge(records)
        #expect(try await two.member("A")?.numVisits == 1)
        #expect(try await two.store.check() == [])
    }

    @Test("A total of a user list whose time is ahead is taken, and told to others as it is")
    func rowsAhead() async throws {
        let (device, other) = (try MergeDevice(1), try MergeDevice(2))
        let late = Self.microseconds(40 * 366 * 86_400)
        let row = ImportedMember(row: 1, userId: "A", numVisits: 5, lastVisitAt: late)
        #expect(try device.importRows([row]) == [.created])
        #expect(try device.importRows([row]) == [.kept])
        #expect(try other.merge(await device.records()).first == .created)
        for one in [device, other] {
            #expect(try await one.member("A")?.numVisits == 5)
            #expect(try await one.store.check() == [])
        }
    }

    @Test("Totals over many claims are those over each", arguments: 1...8 as ClosedRange<UInt64>)
    func manyClaims(seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        let device = try MergeDevice(1)
        for step in 0..<20 { try await device.tap("A", at: start.addingTimeInterval(Double(step) * 100)) }
        let claims = (0..<Int.random(in: 2...40, using: &random)).map { _ in
            MemberFacts.Claim(
                visits: Int.random(in: 1...30, using: &random),
                at: Self.microseconds(Double(Int.random(in: -3...22, using: &random)) * 100),
                stamp: Self.stamp(-70)
            )
        }
        try device.merge([Self.member("A") { $0.add(claims) }])
        let expected = claims.map { claim in
            claim.visits + (0..<20).count { Self.microseconds(Double($0) * 100) > claim.at }
        }
        #expect(try await device.member("A")?.numVisits == max(20, expected.max() ?? 0), "seed \(seed)")
        #expect(try await device.store.check() == [])
    }

    // MARK: Parts

    @Test("A member who would get too many parts of two files stays as they are")
    func parts() async throws {
        let device = try MergeDevice(1)
        func packs(_ range: ClosedRange<Int>) -> TransferRecord {
            Self.member("A") { facts in
                facts.add(range.map { MemberFacts.Pack(Self.stamp(Double($0) / 1000 - 60), visits: 1) })
            }
        }
        #expect(try device.merge([packs(1...6000)]) == [.created])
        #expect(try device.merge([packs(6001...12_000)]) == [.skipped(MergeBatch.overfullReason)])
        #expect(try await device.store.details(of: "A")?.visitsLeft == 6000)
        #expect(try await device.store.check() == [])
    }

    @Test("Erasures of more than 64 devices are not taken in, those of known ones are")
    func salts() async throws {
        let device = try MergeDevice(1)
        func erasure(_ salt: Int, _ hash: UInt8 = 7) -> TransferRecord {
            .erasure(
                .init(
                    salt: Data([UInt8(salt >> 8), UInt8(salt & 0xFF)]),
                    hash: Data(repeating: hash, count: 32),
                    stamp: Self.stamp(-60)
                )
            )
        }
        let verdicts = try device.merge((0...ClubFile.mostSalts).map { erasure($0) }, batch: 30)
        #expect(verdicts.last == .skipped(MergeBatch.saltReason))
        #expect(verdicts.dropLast().allSatisfy { $0 == .created })
        #expect(try device.merge([erasure(3, 8)]) == [.created])
        let known = try await device.store.read("test") { db in try db.erasures.salts() }
        #expect(known.count == ClubFile.mostSalts && known.first == Data([0, 0]))
    }

    // MARK: Joined members

    @Test("Long chains in any order are one member with all visits", arguments: [1, 7, 1000])
    func chains(batch: Int) async throws {
        var random = SeededNumbers(seed: 5)
        let count = 300
        let records = (1...count).map { number in
            Self.member("M\(number)", into: number < count ? "M\(number + 1)" : nil) {
                $0.add(MemberFacts.Claim(visits: 2, at: Self.microseconds(-90), stamp: Self.stamp(-70)))
            }
        }
        let device = try MergeDevice(1)
        try device.merge(records.shuffled(using: &random), batch: batch)
        #expect(try await device.store.members(sortedBy: .userId).map(\.userId) == ["M\(count)"])
        #expect(try await device.member("M1")?.numVisits == 2 * count)
        #expect(try await device.store.check() == [])
        try await device.tap("M7", at: start)
        #expect(try await device.member("M150")?.numVisits == 2 * count + 1)
        // A circle has one who stands for all, too.
        let circle = TransferRecord.Person(userId: "M\(count)", facts: Self.facts(into: "M1"))
        try device.merge([.member(circle)])
        #expect(try await device.store.members(sortedBy: .userId).map(\.userId) == ["M1"])
        #expect(try await device.member("M\(count)")?.numVisits == 2 * count + 1)
        #expect(try await device.store.check() == [])
    }

    private static func facts(into target: String) -> MemberFacts {
        var facts = MemberFacts()
        facts.set(SystemValues.Name.mergedInto, .string(target), stamp(-60))
        return facts
    }

    @Test("Whoever has visits of others is told of once, as they were before the batch")
    func changes() async throws {
        let device = try MergeDevice(1)
        for key in ["A", "B", "C"] { try await device.tap(key, at: start) }
        _ = try await device.store.mergeMember("B", into: "A", ActionContext()) { _ in }
        let told = Told()
        let sink = try StoreImportSink(device.store) { told.add($0) }
        _ = try sink.apply([
            Self.member("C", into: "B"),
            Self.member("B") {
                $0.add(MemberFacts.Claim(visits: 4, at: Self.microseconds(-50), stamp: Self.stamp(-40)))
            },
        ])
        try sink.finish()
        // Who is joined to somebody from now on is told of as a part of them.
        #expect(told.members.map(\.member.userId) == ["A"])
        #expect(told.members.first { $0.member.userId == "A" }?.member.numVisits == 1 + 5 + 1)
        #expect(try await device.store.check() == [])
    }

    @Test("Members of whom too many would be one are not joined; others are")
    func tooMany() async throws {
        let device = try MergeDevice(1)
        let most = MergeBatch.mostJoined
        let records = [Self.member("T")] + (1...most).map { Self.member("M\($0)", into: "T") }
        let verdicts = try device.merge(records, batch: 300)
        #expect(verdicts.count { $0 == .skipped(MergeBatch.joinedReason) } == 1)
        #expect(verdicts.last == .skipped(MergeBatch.joinedReason))
        #expect(try device.merge([Self.member("X"), Self.member("Y", into: "X")]) == [.created, .created])
        // Those who could not be joined to them may be joined to others, in the same import too.
        let few = [
            Self.member("V"), Self.member("U", into: "V"), Self.member("U2", into: "T"), Self.member("W", into: "V"),
        ]
        #expect(try device.merge(few) == [.created, .created, .skipped(MergeBatch.joinedReason), .created])
        let card = TransferRecord.Card(cardId: "X", userId: "T", blocked: nil, stamp: Self.stamp(-50))
        #expect(try device.merge([.card(card)]) == [.skipped(MergeBatch.joinedReason)])
        #expect(try await device.store.members(sortedBy: .userId).map(\.userId) == ["T", "V", "X"])
        #expect(try await device.store.check() == [])
    }

    @Test("The rows that an import has created are known in whatever order", arguments: 1...10 as ClosedRange<UInt64>)
    func created(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var (progress, known, last) = (MergeProgress(), Set<Int64>(), Int64(0))
        for _ in 0..<200 {
            if random.chance(50) {
                let id = Int64.random(in: 1...max(1, last), using: &random)
                known.insert(id)
                progress.noteCreated(id)
            } else {
                let first = last + Int64.random(in: 1...4, using: &random)
                last = first + Int64.random(in: 0...3, using: &random)
                known.formUnion(first...last)
                progress.noteCreated(first...last, count: 1)
            }
        }
        for id in 1...last + 5 { #expect(progress.hasCreated(id) == known.contains(id), "seed \(seed), row \(id)") }
    }
}

/// What an import told of.
private final class Told: Sendable {
    private let list = Mutex<[MergedMember]>([])

    var members: [MergedMember] { list.withLock { $0 } }

    func add(_ members: [MergedMember]) { list.withLock { $0 += members } }
}
