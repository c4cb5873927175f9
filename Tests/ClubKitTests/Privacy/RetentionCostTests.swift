import Foundation
import GRDB
import Testing

@testable import ClubKit

@Suite("What a retention period costs", .timeLimit(.minutes(10)))
struct RetentionCostTests {
    private static let limit = start.addingTimeInterval(30 * 86_400)

    /// A device on which somebody came so often before the limit, and so often after it.
    private func device(visits count: Int) throws -> MergeDevice {
        let device = try MergeDevice(1)
        try device.store.database.write { db in
            var facts = MemberFacts()
            let stamp = try device.store.transaction(db).nextStamp()
            facts.add(MemberFacts.Birth(stamp, at: 1))
            let id = try device.store.transaction(db).members.insert("A", facts)
            for number in 0..<2 * count {
                device.clock.advance(by: number == count ? 40 * 86_400 : 60)
                let visit = VisitRow(
                    eventID: UUIDSource.uuid(UInt64(number)),
                    stamp: try device.store.transaction(db).nextStamp(),
                    at: try #require(Timestamp.microseconds(device.clock.now)),
                    reader: "",
                    backend: "",
                    born: stamp.time,
                    source: .manual
                )
                try device.store.transaction(db).ledger.insertVisit(visit, of: id)
            }
            try device.store.transaction(db).members.refreshTotals(of: id)
        }
        return device
    }

    @Test("Twice as many visits of a member take about twice as long to tell the old ones from, not four times")
    func visits() async throws {
        var costs: [Int] = []
        for count in [300, 600] {
            let device = try device(visits: count)
            costs.append(
                try await steps(in: device.store) {
                    let removed = try await device.store.pruneVisits(before: Self.limit, ActionContext())
                    #expect(removed == count)
                }
            )
            #expect(try await device.member("A")?.numVisits == 2 * count)
            #expect(try await device.store.check() == [])
        }
        #expect(costs[1] < 3 * costs[0], "\(costs)")
    }

    @Test("Each round goes on where the last one ended, whatever it found")
    func receipts() async throws {
        var costs: [Int] = []
        for count in [400, 1600] {
            let device = try device(visits: 1)
            try await device.store.write("test") { transaction in
                // Of each moment three, of which every seventh tells of nobody.
                for number in 0..<count {
                    try transaction.db.execute(
                        sql: """
                            INSERT INTO receipt (event_id, at, reader, backend, outcome, member_id)
                            VALUES (?, ?, '', '', 'repeat', CASE WHEN ? THEN 1 END)
                            """,
                        arguments: [UUIDSource.uuid(UInt64(1000 + number)), 1 + number / 3, number % 7 > 0]
                    )
                }
            }
            costs.append(
                try await steps(in: device.store) {
                    _ = try await device.store.pruneVisits(before: Self.limit, ActionContext(), receiptsAtOnce: 20)
                }
            )
            let linked = try await device.store.read("test") { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM receipt WHERE member_id IS NOT NULL")
            }
            #expect(linked == 0)
        }
        #expect(costs[1] < 6 * costs[0], "\(costs)")
    }
}
