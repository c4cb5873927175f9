import Foundation
import GRDB
import Synchronization
import Testing

@testable import ClubKit

@Suite("What statistics and lists of taps cost where members are joined", .timeLimit(.minutes(10)))
struct StatisticsCostTests {
    /// So many members who were joined to one, with so many visits each, an hour apart.
    private func device(joined count: Int, visits: Int) throws -> MergeDevice {
        let device = try MergeDevice(1)
        try device.store.database.write { db in
            var joined: Set<Int64> = []
            for number in 0...count {
                let stamp = try device.store.transaction(db).nextStamp()
                var facts = MemberFacts()
                facts.add(MemberFacts.Birth(stamp, at: 1_788_256_800_000_000))
                if number > 0 { facts.set(SystemValues.Name.mergedInto, .string("M0"), stamp) }
                let id = try device.store.transaction(db).members.insert("M\(number)", facts, joined: &joined)
                for time in 0..<visits {
                    let visit = VisitRow(
                        eventID: UUIDSource.uuid(UInt64(number * visits + time)),
                        stamp: try device.store.transaction(db).nextStamp(),
                        at: 1_788_256_800_000_000 + Int64(time) * 3_600_000_000 + Int64(number),
                        reader: "",
                        backend: "",
                        born: stamp.time
                    )
                    try device.store.transaction(db).ledger.insertVisit(visit, of: id)
                }
                try device.store.transaction(db).members.refreshTotals(of: id, joined: &joined)
            }
            try device.store.transaction(db).members.refreshJoined(joined)
        }
        return device
    }

    /// What goes through all visits.
    enum Question: CaseIterable {
        case statistics, taps

        func ask(_ store: MemberStore, expecting count: Int) async throws {
            switch self {
            case .statistics:
                let statistics = try await store.statistics(from: nil, to: start.addingTimeInterval(86_400), in: .gmt)
                #expect(statistics.visits == count && statistics.uniqueVisitors == 1)
                #expect(statistics.days.map(\.uniqueVisitors) == [1, 0])
            case .taps:
                let told = Mutex(0)
                try await store.forEachTap(from: nil, to: nil) { record in
                    if record.userId == "M0" { told.withLock { $0 += 1 } }
                }
                #expect(told.withLock(\.self) == count)
            }
        }
    }

    @Test("Twice as many members take about twice as long, not four times", arguments: Question.allCases)
    func linear(question: Question) async throws {
        var costs: [Int] = []
        for count in [150, 300] {
            let device = try device(joined: count, visits: 5)
            // Who stands for whom is found out before, and tested elsewhere.
            let pairs = try await steps(in: device.store) {
                _ = try await device.store.read("test") { db in try db.members.standIns() }
            }
            let all = try await steps(in: device.store) {
                try await question.ask(device.store, expecting: 5 * (count + 1))
            }
            costs.append(all - pairs)
        }
        #expect(costs[1] < 3 * costs[0], "\(costs)")
    }
}
