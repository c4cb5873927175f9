import Foundation
import GRDB
import Synchronization
import Testing

@testable import ClubKit

@Suite("Many members who are one, each joined to the next", .timeLimit(.minutes(10)))
struct JoinedChainTests {
    /// A store of that many members with a visit each, who are one.
    private func chain(of count: Int) throws -> MergeDevice {
        let device = try MergeDevice(1)
        try device.store.database.write { db in
            var joined: Set<Int64> = []
            for number in 0..<count {
                let stamp = try device.store.transaction(db).nextStamp()
                var facts = MemberFacts()
                facts.add(MemberFacts.Birth(stamp, at: 1_788_256_800_000_000))
                if number > 0 { facts.set(SystemValues.Name.mergedInto, .string("M\(number - 1)"), stamp) }
                let id = try device.store.transaction(db).members.insert("M\(number)", facts, joined: &joined)
                let visit = VisitRow(
                    eventID: UUIDSource.uuid(UInt64(number)),
                    stamp: try device.store.transaction(db).nextStamp(),
                    at: 1_788_256_800_000_000 + Int64(number),
                    reader: "",
                    backend: "",
                    born: stamp.time,
                    source: .manual
                )
                try device.store.transaction(db).ledger.insertVisit(visit, of: id)
                try device.store.transaction(db).members.refreshTotals(of: id, joined: &joined)
            }
            try device.store.transaction(db).members.refreshJoined(joined)
        }
        return device
    }

    /// How many statements something runs.
    private func statements(in device: MergeDevice, _ body: () async throws -> Void) async throws -> Int {
        let count = Mutex(0)
        try await device.store.database.writeWithoutTransaction { db in
            db.trace { event in if case .statement = event { count.withLock { $0 += 1 } } }
        }
        try await body()
        try await device.store.database.writeWithoutTransaction { $0.trace(options: []) }
        return count.withLock { $0 }
    }

    /// What looks at all of them.
    enum Question: CaseIterable {
        case check, statistics, deletion

        func ask(_ store: MemberStore) async throws {
            switch self {
            case .check: #expect(try await store.check() == [])
            case .deletion: _ = try await store.delete("M0", ActionContext()) { _ in }
            case .statistics: _ = try await store.read("test") { db in try db.members.standIns() }
            }
        }
    }

    @Test("Twice as many take about twice as long, not four times", arguments: Question.allCases)
    func linear(question: Question) async throws {
        let (few, many) = (try chain(of: 150), try chain(of: 300))
        #expect(try await many.member("M299")?.numVisits == 300)
        let one = try await statements(in: few) { try await question.ask(few.store) }
        let two = try await statements(in: many) { try await question.ask(many.store) }
        #expect(two < 3 * one, "\(one) statements, then \(two)")
    }
}
