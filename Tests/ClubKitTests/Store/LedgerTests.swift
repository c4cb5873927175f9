import Foundation
import GRDB
import ReaderKit
import Testing

@testable import ClubKit

@Suite("The ledger and its check")
struct LedgerTests {
    private let bench: StoreBench
    private var directory: TemporaryDirectory { bench.directory }

    init() throws {
        bench = try StoreBench()
    }

    private func openStore(
        clock: @escaping @Sendable () -> Date = { start }
    ) throws(ClubError) -> MemberStore {
        try bench.openStore(clock: clock)
    }

    private func receive(_ event: ScanEvent, in store: MemberStore) async throws -> Receipt {
        try await bench.receive(event, in: store)
    }

    @Test(
        "The ledger cannot be changed, unless the same transaction allows it",
        arguments: [
            "UPDATE visit SET at = at + 1", "DELETE FROM visit", "REPLACE INTO visit SELECT * FROM visit",
            "UPDATE OR REPLACE visit SET id = id",
        ]
    )
    func appendOnly(sql: String) async throws {
        let store = try openStore()
        _ = try await receive(tap("A"), in: store)
        await #expect(throws: DatabaseError.self) { try await store.database.write { try $0.execute(sql: sql) } }
        #expect(try await store.check() == [])
        try await store.database.write { db in
            try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')")
            try db.execute(sql: sql)
            try db.execute(sql: "DELETE FROM ledger_permit")
        }
    }

    @Test("A member with visits cannot be deleted from under them")
    func memberWithVisits() async throws {
        let store = try openStore()
        _ = try await receive(tap("A"), in: store)
        await #expect(throws: DatabaseError.self) {
            try await store.database.write { try $0.execute(sql: "DELETE FROM member") }
        }
    }

    @Test(
        "The check finds what contradicts itself",
        arguments: [
            ("UPDATE member SET num_visits = num_visits + 1", [.totalsDiffer]),
            ("UPDATE member SET last_visit_at = NULL WHERE user_id = 'A'", [.totalsDiffer]),
            ("DELETE FROM receipt WHERE outcome = 'visit'", [.receiptMismatch]),
            ("UPDATE receipt SET outcome = 'repeat' WHERE outcome = 'visit'", [.receiptMismatch]),
            ("UPDATE receipt SET outcome = 'visit' WHERE outcome = 'repeat'", [.receiptMismatch]),
            ("UPDATE receipt SET member_id = 2 WHERE outcome = 'visit'", [.receiptMismatch]),
            ("UPDATE visit SET hlc = -hlc WHERE id = 3", [.clockOrder]),
            ("UPDATE member SET fields = '[]'", [.malformedFields]),
            ("UPDATE member SET fields = '{'", [.malformedFields]),
            ("DELETE FROM member WHERE user_id = 'B'", [.danglingReference, .visitWithoutMember]),
        ] as [(String, [IntegrityFinding.Code])]
    )
    func contradictions(sql: String, codes: [IntegrityFinding.Code]) async throws {
        let store = try openStore()
        for (key, seconds) in [("A", 0), ("B", 1), ("A", 2), ("A", 30), (nil, 40)] as [(String?, Double)] {
            _ = try await receive(tap(key, at: seconds), in: store)
        }
        #expect(try await store.check() == [])
        try await store.database.writeWithoutTransaction { db in
            // As a damaged disk or another program would, past all that guards the tables.
            try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')")
            try db.execute(sql: sql)
            try db.execute(sql: "DELETE FROM ledger_permit")
            try db.execute(sql: "PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF")
        }
        let found = try await store.check()
        // SQLite's own check looks at the constraints of the tables too.
        #expect(Set(found.map(\.code)).subtracting([.damaged]) == Set(codes))
        #expect(found.allSatisfy { $0.severity == .error })
    }

    @Test("A permit that was left is found")
    func permitLeft() async throws {
        let store = try openStore()
        try await store.database.write { try $0.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')") }
        #expect(try await store.check().map(\.code) == [.ledgerUnlocked])
    }

    @Test("The logical clock goes on where the file left it, also when the physical one was set back")
    func logicalClock() async throws {
        var store = try openStore(clock: { start.addingTimeInterval(1000) })
        _ = try await receive(tap("A"), in: store)
        try store.close()
        store = try openStore(clock: { start })
        for index in 1...3 { _ = try await receive(tap("A", at: Double(index) * 30), in: store) }
        let times = try await store.database.read { try Int64.fetchAll($0, sql: "SELECT hlc FROM visit ORDER BY id") }
        let first = Stamp.time(milliseconds: Int64(start.timeIntervalSince1970 + 1000) * 1000, counter: 0)
        // The first moment is that of the member's creation.
        #expect(times == (1...4).map { first + $0 })
        #expect(try await store.check() == [])
    }

    // MARK: Several users of one file

    @Test("Two clubs on one file count every tap once")
    func twoClubs() async throws {
        let first = try openStore()
        let second = try openStore()
        #expect(first.deviceID == second.deviceID)
        let taps = (0..<100).map { tap("member \($0 % 3)", at: Double($0) * 30) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, event) in taps.enumerated() {
                // Every fifth one reaches both.
                if index % 5 == 0 || index % 2 == 0 { group.addTask { _ = try await receive(event, in: first) } }
                if index % 5 == 0 || index % 2 == 1 { group.addTask { _ = try await receive(event, in: second) } }
            }
            try await group.waitForAll()
        }
        #expect(try await first.members(sortedBy: .userId).map(\.numVisits) == [34, 33, 33])
        #expect(try await first.members(sortedBy: .userId) == second.members(sortedBy: .userId))
        #expect(try await first.check() == [])
        try first.close()
        #expect(try await second.check() == [])
    }

    @Test("A file whose making was cut off before its tables is finished")
    func cutOffWhileNew() async throws {
        let path = directory.file()
        let started = try DatabaseQueue(path: path)
        try await started.write { db in
            try db.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        }
        try started.close()
        let club = Club(configuration: .test(.file(path: path)))
        try await club.open()
        #expect(try await club.receive(tap("A", at: 0)).outcome == .created)
        #expect(try await club.check().allSatisfy { $0.code == .permissions })
    }

    @Test("A new file can be opened by many at once")
    func openAtOnce() async throws {
        let path = directory.file()
        let ids = try await withThrowingTaskGroup(of: UUID.self) { group in
            for number in 0..<8 as Range<UInt64> {
                group.addTask {
                    let club = Club(configuration: .test(.file(path: path)))
                    try await club.open()
                    let id = try club.openStore("test").deviceID
                    _ = try await club.receive(tap("A", at: Double(number) * 30))
                    return id
                }
            }
            return try await group.reduce(into: Set<UUID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(try await openStore().member(withUserID: "A")?.numVisits == 8)
    }
}
