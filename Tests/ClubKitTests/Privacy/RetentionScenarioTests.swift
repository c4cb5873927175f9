import Foundation
import GRDB
import Logging
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

@Suite("Scenarios and the retention period", .timeLimit(.minutes(10)))
struct RetentionScenarioTests {
    private static let day: Double = 86_400
    private let desk = ActionContext(actor: "desk")

    /// Once for each ten visits of this year, at the twentieth and the sixtieth of it, and after a month without a visit.
    private static let scenarios = [
        Scenario("coffee") { $0.rules = [.every(10, since: start)] },
        Scenario("twenty") {
            $0.timeZone = .gmt
            $0.rules = [.reaches(20, within: .year)]
        },
        Scenario("sixty") {
            $0.timeZone = .gmt
            $0.rules = [.reaches(60, within: .year)]
        },
        Scenario("back") { $0.rules = [.absence(20 * day)] },
    ]

    /// A club at which it is as late as the test says.
    private struct Kiosk {
        let club: Club
        let clock = HandClock()

        init(_ number: UInt8 = 1, _ database: DatabaseLocation = .memory, log: LogStore? = nil) async throws {
            let clock = clock
            var configuration = ClubConfiguration.test(database, cooldown: .zero, clock: { clock.now })
            configuration.makeUUID = {
                var bytes = UUID().uuid
                bytes.0 = number
                return UUID(uuid: bytes)
            }
            if let log { configuration.logger = Logger(label: "club.test") { _ in LogCollector(store: log) } }
            club = try await openClub(configuration)
            club.setScenarios(RetentionScenarioTests.scenarios)
        }

        /// Comes once a day, at an odd time.
        ///
        /// - Returns: what it brought, by the number of the visit.
        func come(_ numbers: ClosedRange<Int>) async throws -> [String: [Int]] {
            var brought: [String: [Int]] = [:]
            for number in numbers {
                let seconds = Self.seconds(number)
                clock.advance(by: seconds - clock.now.timeIntervalSince(start))
                for execution in try await club.receive(tap("A", at: seconds)).executions {
                    brought[execution.scenario, default: []].append(number)
                }
            }
            return brought
        }

        /// When a visit is, in seconds after ``start``.
        static func seconds(_ number: Int) -> Double {
            Double(number) * RetentionScenarioTests.day + 1.5 * Double(number)
        }

        func prune(before number: Int) async throws -> Int {
            try await club.pruneVisits(before: start.addingTimeInterval(Self.seconds(number)))
        }
    }

    private func merge(_ from: Kiosk, into other: Kiosk, _ directory: TemporaryDirectory) async throws {
        let path = directory.file(UUID().uuidString + ".clubkit")
        _ = try await from.club.exportMembers(to: path, options: ExportOptions(format: .clubkit))
        let report = try await other.club.importMembers(from: path)
        #expect(report.malformed == 0)
    }

    private func decisions(_ kiosk: Kiosk) async throws -> [ScenarioDecision] {
        var decisions: [ScenarioDecision] = []
        for scenario in Self.scenarios {
            var decision = try await kiosk.club.decide(scenario, for: .member("A"))
            // Rounded to the end of its day.
            decision.counters.lastExecutionDate = nil
            decisions.append(decision)
        }
        return decisions
    }

    // MARK: Numbers

    @Test("What was counted since a moment outlasts the removal of the visits: no coffee is lost, no tier comes twice")
    func rewards() async throws {
        let kiosk = try await Kiosk()
        #expect(try await kiosk.come(1...50) == ["coffee": [10, 20, 30, 40, 50], "twenty": [20]])
        let before = try await decisions(kiosk)
        #expect(try await kiosk.prune(before: 36) == 35)
        #expect(try await decisions(kiosk) == before)
        #expect(try await kiosk.come(51...64) == ["coffee": [60], "sixty": [60]])
        #expect(try await kiosk.prune(before: 65) == 29)
        #expect(try await kiosk.prune(before: 65) == 0)
        #expect(try await kiosk.come(65...80) == ["coffee": [70, 80]])
        // Of nobody's visits one is left: that the last one was long ago is known all the same.
        #expect(try await kiosk.prune(before: 81) == 16)
        let back = try await kiosk.club.decide(Self.scenarios[3], for: .member("A"))
        let message = try #require(back.failures.first).message
        #expect(
            message.contains("is not kept any more; 20 days are needed; a visit after ")
                && message.contains("would do.")
        )
        #expect(try await kiosk.come(110...110) == ["back": [110]])
        #expect(try await kiosk.club.check().isEmpty)
        // Who leaves and comes back begins anew.
        try await kiosk.club.delete("A")
        #expect(try await kiosk.come(111...121) == ["coffee": [120]])
        try await kiosk.club.close()
    }

    @Test("Another program that removes visits keeps what the scenarios of the first have counted")
    func otherProgram() async throws {
        let directory = try TemporaryDirectory()
        let kiosk = try await Kiosk(1, .file(path: directory.file()))
        _ = try await kiosk.come(1...35)
        try await kiosk.club.close()
        try await kiosk.club.open()
        let other = try await openClub(.test(.file(path: directory.file()), clock: { kiosk.clock.now }))
        #expect(try await other.pruneVisits(before: start.addingTimeInterval(Kiosk.seconds(36))) == 35)
        #expect(try await kiosk.come(36...60) == ["coffee": [40, 50, 60], "sixty": [60]])
        try await other.close()
        try await kiosk.club.close()
    }

    @Test("Windows that a newer version wrote stay beside one's own")
    func newerWindows() async throws {
        let store = try MemberStore(.memory, clock: { start }, makeUUID: { UUID() })
        let spans = ScenarioSpan.all(of: [Scenario("year") { $0.rules = [.reaches(3, within: .year)] }])
        try await store.write("test") { transaction in
            try transaction.db.execute(sql: "INSERT INTO meta VALUES ('scenarioSpans', 'lunar 3')")
            try transaction.events.keep(spans)
            #expect(try transaction.db.scenarioSpans() == spans)
            let text = try String.fetchOne(transaction.db, sql: "SELECT value FROM meta WHERE key = 'scenarioSpans'")
            #expect(text?.hasPrefix("lunar 3\nyear ") == true)
        }
    }

    @Test("Another kiosk takes in the numbers, whether it has the visits or never had them")
    func merges() async throws {
        let directory = try TemporaryDirectory()
        let (first, second, third) = (try await Kiosk(1), try await Kiosk(2), try await Kiosk(3))
        _ = try await first.come(1...25)
        second.clock.advance(by: 25.5 * Self.day)
        try await merge(first, into: second, directory)
        #expect(try await second.come(26...50) == ["coffee": [30, 40, 50]])
        first.clock.advance(by: 26 * Self.day)
        try await merge(second, into: first, directory)
        let before = try await decisions(first)
        #expect(try await first.prune(before: 36) == 35)
        for kiosk in [second, third] {
            kiosk.clock.advance(by: first.clock.now.timeIntervalSince(kiosk.clock.now))
            for _ in 0..<2 { try await merge(first, into: kiosk, directory) }
            #expect(try await decisions(kiosk) == before)
            #expect(try await kiosk.club.visits(of: "A", limit: 99).count == 15)
            #expect(try await kiosk.club.check().isEmpty)
        }
        #expect(try await third.come(52...61) == ["coffee": [61], "sixty": [61]])
        for kiosk in [first, second, third] { try await kiosk.club.close() }
    }

    @Test("Who removes visits without knowing the scenarios takes nothing from who has them", arguments: [false, true])
    func removedElsewhere(_ hasOthers: Bool) async throws {
        let directory = try TemporaryDirectory()
        let (kiosk, office) = (try await Kiosk(1), try await Kiosk(2))
        let later = Scenario("coffee") { $0.rules = [.every(10, since: start.addingTimeInterval(-40 * Self.day))] }
        office.club.setScenarios(hasOthers ? [later] : [])
        #expect(try await kiosk.come(1...25) == ["coffee": [10, 20], "twenty": [20]])
        office.clock.advance(by: 26 * Self.day)
        try await merge(kiosk, into: office, directory)
        // The kiosk removes some itself, and the office more.
        #expect(try await kiosk.prune(before: 6) == 5)
        #expect(try await office.prune(before: 19) == 18)
        let before = try await decisions(kiosk)
        for _ in 0..<2 {
            try await merge(office, into: kiosk, directory)
            #expect(try await decisions(kiosk) == before)
            try await merge(kiosk, into: office, directory)
        }
        #expect(try await kiosk.club.visits(of: "A", limit: 99).count == 7)
        #expect(try await kiosk.come(26...61) == ["coffee": [30, 40, 50, 60], "sixty": [60]])
        for one in [kiosk, office] {
            #expect(try await one.club.check().isEmpty)
            try await one.club.close()
        }
    }

    @Test("Who asks gets the numbers that are kept, and nothing is left of them after an erasure")
    func disclosed() async throws {
        let directory = try TemporaryDirectory()
        let kiosk = try await Kiosk()
        _ = try await kiosk.come(1...12)
        #expect(try await kiosk.prune(before: 11) == 10)
        let files = try await kiosk.club.disclose("A", to: URL(fileURLWithPath: directory.file("A")))
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: files[0])) as? [String: Any]
        let record = try #require((json?["records"] as? [[String: Any]])?.first)
        let numbers = try #require(record["visitsRemovedSince"] as? [[String: Any]])
        // Since the beginning of the year, and since the start.
        #expect(numbers.map { $0["visits"] as? Int } == [10, 10])
        try await kiosk.club.erase("A")
        #expect(try await kiosk.come(13...22) == ["coffee": [22]])
        try await kiosk.club.close()
    }

    // MARK: Dates

    /// All numbers that a database holds, in columns and in texts, with the table.
    private static func numbers(in db: Database) throws -> [(table: String, value: Int64)] {
        var found: [(table: String, value: Int64)] = []
        for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") {
            for row in try Row.fetchAll(db, sql: "SELECT * FROM \(table)") {
                for value in row.databaseValues {
                    switch value.storage {
                    case .int64(let number): found.append((table, number))
                    case .string(let text):
                        for digits in text.split(whereSeparator: { !$0.isNumber }) {
                            if let number = Int64(digits) { found.append((table, number)) }
                        }
                    default: break
                    }
                }
            }
        }
        return found
    }

    @Test("No table has the time of a visit that was removed, but those of the first and of the last")
    func dates() async throws {
        let directory = try TemporaryDirectory()
        let kiosk = try await Kiosk(1, .file(path: directory.file()))
        let group = Scenario("group") {
            $0.audience = .group("staff")
            $0.rules = [.every(2, since: nil)]
        }
        let purchases = Scenario("purchases") {
            $0.events = .named("purchase")
            $0.rules = [.every(1, since: nil)]
        }
        kiosk.club.setScenarios(Self.scenarios + [group, purchases])
        _ = try await kiosk.come(1...1)
        _ = try await kiosk.club.setTags(["staff"], of: "A")
        for number in 2...30 {
            _ = try await kiosk.come(number...number)
            if number == 12 { try await kiosk.club.trigger("purchase", for: .member("A")) }
            if number == 15, let visit = try await kiosk.club.visits(of: "A").first {
                try await kiosk.club.undoVisit(visit.id, by: desk)
            }
            if number == 20 {
                for execution in try await kiosk.club.executions(for: .member("A")) {
                    try await kiosk.club.redeem(execution.id)
                }
            }
        }
        func given() async throws -> [String] {
            try await kiosk.club.executions().map { "\($0.scenario) \($0.number) \($0.state)" }.sorted()
        }
        let before = try await given()
        let counts = try await kiosk.club.executionCounts()
        #expect(try await kiosk.prune(before: 25) == 24)
        // What was given, its number and what became of it stay.
        #expect(try await given() == before)
        #expect(try await kiosk.club.executionCounts() == counts)
        #expect(try await kiosk.club.check().isEmpty)
        let old: [Int64] = (2...23).map { (number: Int64) -> Int64 in
            (1_788_256_800 + number * 86_400) * 1_000_000 + number * 1_500_000
        }
        let found = try await kiosk.club.openStore("test").read("test") { db in
            // What people did at the desk is in the audit log, and when they said what of a member.
            try Self.numbers(in: db).filter { one in
                guard !["audit", "clock"].contains(one.table) else { return false }
                let (value, time) = (one.value, one.value >> 16)
                return old.contains { (at: Int64) -> Bool in
                    at == value || at / 1000 == value || at / 1000 == time || at / 1_000_000 == value
                }
            }
        }
        let tables = Set(found.map(\.table))
        #expect(found.isEmpty, "\(tables)")
        try await kiosk.club.close()
    }

    @Test("A rounded time stays where the exact one is told again, and reaches who still has that")
    func roundedMerges() async throws {
        let directory = try TemporaryDirectory()
        let (first, second) = (try await Kiosk(1), try await Kiosk(2))
        _ = try await first.come(1...12)
        second.clock.advance(by: first.clock.now.timeIntervalSince(second.clock.now))
        try await merge(first, into: second, directory)
        let exact = try await second.club.executions().map(\.at)
        #expect(try await first.prune(before: 12) == 11)
        let rounded = try await first.club.executions()
        #expect(rounded.map(\.at) != exact && rounded.allSatisfy { $0.visit == nil })
        try await merge(second, into: first, directory)
        #expect(try await first.club.executions() == rounded)
        try await merge(first, into: second, directory)
        #expect(try await second.club.executions() == rounded)
        for kiosk in [first, second] { try await kiosk.club.close() }
    }

    @Test("Also what visits brought that were recorded later than they were made does not show when they were")
    func recordedLater() async throws {
        let directory = try TemporaryDirectory()
        let (first, second) = (try await Kiosk(1), try await Kiosk(2))
        #expect(try await first.come(1...2) == [:])
        first.clock.advance(by: 30 * Self.day)
        for number in 3...12 {
            let date = start.addingTimeInterval(Kiosk.seconds(number))
            _ = try await first.club.recordVisit(of: "A", at: date, by: desk)
        }
        second.clock.advance(by: first.clock.now.timeIntervalSince(second.clock.now))
        try await merge(first, into: second, directory)
        let exact = try await first.club.executions()
        #expect(exact.map(\.scenario) == ["coffee"] && exact[0].visit != nil)
        #expect(try await first.prune(before: 13) == 12)
        let rounded = try await first.club.executions()
        #expect(
            rounded.allSatisfy {
                $0.visit == nil && $0.at.timeIntervalSince1970.rounded().truncatingRemainder(dividingBy: Self.day) == 0
            }
        )
        #expect(rounded.map(\.at) != exact.map(\.at))
        try await merge(second, into: first, directory)
        #expect(try await first.club.executions() == rounded)
        try await merge(first, into: second, directory)
        #expect(try await second.club.executions() == rounded)
        for kiosk in [first, second] { try await kiosk.club.close() }
    }

    @Test("Old visits that a clock that was ahead keeps are reported")
    func clockAhead() async throws {
        let log = LogStore()
        let kiosk = try await Kiosk(log: log)
        kiosk.clock.advance(by: 400 * Self.day)
        _ = try await kiosk.club.receive(tap("A", at: 400 * Self.day))
        kiosk.clock.advance(by: -400 * Self.day)
        _ = try await kiosk.come(1...3)
        #expect(try await kiosk.prune(before: 4) == 0)
        #expect(try await kiosk.club.oldVisits(before: start.addingTimeInterval(Kiosk.seconds(4))).count == 3)
        #expect(log.lines.contains { $0.contains("Old visits stay") })
        try await kiosk.club.close()
    }

    // MARK: Portions

    /// Counts the visits that are deleted in one transaction.
    private final class Deletions: TransactionObserver, Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock(\.most) }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            if case .delete(let table) = eventKind { table == "visit" } else { false }
        }

        func databaseDidChange(with event: DatabaseEvent) { counts.withLock { $0.now += 1 } }

        func databaseDidCommit(_ db: Database) {
            counts.withLock { $0 = (now: 0, most: max($0.most, $0.now)) }
        }

        func databaseDidRollback(_ db: Database) { counts.withLock { $0.now = 0 } }
    }

    private func fill(_ club: Club, members: Int, visits: Int, from day: Double) async throws {
        let store = try club.openStore("test")
        try await store.write("test") { transaction in
            for member in 0..<members {
                var facts = MemberFacts()
                let stamp = try transaction.nextStamp()
                facts.add(MemberFacts.Birth(stamp, at: 1))
                let id = try transaction.members.insert("M\(member)", facts)
                for number in 0..<visits {
                    let visit = VisitRow(
                        eventID: UUID(),
                        stamp: try transaction.nextStamp(),
                        at: 1_788_256_800_000_000 + Int64(day) * 86_400_000_000 + Int64(number) * 60_000_000,
                        reader: "",
                        backend: "",
                        born: stamp.time,
                        source: .manual
                    )
                    try transaction.ledger.insertVisit(visit, of: id)
                }
                try transaction.members.refreshTotals(of: id)
            }
        }
    }

    @Test("Looking for old visits does not keep taps waiting, however many visits there are")
    func looking() async throws {
        var costs: [Int] = []
        for members in [20, 80] {
            let directory = try TemporaryDirectory()
            let kiosk = try await Kiosk(1, .file(path: directory.file()))
            kiosk.clock.advance(by: 40 * Self.day)
            try await fill(kiosk.club, members: members, visits: 50, from: 40)
            let store = try kiosk.club.openStore("test")
            costs.append(
                try await steps(in: store) {
                    let removed = try await kiosk.club.pruneVisits(before: start.addingTimeInterval(20 * Self.day))
                    #expect(removed == 0)
                }
            )
            try await kiosk.club.close()
        }
        #expect(costs[1] < 2 * max(costs[0], 100), "\(costs)")
    }

    @Test("Visits go in portions, also those of one member")
    func portions() async throws {
        let directory = try TemporaryDirectory()
        let kiosk = try await Kiosk(1, .file(path: directory.file()))
        try await fill(kiosk.club, members: 2, visits: 1200, from: 0)
        let store = try kiosk.club.openStore("test")
        let deletions = Deletions()
        store.database.add(transactionObserver: deletions)
        #expect(try await kiosk.club.pruneVisits(before: start.addingTimeInterval(20 * Self.day)) == 2400)
        try await store.database.writeWithoutTransaction { $0.remove(transactionObserver: deletions) }
        #expect((1...500).contains(deletions.most), "\(deletions.most)")
        // Each portion is in the audit log with it: whoever ends the program hides nothing.
        let audited = try await kiosk.club.auditLog(limit: 99).compactMap { entry -> Int? in
            guard entry.action == .removedVisits, case .int(let visits) = entry.detail["visits"] else { return nil }
            return Int(visits)
        }
        #expect(audited.reduce(0, +) == 2400 && audited.allSatisfy((1...deletions.most).contains), "\(audited)")
        #expect(try await kiosk.club.member(withUserID: "M1")?.numVisits == 1200)
        #expect(try await kiosk.club.check().isEmpty)
        try await kiosk.club.close()
    }
}
