import Foundation
import GRDB
import ReaderKit
import TestSupport
import Testing

@testable import ClubKit

@Suite("Repairing")
struct RepairTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file() }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open() async throws -> Club {
        try await openClub(.test(.file(path: path)))
    }

    /// A club with all kinds of members.
    private func filled(members: Int = 6) async throws -> Club {
        let club = try await open()
        for round in 0..<3 {
            for index in 0..<members {
                _ = try await club.receive(
                    tap("member \(index)", at: Double(round * 1000 + index), name: "Name \(index)")
                )
            }
        }
        try await club.update("member 1") { $0.fields["mail"] = "one@club.example" }
        try await club.sellVisits(5, to: "member 2")
        try await club.setTags(["vip"], of: "member 2")
        try await club.addCard("card", to: "member 2")
        try await club.mergeMember("member 3", into: "member 4")
        try await club.undoVisit(club.visits(of: "member 0")[0].id, by: ActionContext(reason: "test"))
        _ = try await club.receive(tap("card", at: 9000))
        #expect(try await club.check() == [])
        return club
    }

    /// Changes the database past all that guards it, as a damaged disk or another program would.
    private func damage(_ club: Club, _ sql: String) async throws {
        try await club.openStore("test").database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')")
            try db.execute(sql: sql)
            try db.execute(sql: "DELETE FROM ledger_permit WHERE purpose = 'test'")
            try db.execute(sql: "PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF")
        }
    }

    private func names(_ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasPrefix(prefix) }.sorted()
    }

    @Test("A sound database is left as it is")
    func sound() async throws {
        let club = try await filled()
        let log = try await club.auditLog()
        let report = try await club.repair()
        #expect(report.wasClean)
        #expect(report.keptFile == nil)
        #expect(report.remaining == [])
        #expect(try await club.auditLog() == log)
        #expect(try names("club.sqlite.") == [])
    }

    @Test(
        "What follows from something else is put right without a loss",
        arguments: [
            "UPDATE member SET num_visits = 17",
            "UPDATE member SET own_visits = 17, last_visit_at = 5, visits_left = 3",
            "UPDATE member SET username = 'X', fields = '{}', tags = NULL WHERE facts IS NOT NULL",
            "UPDATE member SET status = 0, merged_into = NULL WHERE user_id = 'member 3'",
            "UPDATE member SET tags = '[' WHERE facts IS NOT NULL",
            "UPDATE member SET blocked = 'X', expires_at = 1 WHERE user_id = 'member 5'",
            "UPDATE member SET change_seq = 100000",
            "DELETE FROM receipt WHERE outcome = 'visit'",
            "UPDATE receipt SET outcome = 'repeat' WHERE outcome = 'visit'",
            "UPDATE receipt SET member_id = 1",
            "UPDATE clock SET hlc = 5",
            "DELETE FROM clock",
            "INSERT INTO ledger_permit (purpose) VALUES ('left')",
            "UPDATE visit SET source = 'elsewhere'",
        ]
    )
    func contradictions(sql: String) async throws {
        let club = try await filled()
        let members = try await club.members(sortedBy: .userId)
        let visits = try await club.visits(of: "member 4")
        let details = try await club.details(of: "member 2")
        try await damage(club, sql)
        #expect(try await club.check().contains { $0.severity == .error })
        let report = try await club.repair(by: ActionContext(actor: "desk"))
        #expect(report.remaining == [])
        #expect(report.lost == [])
        #expect(!report.mended.isEmpty)
        #expect(!report.isNewFile)
        #expect(try await club.members(sortedBy: .userId) == members)
        #expect(try await club.visits(of: "member 4") == visits)
        #expect(try await club.details(of: "member 2") == details)
        #expect(try await club.auditLog(limit: 1).map(\.action) == [.repaired])
        // As it was before is kept, and can be opened.
        let kept = try #require(report.keptFile)
        #expect(kept.hasPrefix(path + ".before-repair-"))
        let former = try await openClub(.test(.file(path: kept)))
        #expect(try await former.memberCount() > 0)
        #expect(try await club.receive(tap("member 5", at: 20_000)).outcome == .visit)
        #expect(try await club.check() == [])
    }

    @Test("A visit that was acknowledged and is not in the ledger is there again")
    func lostVisit() async throws {
        let club = try await filled()
        let members = try await club.members(sortedBy: .userId)
        try await damage(club, "DELETE FROM visit WHERE at > (SELECT max(at) - 3000000 FROM visit)")
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(report.lost == [])
        #expect(try await club.members(sortedBy: .userId) == members)
    }

    @Test("A member whose record is lost is there again as the journal knows them")
    func lostMember() async throws {
        let club = try await filled()
        try await damage(club, "DELETE FROM member WHERE user_id IN ('member 1', 'member 5')")
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(try await club.member(withUserID: "member 1")?.numVisits == 3)
        #expect(try await club.member(withUserID: "member 5")?.username == "Name 5")
        #expect(try await club.receive(tap("member 5", at: 20_000)).member?.numVisits == 4)
        #expect(try await club.check() == [])
    }

    @Test("A member of whom nothing but visits is left gets a number for a name")
    func unknownMember() async throws {
        let club = try await filled()
        try await damage(club, "DELETE FROM member WHERE user_id = 'member 5'; DELETE FROM change")
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(report.lost.count == 1)
        #expect(try await club.member(withUserID: "recovered-6")?.numVisits == 3)
        // A person can say who it was.
        _ = try await club.receive(tap("member 5", at: 20_000))
        #expect(try await club.mergeMember("recovered-6", into: "member 5").member.numVisits == 4)
        #expect(try await club.check() == [])
    }

    @Test("What was said of a member and cannot be read becomes what is shown, and that is said")
    func lostFacts() async throws {
        let club = try await filled()
        let members = try await club.members(sortedBy: .userId)
        try await damage(club, "UPDATE member SET facts = '{\"births\":7}' WHERE facts IS NOT NULL")
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(report.lost.count == 1)
        #expect(try await club.members(sortedBy: .userId) == members)
        let details = try #require(try await club.details(of: "member 2"))
        #expect(details.visitsLeft == 4)
        #expect(details.tags == ["vip"])
        #expect(try await club.member(withUserID: "member 3")?.userId == "member 4")
    }

    @Test("Lists look at all members after a repair")
    func journal() async throws {
        let club = try await filled()
        let store = try club.openStore("test")
        let before = try await store.database.read { try ChangeJournal.latest(in: $0) }
        try await damage(club, "UPDATE member SET num_visits = 17")
        _ = try await club.repair()
        let changes = try await store.database.read { try ChangeJournal.changes(after: before, in: $0) }
        guard case .everything = changes else {
            Issue.record("the journal tells only of \(changes)")
            return
        }
    }

    @Test("Files that others may read are for their owner again")
    func permissions() async throws {
        let club = try await filled()
        chmod(path, 0o644)
        let report = try await club.repair()
        #expect(report.mended.count == 1)
        #expect(report.remaining == [])
        #expect(try await club.check() == [])
    }

    // MARK: Damaged files

    /// A file of 300 members without a log, and what the club knew. It is made once, and each test has a copy.
    private static let sound = Task { try await RepairTests().makeSound() }

    private func makeSound() async throws -> (bytes: Data, members: [Member]) {
        let club = try await filled(members: 300)
        let known = try await club.members(sortedBy: .userId)
        try await club.close()
        return (try Data(contentsOf: URL(fileURLWithPath: path)), known)
    }

    private func closedFile() async throws -> (bytes: Data, members: [Member]) {
        let sound = try await Self.sound.value
        try write(sound.bytes)
        return sound
    }

    private func write(_ bytes: Data) throws {
        try bytes.write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        for end in ["-wal", "-shm"] { unlink(path + end) }
    }

    @Test("An index that is damaged is built again in place")
    func index() async throws {
        let (bytes, members) = try await closedFile()
        let queue = try DatabaseQueue(path: path)
        let root = try await queue.read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'receipt_by_time'") ?? 0
        }
        try queue.close()
        var damaged = bytes
        // A copy of another index in its place is no page fault, only wrong.
        let place = (root - 1) * 4096
        damaged.replaceSubrange(place + 8..<place + 12, with: [0, 0, 0, 0])
        try write(damaged)
        let club = try await open()
        let before = try await club.check()
        #expect(before.contains { $0.code == .damaged })
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(report.lost == [])
        #expect(try await club.members(sortedBy: .userId) == members)
    }

    @Test(
        "Damaged pages at seeded places: what can be read is kept, and the rest is named",
        arguments: ([68] + Array(0..<40)).oneIn(7)
    )
    func pages(seed: Int) async throws {
        let (bytes, members) = try await closedFile()
        var random = SeededNumbers(seed: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
        var damaged = bytes
        let pages = bytes.count / 4096
        let count = 1 + Int(random.next() % 3)
        var flips = 0
        for _ in 0..<count {
            let page = Int(random.next() % UInt64(pages)) * 4096
            switch random.next() % 3 {
            case 0: for index in 0..<4096 { damaged[page + index] = UInt8(truncatingIfNeeded: random.next()) }
            case 1: for index in 0..<16 { damaged[page + index] = 0 }
            default:
                damaged[page + Int(random.next() % 4096)] ^= 1 << UInt8(random.next() % 8)
                flips += 1
            }
        }
        try write(damaged)
        let club = Club(configuration: .test(.file(path: path)))
        let report: RepairReport
        do throws(ClubError) {
            report = try await club.repair()
        } catch {
            // The list of tables may be gone with the first page.
            #expect(error.kind == .corrupt, "seed \(seed): \(error)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
            return
        }
        #expect(report.remaining == [], "seed \(seed)")
        if report.isNewFile {
            let kept = try #require(report.keptFile)
            #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == damaged)
        }
        try await club.open()
        let now = try await club.members(sortedBy: .userId)
        if report.lost.isEmpty {
            // One bit that turned can make another value of one, such as a visit of somebody else, which no reader can
            // tell; then two members at most are not as they were.
            let others = Set(now).symmetricDifference(members)
            #expect(others.count <= flips * 4, "seed \(seed)")
        } else {
            // A damaged page holds some tens of rows; every other row is there.
            let visits = now.map(\.numVisits).reduce(0, +)
            #expect(visits >= members.map(\.numVisits).reduce(0, +) - count * 120, "seed \(seed): \(report.lost)")
        }
        #expect(try await club.receive(tap("member 7", at: 50_000)).outcome.isCounted, "seed \(seed)")
        let findings = try await club.check()
        #expect(findings.isEmpty, "seed \(seed): \(findings)")
        #expect(try names(".clubkit-work-") == [])
    }

    @Test("A file whose beginning is gone")
    func firstPage() async throws {
        let (bytes, members) = try await closedFile()
        var damaged = bytes
        for index in 0..<4096 { damaged[index] = 0x5A }
        try write(damaged)
        let club = Club(configuration: .test(.file(path: path)))
        let opening = await #expect(throws: ClubError.self) { try await club.open() }
        #expect(opening?.kind == .notADatabase)
        let report = try await club.repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        try await club.open()
        #expect(try await club.members(sortedBy: .userId) == members)
    }

    @Test("A file that was cut off")
    func truncated() async throws {
        let (bytes, members) = try await closedFile()
        try write(bytes.prefix(bytes.count / 4096 * 3 / 4 * 4096))
        let club = Club(configuration: .test(.file(path: path)))
        let report = try await club.repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        try await club.open()
        let now = try await club.members(sortedBy: .userId)
        #expect(now.count >= members.count / 2)
        #expect(try await club.check() == [])
    }

    @Test("A damaged file of an open club: it is repaired and open again")
    func openClubRepairsItself() async throws {
        let (bytes, _) = try await closedFile()
        var damaged = bytes
        let place = try #require(bytes.range(of: Data("member 150".utf8))).lowerBound / 4096 * 4096
        for index in 0..<64 { damaged[place + index] = 0xA5 }
        try write(damaged)
        let club = try await open()
        let report = try await club.repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        #expect(club.isOpen)
        #expect(try await club.receive(tap("member 150", at: 50_000)).outcome.isCounted)
    }

    @Test("A damaged file that is in use is left alone")
    func inUse() async throws {
        let (bytes, _) = try await closedFile()
        var damaged = bytes
        let place = try #require(bytes.range(of: Data("member 150".utf8))).lowerBound / 4096 * 4096
        for index in 0..<64 { damaged[place + index] = 0xA5 }
        try write(damaged)
        let user = try await open()
        _ = try await user.receive(tap("new", at: 60_000))
        let club = Club(configuration: .test(.file(path: path)))
        let error = await #expect(throws: ClubError.self) { try await club.repair() }
        #expect(error?.kind == .busy)
        #expect(try await user.receive(tap("newer", at: 60_000)).outcome == .created)
        try await user.close()
    }

    @Test("A damaged database with hidden identifiers is repaired with their key only")
    func hiddenIdentifiers() async throws {
        func club(_ key: String?) -> Club {
            var configuration = ClubConfiguration.test(.file(path: path))
            configuration.identifierKey = key.flatMap { IdentifierKey(Array($0.utf8)) }
            return Club(configuration: configuration)
        }
        let secret = String(repeating: "k", count: 32)
        let first = club(secret)
        try await first.open()
        for index in 0..<300 { _ = try await first.receive(tap("member \(index)")) }
        let members = try await first.members(sortedBy: .userId)
        try await first.close()
        var damaged = try Data(contentsOf: URL(fileURLWithPath: path))
        let id = try #require(members.first?.userId)
        let place = try #require(damaged.range(of: Data(id.utf8))).lowerBound / 4096 * 4096
        for index in 0..<64 { damaged[place + index] = 0xA5 }
        try write(damaged)
        let error = await #expect(throws: ClubError.self) { try await club(nil).repair() }
        #expect(error?.kind == .wrongIdentifierKey)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
        let second = club(secret)
        let report = try await second.repair()
        #expect(report.isNewFile)
        #expect(report.remaining == [])
        try await second.open()
        #expect(try await second.memberCount() == 300)
        #expect(try await second.receive(tap("member 7", at: 60)).member?.numVisits == 2)
        try await second.close()
    }

    @Test("Files that are no club's are not repaired")
    func foreign() async throws {
        let letter = Data(String(repeating: "This is a letter.\n", count: 1000).utf8)
        try write(letter)
        let club = Club(configuration: .test(.file(path: path)))
        let error = await #expect(throws: ClubError.self) { try await club.repair() }
        #expect(error?.kind == .corrupt)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == letter)
        unlink(path)
        let missing = await #expect(throws: ClubError.self) { try await club.repair() }
        #expect(missing?.kind == .cannotOpen)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test("A damaged database of the first schema is repaired and brought to the second")
    func firstSchema() async throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Fixtures/databases/version-1.sqlite").standardizedFileURL
        var bytes = try Data(contentsOf: fixture)
        try write(bytes)
        let queue = try DatabaseQueue(path: path)
        let root = try await queue.read { db in
            try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'receipt_by_time'") ?? 0
        }
        try queue.close()
        for index in 0..<64 { bytes[(root - 1) * 4096 + index] = 0xA5 }
        try write(bytes)
        let club = Club(configuration: .test(.file(path: path)))
        let report = try await club.repair()
        #expect(report.remaining == [])
        try await club.open()
        #expect(try await club.memberCount() == 34)
        #expect(try await club.members().map(\.numVisits).reduce(0, +) == 84)
        #expect(try await club.check() == [])
    }
}
