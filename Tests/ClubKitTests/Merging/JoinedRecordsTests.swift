import Foundation
import TestSupport
import Testing

@testable import ClubKit
@testable import ClubRecords

@Suite("Records that a store joins")
struct JoinedRecordsTests {
    /// Kinds in the order of a club's file.
    private static let kinds: [TransferRecord.CodingKeys] = [
        .erasure, .member, .card, .visit, .undo, .reset, .event, .execution, .settlement, .audit,
    ]

    /// Whether a file may have it: of somebody who was erased and did not come again there are no facts.
    private static func isInFiles(_ record: TransferRecord) -> Bool {
        if case .member(let person) = record, person.facts.erasure != nil, !person.facts.exists { return false }
        return record.fault == nil
    }

    private static func record(
        _ kind: TransferRecord.CodingKeys,
        _ number: Int,
        _ random: inout SeededNumbers
    ) -> TransferRecord {
        while true {
            let record = RandomRecords.record(kind, number, &random)
            if isInFiles(record) { return record }
        }
    }

    @Test("Merged by SQL, two records of one key are what they are joined by themselves")
    func sameAsBySQL() async throws {
        let seed: UInt64 = 19
        var random = SeededNumbers(seed: seed)
        var rounds: [[TransferRecord]] = [[], []]
        var expected: [TransferRecord.Key: TransferRecord] = [:]
        for kind in Self.kinds {
            for number in 0..<max(1, RandomRecords.pairs / Self.kinds.count) {
                // What an undoing and a settlement are of has to be there.
                let base: TransferRecord.CodingKeys? = kind == .undo ? .visit : kind == .settlement ? .execution : nil
                let number = base == nil ? number : number + 100_000_000
                if let base { rounds[0].append(Self.record(base, number, &random)) }
                let (one, other) = (Self.record(kind, number, &random), Self.record(kind, number, &random))
                rounds[0].append(one)
                rounds[1].append(other)
                let joined = one.joined(with: other)
                expected[one.key] = Self.isInFiles(joined) ? joined : nil
            }
        }
        let device = try MergeDevice(9)
        for round in rounds { try device.merge(round, batch: 2000) }
        var found = 0
        for record in try await device.records() {
            guard let joined = expected[record.key] else { continue }
            found += 1
            let (stored, said) = (try ClubFile.line(record), try ClubFile.line(joined))
            if stored != said {
                Issue.record("seed \(seed): \(String(decoding: stored, as: UTF8.self)), joined \(joined)")
            }
        }
        #expect(found == expected.count, "seed \(seed)")
    }
}
