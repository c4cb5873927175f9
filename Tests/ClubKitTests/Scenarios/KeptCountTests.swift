import Foundation
import GRDB
import ReaderKit
import TestSupport
import Testing

@testable import ClubKit

/// Numbers of events and executions that are kept, against counting what there is.
@Suite struct KeptCountTests {
    private struct Random {
        var numbers: SeededNumbers

        mutating func below(_ limit: Int64) -> Int64 { Int64(numbers.next() % UInt64(limit)) }
    }

    private static let names = ["$visits", "door"]
    private static let keys = [SubjectKey(.kiosk, "K"), SubjectKey(.group, "youth")]

    /// Events that come in any order, are undone, removed, moved and reset; executions that are charged and refunded. What
    /// is asked for between any two of these is what counting gives, and a check finds nothing.
    @Test("kept numbers are those of the rows (seeds 81 to 84)", arguments: [UInt64](81...84).oneIn(2))
    func property(_ seed: UInt64) async throws {
        var random = Random(numbers: SeededNumbers(seed: seed))
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let store = try MemberStore(.memory, clock: { start }, makeUUID: { UUID() })
        for step in 0..<60 {
            let seed = random.numbers.next()
            try await store.write("test") { transaction in
                var random = Random(numbers: SeededNumbers(seed: seed))
                for _ in 0..<40 { try Self.act(store, &random, transaction.db) }
                if step > 5 { for _ in 0..<6 { try Self.compare(&random, transaction.db) } }
            }
            if step.isMultiple(of: 10) {
                let questions = IntegrityQuestion.all.flatMap(\.value).map(\.value)
                let sql = try #require(questions.first { $0.contains("scenario_count") })
                #expect(try await store.read("test") { db in try Int.fetchOne(db, sql: sql) } == 0)
            }
        }
    }

    private static func act(_ store: MemberStore, _ random: inout Random, _ db: Database) throws {
        let key = keys[Int(random.below(2))]
        let name = names[Int(random.below(2))]
        let at = 1_000_000 + random.below(1_000_000)
        switch random.below(40) {
        case 0:
            try db.execute(
                sql:
                    "UPDATE scenario_event SET undone = 1 WHERE event_id IN (SELECT event_id FROM scenario_event WHERE at > ? LIMIT 3)",
                arguments: [at]
            )
        case 1:
            try db.execute(
                sql:
                    "DELETE FROM scenario_event WHERE event_id IN (SELECT event_id FROM scenario_event WHERE at > ? LIMIT 2)",
                arguments: [at]
            )
        case 2:
            try db.execute(
                sql: "UPDATE scenario_event SET at = at - at % 1000 WHERE at BETWEEN ?1 AND ?1 + 5000",
                arguments: [at]
            )
            try db.execute(
                sql: "UPDATE scenario_execution SET at = at - at % 1000 WHERE at BETWEEN ?1 AND ?1 + 5000",
                arguments: [at]
            )
        case 3:
            try db.execute(
                sql: "UPDATE scenario_execution SET counts = 1 - counts WHERE at BETWEEN ?1 AND ?1 + 2000",
                arguments: [at]
            )
        case 4 where random.below(20) == 0:
            let scenario = random.below(2) == 0 ? SubjectEvents.resetName(ofEvents: name) : name
            try store.transaction(db).events.reset(key, scenario, store.transaction(db).nextStamp())
        case 5...15:
            try db.execute(
                sql: """
                    INSERT INTO scenario_execution (execution_id, device_id, hlc, kind, subject, scenario, at, born, number)
                    VALUES (?, x'00000000000000000000000000000001', ?, ?, ?, ?, ?, 0, 1)
                    """,
                arguments: [UUID(), store.transaction(db).nextStamp().time, key.kind.rawValue, key.text, name, at]
            )
        default:
            let event = ScenarioEventRow(
                eventID: UUID(),
                stamp: try store.transaction(db).nextStamp(),
                key: key,
                name: name,
                at: at,
                visit: nil
            )
            try store.transaction(db).events.add(event)
        }
    }

    private static func compare(_ random: inout Random, _ db: Database, keeps: Bool = true) throws {
        let key = keys[Int(random.below(2))]
        let name = names[Int(random.below(2))]
        let isEvent = random.below(2) == 0
        let counter = KeptCount(
            source: isEvent ? KeptCount.events : KeptCount.executions,
            key: key,
            name: name,
            db: db,
            asked: keeps ? KeptCount.Asked() : nil
        )
        let reset = try db.resetTime(key, SubjectEvents.resetName(ofEvents: name))
        let times = try Int64.fetchAll(
            db,
            sql: isEvent
                ? "SELECT at FROM scenario_event WHERE kind = ? AND subject = ? AND name = ? AND undone = 0 AND hlc > ?"
                : "SELECT at FROM scenario_execution WHERE kind = ? AND subject = ? AND scenario = ? AND counts = 1 AND ? < 9e18",
            arguments: [key.kind.rawValue, key.text, name, reset]
        )
        let all = try counter.all()
        #expect(all.count == times.count && all.first == times.min() && all.last == times.max())
        // A few moments again and again, one that moves, and any.
        let moments: [Int64] = [
            1_000_000, 1_250_000, 1_500_000, 1_600_000 + random.below(200), 1_000_000 + random.below(1_000_000),
        ]
        for after in moments {
            #expect(try counter.count(after: after, through: .max) == times.count { $0 > after })
            let through = after + random.below(500_000)
            #expect(try counter.count(after: after, through: through) == times.count { $0 > after && $0 <= through })
        }
    }

    /// Adds events of the kiosk, which happen at 1, 2 and so on.
    private static func fill(_ count: Int, _ store: MemberStore, _ db: Database) throws {
        for number in 1...count {
            let stamp = try store.transaction(db).nextStamp()
            let event = ScenarioEventRow(
                eventID: UUID(),
                stamp: stamp,
                key: keys[0],
                name: "door",
                at: Int64(number),
                visit: nil
            )
            try store.transaction(db).events.add(event)
        }
    }

    private static func counter(_ db: Database) -> KeptCount {
        KeptCount(source: KeptCount.events, key: keys[0], name: "door", db: db, asked: KeptCount.Asked())
    }

    private static func moments(_ db: Database) throws -> [Int64] {
        try Int64.fetchAll(db, sql: "SELECT after FROM scenario_count ORDER BY after")
    }

    /// What a reset leaves behind is gone through once, and not for a window that begins before what is left.
    @Test func afterReset() async throws {
        let store = try MemberStore(.memory, clock: { Date() }, makeUUID: { UUID() })
        try await store.write("test") { transaction in
            let db = transaction.db
            try Self.fill(300, store, db)
            let name = SubjectEvents.resetName(ofEvents: "door")
            try transaction.events.reset(Self.keys[0], name, transaction.nextStamp())
            #expect(try Self.counter(db).all().count == 0)
            #expect(try Self.moments(db) == [.min])
            #expect(try Self.counter(db).count(after: 100, through: .max) == 0)
            // The latest may be from before some that were reset.
            try Self.fill(3, store, db)
            #expect(try Self.counter(db).all() == (3, 1, 3))
            #expect(try Self.counter(db).count(after: 0, through: .max) == 3)
            #expect(try Self.counter(db).count(after: 1, through: .max) == 2)
            try db.execute(sql: "DELETE FROM scenario_event WHERE at IN (1, 3)")
            #expect(try Self.counter(db).all() == (1, 2, 2))
            #expect(try Self.moments(db) == [.min])
        }
    }

    /// However many windows are in use, each has its number; those of which nobody asks any more go.
    @Test func manyWindows() async throws {
        let store = try MemberStore(.memory, clock: { Date() }, makeUUID: { UUID() })
        try await store.write("test") { transaction in
            let db = transaction.db
            try Self.fill(2000, store, db)
            let windows = (1...12).map { Int64($0 * 140) }
            let counter = Self.counter(db)
            for window in windows { #expect(try counter.count(after: window, through: .max) == 2000 - Int(window)) }
            #expect(try Self.moments(db) == [.min] + windows)
            #expect(try Self.counter(db).count(after: 1820, through: .max) == 180)
            #expect(try Self.moments(db) == [.min, 1820])
        }
    }

    /// A look that may not write counts all the same.
    @Test func readOnly() async throws {
        let store = try MemberStore(.memory, clock: { Date() }, makeUUID: { UUID() })
        var random = Random(numbers: SeededNumbers(seed: 85))
        let seed = random.numbers.next()
        try await store.write("test") { transaction in
            var random = Random(numbers: SeededNumbers(seed: seed))
            for _ in 0..<1000 { try Self.act(store, &random, transaction.db) }
        }
        try await store.read("test") { db in
            var random = Random(numbers: SeededNumbers(seed: seed))
            for _ in 0..<10 { try Self.compare(&random, db, keeps: false) }
        }
    }
}
