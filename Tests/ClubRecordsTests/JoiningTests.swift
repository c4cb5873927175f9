import Foundation
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubRecords

@Suite("Joining two records of one key")
struct JoiningTests {
    private static func check(_ left: TransferRecord, _ right: TransferRecord, _ law: Comment) throws {
        guard try ClubFile.line(left) != ClubFile.line(right) else { return }
        Issue.record(law)
    }

    @Test("It is commutative, associative and idempotent, to the byte", arguments: RandomRecords.kinds)
    func laws(kind: TransferRecord.CodingKeys) throws {
        let seed = UInt64(RandomRecords.kinds.firstIndex(of: kind) ?? 0)
        var random = SeededNumbers(seed: seed)
        for number in 0..<max(1, RandomRecords.pairs / 10) {
            let a = RandomRecords.record(kind, number, &random)
            let b = RandomRecords.record(kind, number, &random)
            let c = RandomRecords.record(kind, number, &random)
            #expect(a.key == b.key)
            let place: Comment = "\(kind.rawValue), seed \(seed), number \(number)"
            let both = a.joined(with: b)
            try Self.check(both, b.joined(with: a), place)
            try Self.check(both.joined(with: c), a.joined(with: b.joined(with: c)), place)
            try Self.check(a.joined(with: a), a, place)
            try Self.check(both.joined(with: b), both, place)
        }
    }

    @Test("A record of another key says nothing, also where only the bytes of a text differ")
    func otherKeys() {
        var random = SeededNumbers(seed: 1)
        for kind in RandomRecords.kinds {
            let one = RandomRecords.record(kind, 1, &random)
            #expect(one.joined(with: RandomRecords.record(kind, 2, &random)) == one)
        }
        func card(_ id: String, _ time: Int64) -> TransferRecord {
            .card(.init(cardId: id, userId: "U", blocked: nil, stamp: Stamp(time: time, device: UUIDSource.uuid(1))))
        }
        #expect(card("\u{E9}", 1).joined(with: card("e\u{301}", 2)) == card("\u{E9}", 1))
    }

    @Test("An undoing that is written as false is as none")
    func noUndoing() throws {
        var random = SeededNumbers(seed: 1)
        guard case .event(var event) = RandomRecords.record(.event, 1, &random) else { return }
        event.undone = false
        let read = try JSONDecoder().decode(TransferRecord.self, from: ClubFile.line(TransferRecord.event(event)))
        event.undone = nil
        #expect(read == .event(event))
    }
}
