import Foundation
import GRDB
import Testing

@testable import ClubKit

/// Logical time that was damaged: the clock itself, and what records say of when they were made.
@Suite("Repairing logical time")
struct RepairTimesTests {
    private static let day = Stamp.tolerance << 16
    private static let present = Stamp.time(
        milliseconds: Int64(start.timeIntervalSince1970 * 1000),
        counter: 0
    )

    private func filled() async throws -> Club {
        let club = try await openClub()
        for round in 0..<3 {
            for index in 0..<4 {
                _ = try await club.receive(tap("member \(index)", at: Double(round * 1000 + index), name: "N \(index)"))
            }
        }
        try await club.update("member 1") { $0.fields["mail"] = "one@club.example" }
        try await club.addCard("card", to: "member 2")
        try await club.undoVisit(club.visits(of: "member 0")[0].id, by: ActionContext(reason: "test"))
        try await club.add(Member(userId: "gone"))
        try await club.erase("gone")
        #expect(try await club.check() == [])
        return club
    }

    /// Changes the database past all that guards it.
    private func damage(_ club: Club, _ sql: String) async throws {
        try await club.openStore("test").database.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('test')")
            try db.execute(sql: sql)
            try db.execute(sql: "DELETE FROM ledger_permit WHERE purpose = 'test'")
        }
    }

    private func clock(_ club: Club) async throws -> Int64? {
        try await club.openStore("test").database.read { try Int64.fetchOne($0, sql: "SELECT hlc FROM clock") }
    }

    @Test(
        "Totals that make no sense are found, and computed again",
        arguments: [
            "UPDATE member SET last_visit_at = \(Int64.max) WHERE user_id = 'member 1'",
            "UPDATE member SET last_visit_at = \(Int64.min) WHERE user_id = 'member 1'",
            "UPDATE member SET last_visit_at = last_visit_at + 1 WHERE user_id = 'member 3'",
            "UPDATE member SET claim_visits = 5 WHERE user_id = 'member 3'",
            "UPDATE member SET claim_at = 5 WHERE user_id = 'member 3'",
        ]
    )
    func totals(sql: String) async throws {
        let club = try await filled()
        let members = try await club.members(sortedBy: .userId)
        try await damage(club, sql)
        #expect(try await !club.check().isEmpty)
        _ = try await club.repair()
        #expect(try await club.check() == [])
        #expect(try await club.members(sortedBy: .userId) == members)
    }

    @Test("The latest visit of members who are one is exact, up to the end of time")
    func exact() async throws {
        let club = try await openClub()
        for key in ["A", "B"] {
            _ = try await club.receive(tap(key, at: 253_402_300_790.999_9 - start.timeIntervalSince1970))
        }
        _ = try await club.mergeMember("B", into: "A")
        #expect(try await club.check() == [])
    }

    @Test(
        "A clock that shows no possible time is found, and set to what the records and the machine's clock say",
        arguments: [
            "UPDATE clock SET hlc = \(Int64.max)", "UPDATE clock SET hlc = \(Int64.max - 1)",
            "UPDATE clock SET hlc = \(Stamp.latestTime + 1)", "UPDATE clock SET hlc = -1",
            "UPDATE clock SET hlc = \(Int64.min)", "DELETE FROM clock", "UPDATE clock SET hlc = 0",
            // A bit that turned: possible, but nothing else is there yet.
            "UPDATE clock SET hlc = hlc | (1 << 60)", "UPDATE clock SET hlc = \(present + 2 * day)",
        ]
    )
    func clock(sql: String) async throws {
        let club = try await filled()
        let members = try await club.members(sortedBy: .userId)
        try await damage(club, sql)
        #expect(try await club.check().map(\.code).contains(.clockOrder))
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(report.lost == [])
        let time = try #require(try await clock(club))
        #expect(time >= Self.present)
        #expect(time < Self.present + Self.day)
        #expect(try await club.members(sortedBy: .userId) == members)
        #expect(try await club.receive(tap("member 3", at: 20_000)).outcome == .visit)
        #expect(try await club.check() == [])
    }

    @Test("A clock less than a day ahead, or no further than the records are, is none of damage")
    func ahead() async throws {
        let club = try await filled()
        try await damage(club, "UPDATE clock SET hlc = \(Self.present + Self.day - 1)")
        #expect(try await club.recordsAhead() == nil)
        #expect(try await club.check() == [])
        // This machine's clock was years ahead once.
        try await damage(club, "UPDATE clock SET hlc = hlc + (1 << 55)")
        _ = try await club.recordVisit(of: "member 1", by: ActionContext())
        #expect(try await club.check() == [])
        // Other devices take in nothing of it.
        let ahead = try #require(try await club.recordsAhead())
        #expect(ahead > .now.addingTimeInterval(86_400))
        #expect(try await club.repair().wasClean)
    }

    @Test(
        "A record at no possible time gets one that is, and does not push the clock there",
        arguments: [
            "UPDATE visit SET hlc = \(Int64.max) WHERE id = 5", "UPDATE visit SET hlc = -hlc",
            "UPDATE visit SET hlc = hlc | (1 << 62)", "UPDATE visit SET born = -1 WHERE id > 3",
            "UPDATE visit SET born = \(Int64.max)", "UPDATE undo SET hlc = \(Int64.max)",
            "UPDATE audit SET hlc = \(Int64.max - 7) WHERE action = 'undidVisit'", "UPDATE audit SET hlc = -hlc",
            "UPDATE card SET hlc = \(Stamp.latestTime)", "UPDATE erased SET hlc = \(Int64.max)",
            "UPDATE member SET origin_hlc = \(Int64.max)", "UPDATE member SET origin_hlc = -5",
            "UPDATE member SET ended_hlc = \(Int64.max)", "UPDATE member SET ended_hlc = -9",
        ]
    )
    func records(sql: String) async throws {
        let club = try await filled()
        let members = try await club.members(sortedBy: .userId)
        try await damage(club, sql)
        #expect(try await club.check().map(\.code).contains(.clockOrder))
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(report.lost == [])
        let time = try #require(try await clock(club))
        #expect(time < Self.present + Self.day)
        #expect(try await club.members(sortedBy: .userId) == members)
        #expect(try await club.receive(tap("card", at: 20_000)).member?.userId == "member 2")
        #expect(try await club.check() == [])
    }

    @Test("An erasure at no possible time does not erase who is there by now, and keeps files out")
    func erasure() async throws {
        let club = try await filled()
        try await club.add(Member(userId: "gone", username: "Again"))
        try await damage(club, "UPDATE erased SET hlc = \(Int64.max)")
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(report.lost == [])
        #expect(try await club.member(withUserID: "gone")?.username == "Again")
    }

    @Test("What is said of a member at no possible time becomes what is shown, and that is said")
    func facts() async throws {
        let club = try await filled()
        let members = try await club.members(sortedBy: .userId)
        try await damage(club, "UPDATE member SET facts = replace(facts, '[[[', '[[[7') WHERE user_id = 'member 1'")
        let findings = try await club.check()
        #expect(findings.contains { $0.code == .unreadable }, "\(findings)")
        let report = try await club.repair()
        #expect(report.remaining == [])
        #expect(report.lost.count == 1)
        #expect(try await club.members(sortedBy: .userId) == members)
        let time = try #require(try await clock(club))
        #expect(time < Self.present + Self.day)
    }
}
